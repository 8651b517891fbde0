"""The figure of temperatures: a heat map of dev BLEU, and its cells as a table."""

from __future__ import annotations

from collections.abc import Sequence

from switchout.experiments.analysis import Analysis
from switchout.experiments.tau_grid import TauGrid
from switchout.report.charts import HeatMap
from switchout.report.tables import Column, Table


def tau_map(taus: TauGrid) -> HeatMap:
    """Return the heat map of one corpus; small print says how many runs a cell has."""
    xs, ys = (sorted({cell[axis] for cell in taus.cells}) for axis in (0, 1))
    rows = [[taus.cells.get((x, y)) for x in xs] for y in ys]
    return HeatMap(
        "Dev BLEU, medians over seeds",
        [f"{x:.4g}" for x in xs],
        [f"{y:.4g}" for y in ys],
        [[row.median("dev_bleu") if row else None for row in line] for line in rows],
        [[_runs(len(row.runs)) if row else "" for row in line] for line in rows],
        x_label="tau_x: SwitchOut on the source (0: none)",
        y_label="tau_y: RAML",
        best=(ys.index(taus.best[1]), xs.index(taus.best[0])),
    )


def tau_table(analyses: Sequence[Analysis]) -> Table:
    """A row per cell of the grid."""
    columns = [
        Column("corpus"),
        Column("tau_x", format=".4g"),
        Column("tau_y", format=".4g"),
        Column("dev BLEU", "dev_bleu", ".2f"),
        Column("dev perplexity", "dev_perplexity", ".2f"),
        Column("runs", format="d"),
    ]
    rows = [
        (
            analysis.name,
            *cell,
            row.median("dev_bleu"),
            row.median("dev_perplexity"),
            len(row.runs),
        )
        for analysis in analyses
        if analysis.taus
        for cell, row in analysis.taus.cells.items()
    ]
    return Table("Dev BLEU by temperature, medians over seeds", columns, rows)


def _runs(n: int) -> str:
    """A dark cell of one run is worth less than one of several."""
    return f"{n} run{'s' * (n != 1)}"
