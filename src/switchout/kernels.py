"""The samplers as loops, compiled by numba: what NumPy arrays and CPU tensors run.

The same integers as `switchout.sampling`, where the algorithm is written for reading. Here:

* `prepare_rows` checks ids, counts the words of each sentence and copies the batch, in one pass;
* `sample_rows` does that, then draws the counts of 128 sentences at a time, so that the compiler
  runs several Philox counters side by side, and visits a sentence only if a word of it is hit;
* `replace_similar` does one categorical draw per word.

All release the GIL, keep no state, and use no threads of their own (those die under fork).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from switchout.intrinsics import prefetch
from switchout.philox import philox4x32

TILE = 128  # sentences, and words, drawn together
NO_ERROR, BAD_EXAMPLE, BAD_ID, BAD_LENGTH = 0, 1, 2, 3
NOWHERE = -1

_HALF, _MASK, _ONE = np.uint64(32), np.uint64(0xFFFFFFFF), np.uint64(1)


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
def draw_count(u, length, cumulative, start, size):
    """Return n for a sentence of ``length`` words from 32 random bits (see `laws`)."""
    first = start[length]
    n_entries = size[length]
    total = cumulative[first + n_entries - 1]
    v = u * (total >> _HALF) + ((u * (total & _MASK)) >> _HALF)
    if v < cumulative[first]:
        return 0
    n = 1
    while n < 4 and cumulative[first + n] <= v:  # small counts are likely: no search for them
        n += 1
    if n < 4:
        return n
    low, high = 4, n_entries - 1  # n lies in low..high
    while low < high:
        middle = (low + high) >> 1
        if cumulative[first + middle] <= v:
            low = middle + 1
        else:
            high = middle
    return low


@njit(inline="always")
def other_word(v, w1, w2, n_draw, lowest, starts, stops, draw_ids):
    """Return a drawable word other than ``v``, uniform, from 64 random bits."""
    if draw_ids.size:
        rank = np.searchsorted(draw_ids, v)
        is_inside = rank < n_draw and draw_ids[rank] == v
    else:
        rank = v - lowest
        for r in range(starts.size):
            if v >= stops[r]:
                rank -= stops[r] - starts[r]
        is_inside = True
    choices = np.uint64(n_draw - 1 if is_inside else n_draw)
    step = np.int64((choices * w2 + ((choices * w1) >> _HALF)) >> _HALF)
    if is_inside:
        step += rank + 1
        if step >= n_draw:
            step -= n_draw
    if draw_ids.size:
        return draw_ids[step]
    word = step + lowest
    for r in range(starts.size):
        if word >= starts[r]:
            word += stops[r] - starts[r]
    return word


@njit
def _count_words(source, rows, frozen, n_words, do_copy, size, lowest, starts, stops):
    """Check, copy ``source`` to ``rows``, count the words of each row into ``n_words`` [batch].

    Returns -1, or the first row with an id that is too large.
    """
    n_rows, width = source.shape
    for b in range(n_rows):
        count, n_bad = 0, 0
        if starts.size == 0 and frozen.size == 0:
            for t in range(width):
                count += np.int64(source[b, t] >= lowest)
                n_bad += np.int64(source[b, t] >= size)
        else:
            for t in range(width):
                n_bad += np.int64(source[b, t] >= size)
                if is_word(source[b, t], lowest, starts, stops):
                    count += frozen.size == 0 or not frozen[b, t]
        if n_bad:
            return b
        if do_copy:
            for t in range(width):
                rows[b, t] = source[b, t]
        n_words[b] = count
    return NOWHERE


@njit
def _replace_words(
    rows, frozen, n_words, example_ids, key, epoch, stream,
    lowest, starts, stops, draw_ids, n_draw,
    cumulative, row_start, row_size, thresholds, null_id,
):  # fmt: skip
    """Replace words of ``rows`` in place; return -1, or the row whose length was given wrong."""
    k0, k1 = key & _MASK, key >> _HALF
    bits, limits = np.empty(TILE, np.uint64), np.empty(TILE, np.uint64)
    visited = np.empty(TILE, np.int64)
    hits = np.empty((2, 2 * TILE), np.int64)  # rows; words within the row
    for tile in range(0, rows.shape[0], TILE):
        n_here = min(TILE, rows.shape[0] - tile)
        n_visited = 0
        if thresholds.size:
            for j in range(n_here):
                visited[j] = tile + j
                limits[j] = np.uint64(max(thresholds[0], thresholds[1]))
            n_visited = n_here
        else:
            for j in range(n_here):
                e = example_ids[tile + j]
                bits[j] = philox4x32(e & _MASK, e >> _HALF, epoch, stream, k0, k1)[0]
            for j in range(n_here):
                length = n_words[tile + j]
                n = draw_count(bits[j], length, cumulative, row_start, row_size)
                if n > 0:
                    visited[n_visited] = tile + j
                    # hit if bits / 2^32 < n / length
                    limits[n_visited] = np.uint64(((np.int64(n) << 32) - 1) // length)
                    n_visited += 1
        n_hits = 0
        for i in range(n_visited):
            b, limit = visited[i], limits[i]
            e, length = example_ids[b], n_words[b]
            c0, c1 = e & _MASK, e >> _HALF
            for first in range(0, length, TILE):
                n_bits = min(TILE, length - first)
                block = stream + np.uint64(1 + first)
                for j in range((n_bits + 3) // 4 * 4):  # whole vectors; what is too much is unread
                    bits[j] = philox4x32(c0, c1, epoch, block + np.uint64(j), k0, k1)[0]
                for j in range(n_bits):  # no branch: which words are hit cannot be foreseen
                    hits[0, n_hits] = b
                    hits[1, n_hits] = first + j
                    n_hits += np.int64(bits[j] <= limit)
                if n_hits >= TILE:
                    wrong = _apply_hits(
                        rows, frozen, hits, n_hits, example_ids, k0, k1, epoch, stream,
                        lowest, starts, stops, draw_ids, n_draw, thresholds, null_id,
                    )  # fmt: skip
                    if wrong != NOWHERE:
                        return wrong
                    n_hits = 0
        wrong = _apply_hits(
            rows, frozen, hits, n_hits, example_ids, k0, k1, epoch, stream,
            lowest, starts, stops, draw_ids, n_draw, thresholds, null_id,
        )  # fmt: skip
        if wrong != NOWHERE:
            return wrong
    return NOWHERE


@njit
def _apply_hits(
    rows, frozen, hits, n_hits, example_ids, k0, k1, epoch, stream,
    lowest, starts, stops, draw_ids, n_draw, thresholds, null_id,
):  # fmt: skip
    """Find the hit words in their rows, in order, and put others there."""
    n_padded = (n_hits + 3) // 4 * 4  # whole vectors
    examples, low, high = (
        np.empty(n_padded, np.uint64),
        np.empty(n_padded, np.uint64),
        np.empty(n_padded, np.uint64),
    )
    for h in range(n_hits):
        examples[h] = example_ids[hits[0, h]]
        first = hits[0, h] * rows.shape[1]
        for position in range(first, first + hits[1, h] + 8, 8):
            prefetch(rows, position)
    if null_id < 0:
        for h in range(n_padded):
            block = stream + np.uint64(1 + hits[1, h])
            words = philox4x32(examples[h] & _MASK, examples[h] >> _HALF, epoch, block, k0, k1)
            low[h], high[h] = words[1], words[2]
    width = rows.shape[1]
    last, position, n_seen = -1, -1, 0  # words of row ``last`` up to and including ``position``
    for h in range(n_hits):
        b, word = hits[0, h], hits[1, h]
        if b != last:
            last, position, n_seen = b, np.int64(rows[b, 0] < lowest) - 1, 0  # past bos
        while n_seen <= word:  # at least so many positions on
            stop = position + 1 + (word + 1 - n_seen)
            if stop > width:
                return b
            if starts.size == 0 and frozen.size == 0:
                for t in range(position + 1, stop):
                    n_seen += np.int64(rows[b, t] >= lowest)
            else:
                for t in range(position + 1, stop):
                    if is_word(rows[b, t], lowest, starts, stops):
                        n_seen += frozen.size == 0 or not frozen[b, t]
            position = stop - 1
        v = np.int64(rows[b, position])
        if thresholds.size and thresholds[0] != thresholds[1]:
            rank = np.searchsorted(draw_ids, v)
            is_inside = rank < n_draw and draw_ids[rank] == v
            block = stream + np.uint64(1 + word)
            e = examples[h]
            bits = philox4x32(e & _MASK, e >> _HALF, epoch, block, k0, k1)[0]
            if np.int64(bits) > thresholds[0 if is_inside else 1]:
                continue
        if null_id >= 0:
            rows[b, position] = null_id
        else:
            rows[b, position] = other_word(
                v, low[h], high[h], n_draw, lowest, starts, stops, draw_ids
            )
    return NOWHERE


@njit(nogil=True, cache=True)
def prepare_rows(
    source, rows, frozen, n_words, do_count, do_copy, example_ids, max_id,
    size, lowest, starts, stops,
):  # fmt: skip
    """Check everything, copy ``source`` to ``rows`` and count their words, as asked.

    Returns what is wrong and in which row: `NO_ERROR`, `BAD_EXAMPLE` or `BAD_ID`.
    """
    for b in range(example_ids.size):
        if example_ids[b] > max_id:
            return BAD_EXAMPLE, b
    if do_count:
        bad = _count_words(source, rows, frozen, n_words, do_copy, size, lowest, starts, stops)
        if bad >= 0:
            return BAD_ID, bad
    elif do_copy:
        for b in range(source.shape[0]):
            for t in range(source.shape[1]):
                rows[b, t] = source[b, t]
    return NO_ERROR, 0


@njit(nogil=True, cache=True)
def sample_rows(
    source, rows, frozen, n_words, do_count, do_copy, example_ids, max_id, key, epoch, stream,
    size, lowest, starts, stops, draw_ids, n_draw,
    cumulative, row_start, row_size, thresholds, null_id,
):  # fmt: skip
    """`prepare_rows`, then replace words of ``rows``; `BAD_LENGTH`: a given length was wrong.

    ``thresholds`` holds the constant law: a word is hit if its 32 bits are at most
    ``thresholds[0]``, or ``thresholds[1]`` if it is outside the drawable words; empty: the counts.
    """
    problem, row = prepare_rows(
        source, rows, frozen, n_words, do_count, do_copy, example_ids, max_id,
        size, lowest, starts, stops,
    )  # fmt: skip
    if problem != NO_ERROR or (thresholds.size and max(thresholds[0], thresholds[1]) < 0):
        return problem, row
    row = _replace_words(
        rows, frozen, n_words, example_ids, key, epoch, stream,
        lowest, starts, stops, draw_ids, n_draw,
        cumulative, row_start, row_size, thresholds, null_id,
    )  # fmt: skip
    return (BAD_LENGTH, row) if row >= 0 else (NO_ERROR, 0)


@njit(nogil=True, cache=True)
def replace_similar(
    tokens, frozen, example_ids, key, epoch, stream, lowest, starts, stops, row_start, ids, limits
):
    """Replace each word by a categorical draw from its row of the table, in place.

    Row w spans ``row_start[w]`` to ``row_start[w + 1]``; entry j is drawn if the bits are at most
    ``limits[j]`` and above the one before. An empty row leaves the word alone.
    """
    n_rows, n_columns = tokens.shape
    k0, k1 = key & _MASK, key >> _HALF
    for b in range(n_rows):
        e = example_ids[b]
        block = stream
        for t in range(n_columns):
            v = tokens[b, t]
            if not is_word(v, lowest, starts, stops) or (frozen.size and frozen[b, t]):
                continue
            block += _ONE
            low, high = row_start[v], row_start[v + 1] - 1
            if high <= low:
                if high == low:
                    tokens[b, t] = ids[low]
                continue
            u = philox4x32(e & _MASK, e >> _HALF, epoch, block, k0, k1)[0]
            while low < high:
                middle = (low + high) >> 1
                if limits[middle] < u:
                    low = middle + 1
                else:
                    high = middle
            tokens[b, t] = ids[low]
