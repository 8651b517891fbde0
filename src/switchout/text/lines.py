"""Lines as spans of one array of bytes: what the loops of the compiled core read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from switchout.core import compiled

PADDING = 64  # bytes that may be read behind every array of bytes

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]


class Lines(NamedTuple):
    """Lines as spans of one array of bytes, each followed by ``gap`` bytes that belong to it.

    Example:
        >>> Lines.joined([b"a b\\n", b"c\\n"], gap=1).texts()
        [b'a b', b'c']
    """

    data: Bytes  # at least `PADDING` bytes longer than the last line's end
    starts: Ints  # [lines]
    ends: Ints  # [lines]
    gap: int  # 1: a newline or tab follows and is copied along; 0: nothing follows

    @classmethod
    def found_in(cls, data: Bytes, size: int) -> Lines:
        """Return the lines of ``data[:size]`` that a newline ends."""
        capacity = size // 32 + 16
        while True:
            starts, ends = np.empty(capacity, np.int64), np.empty(capacity, np.int64)
            count = compiled.find_lines(data, size, starts, ends)
            if count < capacity:
                return cls(data, starts[:count], ends[:count], 1)
            capacity *= 4

    @classmethod
    def joined(cls, texts: Sequence[bytes], gap: int = 0) -> Lines:
        """Return lines, at least one, that are not in one array yet; each ends with its gap."""
        data = np.frombuffer(b"".join([*texts, bytes(PADDING)]), np.uint8)
        ends = np.cumsum([len(text) for text in texts])
        starts = np.concatenate([[0], ends[:-1]])
        return cls(data, starts, ends - gap if gap else ends, gap)

    def first(self, n_lines: int) -> bytes:
        """Return the first lines as one text; of pairs in one file, this side alone."""
        lines = self._replace(starts=self.starts[:n_lines], ends=self.ends[:n_lines])
        return b"\n".join(lines.texts())

    def texts(self) -> list[bytes]:
        """Return the lines one by one, without their gaps."""
        data = self.data.tobytes()
        spans = zip(self.starts.tolist(), self.ends.tolist(), strict=True)
        return [data[start:end] for start, end in spans]
