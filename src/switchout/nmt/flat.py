"""All parameters, and all gradients, of a model as one vector each.

* One all-reduce per step, always in the same order: a resumed run sums as the first one did.
* Clipping and Adam are one call each over the vector.
* The gradient vector ends in a few numbers that travel with the all-reduce (`Sums`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from switchout.nmt.machine import Processes

_ALIGN = 16  # floats: 64 bytes, so that kernels meet every parameter at the same alignment


@dataclass
class Sums:
    """What is summed over all processes beside the gradient."""

    loss: float = 0.0
    tokens: float = 0.0
    stop: float = 0.0  # processes that were asked to stop


class FlatParameters:
    """Moves the parameters of ``model`` into one vector and gives it a gradient vector."""

    def __init__(self, model: torch.nn.Module):
        named = dict(model.named_parameters())  # a tied parameter appears once
        sizes = {name: -(-p.numel() // _ALIGN) * _ALIGN for name, p in named.items()}
        total, first = sum(sizes.values()), next(iter(named.values()))
        self.values = torch.zeros(total, device=first.device)
        self._buffer = torch.zeros(total + _ALIGN, device=first.device)
        self._views: dict[str, torch.Tensor] = {}
        start = 0
        for name, parameter in named.items():
            place = slice(start, start + parameter.numel())
            self._views[name] = self.values[place].view(parameter.shape)
            self._views[name].copy_(parameter.data)
            parameter.data = self._views[name]
            parameter.grad = self._buffer[place].view(parameter.shape)
            start += sizes[name]
        self.parameter = torch.nn.Parameter(self.values)
        self.parameter.grad = self.grad = self._buffer[:total]
        self._sums = self._buffer[total : total + 3]

    def zero_grad(self) -> None:
        """Forget the last step's gradient, in place: autograd adds into the views."""
        self._buffer.zero_()

    def reduce(self, sums: Sums, processes: Processes) -> Sums:
        """Sum gradient and ``sums`` over all processes; return the latter."""
        self._sums.copy_(torch.tensor([sums.loss, sums.tokens, sums.stop]))
        processes.sum_(self._buffer)
        loss, tokens, stop = self._sums.tolist()
        return Sums(loss, tokens, stop)

    def state(self) -> dict[str, torch.Tensor]:
        """Return the parameters by name: views, not copies."""
        return dict(self._views)

    def load(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Set every parameter; names and shapes must match."""
        copy_parameters(tensors, self._views)


def copy_parameters(tensors: Mapping[str, torch.Tensor], into: Mapping[str, torch.Tensor]) -> None:
    """Set every parameter of ``into``; names and shapes must match."""
    if tensors.keys() != into.keys():
        odd = sorted(tensors.keys() ^ into.keys())
        raise ValueError(f"parameters do not match the model: {', '.join(odd[:3])}")
    for name, value in tensors.items():
        if value.shape != into[name].shape:
            wanted, got = tuple(into[name].shape), tuple(value.shape)
            raise ValueError(f"parameter {name} has shape {got}, the model wants {wanted}")
        into[name].detach().copy_(value)
