"""Differences with intervals, one under the other, and every run as a dot: a forest plot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from switchout.report.charts.chart import (
    RIGHT,
    WIDTH,
    Chart,
    group,
    interval_in_words,
    longest,
    shortened,
    text,
    whisker,
    x_axis,
)
from switchout.report.charts.scale import Scale, printed
from switchout.report.colours import colours_of
from switchout.report.elements import Child, Html, element

LINE, GAP, TOP, BOTTOM = 20, 5, 2, 36  # of a difference, after a row, around all
WIDEST_LABEL = 155


@dataclass(frozen=True)
class Difference:
    """How far one row is from another.

    Attributes:
        name, against: The two rows.
        delta: Difference of their means; None draws the dots alone, or a heading without any.
        low, high: Its interval.
        dots: Every run of the row, less the mean of the other.
    """

    name: str
    against: str
    delta: float | None
    low: float | None = None
    high: float | None = None
    dots: Sequence[float] = ()

    @property
    def is_heading(self) -> bool:
        """Whether it is only a name, of the lines below it."""
        return self.delta is None and not self.dots


@dataclass(frozen=True)
class ForestPlot(Chart):
    """Differences by row, from top to bottom; several of one row stand together."""

    differences: Sequence[Difference]

    def marks(self) -> tuple[Child, float]:
        """Return all that is drawn, and the height of the drawing."""
        labels = (label for label, line in self._labelled() if not line.is_heading)
        label_width = min(longest(labels), WIDEST_LABEL)
        across = Scale.over(self._numbers(), start=label_width + 14, end=WIDTH - RIGHT).rounded()
        colours = self.colours or colours_of(d.name for d in self.differences)
        marks: list[Html] = []
        y = float(TOP)
        for name, lines in groupby(self._labelled(), key=lambda pair: pair[1].name):
            for label, difference in lines:
                y += LINE
                if difference.is_heading:
                    marks.append(text(0, y, label, anchor="start", class_="name"))
                    continue
                class_ = "name" if label == name else ""
                label = shortened(label, WIDEST_LABEL)
                written = text(label_width + 4, y, label, anchor="end", class_=class_)
                marks.append(
                    group(
                        written,
                        _marks(difference, across, y - 5),
                        says=_in_words(difference),
                        colour=colours[name],
                    )
                )
            y += GAP
        axis = x_axis(across, top=TOP, bottom=y, label=self.x_label)
        return [*axis, *marks], y + BOTTOM

    def _numbers(self) -> list[float]:
        numbers = [0.0]
        for d in self.differences:
            numbers += [v for v in (d.delta, d.low, d.high, *d.dots) if v is not None]
        return numbers

    def _labelled(self) -> list[tuple[str, Difference]]:
        """Every line's label: the row, below it what else; under a heading rows are new again."""
        seen: set[str] = set()
        labelled = []
        for d in self.differences:
            if d.is_heading:
                seen.clear()
            labelled.append((f"vs {d.against}" if d.name in seen else d.name, d))
            seen.add(d.name)
        return labelled


def _marks(difference: Difference, across: Scale, y: float) -> list[Html]:
    dots = [
        element("circle", cx=across.place(dot), cy=y + 7, r=2.2, class_="run")
        for dot in difference.dots
    ]
    if difference.delta is None:
        return dots
    low, high = difference.low, difference.high
    interval: list[Html] = []
    if low is not None and high is not None:
        interval = whisker(across.place(low), across.place(high), y, is_vertical=False)
    middle = across.place(difference.delta)
    corners = f"{middle - 5:g},{y:g} {middle:g},{y - 5:g} {middle + 5:g},{y:g} {middle:g},{y + 5:g}"
    return [*interval, *dots, element("polygon", points=corners)]


def _in_words(d: Difference) -> str:
    runs = f"; {len(d.dots)} run{'s' * (len(d.dots) != 1)}" if d.dots else ""
    if d.delta is None:
        return f"{d.name}{runs}"
    size = printed(d.delta, "+.2f")
    return f"{d.name} against {d.against}: {size}{interval_in_words(d.low, d.high)}{runs}"
