"""Leases: one trainer per run, also where trainers are on several machines over one file system.

* A lease is a file that names its holder and is touched every few seconds.
* It is free when the holder let go, when the holder's process is gone (seen on its own machine
  only), or when nobody touched it while we watched for a minute. No clock is compared with
  another: a lease from the future is watched like any other.
* A holder that finds its lease taken over (a machine that slept) asks its own process to stop.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import signal
import socket
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import IO, Any

from switchout.errors import SwitchOutError

log = logging.getLogger(__name__)

BEAT, STALE = 5.0, 60.0  # seconds between touches, and until a silent holder is given up
Seen = tuple[int, bytes]  # of a lease: when it was touched last, by its own clock, and by whom
_watched: dict[Path, tuple[Seen, float]] = {}  # what we saw of foreign leases, and since when


class RunIsBusyError(SwitchOutError):
    """Somebody else trains this run."""


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold the lease of a run for the length of the block, or refuse.

    Raises:
        RunIsBusyError: It is another's.
    """
    with lease(folder) as is_ours:
        if not is_ours:
            raise RunIsBusyError(f"{folder}: another process is training this run")
        yield


@contextmanager
def lease(folder: Path, *, beat: float = BEAT, stale: float = STALE) -> Iterator[bool]:
    """Yield whether the folder is ours for the length of the block.

    Of a holder on another machine we first watch whether it lives: a few seconds if it does.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> with lease(folder) as is_ours, lease(folder) as is_ours_again:
        ...     print(is_ours, is_ours_again)
        True False
    """
    folder.mkdir(parents=True, exist_ok=True)
    path, token = folder / ".lease", uuid.uuid4().hex
    if not _take(path, token, stale):
        yield False
        return
    released = Event()
    heart = Thread(target=_keep_beating, args=(path, token, beat, released), daemon=True)
    heart.start()
    try:
        yield True
    finally:
        released.set()
        heart.join()
        with suppress(FileNotFoundError), _locked(path) as handle:  # the run may have moved away
            if _holder(handle).get("token") == token:
                handle.truncate(0)


def is_held(folder: Path, *, stale: float = STALE) -> bool:
    """Return whether a worker has the folder that is alive, as far as we have seen."""
    path = folder / ".lease"
    try:
        seen = _look(path)
        holder = _parsed(seen[1])
    except OSError:
        return False
    if not holder or _is_gone(holder):
        return False
    return _is_here(holder) or not _is_silent(path, seen, stale)


def _take(path: Path, token: str, stale: float) -> bool:
    """Take the lease if its holder is gone, or silent while we watch."""
    first: Seen | None = None
    deadline = time.monotonic() + stale
    while True:
        with _locked(path, make=True) as handle:
            holder, seen = _holder(handle), _look(path)
            is_silent = seen == first and time.monotonic() >= deadline
            if not holder or _is_gone(holder) or is_silent:
                handle.truncate(0)
                handle.seek(0)
                handle.write(json.dumps({"token": token, **_self()}))
                return True
        if _is_here(holder) or (first is not None and seen != first):
            return False  # its process lives, or it was touched under our eyes
        if first is None:
            first = seen
            log.info("%s: held by %s; watching whether it lives", path.parent, holder["place"])
        time.sleep(min(0.5, stale / 10))


def _look(path: Path) -> Seen:
    return path.stat().st_mtime_ns, path.read_bytes()


def _is_silent(path: Path, seen: Seen, stale: float) -> bool:
    """Whether a lease has not changed since we first saw it, long enough ago by our own clock."""
    now = time.monotonic()
    if path not in _watched or _watched[path][0] != seen:
        _watched[path] = (seen, now)
    return now - _watched[path][1] >= stale


def _is_here(holder: dict[str, Any]) -> bool:
    """Whether the holder's process is one of this machine."""
    return bool(holder["place"] == _place())


def _is_gone(holder: dict[str, Any]) -> bool:
    """Whether the holder was a process of this machine that has ended."""
    if not _is_here(holder):
        return False
    try:
        os.kill(holder["pid"], 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # somebody else's, so it lives
        pass
    # Another process may have got its number.
    return bool(holder.get("began", _began(holder["pid"])) != _began(holder["pid"]))


def _keep_beating(path: Path, token: str, beat: float, released: Event) -> None:
    while not released.wait(beat):
        with suppress(OSError):  # a file server that is away for a moment
            with _locked(path) as handle:
                is_ours = _holder(handle).get("token") == token
            if not is_ours:
                os.kill(os.getpid(), signal.SIGTERM)  # the trainer saves and ends
                return
            os.utime(path)


@contextmanager
def _locked(path: Path, *, make: bool = False) -> Iterator[IO[str]]:
    with path.open("a+" if make else "r+") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield handle


def _holder(handle: IO[str]) -> dict[str, Any]:
    handle.seek(0)
    return _parsed(handle.buffer.read())  # type: ignore[attr-defined]


def _parsed(content: bytes) -> dict[str, Any]:
    """Return who holds a lease; nobody, if its writer was killed in the middle or it is damaged."""
    try:
        holder = json.loads(content)
        is_whole = isinstance(holder["token"], str) and isinstance(holder["place"], str)
        return holder if is_whole and isinstance(holder["pid"], int) else {}
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}


def _self() -> dict[str, Any]:
    return {"place": _place(), "pid": os.getpid(), "began": _began(os.getpid())}


def _began(pid: int) -> str | None:
    """When a process began, in the machine's own count; None where the system does not say."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return None


def _place() -> str:
    """Where process numbers mean the same: the machine, and on Linux the container."""
    try:
        namespace = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        namespace = ""
    return f"{socket.gethostname()} {namespace}"
