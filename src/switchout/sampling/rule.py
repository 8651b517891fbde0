"""What a policy asks of the sampler: how words are hit, and by what they are replaced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from switchout.words import Words


class RowTable(NamedTuple):
    """What each word may become: compressed rows with inclusive cumulative 32-bit thresholds."""

    start: np.ndarray[Any, Any]  # int64 [size + 1]
    ids: np.ndarray[Any, Any]  # int64 [entries]
    limits: np.ndarray[Any, Any]  # uint32 [entries]


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
