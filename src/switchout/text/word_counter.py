"""A vocabulary counted from the corpus itself, in one pass over its bytes."""

from __future__ import annotations

import numpy as np

from switchout.text.arrays import PADDING, Bytes, Ints, Lines, Words64, longest_line
from switchout.text.lexicon import fill_slots
from switchout.text.native import Kernel

count_words = Kernel("passes", "count_words", n_results=2)


class WordCounter:
    """Counts the words of lines; memory is that of the distinct words.

    Example:
        >>> from switchout.text.streams import lines_of
        >>> text = np.frombuffer(b"b a b\\n" + bytes(64), np.uint8)
        >>> counter = WordCounter()
        >>> counter.add(lines_of(text, 6))
        >>> counter.most_common()
        [(b'b', 2), (b'a', 1)]
    """

    def __init__(self) -> None:
        self._n_words = 0
        self._slots: Words64 = np.zeros((1 << 12, 4), np.uint64)
        self._blob: Bytes = np.zeros((1 << 14) + PADDING, np.uint8)
        self._offsets: Ints = np.zeros(1 << 11, np.int64)
        self._counts: Ints = np.zeros(1 << 11, np.int64)

    def add(self, lines: Lines) -> None:
        """Count the words of some lines."""
        line = 0
        edges = np.empty(longest_line(lines) + 2, np.int64)
        while True:
            line, self._n_words = count_words(
                lines, line, edges, self._slots, self._blob, self._offsets, self._counts,
                self._n_words,
            )  # fmt: skip
            if line == lines.ends.size:
                return
            self._grow(int(lines.ends[line] - lines.starts[line]))

    def most_common(
        self, *, min_count: int = 1, max_words: int | None = None
    ) -> list[tuple[bytes, int]]:
        """Return words and counts, by count, then by bytes."""
        text, offsets = self._blob.tobytes(), self._offsets.tolist()
        counted = [
            (text[offsets[i] : offsets[i + 1]], count)
            for i, count in enumerate(self._counts[: self._n_words].tolist())
            if count >= min_count
        ]
        counted.sort(key=lambda item: (-item[1], item[0]))
        return counted[:max_words]

    def _grow(self, line_bytes: int) -> None:
        """Make room for twice as much, or for a very long line."""
        more = self._offsets.size + line_bytes
        self._offsets = np.concatenate([self._offsets, np.zeros(more, np.int64)])
        self._counts = np.concatenate([self._counts, np.zeros(more, np.int64)])
        self._blob = np.concatenate([self._blob, np.zeros(self._blob.size + line_bytes, np.uint8)])
        self._slots = np.zeros((1 << (2 * self._offsets.size).bit_length(), 4), np.uint64)
        fill_slots(self._slots, self._blob, self._offsets, self._n_words)
