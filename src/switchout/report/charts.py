"""Points with intervals over categories, as inline SVG: one chart serves deltas and buckets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

WIDTH, HEIGHT = 760, 260  # in user units; the page scales the drawing
LEFT, RIGHT, TOP, BOTTOM = 62, 16, 14, 52


@dataclass(frozen=True)
class Series:
    """A value per category, None where there is none, with optional interval bounds."""

    name: str
    values: Sequence[float | None]
    low: Sequence[float | None] = ()
    high: Sequence[float | None] = ()


@dataclass(frozen=True)
class Chart:
    """Values of one or more series over the same categories.

    Attributes:
        title: Caption.
        labels: Names of the categories, left to right.
        series: Up to six are told apart by colour and by place.
        y_label, x_label: Of the axes.
        note: The line that identifies the numbers.
        is_one_kind: The series are not to be told apart: one colour, no legend.
    """

    title: str
    labels: Sequence[str]
    series: Sequence[Series]
    y_label: str = ""
    x_label: str = ""
    note: str = ""
    is_one_kind: bool = False
    template: ClassVar[str] = "chart.html"

    def ticks(self) -> list[float]:
        """Round numbers, 4 to 8 of them, that span all values, intervals and zero."""
        numbers = [0.0]
        for series in self.series:
            numbers += [v for v in (*series.values, *series.low, *series.high) if v is not None]
        low, high = min(numbers), max(numbers)
        if low == high:
            high = low + 1.0
        rough = (high - low) / 5
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(power * m for m in (1, 2, 5, 10) if power * m >= rough)
        first, last = math.floor(low / step), math.ceil(high / step)
        return [round(i * step, 10) for i in range(first, last + 1)]

    def y(self, value: float) -> float:
        """Vertical place of a value."""
        ticks = self.ticks()
        share = (value - ticks[0]) / (ticks[-1] - ticks[0])
        return round(HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM), 1)

    def x(self, category: int, series: int = 0, n_series: int = 1) -> float:
        """Horizontal place of a category's middle, or of one series within it."""
        width = (WIDTH - LEFT - RIGHT) / len(self.labels)
        offset = (series - (n_series - 1) / 2) * min(22.0, width / (n_series + 1))
        return round(LEFT + (category + 0.5) * width + offset, 1)

    def points(self) -> list[dict[str, float | int | str | None]]:
        """Return everything a template needs to draw the points and intervals."""
        drawn: list[dict[str, float | int | str | None]] = []
        for s, series in enumerate(self.series):
            for i, value in enumerate(series.values):
                if value is None:
                    continue
                low = series.low[i] if series.low else None
                high = series.high[i] if series.high else None
                drawn.append(
                    {
                        "series": s,
                        "x": self.x(i, s, len(self.series)),
                        "y": self.y(value),
                        "low": None if low is None else self.y(low),
                        "high": None if high is None else self.y(high),
                        "hint": _hint(self.labels[i], series.name, value, low, high),
                    }
                )
        return drawn


def _hint(label: str, name: str, value: float, low: float | None, high: float | None) -> str:
    interval = "" if low is None or high is None else f" ({low:.2f} to {high:.2f})"
    return f"{name}, {label}: {value:.2f}{interval}"
