"""The figure of temperatures: dev BLEU over tau_x × tau_y, in full or by successive halving.

* Up to `FULL_GRID` cells: every cell once, then the best few with all seeds.
* Larger grids: all cells with a quarter of the steps, the better half with half of them, the best
  quarter in full (Jamieson and Talwalkar 2016). Only full runs are in the figure.
* (0, 0), the row without noise, always runs in full with all seeds: the best pair is compared
  with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path

from switchout.engines import Engine
from switchout.experiments.rows import Row, Tried, tau_name, with_taus
from switchout.experiments.training import Failure, train_all
from switchout.runs.config import Config
from switchout.runs.finished import finished, job_of

FULL_GRID = 36
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
) -> tuple[list[Row], list[Failure], Tried]:
    """Train the grid; return its rows, what failed, and the short runs that halved the grid.

    Args:
        base: Of all cells.
        taus_x, taus_y: The grid; 0 is added to both.
        seeds: The grid uses the first, the best cells and (0, 0) all of them.
    """
    grid = list(product(sorted({0.0, *taus_x}), sorted({0.0, *taus_y})))
    failures: list[Failure] = []
    cells, tried = grid, list[Row]()
    if len(grid) > FULL_GRID:
        for part in (4, 2):
            short = [_short_row(base, cell, seeds[:1], part) for cell in cells]
            failures += _train(short, engine, root)
            tried += short
            cells = _best(cells, short, len(cells) // 2, root)
    rows = [_row(base, cell, seeds[:1]) for cell in sorted({*cells, (0.0, 0.0)})]
    failures += _train(rows, engine, root)
    full = [_row(base, cell, seeds[:1]) for cell in cells]
    chosen = {*_best(cells, full, N_BEST, root), (0.0, 0.0)}
    rows = [
        _row(base, cell, seeds if cell in chosen else seeds[:1])
        for cell in sorted({*cells, (0.0, 0.0)})
    ]
    return rows, failures + _train(rows, engine, root), tuple(tried)


def _row(base: Config, cell: Cell, seeds: Sequence[int]) -> Row:
    return Row(tau_name(*cell), with_taus(base, *cell), tuple(seeds))


def _short_row(base: Config, cell: Cell, seeds: Sequence[int], part: int) -> Row:
    """The same with fewer steps: runs of their own, their schedule ends where they end."""
    row = _row(base, cell, seeds)
    return Row(f"{row.name} (1/{part})", _shortened(row.config, part), row.seeds)


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


def _shortened(config: Config, part: int) -> Config:
    steps = max(config.train.steps // part, 1)
    every = min(config.train.checkpoint_every, steps)
    update = {"steps": steps, "checkpoint_every": every}
    return config.model_copy(update={"train": config.train.model_copy(update=update)})
