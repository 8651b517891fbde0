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

from switchout.experiments.config import Config
from switchout.experiments.engines import Engine, Failure, train_all
from switchout.experiments.rows import Row, tau_name, with_taus
from switchout.experiments.runs import finished, job_of

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
) -> tuple[list[Row], list[Failure], int]:
    """Train the grid; return its rows, what failed, and the number of short runs spent.

    Args:
        base: Of all cells.
        taus_x, taus_y: The grid; 0 is added to both.
        seeds: The grid uses the first, the best cells and (0, 0) all of them.
    """
    grid = list(product(sorted({0.0, *taus_x}), sorted({0.0, *taus_y})))
    failures: list[Failure] = []
    cells, n_short = grid, 0
    if len(grid) > FULL_GRID:
        for part in (4, 2):
            short = [_shortened(_config(base, cell, seeds[0]), part) for cell in cells]
            failures += _train(short, [f"{tau_name(*c)} (1/{part})" for c in cells], engine, root)
            n_short += len(cells)
            cells = _best(cells, short, len(cells) // 2, root)
    rows = [_row(base, cell, seeds[:1]) for cell in sorted({*cells, (0.0, 0.0)})]
    failures += _train_rows(rows, engine, root)
    full = [_config(base, cell, seeds[0]) for cell in cells]
    chosen = {*_best(cells, full, N_BEST, root), (0.0, 0.0)}
    rows = [
        _row(base, cell, seeds if cell in chosen else seeds[:1])
        for cell in sorted({*cells, (0.0, 0.0)})
    ]
    return rows, failures + _train_rows(rows, engine, root), n_short


def _config(base: Config, cell: Cell, seed: int) -> Config:
    return with_taus(base, *cell).model_copy(update={"seed": seed})


def _row(base: Config, cell: Cell, seeds: Sequence[int]) -> Row:
    return Row(tau_name(*cell), with_taus(base, *cell), tuple(seeds))


def _train_rows(rows: list[Row], engine: Engine, root: Path | None) -> list[Failure]:
    configs = [config for row in rows for config in row.configs()]
    labels = [f"{row.name} seed {seed}" for row in rows for seed in row.seeds]
    return _train(configs, labels, engine, root)


def _train(
    configs: Sequence[Config], labels: Sequence[str], engine: Engine, root: Path | None
) -> list[Failure]:
    jobs = [job_of(c, label=label, root=root) for c, label in zip(configs, labels, strict=True)]
    return train_all(jobs, engine, label="tau")


def _best(cells: list[Cell], configs: Sequence[Config], n: int, root: Path | None) -> list[Cell]:
    """Return the cells of the best dev BLEU; unfinished ones are last."""
    scores = []
    for cell, config in zip(cells, configs, strict=True):
        run = finished(job_of(config, label="", root=root).folder)
        scores.append((run.number("dev_bleu") if run else -1.0, cell))
    return [cell for _, cell in sorted(scores, key=lambda pair: -pair[0])[:n]]


def _shortened(config: Config, part: int) -> Config:
    """The same with fewer steps: a run of its own, its schedule ends where it ends."""
    steps = max(config.train.steps // part, 1)
    every = min(config.train.checkpoint_every, steps)
    update = {"steps": steps, "checkpoint_every": every}
    return config.model_copy(update={"train": config.train.model_copy(update=update)})
