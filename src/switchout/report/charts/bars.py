"""Bars over categories, with intervals: gains by bucket, laws of counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from switchout.report.charts.chart import (
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Chart,
    group,
    interval_in_words,
    longest,
    text,
    whisker,
    y_axis,
)
from switchout.report.charts.scale import Scale, printed
from switchout.report.elements import Child, Html, element

HEIGHT, BOTTOM, LABEL_LINE = 240, 22, 13
MOST_STAGGERED = 8
Values = Sequence[float | None]


@dataclass(frozen=True)
class Series:
    """A value per category, None where there is none, with optional interval bounds."""

    name: str
    values: Values
    low: Values = ()
    high: Values = ()

    def at(self, category: int) -> tuple[float | None, float | None, float | None]:
        """Return value and interval of a category."""
        low = self.low[category] if self.low else None
        high = self.high[category] if self.high else None
        return self.values[category], low, high


@dataclass(frozen=True)
class BarChart(Chart):
    """Values of one or more series over the same categories; the axis holds zero.

    Attributes:
        labels: Names of the categories, left to right.
        series: Side by side in each category.
        beside: Series of charts beside this one, whose axis holds the same values.
    """

    labels: Sequence[str]
    series: Sequence[Series]
    beside: Sequence[Series] = ()

    def names(self) -> list[str]:
        """Return the names of the series."""
        return [series.name for series in self.series]

    def marks(self) -> tuple[Child, float]:
        """Return all that is drawn, and the height of the drawing."""
        lines = self._label_lines()
        height = HEIGHT + LABEL_LINE * len(lines)
        up = self._scale()
        marks = [*y_axis(up, left=LEFT, right=WIDTH - RIGHT, label=self.y_label)]
        for k, texts in enumerate(lines):
            y = HEIGHT - BOTTOM + 14 + LABEL_LINE * k
            marks += [text(self._x(i), y, label) for i, label in enumerate(texts) if label]
        marks.append(text((LEFT + WIDTH - RIGHT) / 2, height - 6, self.x_label, class_="axis"))
        marks += [self._bars(s, series, up) for s, series in enumerate(self.series)]
        return marks, height

    def _scale(self) -> Scale:
        numbers = [0.0]
        for series in (*self.series, *self.beside):
            numbers += [v for v in (*series.values, *series.low, *series.high) if v is not None]
        return Scale.over(numbers, start=HEIGHT - BOTTOM, end=TOP).rounded()

    def _bars(self, index: int, series: Series, up: Scale) -> Html:
        marks: list[Html] = []
        words = []
        width = min(34.0, 0.84 * self._room / len(self.series))
        for i, label in enumerate(self.labels):
            value, low, high = series.at(i)
            if value is None:
                continue
            middle = self._x(i) + (index - (len(self.series) - 1) / 2) * width
            words.append(f"{label}: {printed(value, '.4g')}{interval_in_words(low, high)}")
            says = element("title", f"{series.name}, {words[-1]}")
            top, end = sorted((up.place(value), up.place(0)))
            x, height = middle - 0.45 * width, end - top
            marks.append(element("rect", says, x=x, y=top, width=0.9 * width, height=height))
            if low is not None and high is not None:
                marks += whisker(up.place(low), up.place(high), middle, is_vertical=True)
        says_all = f"{series.name}; " + ", ".join(words)
        return group(*marks, says=says_all, colour=self.key()[series.name])

    @property
    def _room(self) -> float:
        return (WIDTH - LEFT - RIGHT) / max(len(self.labels), 1)

    def _x(self, category: int) -> float:
        return round(LEFT + (category + 0.5) * self._room, 1)

    def _label_lines(self) -> list[list[str]]:
        """Labels below the bars: where they would touch, on two lines, or only every so many."""
        labels, needed = list(self.labels), longest(self.labels) + 4
        if needed < self._room:
            return [labels]
        if needed < 2 * self._room and len(labels) <= MOST_STAGGERED:
            return [[x if i % 2 == line else "" for i, x in enumerate(labels)] for line in (0, 1)]
        every = math.ceil(needed / self._room)
        return [[x if i % every == 0 else "" for i, x in enumerate(labels)]]
