"""What every kernel does first: check the batch, copy it, count the words of each sentence.

One pass over the ids, eight at a time where the layout allows.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from switchout.intrinsics import LANES, at_least, n_ones

NO_ERROR, BAD_EXAMPLE, BAD_ID, BAD_LENGTH = 0, 1, 2, 3
NOWHERE = -1


@njit(inline="always")
def is_word(v, lowest, starts, stops):
    """Return whether id ``v`` is a word, given the special ranges of `Words`."""
    if v < lowest:
        return False
    for r in range(starts.size):  # noqa: SIM110 (numba compiles a loop, not a generator)
        if starts[r] <= v < stops[r]:
            return False
    return True


@njit(inline="always")
def word_bits(rows, at, lowest, starts, stops):
    """Return which of the eight ids of ``rows.flat`` from ``at`` on are words, as bits."""
    words = at_least(rows, at, lowest)
    for r in range(starts.size):
        words &= ~at_least(rows, at, starts[r]) | at_least(rows, at, stops[r])
    return words


@njit
def _count_words(source, rows, frozen, n_words, do_copy, size, lowest, starts, stops):
    """Check, copy ``source`` to ``rows``, count the words of each row into ``n_words`` [batch].

    Returns -1, or the first row with an id that is too large.
    """
    n_rows, width = source.shape
    by_eight = frozen.size == 0 and width >= LANES
    for b in range(n_rows):
        count, bad = 0, np.uint64(0)
        if by_eight:
            at = b * width
            for t in range(0, width - LANES + 1, LANES):
                count += n_ones(word_bits(source, at + t, lowest, starts, stops))
                bad |= at_least(source, at + t, size)
            if width % LANES:  # the last eight, without those that were counted before
                at += width - LANES
                last = word_bits(source, at, lowest, starts, stops)
                count += n_ones(last >> np.uint64(LANES - width % LANES))
                bad |= at_least(source, at, size)
        else:
            for t in range(width):
                bad |= np.uint64(source[b, t] >= size)
                if is_word(source[b, t], lowest, starts, stops):
                    count += frozen.size == 0 or not frozen[b, t]
        if bad != np.uint64(0):
            return b
        if do_copy:
            for t in range(width):
                rows[b, t] = source[b, t]
        n_words[b] = count
    return NOWHERE


@njit(nogil=True, cache=True)
def prepare_rows(
    source, rows, frozen, n_words, do_count, do_copy, example_ids, max_id,
    size, lowest, starts, stops,
):  # fmt: skip
    """Check everything, copy ``source`` to ``rows`` and count their words, as asked.

    Returns what is wrong and in which row: `NO_ERROR`, `BAD_EXAMPLE`, `BAD_ID` or `BAD_LENGTH`.
    """
    for b in range(example_ids.size):
        if example_ids[b] > max_id:
            return BAD_EXAMPLE, b
    if do_count:
        bad = _count_words(source, rows, frozen, n_words, do_copy, size, lowest, starts, stops)
        if bad >= 0:
            return BAD_ID, bad
        return NO_ERROR, 0
    for b in range(n_words.size):
        if not 0 <= n_words[b] <= source.shape[1]:
            return BAD_LENGTH, b
    if do_copy:
        for b in range(source.shape[0]):
            for t in range(source.shape[1]):
                rows[b, t] = source[b, t]
    return NO_ERROR, 0
