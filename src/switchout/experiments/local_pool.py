"""Runs on this machine: a process each, one thread each.

Processes are forked from a server that has imported torch once. A process whose driver dies saves
its run and ends.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from switchout.runs.config import Config
from switchout.runs.finished import Job
from switchout.runs.worker import Outcome, work

GRACE = 30.0  # seconds a run gets to save itself
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class LocalPool:
    """Processes that each train one run."""

    def __init__(self, workers: int):
        self.workers = workers
        self._running: dict[Job, tuple[BaseProcess, Connection]] = {}
        for name in THREADS:
            os.environ.setdefault(name, "1")  # inherited; as many runs as processors
        is_linux = sys.platform == "linux"  # elsewhere a fork after importing torch is not safe
        self._context: Any = multiprocessing.get_context("forkserver" if is_linux else "spawn")
        if is_linux:
            modules = ["switchout.runs.record", "switchout.runs.train"]
            self._context.set_forkserver_preload(modules)

    @property
    def has_room(self) -> bool:
        return len(self._running) < self.workers

    @property
    def running(self) -> list[Job]:
        return list(self._running)

    def start(self, job: Job) -> None:
        """Begin a run; call only while there is room."""
        ours, theirs = self._context.Pipe(duplex=False)
        process = self._context.Process(target=_main, args=(job.config, job.folder, theirs))
        process.start()
        theirs.close()
        self._running[job] = (process, ours)

    def ended(self) -> list[tuple[Job, Outcome]]:
        """Return the runs that ended since the last call."""
        gone = [job for job, (process, _) in self._running.items() if not process.is_alive()]
        return [(job, self._outcome(job)) for job in gone]

    def close(self) -> None:
        """Ask everything that still runs to save itself and end."""
        for process, _ in self._running.values():
            process.terminate()
        for process, _ in self._running.values():
            process.join(GRACE)
            process.kill()
        self._running.clear()

    def _outcome(self, job: Job) -> Outcome:
        process, ours = self._running.pop(job)
        process.join()
        with ours:
            try:
                outcome: Outcome = ours.recv()
                return outcome
            except EOFError:
                pass
        code = process.exitcode or 0
        cause = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        hint = "; out of memory?" if code == -signal.SIGKILL else ""
        return Outcome("failed", f"its process ended ({cause}{hint})")


def _main(config: Config, folder: Path, report: Connection) -> None:
    threading.Thread(target=_end_with_driver, daemon=True).start()
    report.send(work(config, folder))


def _end_with_driver() -> None:
    driver = multiprocessing.parent_process()
    assert driver is not None
    driver.join()
    os.kill(os.getpid(), signal.SIGTERM)  # the trainer saves and ends
    time.sleep(GRACE)
    os._exit(1)


@contextmanager
def local_pool(workers: int | None = None) -> Iterator[LocalPool]:
    """Yield a pool and close it, whatever happens."""
    pool = LocalPool(workers or processors())
    try:
        yield pool
    finally:
        pool.close()
