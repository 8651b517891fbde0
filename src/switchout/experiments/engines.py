"""Train many runs on any pool of workers, show how far they are, and list what failed."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from switchout.errors import SwitchOutError, did_you_mean
from switchout.nmt.metrics import read_metrics
from switchout.progress import Meter
from switchout.runs.finished import RECORD, Job, finished
from switchout.runs.leases import is_held
from switchout.runs.worker import Outcome

ENGINES = ["local", "ray"]
POLL = 1.0  # seconds


class Pool(Protocol):
    """Where runs are trained."""

    @property
    def has_room(self) -> bool: ...
    @property
    def running(self) -> list[Job]: ...
    def start(self, job: Job) -> None: ...
    def ended(self) -> list[tuple[Job, Outcome]]: ...


@dataclass(frozen=True)
class Engine:
    """Which pool to use: ``local`` processes or ``ray``, with so many workers."""

    name: str = "local"
    workers: int | None = None
    ray_address: str | None = None
    gpus: float = 0.0  # that a run needs; on Ray only

    def __post_init__(self) -> None:
        if self.name not in ENGINES:
            raise SwitchOutError(f"--engine {self.name}: unknown{did_you_mean(self.name, ENGINES)}")

    def open(self, jobs: Sequence[Job]) -> AbstractContextManager[Pool]:
        """Return the pool, to be entered."""
        if self.name == "local":
            from switchout.experiments.local_pool import local_pool

            return local_pool(self.workers)
        from switchout.experiments.ray_pool import ray_pool

        root = jobs[0].folder.parent
        return ray_pool(root, workers=self.workers, address=self.ray_address, gpus=self.gpus)


@dataclass(frozen=True)
class Failure:
    """A run that did not finish, and why."""

    job: Job
    reason: str


def train_all(jobs: Sequence[Job], engine: Engine, *, label: str = "training") -> list[Failure]:
    """Train every run that is not finished yet; return the failures. A failure stops no other."""
    unique: dict[Path, Job] = {}
    for job in jobs:
        unique.setdefault(job.folder, job)  # two rows may share runs: the first one names them
    waiting = deque(job for job in unique.values() if finished(job.folder) is None)
    if not waiting:
        return []
    failures: list[Failure] = []
    with _table(list(unique.values()), label) as table, engine.open(list(waiting)) as pool:
        while waiting or pool.running:
            _start(waiting, pool)
            for job, outcome in pool.ended():
                if outcome.state in ("busy", "stopped"):
                    waiting.append(job)  # another driver has it, or took it over: look again
                elif outcome.state == "failed":
                    failures.append(Failure(job, outcome.reason))
            table.show(pool.running, n_waiting=len(waiting), n_failed=len(failures))
            time.sleep(POLL)
    return failures


def _start(waiting: deque[Job], pool: Pool) -> None:
    """Fill the pool with runs that nobody else has."""
    for _ in range(len(waiting)):
        if not pool.has_room:
            return
        job = waiting.popleft()
        if is_held(job.folder):
            waiting.append(job)
        else:
            pool.start(job)


class _Table:
    """Live progress of all runs, in steps; what earlier visits trained counts as done."""

    def __init__(self, jobs: list[Job], meter: Meter):
        self.jobs, self.meter = jobs, meter
        self.begun, self.begun_steps = time.monotonic(), meter.done

    def show(self, running: list[Job], *, n_waiting: int, n_failed: int) -> None:
        parts = [f"{len(self.jobs) - n_waiting - len(running) - n_failed}/{len(self.jobs)} runs"]
        if n_failed:
            parts.append(f"{n_failed} failed")
        if not running and n_waiting:
            parts.append(f"waiting for {n_waiting} that another process trains")
        parts += [_describe(job) for job in running[:4]]
        made = _steps_done(self.jobs) - self.meter.done
        self.meter.advance(made, note=", ".join([*parts, *self._eta()]))

    def _eta(self) -> list[str]:
        made, seconds = self.meter.done - self.begun_steps, time.monotonic() - self.begun
        if made <= 0 or self.meter.total is None:
            return []
        minutes = (self.meter.total - self.meter.done) / made * seconds / 60
        return [f"about {minutes:.0f} min left" if minutes >= 1 else "under a minute left"]


@contextmanager
def _table(jobs: list[Job], label: str) -> Iterator[_Table]:
    total = sum(job.config.train.steps for job in jobs)
    with Meter(label, total=total, unit="steps", done=_steps_done(jobs)) as meter:
        yield _Table(jobs, meter)


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
