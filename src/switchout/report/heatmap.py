"""A grid of numbers as colours, with the numbers in it: dev BLEU by the two temperatures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

WIDTH, HEIGHT = 86, 40  # of a cell
LEFT, TOP = 70, 10


@dataclass(frozen=True)
class HeatMap:
    """Numbers over two quantities.

    Attributes:
        title: Caption.
        x_labels, y_labels: Of the columns, left to right, and of the rows, bottom to top.
        values: [row][column], None where there is none.
        details: [row][column], small text below the number; none where empty.
        x_label, y_label: Of the axes.
        best: (row, column) to frame.
        note: The line that identifies the numbers.
    """

    title: str
    x_labels: Sequence[str]
    y_labels: Sequence[str]
    values: Sequence[Sequence[float | None]]
    details: Sequence[Sequence[str]] = ()
    x_label: str = ""
    y_label: str = ""
    best: tuple[int, int] | None = None
    note: str = ""
    template: ClassVar[str] = "heatmap.html"

    @property
    def width(self) -> int:
        return LEFT + WIDTH * len(self.x_labels) + 10

    @property
    def height(self) -> int:
        return TOP + HEIGHT * len(self.y_labels) + 46

    def cells(self) -> list[dict[str, float | int | str | bool]]:
        """Return place, text and shade (0 to 1) of every cell that has a number."""
        known = [v for row in self.values for v in row if v is not None]
        low, high = min(known, default=0.0), max(known, default=1.0)
        span = (high - low) or 1.0
        return [
            {
                "x": self.x(j),
                "y": self.y(i),
                "text": f"{value:.2f}",
                "detail": self.details[i][j] if self.details else "",
                "shade": round(0.08 + 0.84 * (value - low) / span, 3),
                "is_dark": (value - low) / span > 0.55,
                "is_best": (i, j) == self.best,
            }
            for i, row in enumerate(self.values)
            for j, value in enumerate(row)
            if value is not None
        ]

    def x(self, column: int) -> int:
        """Left edge of a column."""
        return LEFT + WIDTH * column

    def y(self, row: int) -> int:
        """Upper edge of a row."""
        return TOP + HEIGHT * (len(self.y_labels) - 1 - row)
