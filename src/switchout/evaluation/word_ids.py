"""Words of many sentences as integers: equal words get equal ids, different words different ids.

* A word is a non-empty run of characters between ASCII spaces; other white space is part of it.
* Ids count from 0 in order of first appearance. There are no special ids and no vocabulary file:
  the ids live for one comparison. (The vocabulary of a model is in `switchout.corpora`.)
* One pass over the UTF-8 bytes with a hash table; bytes are compared, so a collision is harmless.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from switchout.errors import SwitchOutError

_SPACE, _NEWLINE = 32, 10
_MIX = np.uint64(0x9E3779B97F4A7C15)  # 2^64 / golden ratio, odd


@dataclass(frozen=True)
class Sentences:
    """Sentences of word ids, one after the other.

    Attributes:
        ids: Word ids, [words].
        starts: Where each sentence begins in ``ids``, and the end of the last, [sentences + 1].
        n_distinct: Number of different words; every id is below it.
    """

    ids: NDArray[np.int32]
    starts: NDArray[np.int64]
    n_distinct: int

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Words per sentence, [sentences]."""
        return np.diff(self.starts)


def number_words(lines: Sequence[str]) -> Sentences:
    """Split lines into words at ASCII spaces and number the words.

    Example:
        >>> sentences = number_words(["a rose is", "", " a  rose"])
        >>> sentences.ids.tolist(), sentences.starts.tolist()
        ([0, 1, 2, 0, 1], [0, 3, 3, 5])
    """
    text = "\n".join(lines)
    if text.count("\n") != max(len(lines) - 1, 0):
        line = next(i for i, line in enumerate(lines) if "\n" in line)
        raise SwitchOutError(f"sentence {line} holds a line break; give one sentence per string")
    # The final line break closes the last sentence.
    content = np.frombuffer((text + "\n" if lines else "").encode(), dtype=np.uint8)
    ids, starts, n_distinct = _number(content, len(lines))
    return Sentences(ids, starts, n_distinct)


@njit(cache=True, nogil=True)
def _number(text, n_lines):  # type: ignore[no-untyped-def]
    # A word needs a byte and a separator, hence the size.
    ids = np.empty(len(text) // 2 + 1, np.int32)
    starts = np.zeros(n_lines + 1, np.int64)
    table = np.full(1 << 12, -1, np.int32)
    # Per distinct word: its code, and the bytes of its first appearance.
    codes = np.empty(len(table) // 2, np.uint64)
    first = np.empty(len(codes), np.int64)
    sizes = np.empty(len(codes), np.int64)
    n_words, n_distinct, line, begin = 0, 0, 0, 0
    code = np.uint64(0)
    for i in range(len(text)):
        byte = text[i]
        if byte != _SPACE and byte != _NEWLINE:
            # Eight bytes fit without loss; of longer words the code is a hash.
            spill = code >> np.uint64(56)
            code = ((code << np.uint64(8)) | np.uint64(byte)) ^ (spill * _MIX)
            continue
        if i > begin:
            if n_distinct == len(codes):
                codes, first, sizes = _double(codes), _double(first), _double(sizes)
                table = _rehash(codes, n_distinct)
            slot = _find(table, text, codes, first, sizes, code, begin, i - begin)
            if table[slot] < 0:
                table[slot] = n_distinct
                codes[n_distinct], first[n_distinct], sizes[n_distinct] = code, begin, i - begin
                n_distinct += 1
            ids[n_words] = table[slot]
            n_words += 1
        if byte == _NEWLINE:
            line += 1
            starts[line] = n_words
        begin = i + 1
        code = np.uint64(0)
    return ids[:n_words].copy(), starts, n_distinct


@njit(cache=True, nogil=True, inline="always")
def _slot(code, table):  # type: ignore[no-untyped-def]
    """Return the first place to look for a code."""
    mixed = code * _MIX
    return np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(len(table) - 1))


@njit(cache=True, nogil=True)
def _find(table, text, codes, first, sizes, code, begin, size):  # type: ignore[no-untyped-def]
    """Return the slot of the word ``text[begin : begin + size]``, or the free slot for it."""
    slot = _slot(code, table)
    while True:
        word = table[slot]
        if word < 0:
            return slot
        if codes[word] == code and sizes[word] == size:
            k = 0 if size > 8 else size  # the code of a short word is the word
            while k < size and text[first[word] + k] == text[begin + k]:
                k += 1
            if k == size:
                return slot
        slot = (slot + 1) & (len(table) - 1)


@njit(cache=True, nogil=True)
def _double(values):  # type: ignore[no-untyped-def]
    larger = np.empty(2 * len(values), values.dtype)
    larger[: len(values)] = values
    return larger


@njit(cache=True, nogil=True)
def _rehash(codes, n_distinct):  # type: ignore[no-untyped-def]
    """Return a table with two slots per code, that holds the words 0 .. n_distinct - 1."""
    table = np.full(2 * len(codes), -1, np.int32)
    for word in range(n_distinct):
        slot = _slot(codes[word], table)
        while table[slot] >= 0:
            slot = (slot + 1) & (len(table) - 1)
        table[slot] = word
    return table
