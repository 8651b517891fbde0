"""What happened to a corpus, in numbers that add up over chunks and parts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from switchout.text.lines import Ints
from switchout.text.rewriter import Rewritten
from switchout.text.side_noise import SIDES

REASONS = ("empty source", "empty target", "both sides empty")


@dataclass
class SideTally:
    """One side: its words, the known ones among them, and how many lines have k changes."""

    words: int = 0
    known_words: int = 0
    histogram: Ints = field(default_factory=lambda: np.zeros(1, np.int64))  # [most changes + 1]
    known: float | None = None  # share of the words of the first lines of the corpus

    @classmethod
    def of(cls, side: Rewritten) -> SideTally:
        """Return the counts of the lines of a chunk."""
        histogram = np.bincount(side.changes[side.changes >= 0], minlength=1)
        return cls(side.n_words, side.n_known, histogram)

    def merge(self, other: SideTally) -> None:
        """Take in other counts."""
        self.words += other.words
        self.known_words += other.known_words
        total = np.zeros(max(other.histogram.size, self.histogram.size), np.int64)
        total[: self.histogram.size] += self.histogram
        total[: other.histogram.size] += other.histogram
        self.histogram = total
        self.known = other.known if self.known is None else self.known

    @property
    def changes(self) -> int:
        """Number of changed words."""
        return int(self.histogram @ np.arange(self.histogram.size))


@dataclass
class Tally:
    """Lines of a corpus, or pairs where it has two sides."""

    read: int = 0
    written: int = 0
    dropped: Ints = field(default_factory=lambda: np.zeros(3, np.int64))  # by reason
    sides: dict[str, SideTally] = field(default_factory=dict)

    def merge(self, other: Tally) -> None:
        """Take in other counts."""
        self.read += other.read
        self.written += other.written
        self.dropped += other.dropped
        for name, side in other.sides.items():
            self.sides.setdefault(name, SideTally()).merge(side)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        sides = {
            name: {
                "words": side.words,
                "known_words": side.known_words,
                "changes": side.changes,
                "histogram": side.histogram.tolist(),
                "known": side.known,
            }
            for name, side in self.sides.items()
        }
        dropped = dict(zip(REASONS, self.dropped.tolist(), strict=True))
        return {"pairs": self.read, "written": self.written, "dropped": dropped, **sides}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Tally:
        """Return the counts that `to_dict` described."""
        sides = {
            name: SideTally(
                data[name]["words"],
                data[name]["known_words"],
                np.array(data[name]["histogram"], np.int64),
                data[name].get("known"),
            )
            for name in SIDES
            if name in data
        }
        dropped = np.array([data["dropped"][reason] for reason in REASONS])
        return cls(data["pairs"], data["written"], dropped, sides)
