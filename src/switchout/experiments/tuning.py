"""What is chosen on dev before the runs that count.

* Stage 0: dropout and label smoothing of the row without noise, for all rows. A baseline that is
  not regularised makes any noise look good.
* The figure of temperatures: dev BLEU over tau_x × tau_y. Every cell is trained once, then the best
  few with all seeds, and so is (0, 0), the row without noise, which the best pair is compared with.
* Temperatures of rows beside the paper's: of +SwitchOut, of +RAML and of both together. RAML is
  tuned as well, or what a better tau_y brings would be credited to SwitchOut.

Tuning for a table uses a seed of its own, so that every run of the table is a fresh one.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from switchout.engines import Engine
from switchout.errors import SwitchOutError
from switchout.experiments.experiment import CorpusRows, Experiment, Row, RowRecord, Trials, records
from switchout.experiments.paper import (
    RAML,
    RAML_SWITCHOUT,
    SWITCHOUT,
    TunedTaus,
    tau_name,
    with_noise,
    with_taus,
)
from switchout.experiments.training import Failure, train_all
from switchout.runs.config import Augment, Config

log = logging.getLogger(__name__)

TUNING_SEED = 1001
DROPOUTS, SMOOTHINGS = (0.1, 0.2, 0.3), (0.0, 0.1)
TAUS = (0.7, 1.0, 1.3)  # of either side
N_BEST = 3  # cells of the figure that get all seeds


def tune(base: Config, engine: Engine) -> tuple[Config, Trials]:
    """Return the configuration with the best dev BLEU, and all that was tried."""
    candidates = {
        f"dropout {dropout:g}, label smoothing {smoothing:g}": regularised(
            base, dropout=dropout, label_smoothing=smoothing
        )
        for dropout, smoothing in product(DROPOUTS, SMOOTHINGS)
    }
    tried = [_trial(name, with_noise(c, Augment())) for name, c in candidates.items()]
    best = best_on_dev(tried, engine, label="tuning")
    log.info("tuned on dev: %s", tried[best].name)
    return candidates[tried[best].name], tuple(tried)


def tune_taus(
    base: Config,
    engine: Engine,
    *,
    taus_x: Sequence[float] = TAUS,
    taus_y: Sequence[float] = TAUS,
) -> dict[str, TunedTaus]:
    """Return the temperatures with the best dev BLEU for every row that has some, by row name."""
    grids = {
        SWITCHOUT: [(x, 0.0) for x in taus_x],
        RAML: [(0.0, y) for y in taus_y],
        RAML_SWITCHOUT: list(product(taus_x, taus_y)),
    }
    tuned = {}
    for name, grid in grids.items():
        tried = [_trial(tau_name(*taus), with_taus(base, *taus)) for taus in grid]
        best = best_on_dev(tried, engine, label=f"tuning {name}")
        log.info("tuned on dev: %s, %s", name, tried[best].name)
        tuned[name] = TunedTaus(*grid[best], tuple(tried))
    return tuned


def search_taus(
    base: Config,
    engine: Engine,
    *,
    taus_x: Sequence[float],
    taus_y: Sequence[float],
    seeds: Sequence[int],
) -> tuple[list[Row], list[Failure]]:
    """Train the grid of the figure; return its rows and what failed.

    Args:
        base: Of all cells.
        engine: Where to train.
        taus_x, taus_y: The grid; 0 is added to both.
        seeds: The grid uses the first, the best cells and (0, 0) all of them.
    """
    cells = list(product(sorted({0.0, *taus_x}), sorted({0.0, *taus_y})))
    rows = [Row(tau_name(*cell), with_taus(base, *cell), (seeds[0],)) for cell in cells]
    once, _ = _trained(rows, engine, label="tau")
    best = sorted(range(len(rows)), key=lambda i: -_dev_bleu(once[i]))[:N_BEST]
    for i in {*best, cells.index((0.0, 0.0))}:
        rows[i] = replace(rows[i], seeds=tuple(seeds))
    _, failures = _trained(rows, engine, label="tau")  # tries again what failed in the first round
    return rows, failures


def best_on_dev(tried: Sequence[Row], engine: Engine, *, label: str) -> int:
    """Train a run of each and return the index of the best dev BLEU; what fails is out."""
    records, failures = _trained(tried, engine, label=label)
    if not any(record.runs for record in records):
        raise SwitchOutError(f"{label}: no run finished: {failures[0].reason}")
    scores = [_dev_bleu(record) for record in records]
    return scores.index(max(scores))  # of equals the first


def _trained(
    rows: Sequence[Row], engine: Engine, *, label: str
) -> tuple[list[RowRecord], list[Failure]]:
    """Train all runs of some rows; return what is finished and what failed."""
    experiment = Experiment(label, (CorpusRows(label, tuple(rows)),), "")
    failures = train_all(experiment.jobs(), engine, label=label)
    return records(experiment, rows), failures


def _dev_bleu(record: RowRecord) -> float:
    score = record.median("dev_bleu")
    return -1.0 if score is None else score  # unfinished ones are last


def regularised(base: Config, *, dropout: float, label_smoothing: float) -> Config:
    """Return the configuration with these two values."""
    model = base.model.model_copy(update={"dropout": dropout})
    train = base.train.model_copy(update={"label_smoothing": label_smoothing})
    return base.model_copy(update={"model": model, "train": train})


def _trial(name: str, config: Config) -> Row:
    return Row(name, config, (TUNING_SEED,))
