"""Ends what is left of a Ray session: called after a shutdown, or run as a guard beside a driver.

Ray's own reaper leaves its agents running when the driver is killed. The guard waits for the end of
its standard input, which comes however the driver ends, and then ends every process that carries
the session's mark in its environment. Where there is no ``/proc`` (macOS) it finds nothing.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

MARK = "SWITCHOUT_RAY_SESSION"  # environment of all processes of a session
PATIENCE = 10.0  # seconds until we give up on what cannot be killed


def end_processes(mark: str) -> None:
    """Kill every process of a session but this one, and those they start meanwhile.

    Example:
        >>> end_processes("a session that never was")
    """
    deadline = time.monotonic() + PATIENCE
    while (found := marked_processes(mark)) and time.monotonic() < deadline:
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)


def marked_processes(mark: str) -> list[int]:
    """Return the living processes that carry the mark, but not this one."""
    wanted, found = f"{MARK}={mark}".encode(), []
    for path in Path("/proc").glob("[0-9]*/environ"):
        pid = int(path.parent.name)
        with suppress(OSError):  # it has just ended, or is not ours to read
            if pid != os.getpid() and wanted in path.read_bytes().split(b"\0"):
                found.append(pid)
    return found


def main() -> None:
    """Wait for the driver's end."""
    mark, folder = sys.argv[1:]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while sys.stdin.buffer.read(1):
        pass
    end_processes(mark)
    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
