"""The figure of temperatures: dev BLEU over tau_x × tau_y.

Every cell is trained once, then the best few with all seeds. (0, 0), the row without noise, always
has all seeds: the best pair is compared with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path

from switchout.engines import Engine
from switchout.experiments.rows import Row, tau_name, with_taus
from switchout.experiments.training import Failure, train_all
from switchout.runs.config import Config
from switchout.runs.finished import finished, job_of

N_BEST = 3
Cell = tuple[float, float]


def search_taus(
    base: Config,
    engine: Engine,
    *,
    taus_x: Sequence[float],
    taus_y: Sequence[float],
    seeds: Sequence[int],
    root: Path | None = None,
) -> tuple[list[Row], list[Failure]]:
    """Train the grid; return its rows and what failed.

    Args:
        base: Of all cells.
        engine: Where to train.
        taus_x, taus_y: The grid; 0 is added to both.
        seeds: The grid uses the first, the best cells and (0, 0) all of them.
        root: Where the runs are; None: see `runs_root`.
    """
    cells = list(product(sorted({0.0, *taus_x}), sorted({0.0, *taus_y})))
    once = [_row(base, cell, seeds[:1]) for cell in cells]
    failures = _train(once, engine, root)
    chosen = {*_best(cells, once, N_BEST, root), (0.0, 0.0)}
    rows = [_row(base, cell, seeds if cell in chosen else seeds[:1]) for cell in cells]
    return rows, failures + _train(rows, engine, root)


def _row(base: Config, cell: Cell, seeds: Sequence[int]) -> Row:
    return Row(tau_name(*cell), with_taus(base, *cell), tuple(seeds))


def _train(rows: Sequence[Row], engine: Engine, root: Path | None) -> list[Failure]:
    jobs = [
        job_of(config, label=f"{row.name} seed {config.seed}", root=root)
        for row in rows
        for config in row.configs()
    ]
    return train_all(jobs, engine, label="tau")


def _best(cells: list[Cell], rows: Sequence[Row], n: int, root: Path | None) -> list[Cell]:
    """Return the cells of the best dev BLEU with the first seed; unfinished ones are last."""
    scores = []
    for cell, row in zip(cells, rows, strict=True):
        run = finished(job_of(row.configs()[0], label="", root=root).folder)
        scores.append((run.number("dev_bleu") if run else -1.0, cell))
    return [cell for _, cell in sorted(scores, key=lambda pair: -pair[0])[:n]]
