"""Leases: one worker per run, also where workers are on several machines over one file system.

* A lease is a file that names its holder and is touched every few seconds.
* It is free when the holder let go, when the holder's process is gone (seen on its own machine
  only), or when nobody touched it for a minute: clocks must agree to half a minute.
* A holder that finds its lease taken over (a machine that slept) asks its own process to stop.
"""

from __future__ import annotations

import fcntl
import json
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

BEAT, STALE = 5.0, 60.0  # seconds between touches, and until a silent holder is given up


@contextmanager
def lease(folder: Path, *, beat: float = BEAT, stale: float = STALE) -> Iterator[bool]:
    """Yield whether the folder is ours for the length of the block.

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
        with _locked(path) as handle:
            if _holder(handle).get("token") == token:
                handle.truncate(0)


def is_held(folder: Path, *, stale: float = STALE) -> bool:
    """Return whether a living worker has the folder."""
    path = folder / ".lease"
    try:
        holder = json.loads(path.read_bytes() or b"{}")
        return bool(holder) and _is_alive(holder, path, stale)
    except (FileNotFoundError, ValueError):
        return False


def _take(path: Path, token: str, stale: float) -> bool:
    with _locked(path) as handle:
        holder = _holder(handle)
        if holder and _is_alive(holder, path, stale):
            return False
        handle.truncate(0)
        handle.seek(0)
        handle.write(json.dumps({"token": token, "place": _place(), "pid": os.getpid()}))
    return True


def _is_alive(holder: dict[str, Any], path: Path, stale: float) -> bool:
    if time.time() - path.stat().st_mtime > stale:
        return False
    if holder["place"] != _place():
        return True
    try:
        os.kill(holder["pid"], 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # somebody else's, so it lives
        pass
    return True


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
def _locked(path: Path) -> Iterator[IO[str]]:
    with path.open("a+") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield handle


def _holder(handle: IO[str]) -> dict[str, Any]:
    handle.seek(0)
    try:
        holder: dict[str, Any] = json.loads(handle.read() or "{}")
        return holder
    except ValueError:  # its writer was killed in the middle
        return {}


def _place() -> str:
    """Where process numbers mean the same: the machine, and on Linux the container."""
    try:
        namespace = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        namespace = ""
    return f"{socket.gethostname()} {namespace}"
