"""Addressed randomness: every random number is a word of Philox4x32-10.

Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). A 128-bit counter and a
64-bit key give four 32-bit words; nothing is consumed, so the same address always holds the same
numbers. The address (docs/algorithm.md):

=========  =====================================================================
key        seed, low word first
c0, c1     example id, low word first
c2         epoch
c3         side << 31 | slot << 24 | block
=========  =====================================================================

Block 0 serves the sentence (word 0: the count n), block 1 + i its i-th real word (word 0: replace?
words 1 and 2, low word first: which word).
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from switchout.sampling.backends import backend_of

SIDES = ("source", "target")
MASK = 0xFFFFFFFF
MAX_SLOTS = 1 << 7
MAX_BLOCKS = 1 << 24  # one for the sentence, one for each word


class Address:
    """Seed, epoch, side and slot: all of an address but the example and the block.

    Args:
        seed, epoch: Integers; under jit also scalars of the framework.
        side: "source" or "target".
        slot: Which of the policies chained on this side.
    """

    __slots__ = ("epoch", "seed", "side", "slot", "stream")  # made at every call: kept small

    def __init__(self, seed: Any, epoch: Any = 0, side: str = "source", slot: int = 0) -> None:
        is_plain = type(seed) is int and 0 <= seed <= MASK
        self.seed = seed if is_plain else _checked(seed, "seed", 1 << 64)
        is_plain = type(epoch) is int and 0 <= epoch <= MASK
        self.epoch = epoch if is_plain else _checked(epoch, "epoch", 1 << 32)
        if side not in SIDES:
            raise ValueError(f"side must be 'source' or 'target', got {side!r}")
        if not 0 <= slot < MAX_SLOTS:
            raise ValueError(f"at most {MAX_SLOTS} policies can be chained, got slot {slot}")
        self.side, self.slot = side, slot
        self.stream = (side == "target") << 31 | slot << 24  # the upper eight bits of c3, in place


def _checked(value: Any, name: str, limit: int) -> Any:
    """Return an integer in range; a traced scalar, whose value is not known yet, passes as is."""
    if isinstance(value, bool | float | str) or value is None:
        raise TypeError(f"{name} must be an integer, got {value!r}")
    if hasattr(value, "dtype") and not isinstance(value, np.generic | np.ndarray):
        backend = backend_of(value)
        if not backend.is_integer(value):
            raise TypeError(f"{name} must be an integer, got {value!r}")
        rank = value.shape.rank if hasattr(value.shape, "rank") else len(value.shape)  # None: any
        if rank:
            shape = tuple(value.shape)
            raise ValueError(f"{name} must be one number for the whole batch, got shape {shape}")
        if not backend.on_host(value):
            return value
        value = backend.to_numpy(value).item()
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {value!r}") from None
    if not 0 <= number < limit:
        raise ValueError(f"{name} must lie in 0 <= {name} < 2^{limit.bit_length() - 1}: {number}")
    return number
