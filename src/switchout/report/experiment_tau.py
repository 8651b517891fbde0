"""The figure of temperatures: a heat map of dev BLEU, its best cell, and the paper's claim."""

from __future__ import annotations

from collections.abc import Sequence

from switchout.evaluation.verdict import verdict
from switchout.experiments.experiment import RowRecord
from switchout.experiments.findings import Finding
from switchout.experiments.tau_grid import TauGrid
from switchout.report.charts import HeatMap
from switchout.report.experiment_tables import signatures
from switchout.report.page import Section
from switchout.report.tables import Column, Table

Grid = dict[tuple[float, float], RowRecord]


def tau_table(findings: Sequence[Finding]) -> Table:
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
            finding.column.name,
            *cell,
            row.median("dev_bleu"),
            row.median("dev_perplexity"),
            len(row.runs),
        )
        for finding in findings
        if finding.taus
        for cell, row in finding.taus.cells.items()
    ]
    return Table(
        "Dev BLEU by temperature, medians over seeds", columns, rows, note=signatures(findings)
    )


def tau_section(finding: Finding) -> Section:
    """The heat map of one corpus."""
    grid, best = _grid(finding).cells, _grid(finding).best
    xs, ys = (sorted({cell[axis] for cell in grid}) for axis in (0, 1))
    chart = HeatMap(
        f"{finding.column.name}: dev BLEU",
        [f"{x:.4g}" for x in xs],
        [f"{y:.4g}" for y in ys],
        [[_score(grid, x, y) for x in xs] for y in ys],
        [[_n_runs(grid, x, y) for x in xs] for y in ys],
        x_label="tau_x: SwitchOut on the source (0: none)",
        y_label="tau_y: RAML",
        best=(ys.index(best[1]), xs.index(best[0])),
        note=signatures([finding]),
    )
    return Section(finding.column.name, charts=[chart], remarks=tau_answers(finding))


def tau_answers(finding: Finding) -> list[str]:
    """The best pair with its interval, and whether a non-zero tau_x is always best."""
    taus = _grid(finding)
    grid, best = taus.cells, taus.best
    answers = [
        f"Best on dev: tau_x = {best[0]:.4g}, tau_y = {best[1]:.4g} ({_n_runs(grid, *best)})."
    ]
    if taus.against_none:
        answers[0] += (
            f" Against no noise, on dev: {verdict(taus.against_none)} The best of {len(grid)} "
            "cells is partly the luckiest: test it with fresh seeds."
        )
    if winners := taus.best_tau_x:
        n = sum(x > 0 for x in winners.values())
        answers.append(
            "The paper finds the best tau_x never 0, whatever tau_y: here it is above 0 for "
            f"{n} of {len(winners)} values of tau_y."
        )
    return answers


def _grid(finding: Finding) -> TauGrid:
    assert finding.taus is not None
    return finding.taus


def _score(grid: Grid, x: float, y: float) -> float | None:
    return grid[x, y].median("dev_bleu") if (x, y) in grid else None


def _n_runs(grid: Grid, x: float, y: float) -> str:
    """How many runs a cell's median has: a dark cell of one run is worth less."""
    n = len(grid[x, y].runs) if (x, y) in grid else 0
    return f"{n} run{'s' * (n > 1)}"
