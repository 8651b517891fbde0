"""A vocabulary counted from the corpus itself, in one pass over its bytes."""

from __future__ import annotations

import numpy as np

from switchout.core import compiled
from switchout.text.arrays import Lines


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
        self._counter = compiled.make_counter()

    def add(self, lines: Lines) -> None:
        """Count the words of some lines."""
        compiled.count_words(self._counter, *lines)

    def most_common(
        self, *, min_count: int = 1, max_words: int | None = None
    ) -> list[tuple[bytes, int]]:
        """Return words and counts, by count, then by bytes."""
        text, *numbers = compiled.counted(self._counter)
        ends, counts = (np.frombuffer(array, np.int64).tolist() for array in numbers)
        counted = [
            (text[start:end], count)
            for start, end, count in zip([0, *ends[:-1]], ends, counts, strict=bool(ends))
            if count >= min_count
        ]
        counted.sort(key=lambda item: (-item[1], item[0]))
        return counted[:max_words]
