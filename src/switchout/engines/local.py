"""Calls on this machine: a process each.

Processes are forked from a server that has imported what they need once. A process whose driver
dies is asked to end, and gets some seconds to save its work.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from types import ModuleType
from typing import Any

from switchout.engines.pool import THREADS, Call, Lost, processors

GRACE = 30.0  # seconds a process gets to save its work


class LocalPool:
    """Processes that each make one call."""

    def __init__(self, workers: int, preload: Sequence[str]):
        self.workers = workers
        self._running: dict[Any, tuple[BaseProcess, Connection]] = {}
        for name in THREADS:
            os.environ.setdefault(name, "1")  # inherited; as many processes as processors
        is_linux = sys.platform == "linux"  # elsewhere a fork after importing torch is not safe
        self._context: Any = multiprocessing.get_context("forkserver" if is_linux else "spawn")
        if is_linux:
            self._context.set_forkserver_preload([__name__, *preload])

    @property
    def has_room(self) -> bool:
        return len(self._running) < self.workers

    @property
    def running(self) -> list[Any]:
        return list(self._running)

    def start(self, key: Any, call: Call) -> None:
        """See `Pool`."""
        ours, theirs = self._context.Pipe(duplex=False)
        arguments = (call.function, call.arguments, theirs)
        process = self._context.Process(target=_main, args=arguments)
        with _without_main():
            process.start()
        theirs.close()
        self._running[key] = (process, ours)

    def ended(self) -> list[tuple[Any, Any]]:
        """See `Pool`."""
        gone = [key for key, (process, _) in self._running.items() if not process.is_alive()]
        return [(key, self._answer(key)) for key in gone]

    def close(self) -> None:
        """Ask everything that still runs to save its work and end."""
        for process, _ in self._running.values():
            process.terminate()
        for process, _ in self._running.values():
            process.join(GRACE)
            process.kill()
        self._running.clear()

    def _answer(self, key: Any) -> Any:
        process, ours = self._running.pop(key)
        process.join()
        with ours:
            try:
                return ours.recv()
            except EOFError:
                pass
        code = process.exitcode or 0
        cause = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        hint = "; out of memory?" if code == -signal.SIGKILL else ""
        return Lost(f"its process ended ({cause}{hint})")


@contextmanager
def local_pool(workers: int | None = None, *, preload: Sequence[str] = ()) -> Iterator[LocalPool]:
    """Yield a pool and close it, whatever happens."""
    pool = LocalPool(workers or processors(), preload)
    try:
        yield pool
    finally:
        pool.close()


@contextmanager
def _without_main() -> Iterator[None]:
    """Hide the user's script: multiprocessing would run it again in every new process.

    A script without ``if __name__ == "__main__"`` would then start itself without end. What we
    call is never defined there.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _main(function: Any, arguments: tuple[Any, ...], report: Connection) -> None:
    threading.Thread(target=_end_with_driver, daemon=True).start()
    answer = function(*arguments)
    with suppress(BrokenPipeError):  # the driver is gone: nobody waits for the answer
        report.send(answer)


def _end_with_driver() -> None:
    driver = multiprocessing.parent_process()
    assert driver is not None
    driver.join()
    os.kill(os.getpid(), signal.SIGTERM)  # a trainer saves and ends
    time.sleep(GRACE)
    os._exit(1)
