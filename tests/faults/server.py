"""Runs command lines in forked children of a process that has everything imported.

One JSON request a line on stdin, one answer a line on stdout. A fork takes milliseconds where a new
Python with torch takes seconds; some cases are nevertheless run as real commands, for comparison.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
import traceback
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from commands import WITHOUT_TORCH

import switchout.cli

GRACE = 10.0  # seconds that helpers of a command may outlive it
MORE_MEMORY = 4 << 30


@cache
def preload(verb: str) -> None:
    """Import what a verb imports, so that its children need not."""
    light = [f"switchout.cli.{m.name}" for m in iter_modules(switchout.cli.__path__)]
    light += [
        "numpy",
        "xopen",
        "sacrebleu.metrics",
        "pyarrow.parquet",
        "switchout.text.file_augmenter",
    ]
    light += ["switchout.evaluation.buckets", "switchout.report.compare"]
    heavy = ["torch", "switchout.experiments.reproduce", "switchout.runs.trained"]
    for name in light if verb in WITHOUT_TORCH else [*light, *heavy]:
        if not name.endswith("__main__"):
            with suppress(ImportError):
                import_module(name)


def child(request: dict[str, object]) -> int:
    """Become a command: its folder, environment and streams."""
    from switchout.cli import run
    from switchout.cli.standard_streams import run_with_streams

    os.setsid()
    # A shell's background job ignores SIGINT, and its children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(str(request["cwd"]))
    os.environ.update(request["env"])  # type: ignore[call-overload]
    for number, (name, flags) in enumerate(request["streams"]):  # type: ignore[arg-type, var-annotated]
        os.dup2(os.open(name, flags, 0o666), number)
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MORE_MEMORY, size + MORE_MEMORY))
    arguments = [os.fsdecode(bytes.fromhex(a)) for a in request["arguments"]]  # type: ignore[attr-defined]
    try:
        return run_with_streams(lambda: run(arguments))
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else 1
    except BaseException:
        traceback.print_exc()
        return 1


def wait_for(pid: int, seconds: float, interrupt_after: float | None) -> int | None:
    """Return the exit code, or None (and kill it) if it took longer."""
    started = time.monotonic()
    while (now := time.monotonic()) < started + seconds:
        if interrupt_after is not None and now > started + interrupt_after:
            os.kill(pid, signal.SIGINT)
            interrupt_after = None
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.003)
    os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None


def leaves_processes(group: int) -> bool:
    """Return whether members of the group outlive their leader; they are ended."""
    deadline = time.monotonic() + GRACE
    while time.monotonic() < deadline:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.02)
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
    return True


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        preload(os.fsdecode(bytes.fromhex(request["arguments"][0])))
        started = time.monotonic()
        pid = os.fork()
        if pid == 0:
            os._exit(child(request))
        time.sleep(0.001)
        code = wait_for(pid, request["seconds"], request["interrupt_after"])
        answer = {
            "code": code,
            "seconds": time.monotonic() - started,
            "left": code is not None and leaves_processes(pid),
        }
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
