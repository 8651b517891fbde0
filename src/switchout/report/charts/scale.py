"""Scales of charts: where a value is drawn, and the round numbers beside an axis."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

FEWEST_TICKS = 3


@dataclass(frozen=True)
class Scale:
    """Values ``low`` to ``high``, drawn from ``start`` to ``end``; vertical ones start below.

    Example:
        >>> scale = Scale.over([5.5, 8.9], start=100, end=0, is_log=True)
        >>> scale.ticks()
        [6.0, 7.0, 8.0]
        >>> scale.place(5.5), scale.place(8.9)
        (100.0, 0.0)
    """

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    @classmethod
    def over(
        cls, values: Iterable[float], *, start: float, end: float, is_log: bool = False
    ) -> Scale:
        """Return the scale that just holds the values; a single one gets room on both sides."""
        known = list(values) or [1.0]
        low, high = min(known), max(known)
        if high <= low:
            low, high = (low / 1.5, low * 1.5) if is_log else (low - 0.5, low + 0.5)
        return cls(low, high, start, end, is_log)

    def rounded(self) -> Scale:
        """Return the scale widened to the ticks that enclose it."""
        step = _step(self.low, self.high)
        low, high = math.floor(self.low / step) * step, math.ceil(self.high / step) * step
        return Scale(low, high, self.start, self.end)

    def place(self, value: float) -> float:
        """Return the coordinate of a value."""
        low, high = self.low, self.high
        if self.is_log:
            low, high, value = math.log(low), math.log(high), math.log(value)
        return round(self.start + (value - low) / (high - low) * (self.end - self.start), 1)

    def ticks(self) -> list[float]:
        """Return round numbers within the scale, at least three."""
        if self.is_log:
            for digits in ((1,), (1, 2, 5), (1, 1.5, 2, 3, 4, 5, 7), range(1, 10)):
                found = self._log_ticks(digits)
                if len(found) >= FEWEST_TICKS:
                    return found
        found = self._linear_ticks(5)
        return found if len(found) >= FEWEST_TICKS else self._linear_ticks(10)

    def _linear_ticks(self, n_steps: int) -> list[float]:
        step = _step(self.low, self.high, n_steps)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [round(i * step, 10) for i in range(first, last + 1)]

    def _log_ticks(self, digits: Iterable[float]) -> list[float]:
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        values = [digit * 10.0**power for power in powers for digit in digits]
        return [value for value in values if self.low <= value <= self.high]


def shown(value: float) -> str:
    """Return a number as it stands beside a tick, with a real minus sign.

    Example:
        >>> shown(-0.5), shown(20_000)
        ('−0.5', '20,000')
    """
    return printed(value, ",.0f" if abs(value) >= 1000 and value % 1 == 0 else "g")


def printed(value: float, form: str) -> str:
    """Return a formatted number with a real minus sign.

    Example:
        >>> printed(-0.5, "+.2f")
        '−0.50'
    """
    return format(value, form).replace("-", "−")


def _step(low: float, high: float, n_steps: int = 5) -> float:
    """The distance of ticks: 1, 2 or 5 times a power of ten, at most so many in the range."""
    rough = (high - low) / n_steps
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * m for m in (1, 2, 5, 10) if power * m >= rough * (1 - 1e-9))
