"""The figure of temperatures as data: its cells, the best of them, and the paper's claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from switchout.evaluation.comparison import Comparison
from switchout.experiments.contrasts import Scores
from switchout.experiments.experiment import RowRecord

Cell = tuple[float, float]  # (tau_x, tau_y)


@dataclass(frozen=True)
class TauGrid:
    """Dev BLEU over tau_x × tau_y.

    Attributes:
        cells: The rows with runs by their temperatures, in order.
        best: The cell of the highest dev BLEU among those planned with most seeds: the best of
            many single runs is mostly a lucky one, those tried again have shown more.
        against_none: The best cell against (0, 0), on dev; None where one of them is missing.
        best_tau_x: tau_y → the tau_x of the highest dev BLEU.
    """

    cells: dict[Cell, RowRecord]
    best: Cell
    against_none: Comparison | None = None
    best_tau_x: dict[float, float] = field(default_factory=dict)


def tau_grid(rows: Sequence[RowRecord], scores: Scores) -> TauGrid:
    """Return the grid of rows, at least one of which has runs."""
    cells = {_cell(row): row for row in sorted(rows, key=_cell) if row.runs}
    most = max(len(row.row.seeds) for row in cells.values())
    tried = [cell for cell, row in cells.items() if len(row.row.seeds) == most]
    best = max(tried, key=lambda cell: _dev_bleu(cells[cell]))
    none = cells.get((0.0, 0.0))
    return TauGrid(
        cells,
        best,
        scores.compare(none, cells[best], split="dev") if none and best != (0.0, 0.0) else None,
        _best_tau_x(cells),
    )


def _best_tau_x(cells: dict[Cell, RowRecord]) -> dict[float, float]:
    found = {}
    for tau_y in sorted({y for _, y in cells}):
        scored = {x: _dev_bleu(row) for (x, y), row in cells.items() if y == tau_y}
        if len(scored) > 1:
            found[tau_y] = max(scored, key=scored.__getitem__)
    return found


def _cell(row: RowRecord) -> Cell:
    augment = row.row.config.augment
    return augment.source.temperature or 0.0, augment.target.temperature or 0.0


def _dev_bleu(row: RowRecord) -> float:
    return row.median("dev_bleu") or 0.0
