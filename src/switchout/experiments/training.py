"""Train many runs on the pool of an engine, show how far they are, and list what failed."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from switchout.engines import Call, Engine, Lost, Pool
from switchout.errors import TRAINING, check_installed
from switchout.experiments.experiment import Experiment, save
from switchout.nmt.metrics import read_metrics
from switchout.progress import Meter
from switchout.runs.finished import RECORD, finished
from switchout.runs.job import Job, work
from switchout.runs.leases import is_held

POLL = 1.0  # seconds
PRELOAD = ["switchout.runs.train"]  # what a run needs, torch included


@dataclass(frozen=True)
class Failure:
    """A run that did not finish, and why."""

    job: Job
    reason: str


def train_experiment(experiment: Experiment, out: Path, engine: Engine) -> list[Failure]:
    """Write ``experiment.json`` into ``out`` and train every run; return the failures."""
    jobs = experiment.jobs()
    _unfinished(jobs, engine)  # what is not installed is told before a folder is made
    save(experiment, out)
    return train_all(jobs, engine, label=experiment.kind)


def train_all(jobs: Sequence[Job], engine: Engine, *, label: str = "training") -> list[Failure]:
    """Train every run that is not finished yet; return the failures. A failure stops no other."""
    unique: dict[Path, Job] = {}
    for job in jobs:
        unique.setdefault(job.folder, job)  # two rows may share runs: the first one names them
    waiting = deque(_unfinished(unique.values(), engine))
    if not waiting:
        return []
    failures: list[Failure] = []
    root = waiting[0].folder.parent
    every = list(unique.values())
    total = sum(job.config.train.steps for job in every)
    with (
        Meter(label, total=total, unit="steps", done=_steps_done(every)) as meter,
        engine.open(root, preload=PRELOAD) as pool,
    ):
        progress = _Progress(every, meter)
        while waiting or pool.running:
            _start(waiting, pool)
            for job, outcome in pool.ended():
                if isinstance(outcome, Lost):
                    failures.append(Failure(job, outcome.reason))
                elif outcome.state in ("busy", "stopped"):
                    waiting.append(job)  # another driver has it, or took it over: look again
                elif outcome.state == "failed":
                    failures.append(Failure(job, outcome.reason))
            progress.show(pool.running, n_waiting=len(waiting), n_failed=len(failures))
            time.sleep(POLL)
    return failures


def _unfinished(jobs: Iterable[Job], engine: Engine) -> list[Job]:
    """Return the runs to be trained, if what they need is installed where they will be."""
    unfinished = [job for job in jobs if finished(job.folder) is None]
    if unfinished and engine.name == "local":  # the nodes of a cluster have packages of their own
        check_installed(*TRAINING)
    return unfinished


def _start(waiting: deque[Job], pool: Pool) -> None:
    """Fill the pool with runs that nobody else has."""
    for _ in range(len(waiting)):
        if not pool.has_room:
            return
        job = waiting.popleft()
        if is_held(job.folder):
            waiting.append(job)
        else:
            call = Call(work, (job.config, job.folder.resolve()), job.config.train.threads)
            pool.start(job, call)


class _Progress:
    """Live progress of all runs, in steps; what earlier visits trained counts as done.

    A run that was killed goes on from its last state: the steps after it no longer count.
    """

    def __init__(self, jobs: list[Job], meter: Meter):
        self.jobs, self.meter = jobs, meter

    def show(self, running: list[Job], *, n_waiting: int, n_failed: int) -> None:
        """Say how many runs are done, and how far the first of those under way are."""
        parts = [f"{len(self.jobs) - n_waiting - len(running) - n_failed}/{len(self.jobs)} runs"]
        if n_failed:
            parts.append(f"{n_failed} failed")
        if not running and n_waiting:
            parts.append(f"waiting for {n_waiting} that another process trains")
        parts += [_describe(job) for job in running[:4]]
        made = _steps_done(self.jobs) - self.meter.done
        self.meter.advance(made, note=", ".join([*parts, *self._eta()]))

    def _eta(self) -> list[str]:
        if self.meter.rate <= 0 or self.meter.total is None:
            return []
        minutes = (self.meter.total - self.meter.done) / self.meter.rate / 60
        return [f"about {minutes:.0f} min left" if minutes >= 1 else "under a minute left"]


def _steps_done(jobs: list[Job]) -> int:
    return sum(
        job.config.train.steps
        if (job.folder / RECORD).exists()
        else int(_last_metrics(job).get("step", 0))
        for job in jobs
    )


def _last_metrics(job: Job) -> dict[str, Any]:
    records = [r for r in read_metrics(job.folder / "metrics.jsonl")[-3:] if "loss" in r]
    return records[-1] if records else {}


def _describe(job: Job) -> str:
    metrics = _last_metrics(job)
    return f"{job.label}: loss {metrics['loss']:.2f}" if metrics else f"{job.label}: starting"
