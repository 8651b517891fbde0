"""What is chosen on dev before the runs that count.

* Stage 0: dropout and label smoothing of the row without noise, for all rows. A baseline that is
  not regularised makes any noise look good.
* Temperatures: of +SwitchOut, of +RAML and of both together, for rows beside the paper's. RAML is
  tuned as well, or what a better tau_y brings would be credited to SwitchOut.

Tuning uses a seed of its own, so that every run of the table is a fresh one.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from switchout.engines import Engine
from switchout.errors import SwitchOutError
from switchout.experiments.paper import RAML, RAML_SWITCHOUT, SWITCHOUT
from switchout.experiments.rows import Row, Trials, TunedTaus, tau_name, with_noise, with_taus
from switchout.experiments.training import train_all
from switchout.runs.config import Augment, Config
from switchout.runs.finished import finished, job_of

log = logging.getLogger(__name__)

TUNING_SEED = 1001
DROPOUTS, SMOOTHINGS = (0.1, 0.2, 0.3), (0.0, 0.1)
TAUS = (0.7, 1.0, 1.3)  # of either side


def tune(base: Config, engine: Engine, *, root: Path | None = None) -> tuple[Config, Trials]:
    """Return the configuration with the best dev BLEU, and all that was tried."""
    candidates = {
        f"dropout {dropout:g}, label smoothing {smoothing:g}": regularised(
            base, dropout=dropout, label_smoothing=smoothing
        )
        for dropout, smoothing in product(DROPOUTS, SMOOTHINGS)
    }
    tried = [_trial(name, with_noise(c, Augment())) for name, c in candidates.items()]
    best = best_on_dev(tried, engine, label="tuning", root=root)
    log.info("tuned on dev: %s", tried[best].name)
    return candidates[tried[best].name], tuple(tried)


def tune_taus(
    base: Config,
    engine: Engine,
    *,
    taus_x: Sequence[float] = TAUS,
    taus_y: Sequence[float] = TAUS,
    root: Path | None = None,
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
        best = best_on_dev(tried, engine, label=f"tuning {name}", root=root)
        log.info("tuned on dev: %s, %s", name, tried[best].name)
        tuned[name] = TunedTaus(*grid[best], tuple(tried))
    return tuned


def best_on_dev(
    tried: Sequence[Row], engine: Engine, *, label: str, root: Path | None = None
) -> int:
    """Train a run of each and return the index of the best dev BLEU; what fails is out."""
    configs = [row.configs()[0] for row in tried]
    jobs = [job_of(config, label=f"{label} {i + 1}", root=root) for i, config in enumerate(configs)]
    failures = train_all(jobs, engine, label=label)
    runs = [finished(job.folder) for job in jobs]
    scores = [(run.number("dev_bleu"), -i) for i, run in enumerate(runs) if run is not None]
    if not scores:
        raise SwitchOutError(f"{label}: no run finished: {failures[0].reason}")
    return -max(scores)[1]  # of equals the first


def regularised(base: Config, *, dropout: float, label_smoothing: float) -> Config:
    """Return the configuration with these two values."""
    model = base.model.model_copy(update={"dropout": dropout})
    train = base.train.model_copy(update={"label_smoothing": label_smoothing})
    return base.model_copy(update={"model": model, "train": train})


def _trial(name: str, config: Config) -> Row:
    return Row(name, config, (TUNING_SEED,))
