"""What a pool is, whatever makes its calls."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


@dataclass(frozen=True)
class Call:
    """A function to be called elsewhere, with its arguments and the threads it may use."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    threads: int = 1


@dataclass(frozen=True)
class Lost:
    """What a call returned whose process ended before it could answer, and why."""

    reason: str


class Pool(Protocol):
    """Where calls are made; ``key`` is whatever the caller knows them by."""

    @property
    def has_room(self) -> bool: ...
    @property
    def running(self) -> list[Any]: ...
    def start(self, key: Any, call: Call) -> None:
        """Begin a call; only while there is room."""

    def ended(self) -> list[tuple[Any, Any]]:
        """Return the calls that ended since the last time: key, and value or `Lost`."""


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
