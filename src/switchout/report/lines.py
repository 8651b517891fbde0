"""Curves over a numeric axis, as inline SVG: learning curves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

WIDTH, HEIGHT = 760, 300
LEFT, RIGHT, TOP, BOTTOM = 62, 16, 14, 48


@dataclass(frozen=True)
class Line:
    """One curve: points (x, y) in order."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class LineChart:
    """Curves on common axes, which need not begin at zero; from the seventh on dashed.

    Attributes:
        title: Caption.
        lines: The curves; at least one has a point.
        x_label, y_label: Of the axes.
        is_log: Logarithmic y axis, for perplexities.
        note: The line that identifies the numbers.
    """

    title: str
    lines: Sequence[Line]
    x_label: str = ""
    y_label: str = ""
    is_log: bool = False
    note: str = ""
    template: ClassVar[str] = "lines.html"

    def x_ticks(self) -> list[tuple[float, float]]:
        """Return (value, place) of round numbers on the x axis."""
        return [(v, self._x(v)) for v in _round_numbers(*self._range(0))]

    def y_ticks(self) -> list[tuple[float, float]]:
        """Return (value, place) of round numbers on the y axis."""
        low, high = self._range(1)
        if not self.is_log:
            return [(v, self._y(v)) for v in _round_numbers(low, high)]
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        values = [m * 10.0**p for p in powers for m in (1, 2, 3, 5)]
        return [(v, self._y(v)) for v in values if low <= v <= high]

    def paths(self) -> list[dict[str, object]]:
        """Return the dots of every curve, and the line through them."""
        drawn: list[dict[str, object]] = []
        for line in self.lines:
            dots = [
                (self._x(x), self._y(y), f"{line.name}, {x:g}: {y:.2f}") for x, y in line.points
            ]
            path = " ".join(f"{x},{y}" for x, y, _ in dots)
            drawn.append({"name": line.name, "dots": dots, "path": path})
        return drawn

    def _range(self, axis: int) -> tuple[float, float]:
        values = [point[axis] for line in self.lines for point in line.points]
        low, high = min(values), max(values)
        return (low, high) if high > low else (low, low + 1.0)

    def _x(self, value: float) -> float:
        low, high = self._range(0)
        return round(LEFT + (value - low) / (high - low) * (WIDTH - LEFT - RIGHT), 1)

    def _y(self, value: float) -> float:
        low, high = self._range(1)
        if self.is_log:
            low, high, value = math.log(low), math.log(high), math.log(value)
        share = (value - low) / (high - low)
        return round(HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM), 1)


def _round_numbers(low: float, high: float) -> list[float]:
    rough = (high - low) / 6
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= rough)
    return [round(i * step, 10) for i in range(math.ceil(low / step), math.floor(high / step) + 1)]
