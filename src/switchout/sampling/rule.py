"""What a policy asks of the sampler: how words are hit, and by what they are replaced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from switchout.core import compiled
from switchout.words import Words

NumpyArray = np.ndarray[Any, Any]


class RowTable:
    """What each word may become: compressed rows with inclusive cumulative 32-bit thresholds.

    Args:
        start: Where the row of each word begins, int64 [size + 1].
        ids: What it may become, int64 [entries].
        limits: Drawn if 32 random bits are at most this and above the one before, uint32 [entries].
    """

    def __init__(self, start: NumpyArray, ids: NumpyArray, limits: NumpyArray) -> None:
        self.start, self.ids, self.limits = start, ids, limits
        self.compiled = compiled.make_similar(start, ids, limits)

    def __reduce__(self) -> tuple[Any, ...]:
        return RowTable, (self.start, self.ids, self.limits)


@dataclass(frozen=True)
class Rule:
    """How words are hit and by what they are replaced; exactly one of the first four is given."""

    tau: Any = None  # Algorithm 1 with this temperature
    rate: float | None = None  # Algorithm 1 with the tau that changes this share of the words
    probabilities: tuple[float, float] | None = None  # each word by itself: in, out of draw_ids
    table: RowTable | None = None  # each word by itself: one draw from its row
    null_id: int = -1  # what a hit word becomes; -1: another word, uniformly

    def thresholds(self, words: Words) -> tuple[int, int] | None:
        """The constant law as inclusive 32-bit thresholds; -1: never."""
        if self.probabilities is None:
            return None
        inside, outside = (round(p * 2**32) - 1 for p in self.probabilities)
        return inside, outside if words.draw_ids.size else inside
