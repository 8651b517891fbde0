"""Word-level Levenshtein distance, bit-parallel, compiled.

The dynamic program of one sentence against another, 64 rows at a time: column differences are bits
of two machine words (Myers 1999), blocks of 64 rows hand a carry of -1, 0 or 1 down (Hyyrö 2003).
The pattern is prepared once and compared with many sentences.
"""

from __future__ import annotations

import numpy as np
from numba import njit

_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_TOP = np.uint64(63)


@njit(cache=True, nogil=True)
def prepare(pattern, local, places):  # type: ignore[no-untyped-def]
    """Note where each word of the pattern stands.

    Args:
        pattern: Word ids, [length].
        local: Zeros, [distinct words]; afterwards the row of ``places`` of each of its words.
        places: Zeros of uint64, [at least length + 1, at least blocks]; afterwards bit i of row
            ``local[word]`` is set where ``pattern[i]`` is the word. Row 0 stays zero.
    """
    n_rows = 0
    for i in range(len(pattern)):
        word = pattern[i]
        if local[word] == 0:
            n_rows += 1
            local[word] = n_rows
        places[local[word], i >> 6] |= _ONE << np.uint64(i & 63)


@njit(cache=True, nogil=True)
def forget(pattern, local, places):  # type: ignore[no-untyped-def]
    """Undo `prepare`."""
    n_blocks = (len(pattern) + 63) >> 6
    for word in pattern:
        places[local[word], :n_blocks] = _ZERO
    for word in pattern:
        local[word] = 0


@njit(cache=True, nogil=True)
def distance(length, local, places, ids, begin, end, limit):  # type: ignore[no-untyped-def]
    """Return the edit distance of a prepared pattern to a sentence, if it is at most ``limit``.

    Args:
        length: Words of the pattern.
        local, places: As `prepare` left them.
        ids, begin, end: The sentence is ``ids[begin:end]``; slices are slow in compiled code.
        limit: When the distance must exceed it, give up and return some number above it.
    """
    if length == 0:
        return end - begin
    if length <= 64:
        return _one_block(length, local, places, ids, begin, end, limit)
    return _blocks(length, local, places, ids, begin, end, limit)


@njit(cache=True, nogil=True)
def _one_block(length, local, places, ids, begin, end, limit):  # type: ignore[no-untyped-def]
    last = np.uint64(length - 1)
    # Bit i of up (down): the current column rises (falls) by 1 from row i to row i + 1.
    up, down = _ALL, _ZERO
    score = length
    for k in range(begin, end):
        equal = places[local[ids[k]], 0]
        vertical = equal | down
        horizontal = (((equal & up) + up) ^ up) | equal
        right = down | ~(horizontal | up)
        left = up & horizontal
        score += np.int64((right >> last) & _ONE)
        score -= np.int64((left >> last) & _ONE)
        # The last row falls by at most one per word to come.
        if score - (end - k - 1) > limit:
            return score
        right = (right << _ONE) | _ONE
        up = (left << _ONE) | ~(vertical | right)
        down = right & vertical
    return score


@njit(cache=True, nogil=True)
def _blocks(length, local, places, ids, begin, end, limit):  # type: ignore[no-untyped-def]
    n_blocks = (length + 63) >> 6
    last = np.uint64((length - 1) & 63)
    up = np.full(n_blocks, _ALL)
    down = np.zeros(n_blocks, np.uint64)
    score = length
    for k in range(begin, end):
        row = local[ids[k]]
        # How the row above a block changes from the previous column to this one; row 0 rises.
        rise, fall = _ONE, _ZERO
        for block in range(n_blocks):
            equal, u, d = places[row, block], up[block], down[block]
            vertical = equal | d
            equal |= fall
            horizontal = (((equal & u) + u) ^ u) | equal
            right = d | ~(horizontal | u)
            left = u & horizontal
            if block == n_blocks - 1:
                score += np.int64((right >> last) & _ONE)
                score -= np.int64((left >> last) & _ONE)
            rise_below, fall_below = right >> _TOP, left >> _TOP
            right = (right << _ONE) | rise
            left = (left << _ONE) | fall
            up[block] = left | ~(vertical | right)
            down[block] = right & vertical
            rise, fall = rise_below, fall_below
        if score - (end - k - 1) > limit:
            return score
    return score
