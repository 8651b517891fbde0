"""The loss of an output layer, a block of rows at a time.

Logits are by far the largest tensor of a training step: words of the batch times the vocabulary.
They are never there as a whole. A block of rows that stays in the processor's cache becomes the
gradient, and the next block is written over it. On a CPU one compiled loop makes of a row of logits
its loss and gradient: three times as fast as the same in operations of torch.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from switchout.core import compiled
from switchout.corpora.vocabulary import BOS

_CELLS = 2 << 20  # logits at a time on a CPU: 8 MB
_CELLS_ELSEWHERE = 64 << 20  # other devices want large products
_ALIGN = 16  # floats: products are faster if every row begins a cache line


class OutputLoss(torch.autograd.Function):  # type: ignore[misc]
    """Sum of -(1 - smoothing) log p(label) - smoothing · mean log p, over the words but PAD, BOS.

    Example:
        >>> hidden, weight = torch.zeros(3, 4), torch.zeros(7, 4)  # five words, all as likely
        >>> loss = OutputLoss.apply(hidden, weight, torch.tensor([2, 3, 4]), 0.1)
        >>> print(f"{loss:.4f} = {3 * math.log(5):.4f}")
        4.8283 = 4.8283
    """

    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, weight: Tensor, labels: Tensor, smoothing: float
    ) -> Tensor:
        """[n, d], [V, d], [n] -> scalar. Both gradients are made here, for `backward` to scale."""
        n, size = len(hidden), len(weight)
        width = -(-size // _ALIGN) * _ALIGN
        at_once = max((_CELLS if hidden.is_cpu else _CELLS_ELSEWHERE) // width, 1)
        loss = hidden.new_zeros((), dtype=torch.float64 if hidden.is_cpu else torch.float32)
        is_training = any(ctx.needs_input_grad)
        if is_training:
            ctx.by_hidden = hidden.new_empty(hidden.shape, dtype=torch.float32)
            ctx.by_weight = hidden.new_zeros(weight.shape, dtype=torch.float32)
        hidden, weight = (x.to(_precision(x.device)) for x in (hidden, weight))
        kind = hidden.dtype if hidden.is_cpu else torch.float32
        block = hidden.new_empty(min(at_once, n), width, dtype=kind)
        with torch.autocast(hidden.device.type, enabled=False):
            for start in range(0, n, at_once):
                rows = slice(start, start + at_once)
                padded = block[: len(hidden[rows])]
                logits = padded[:, :size]
                _product(logits, hidden[rows], weight.T, beta=0)
                if hidden.is_cpu:
                    loss += _compiled_loss(padded, size, labels[rows], smoothing)
                else:
                    loss += _loss(logits, labels[rows, None], smoothing)
                if is_training:  # the logits have become their gradient
                    by_logits = logits.to(hidden.dtype)
                    _product(ctx.by_hidden[rows], by_logits, weight, beta=0)
                    _product(ctx.by_weight, by_logits.T, hidden[rows], beta=1)
        return loss.float()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, None, None]:
        by_hidden, by_weight = ctx.by_hidden, ctx.by_weight
        del ctx.by_hidden, ctx.by_weight
        return by_hidden.mul_(grad), by_weight.mul_(grad), None, None


def _compiled_loss(padded: Tensor, size: int, labels: Tensor, smoothing: float) -> float:
    """[n, width >= V], V, [n] -> the loss; leaves its gradient in the memory of the logits."""
    bits = {torch.float32: torch.int32, torch.bfloat16: torch.int16}[padded.dtype]
    numbers = padded.view(bits).numpy()
    return compiled.output_loss(bits.itemsize, numbers, labels.numpy(), BOS + 1, size, smoothing)


def _loss(logits: Tensor, labels: Tensor, smoothing: float) -> Tensor:
    """The same as operations of torch, for other devices; [n, V], [n, 1]."""
    words = logits[:, BOS + 1 :]
    share = smoothing / words.shape[1]
    logits[:, : BOS + 1] = -math.inf
    largest = logits.amax(dim=1, keepdim=True)
    of_labels = logits.gather(1, labels).sum()
    of_all = words.sum() if smoothing else 0
    p = logits.sub_(largest).exp_()
    total = p.sum(dim=1, keepdim=True)
    log_total = (total.log() + largest).sum()
    p.div_(total)
    words.sub_(share)
    p.scatter_add_(1, labels, torch.full_like(total, smoothing - 1))
    loss: Tensor = log_total - (1 - smoothing) * of_labels - share * of_all
    return loss


def _precision(device: torch.device) -> torch.dtype:
    """The type of matrix products here, which autocast decides."""
    if torch.is_autocast_enabled(device.type):
        return torch.get_autocast_dtype(device.type)
    return torch.float32


def _product(out: Tensor, a: Tensor, b: Tensor, *, beta: int) -> None:
    """Set out = a b + beta · out; sums are kept in the precision of ``out``."""
    if a.dtype == out.dtype:
        torch.addmm(out, a, b, beta=beta, out=out)
    elif beta:
        out += a @ b
    else:
        out.copy_(a @ b)
