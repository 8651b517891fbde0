"""Files in and out: whole lines in chunks, any compression, nothing half-done under a final name.

* ``-`` is standard input or output; the suffix tells the compression (.gz .xz .bz2 .zst).
* Memory is a chunk or the longest line, whichever is more.
* A regular file is written under a temporary name and renamed at the end. A device or pipe
  (``/dev/null``, a FIFO) is written directly: renaming would replace it.
"""

from __future__ import annotations

import hashlib
import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from switchout.errors import SwitchOutError
from switchout.files import Draft, is_stream, named_errors
from switchout.files.reading import COMPRESSED, START_BYTES, descriptor_of, refuse_unless_plain
from switchout.text.lines import PADDING, Bytes, Lines

CHUNK_BYTES = 1 << 20
_NEWLINE = 0x0A


def is_compressed(path: str) -> bool:
    """Return whether the suffix says so."""
    return path.endswith(COMPRESSED)


def open_input(path: str) -> Any:
    """Return an unbuffered binary stream, decompressed by suffix."""
    if path == "-":
        return open(0, "rb", buffering=0, closefd=False)
    with named_errors(path):
        if not is_compressed(path):
            return Path(path).open("rb", buffering=0)
        if Path(path).stat().st_size == 0 and not is_stream(path):
            raise SwitchOutError(f"{path}: damaged or truncated archive (0 bytes)")
        from xopen import xopen

        return xopen(path, "rb", threads=0)


def combined_hash(digests: list[Any]) -> str:
    """Return one hash for the content of all input files."""
    return hashlib.sha256("".join(d.hexdigest() for d in digests).encode()).hexdigest()[:16]


class LineReader:
    """Whole lines of one file, a chunk at a time.

    Args:
        path: File name or ``-``.
        chunk_bytes: How much to read at once.
        offset, n_bytes: Read only this part of an uncompressed file.
        digest: Takes in the content as it is read.
    """

    def __init__(
        self,
        path: str,
        *,
        chunk_bytes: int = CHUNK_BYTES,
        offset: int = 0,
        n_bytes: int | None = None,
        digest: Any = None,
    ) -> None:
        self.path = path
        self.lines_taken = 0
        self._lacks_newline = False
        self._digest = digest
        self._stream = open_input(path)
        if offset:
            self._stream.seek(offset)
        self._left = sys.maxsize if n_bytes is None else n_bytes
        self._chunk_bytes = chunk_bytes
        self._lines = Lines.found_in(np.zeros(PADDING, np.uint8), 0)
        self._tail: Bytes = np.empty(0, np.uint8)  # the beginning of a line whose end is not read
        self._next = 0
        self._at_end = False
        self._is_checked = offset > 0

    def available(self) -> int:
        """Return how many lines can be taken; 0 only at the end of the file."""
        while self._next == self._lines.ends.size and not self._at_end:
            self._fill()
        return int(self._lines.ends.size) - self._next

    def take(self, count: int) -> Lines:
        """Return the next ``count`` lines; they stay valid."""
        start, stop = self._next, self._next + count
        self._next = stop
        self.lines_taken += count
        data, starts, ends, gap = self._lines
        return Lines(data, starts[start:stop], ends[start:stop], gap)

    @property
    def ended_without_newline(self) -> bool:
        """Whether the line taken last is the last of the file and had no newline."""
        return self._lacks_newline and self._next == self._lines.ends.size

    def count_rest(self) -> int:
        """Read on to the end and return the number of lines of the whole file."""
        while n := self.available():
            self.take(n)
        return self.lines_taken

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def _fill(self) -> None:
        """Read a chunk, or as much more as the rest of a long line."""
        carried = self._tail.size
        room = max(self._chunk_bytes, carried)
        data = np.empty(carried + room + 1 + PADDING, np.uint8)
        data[:carried] = self._tail
        size = carried + self._read(data.data[carried : carried + room])
        if not self._is_checked:
            refuse_unless_plain(self.path, data[: min(size, START_BYTES)].tobytes())
            self._is_checked = True
        if self._at_end and size and data[size - 1] != _NEWLINE:
            data[size] = _NEWLINE  # every line has one inside; the writer takes it off again
            size += 1
            self._lacks_newline = True
        data[size:] = 0
        self._lines = Lines.found_in(data, size)
        self._next = 0
        done = int(self._lines.ends[-1]) + 1 if self._lines.ends.size else 0
        self._tail = data[done:size]

    def _read(self, room: memoryview) -> int:
        filled = 0
        with named_errors(self.path):
            while filled < len(room):
                n = self._stream.readinto(room[filled : filled + self._left])
                if n is None:  # a pipe that does not block has nothing yet
                    select.select([self._stream], [], [])
                    continue
                if not n:
                    self._at_end = True
                    break
                filled += n
                self._left -= n
        if self._digest is not None:
            self._digest.update(room[:filled])
        return filled


class Output:
    """One file being written; it gets its name by `commit`.

    Example:
        >>> out = Output("-")
        >>> out.is_regular
        False
    """

    def __init__(self, path: str, *, sync: bool = False, compress: bool = True) -> None:
        self.path = path
        self._sync = sync
        self._draft = None if is_stream(path) else Draft(path)
        try:
            with self.guard():
                self.stream: BinaryIO = self._open(compress and is_compressed(path))
        except BaseException:
            self._remove_draft()
            raise

    @property
    def is_regular(self) -> bool:
        """Whether the output is a file that gets its name at the end."""
        return self._draft is not None

    def write(self, data: Any) -> None:
        """Write all bytes."""
        with self.guard():
            view = memoryview(data)
            while view:
                view = view[self.stream.write(view) :]

    def close(self) -> None:
        """End the content; no name yet."""
        with self.guard():
            self.stream.close()

    def commit(self) -> None:
        """Give the closed file its name."""
        if self._draft is not None:
            self._draft.commit(sync=self._sync)

    def discard(self) -> None:
        """Remove what has no name yet."""
        with suppress(OSError):  # the disk may still be full
            self.stream.close()
        self._remove_draft()

    def _remove_draft(self) -> None:
        if self._draft is not None:
            self._draft.discard()

    def _open(self, compress: bool) -> Any:
        if self._draft is None:
            number = 1 if self.path == "-" else descriptor_of(self.path)
            # The descriptor itself: opening its name would cut a file the shell appends to.
            if number is not None:
                return os.fdopen(os.dup(number), "wb", buffering=0)
            return Path(self.path).open("wb", buffering=0)
        if not compress:  # not "wb": ext4 writes a file that was emptied to the disk at its close
            return self._draft.path.open("r+b", buffering=0)
        from xopen import xopen

        return xopen(self._draft.path, "wb", threads=0)

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Turn what goes wrong with the output into one line that names it."""
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            reason = error.strerror or error
            name = "standard output" if self.path == "-" else self.path
            raise SwitchOutError(f"{name}: cannot be written ({reason})") from None


@contextmanager
def all_or_nothing(outputs: list[Output]) -> Iterator[None]:
    """Give all outputs their names if the block succeeds, none otherwise."""
    try:
        yield
        for output in outputs:
            output.close()
        for output in outputs:
            output.commit()
    finally:
        for output in outputs:
            output.discard()
