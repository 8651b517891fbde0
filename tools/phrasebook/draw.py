"""Random choices that are the same on every Python version: splitmix64 and integer wheels.

Python's `random` may change the algorithms of its choices between versions; a corpus that is frozen
by a hash cannot rest on that. All arithmetic here is on integers.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Generic, TypeVar

T = TypeVar("T")
MASK = (1 << 64) - 1
GAMMA = 0x9E3779B97F4A7C15


def mix(value: int) -> int:
    """Return the finaliser of splitmix64 (Steele, Lea and Flood 2014): 64 bits to 64 bits."""
    value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & MASK
    return value ^ (value >> 31)


class Wheel(Generic[T]):
    """Items with integer weights, to be spun by `Draw.spin`."""

    __slots__ = ("bounds", "items", "total")

    def __init__(self, items: Sequence[T], weights: Sequence[int]) -> None:
        self.items = tuple(items)
        self.bounds = tuple(accumulate(weights))
        self.total = self.bounds[-1]


def weighted(table: dict[T, int]) -> Wheel[T]:
    """Return a wheel of the keys, weighted by their values."""
    return Wheel(tuple(table), tuple(table.values()))


def zipf(items: Sequence[T], flat: int = 6) -> Wheel[T]:
    """Return a wheel whose r-th item weighs 1 / (r + flat): Zipf's law with its head cut."""
    return Wheel(items, [100_000 // (rank + flat) for rank in range(len(items))])


class Draw:
    """A stream of choices; the same start gives the same choices for ever."""

    __slots__ = ("state",)

    def __init__(self, seed: int, index: int) -> None:
        self.state = mix(mix(seed & MASK) ^ (index * GAMMA & MASK))

    def bits(self) -> int:
        """Return the next 32 random bits."""
        self.state = state = (self.state + GAMMA) & MASK
        value = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & MASK
        return (value ^ (value >> 31)) >> 32

    def chance(self, percent: int) -> bool:
        return self.bits() * 100 >> 32 < percent

    def below(self, bound: int) -> int:
        return self.bits() * bound >> 32

    def pick(self, items: Sequence[T]) -> T:
        return items[self.bits() * len(items) >> 32]

    def spin(self, wheel: Wheel[T]) -> T:
        return wheel.items[bisect_right(wheel.bounds, self.bits() * wheel.total >> 32)]


class Choices(Draw):
    """The draws of one sentence pair: its derivation, and apart from it the English wording.

    ``canonical`` always takes the first wording, which is the most probable one: what the best
    reader of the German sentence could say.
    """

    __slots__ = ("polite", "wording")

    def __init__(self, seed: int, index: int, *, canonical: bool = False) -> None:
        super().__init__(seed, index)
        self.polite = self.chance(45)  # Sie or du: one register a sentence
        self.wording = None if canonical else Draw(seed ^ GAMMA, index)

    def word(self, options: Sequence[str]) -> str:
        """Return an English wording: the first of ``options`` in three cases of four."""
        if self.wording is None or len(options) == 1 or self.wording.chance(75):
            return options[0]
        return options[1 + self.wording.below(len(options) - 1)]
