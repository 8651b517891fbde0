"""Runs on a Ray cluster: a task each, with the processors and GPUs it needs.

Nodes share the runs' folder. A task lost with its node starts again elsewhere and goes on from the
run's last checkpoint; Ray ends the processes of a lost node or driver.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from switchout.engines import check_nodes_see, start_ray
from switchout.experiments.local_pool import THREADS
from switchout.runs.config import Config
from switchout.runs.finished import Job
from switchout.runs.worker import Outcome, work

RETRIES = 10  # of a task whose node was lost


class RayPool:
    """Tasks that each train one run. There is always room: Ray queues what does not fit."""

    has_room = True

    def __init__(self, ray: Any, gpus: float):
        self._ray, self._gpus = ray, gpus
        self._running: dict[Any, Job] = {}
        # A process serves one task, so that no run inherits anything from another.
        self._task = ray.remote(max_retries=RETRIES, max_calls=1)(_work)

    @property
    def running(self) -> list[Job]:
        return list(self._running.values())

    def start(self, job: Job) -> None:
        """Hand a run to Ray."""
        task = self._task.options(num_cpus=job.config.train.threads, num_gpus=self._gpus)
        here = {"SWITCHOUT_DATA": os.environ.get("SWITCHOUT_DATA", "")}
        promise = task.remote(job.config, job.folder.resolve(), str(Path.cwd()), here)
        self._running[promise] = job

    def ended(self) -> list[tuple[Job, Outcome]]:
        """Return the runs that ended since the last call."""
        if not self._running:
            return []
        n = len(self._running)
        done, _ = self._ray.wait(list(self._running), num_returns=n, timeout=0)
        return [(self._running.pop(promise), self._outcome(promise)) for promise in done]

    def _outcome(self, promise: Any) -> Outcome:
        try:
            outcome: Outcome = self._ray.get(promise)
            return outcome
        except self._ray.exceptions.RayError as error:
            return Outcome("failed", f"Ray gave it up: {str(error).splitlines()[0]}")


@contextmanager
def ray_pool(
    root: Path, *, workers: int | None, address: str | None, gpus: float
) -> Iterator[RayPool]:
    """Yield a pool on a running cluster, or on Ray started here; its tasks end with the block."""
    root.mkdir(parents=True, exist_ok=True)
    with start_ray(address=address, workers=workers) as ray:
        check_nodes_see(ray, root)
        pool = RayPool(ray, gpus)
        try:
            yield pool
        finally:
            for promise in list(pool._running):
                ray.cancel(promise, force=True)


def _work(config: Config, folder: Path, here: str, environment: dict[str, str]) -> Outcome:
    """Train a run as if in the driver's folder: corpora may be named relative to it."""
    if Path(here).is_dir():
        os.chdir(here)
    os.environ |= {name: value for name, value in environment.items() if value}
    os.environ |= dict.fromkeys(THREADS, str(config.train.threads))
    return work(config, folder)
