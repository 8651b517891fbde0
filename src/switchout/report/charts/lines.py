"""Curves over a numeric axis: learning curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from switchout.report.charts.chart import (
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Chart,
    group,
    x_axis,
    y_axis,
)
from switchout.report.charts.scale import Scale, printed, shown
from switchout.report.elements import Child, Html, element

HEIGHT, BOTTOM = 250, 36
MOST_DOTS = 40  # a curve with more points is drawn without dots


@dataclass(frozen=True)
class Line:
    """One curve: points (x, y) in order."""

    name: str
    points: Sequence[tuple[float, float]]


@dataclass(frozen=True)
class LineChart(Chart):
    """Curves on common axes, which need not begin at zero.

    Attributes:
        lines: The curves; those without points are in the legend only.
        is_log: Logarithmic y axis, for perplexities.
    """

    lines: Sequence[Line]
    is_log: bool = False

    def names(self) -> list[str]:
        """Return the names of the curves."""
        return [line.name for line in self.lines]

    def marks(self) -> tuple[Child, float]:
        """Return all that is drawn, and the height of the drawing."""
        colours = self.key()
        points = [point for line in self.lines for point in line.points]
        bottom = HEIGHT - BOTTOM
        across = Scale.over((x for x, _ in points), start=LEFT, end=WIDTH - RIGHT)
        up = Scale.over((y for _, y in points), start=bottom, end=TOP, is_log=self.is_log)
        marks = [
            *y_axis(up, left=LEFT, right=WIDTH - RIGHT, label=self.y_label),
            *x_axis(across, top=bottom, bottom=bottom, label=self.x_label),
        ]
        marks += [_curve(line, colours[line.name], across, up) for line in self.lines]
        return marks, HEIGHT


def _curve(line: Line, colour: str, across: Scale, up: Scale) -> Html:
    places = [(across.place(x), up.place(y)) for x, y in line.points]
    path = element("polyline", points=" ".join(f"{x:g},{y:g}" for x, y in places))
    dots = [
        element("circle", element("title", _says(line.name, *point)), cx=x, cy=y, r=2.5)
        for point, (x, y) in zip(line.points, places, strict=True)
        if len(places) <= MOST_DOTS
    ]
    return group(path, dots, says=_in_words(line), colour=colour)


def _says(name: str, x: float, y: float) -> str:
    return f"{name}, {shown(x)}: {printed(y, '.2f')}"


def _in_words(line: Line) -> str:
    if not line.points:
        return f"{line.name}: no points"
    ends = line.points[0], line.points[-1]
    first, last = (f"{printed(y, '.2f')} at {shown(x)}" for x, y in ends)
    return f"{line.name}: from {first} to {last}"
