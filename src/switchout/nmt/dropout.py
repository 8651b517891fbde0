"""Dropout whose masks are addressed, not consumed.

A mask is a pure function of (key of the sentence, site in the network, position, channel). So
neither padding, batch, world size nor resume changes it, and the backward pass recomputes it
instead of storing it. On a CPU one compiled loop also adds the residual: ten times as fast as
``torch.nn.functional.dropout``, which alone took a third of a training step.

The hash is "lowbias32" by C. Wellons with a second key word between its two multiplications.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from switchout.core import compiled

_GOLDEN = 0x9E3779B97F4A7C15
_LOW_32 = 0xFFFFFFFF


def dropout_keys(seed: int, *, step: int, example_ids: np.ndarray) -> Tensor:
    """Return one key per sentence, [batch] int64: the ``keys`` argument of the model."""
    start = np.array([seed & (2**64 - 1), step], dtype=np.uint64)
    base = _mix(start[:1] * np.uint64(_GOLDEN) + _mix(start[1:]))
    return torch.from_numpy(_mix(base + np.asarray(example_ids).astype(np.uint64)).view(np.int64))


class Dropout:
    """Dropout for one forward pass; call order numbers the sites.

    Args:
        rate: Probability of a zero.
        keys: One per sentence, [batch] int64; None switches dropout off.
    """

    def __init__(self, rate: float, keys: Tensor | None):
        self.rate = rate
        self.keys = None if keys is None or rate == 0 else keys.cpu().numpy().view(np.uint64)
        self.site = 0

    def __call__(self, x: Tensor, residual: Tensor | None = None) -> Tensor:
        """Return dropout(x), plus ``residual`` if given; both [batch, time, channel]."""
        if self.keys is None:
            return x if residual is None else residual + x
        self.site += 1
        keys = _mix(self.keys + np.uint64(self.site * _GOLDEN & (2**64 - 1)))
        dropped: Tensor = _DropAdd.apply(x, residual, keys, self.rate)
        return dropped


class _DropAdd(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, residual: Tensor | None, keys: np.ndarray, rate: float
    ) -> Tensor:
        ctx.keys, ctx.rate = keys, rate
        return drop_add(x, residual, keys=keys, rate=rate)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor | None, None, None]:
        dropped = drop_add(grad, None, keys=ctx.keys, rate=ctx.rate)
        return dropped, grad if ctx.needs_input_grad[1] else None, None, None


def drop_add(x: Tensor, residual: Tensor | None, *, keys: np.ndarray, rate: float) -> Tensor:
    """Return ``residual`` + x with its share ``rate`` of entries zeroed and the rest scaled up."""
    threshold, scale = min(round(rate * 2**32), _LOW_32), 1 / (1 - rate)
    wanted = x.dtype if residual is None else residual.dtype
    if x.device.type != "cpu" or wanted != torch.float32:
        return _drop_add_anywhere(x, residual, keys=keys, threshold=threshold, scale=scale)
    if residual is None:
        out = torch.zeros(x.shape)
    else:
        out = residual.detach().clone(memory_format=torch.contiguous_format)
    values = x.detach().float().contiguous().numpy()
    compiled.add_dropped(values, keys, threshold, scale, out.numpy())
    return out


def _drop_add_anywhere(
    x: Tensor, residual: Tensor | None, *, keys: np.ndarray, threshold: int, scale: float
) -> Tensor:
    """The same function as array operations, for other devices and types."""
    both = torch.from_numpy(keys.view(np.int64)).to(x.device)[:, None]
    h = torch.arange(x[0].numel(), device=x.device) * (_GOLDEN >> 32) & _LOW_32
    h = h ^ (both & _LOW_32)
    h = (h ^ h >> 16) * 0x7FEB352D & _LOW_32
    h = h ^ h >> 15 ^ (both >> 32 & _LOW_32)
    h = h * 0x846CA68B & _LOW_32
    kept = (h ^ h >> 16) >= threshold
    dropped = torch.where(kept.view(x.shape), x * scale, 0)
    return dropped if residual is None else residual + dropped


def _mix(z: np.ndarray) -> np.ndarray:
    """The finalizer of splitmix64, on uint64."""
    z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    mixed: np.ndarray = z ^ z >> np.uint64(31)
    return mixed
