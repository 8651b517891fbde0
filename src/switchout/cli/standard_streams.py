"""Standard input, output and error of the command: closed, full or broken ones are no traceback.

Python alone ends with code 120 or writes into a file that got the number of a closed stream.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Callable
from typing import Any, TextIO, cast

BROKEN_PIPE = 141  # what the shell says of a command that SIGPIPE ended
BAD_INPUT = 2


def run_with_streams(run: Callable[[], int]) -> int:
    """Return the exit code of ``run``, or that of writing the last of its output."""
    _occupy_closed_numbers()
    # Where messages cannot be written, the work is still done, and its exit code still right.
    sys.stderr = cast(TextIO, io.TextIOWrapper(
        _Forgiving(2, "w", closefd=False), encoding="utf-8", errors="backslashreplace",
        line_buffering=True, write_through=True,
    ))  # fmt: skip
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", closefd=False)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    code = run()
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = BROKEN_PIPE
    except (OSError, ValueError) as error:
        print(f"switchout: {describe(error)}", file=sys.stderr)
        code = BAD_INPUT
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Python flushes again at its end
    return code


def describe(error: Exception) -> str:
    """Return what the system refused, in one line; a stream has no name of its own."""
    if not isinstance(error, OSError):
        return f"standard output: {error}"
    is_output = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EBADF, errno.EIO)
    name = error.filename or ("standard output" if is_output else "file system")
    return f"{name}: {error.strerror or error}"


class _Forgiving(io.FileIO):
    """Takes all bytes and keeps silent about those the system does not take."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError:
            return len(memoryview(data))


def _occupy_closed_numbers() -> None:
    """Open what is closed, so that no file of ours gets its number; using it is an error."""
    for number, flags in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, flags)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            os.set_inheritable(number, True)
