"""What kernels read and write: arrays of bytes and integers, in named tuples.

Nothing here needs numba; see `native` for how a kernel is called without it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

PADDING = 64  # bytes that may be read behind every array of bytes
TILE = 64
COUNTS = -2  # in place of a threshold: the law of counts
NO_PROBLEM, NO_ROOM = -1, -2

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Words64 = npt.NDArray[np.uint64]


class Lines(NamedTuple):
    """Lines as spans of one array of bytes, each followed by ``gap`` bytes that belong to it."""

    data: Bytes  # at least `PADDING` bytes longer than the last line's end
    starts: Ints  # [lines]
    ends: Ints  # [lines]
    gap: int  # 1: a newline or tab follows and is copied along; 0: nothing follows


class WordTable(NamedTuple):
    """The known words: a hash table over their bytes; ``blob`` ends with the null word."""

    slots: Words64  # [n_slots, 4], see `scan.find_word`
    blob: Bytes
    offsets: Ints  # [words + 2]


class Law(NamedTuple):
    """How many words change, as integers (see `laws`, `kernels.draw_count`)."""

    cumulative: Words64
    row_start: Ints  # [max_length + 1]
    row_size: Ints  # [max_length + 1]; 0: the row of this length has not been made yet
    one_row: bool  # all lengths share the row, so a longer sentence never has a larger p(0)
    threshold: int  # the constant law: a word is hit if its 32 bits are at most this; or `COUNTS`
    null_id: int  # hit words become this word; -1: another word, uniform


class Address(NamedTuple):
    """Where the randomness of a side begins (see `switchout.sampling.philox`)."""

    seed: np.uint64
    epoch: np.uint64  # of copy 0; copy k is one epoch further
    stream: np.uint64


class Scratch(NamedTuple):
    """Working space for the words of one line; the kernel allocates nothing."""

    edges: Ints
    known: Ints
    hits: Ints
    words: Ints
    keys: Words64
    bits: Words64


def longest_line(lines: Lines) -> int:
    """Return the bytes of the longest line."""
    return int((lines.ends - lines.starts).max(initial=0))


def make_scratch(n_bytes: int) -> Scratch:
    """Return working space for lines of up to ``n_bytes``."""
    n_words = n_bytes // 2 + 1
    known, hits, words = (np.empty(n_words, np.int64) for _ in range(3))
    edges, keys = np.empty(n_bytes + 2, np.int64), np.empty(n_bytes + 2, np.uint64)
    return Scratch(edges, known, hits, words, keys, np.empty(TILE, np.uint64))


class Progress(NamedTuple):
    """What `rewrite` returns: where it stopped, and why it stopped before the last line."""

    line: int  # first line not done
    size: int  # bytes of ``out`` in use
    emitted: int  # lines in ``out``
    n_words: int
    n_known: int
    problem: int  # `NO_PROBLEM`, `NO_ROOM` in ``out``, or a length that has no row yet
