"""A number in every cell of a grid, the larger the darker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from switchout.report.charts.chart import (
    RIGHT,
    WIDTH,
    Chart,
    group,
    longest,
    sideways,
    text,
)
from switchout.report.elements import Child, Html, element

TOP, BOTTOM, WIDEST, TALLEST = 4, 36, 86.0, 40.0
DARK = 0.55  # from this share on, text is light


@dataclass(frozen=True)
class HeatMap(Chart):
    """Numbers over two quantities.

    Attributes:
        x_labels, y_labels: Of the columns, left to right, and of the rows, bottom to top.
        values: [row][column], None where there is none.
        details: [row][column], small text below the number; none where empty.
        best: (row, column) to frame.
    """

    x_labels: Sequence[str]
    y_labels: Sequence[str]
    values: Sequence[Sequence[float | None]]
    details: Sequence[Sequence[str]] = ()
    best: tuple[int, int] | None = None

    def marks(self) -> tuple[Child, float]:
        """Return all that is drawn, and the height of the drawing."""
        bottom = TOP + TALLEST * len(self.y_labels)
        marks = [sideways(self.y_label, (TOP + bottom) / 2)]
        marks += [self._row(i) for i in range(len(self.y_labels))]
        marks += [
            text(self._x(j) + self._width / 2, bottom + 14, label)
            for j, label in enumerate(self.x_labels)
        ]
        middle = (self._left + self._x(len(self.x_labels))) / 2
        marks.append(text(middle, bottom + 30, self.x_label, class_="axis"))
        return marks, bottom + BOTTOM

    @property
    def _left(self) -> float:
        return 26 + longest(self.y_labels)

    @property
    def _width(self) -> float:
        return min(WIDEST, (WIDTH - RIGHT - self._left) / max(len(self.x_labels), 1))

    def _x(self, column: int) -> float:
        return self._left + self._width * column

    def _row(self, i: int) -> Html:
        y = TOP + TALLEST * (len(self.y_labels) - 1 - i)
        label = text(self._left - 5, y + TALLEST / 2 + 4, self.y_labels[i], anchor="end")
        known = [(j, value) for j, value in enumerate(self.values[i]) if value is not None]
        cells = [self._cell(i, j, y, value) for j, value in known]
        words = ", ".join(f"{self.x_labels[j]}: {value:.2f}" for j, value in known)
        says = f"{self.y_label} {self.y_labels[i]}; {self.x_label} {words}"
        return group(label, cells, says=says)

    def _cell(self, i: int, j: int, y: float, value: float) -> Html:
        share, is_best = self._share(value), (i, j) == self.best
        detail = self.details[i][j] if self.details else ""
        middle = self._x(j) + self._width / 2
        square = element(
            "rect",
            x=self._x(j) + 1,
            y=y + 1,
            width=self._width - 2,
            height=TALLEST - 2,
            fill_opacity=f"{0.08 + 0.84 * share:.2f}",
            class_="best" if is_best else None,
        )
        return element(
            "g",
            square,
            text(middle, y + (18 if detail else 24), f"{value:.2f}", class_="value"),
            text(middle, y + 32, detail, class_="detail") if detail else None,
            class_="cell dark" if share > DARK else "cell",
        )

    def _share(self, value: float) -> float:
        """Where a value lies between the smallest and the largest."""
        known = [v for row in self.values for v in row if v is not None]
        low, high = min(known), max(known)
        return (value - low) / (high - low) if high > low else 0.5
