"""Inside ``torch.compile``: one opaque operator, so that nothing of ours is traced.

Temperature, seed and epoch are its arguments: new values need no new graph. Policies and `Words`
cannot be arguments of an operator; they stand in a list and travel as their index.
"""

from __future__ import annotations

from typing import Any

import torch

from switchout.sampling.address import MASK, Address
from switchout.sampling.corrupt import corrupt
from switchout.sampling.laws import check_tau
from switchout.sampling.rule import Rule
from switchout.words import Words

_OBJECTS: list[Any] = []


@torch.compiler.assume_constant_result
def handle_of(thing: Any) -> int:
    """Return the number under which the operator finds ``thing`` again."""
    for number, known in enumerate(_OBJECTS):
        if known is thing:
            return number
    _OBJECTS.append(thing)
    return len(_OBJECTS) - 1


@torch.library.custom_op("switchout::sample", mutates_args=())
def _sample(
    tokens: torch.Tensor,
    example_ids: torch.Tensor,
    frozen: torch.Tensor | None,
    handle: int,
    tau: torch.Tensor,
    seed_low: int,
    seed_high: int,
    epoch: int,
    side: str,
) -> torch.Tensor:
    thing = _OBJECTS[handle]
    address = Address(seed_high << 32 | seed_low, epoch, side)
    if isinstance(thing, Words):
        rule = Rule(tau=check_tau(tau.item()))
        return corrupt(
            tokens, rule, words=thing, address=address, example_ids=example_ids, frozen=frozen
        )
    return thing.sample_at(tokens, address, example_ids=example_ids, frozen=frozen)


@_sample.register_fake
def _(tokens: torch.Tensor, *_: Any) -> torch.Tensor:
    return torch.empty_like(tokens)


def sample_in_graph(
    thing: Any,
    tokens: torch.Tensor,
    *,
    tau: float,
    seed: int,
    example_ids: Any,
    epoch: int,
    frozen: torch.Tensor | None,
    side: str,
) -> torch.Tensor:
    """Sample from a policy, or from SwitchOut with ``tau`` if ``thing`` is `Words`."""
    ids = torch.as_tensor(example_ids)
    # As a tensor on the host: a float argument of an operator would be compiled in.
    temperature = torch.ones((), dtype=torch.float64, device="cpu") * tau
    return torch.ops.switchout.sample(
        tokens, ids, frozen, handle_of(thing), temperature, seed & MASK, seed >> 32, epoch, side
    )
