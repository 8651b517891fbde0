"""The samplers as loops, compiled by numba: what NumPy arrays and CPU tensors run.

The same integers as `switchout.sampling`, where the algorithm is written for reading.
`sample_rows` checks and counts (`kernels_rows`), then draws the counts of 256 sentences at a time,
so that the compiler runs several Philox counters side by side, visits a sentence only if its n > 0,
and a word only if it is hit; what chance decides is a sum or a bit, not a branch, which would be
guessed wrong. The categorical draws of `Similar` are in `kernels_similar`.

All release the GIL, keep no state, and use no threads of their own (those die under fork).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from switchout.intrinsics import LANES, n_ones, n_zeros_above, n_zeros_below, prefetch
from switchout.kernels_rows import BAD_LENGTH, NO_ERROR, NOWHERE, is_word, prepare_rows, word_bits
from switchout.philox_numba import AT_ONCE, hit_bits, philox4x32
from switchout.sampling.laws import END_OF_ROW

TILE = 256  # sentences drawn together, and hits applied together
SPAN = 64  # words whose hits are the bits of one number

_HALF, _MASK, _ONE = np.uint64(32), np.uint64(0xFFFFFFFF), np.uint64(1)
_AFTER_ROW = END_OF_ROW.size
_NONE, _ALL = np.uint64(0), np.uint64(0xFFFFFFFFFFFFFFFF)


@njit(inline="always")
def first_not_below(v, values, low, high):
    """Return the first index in ``low..high`` whose value is at least ``v``, else ``high``."""
    # np.searchsorted would count references to the array at each call.
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < v:
            low = middle + 1
        else:
            high = middle
    return low


@njit(inline="always")
def scaled(u, total):
    """Return floor(u · total / 2^32) for 32 bits ``u``."""
    return u * (total >> _HALF) + ((u * (total & _MASK)) >> _HALF)


@njit(inline="always")
def draw_count(u, length, cumulative, start, size):
    """Return n for a sentence of ``length`` words from 32 random bits (see `laws`)."""
    first, last = start[length], start[length] + size[length] - 1
    v = scaled(u, cumulative[last])
    n = 0
    for k in range(4):  # small counts are likely: no branch that cannot be foreseen for them
        n += np.int64(cumulative[first + k] <= v)
    return n if n < 4 else first_not_below(v + _ONE, cumulative, first + 4, last) - first


@njit
def _draw_counts(bits, lengths, cumulative, row_start, row_size, counts):
    """Fill in n for sentences of ``lengths`` words; without ``row_start`` one row serves them all.

    For that, the usual case, loops of which the compiler makes vectors.
    """
    if row_start.size:
        for j in range(lengths.size):
            counts[j] = draw_count(bits[j], lengths[j], cumulative, row_start, row_size)
        return
    last = cumulative.size - 1 - _AFTER_ROW
    for j in range(lengths.size):
        counts[j] = np.int64(cumulative[min(lengths[j], last)])  # the total, for now
    c0, c1 = np.int64(cumulative[0]), np.int64(cumulative[1])
    c2, c3 = np.int64(cumulative[2]), np.int64(cumulative[3])
    for j in range(lengths.size):
        v = np.int64(scaled(bits[j] & _MASK, np.uint64(counts[j])))
        counts[j] = np.int64(c0 <= v) + np.int64(c1 <= v) + np.int64(c2 <= v) + np.int64(c3 <= v)
    for j in range(lengths.size):
        if counts[j] == 4:  # or more
            high = min(lengths[j], last)
            v = scaled(bits[j], cumulative[high])
            counts[j] = first_not_below(v + _ONE, cumulative, 4, high)


@njit(inline="always")
def other_word(v, w1, w2, n_draw, lowest, starts, stops):
    """Return a word other than ``v``, uniform, from 64 random bits."""
    rank = v - lowest
    for r in range(starts.size):
        rank -= (stops[r] - starts[r]) * np.int64(v >= stops[r])
    step = rank + 1 + below(np.uint64(n_draw - 1), w1, w2)
    word = lowest + step - n_draw * np.int64(step >= n_draw)  # a branch would often be wrong
    for r in range(starts.size):
        word += (stops[r] - starts[r]) * np.int64(word >= starts[r])
    return word


@njit(inline="always")
def other_drawable(v, w1, w2, draw_ids):
    """Return one of the sorted ``draw_ids`` other than ``v``, uniform, from 64 random bits."""
    rank = first_not_below(v, draw_ids, 0, draw_ids.size)
    if rank == draw_ids.size or draw_ids[rank] != v:
        return draw_ids[below(np.uint64(draw_ids.size), w1, w2)]
    step = rank + 1 + below(np.uint64(draw_ids.size - 1), w1, w2)
    return draw_ids[step - draw_ids.size if step >= draw_ids.size else step]


@njit(inline="always")
def below(n, w1, w2):
    """Return a number in 0..n - 1 from 64 random bits, low word first."""
    return np.int64((n * w2 + ((n * w1) >> _HALF)) >> _HALF)


@njit
def _replace_words(
    rows, frozen, n_words, example_ids, k0, k1, epoch, stream,
    lowest, starts, stops, draw_ids, n_draw,
    cumulative, row_start, row_size, thresholds, null_id,
):  # fmt: skip
    """Replace words of ``rows`` in place; return -1, or the row whose length was given wrong.

    A word is hit if its random bits times ``scale`` are below ``bound``: n / L or a threshold.
    """
    bits, counts = np.empty(TILE, np.uint64), np.empty(TILE, np.int64)
    visited, bounds = np.empty(TILE, np.int64), np.empty(TILE, np.int64)
    scratch = np.empty((9, TILE + SPAN), np.int64)  # of `_apply_hits`, made once
    scratch[8, 0] = NOWHERE
    # Spans of up to 64 words with a hit: row and first word; which of the words.
    spans, hits, n_spans, n_hits = np.empty((2, TILE), np.int64), np.empty(TILE, np.uint64), 0, 0
    for tile in range(0, rows.shape[0], TILE):
        n_here = min(TILE, rows.shape[0] - tile)
        n_visited = 0
        if thresholds.size:
            for j in range(n_here):
                visited[j] = tile + j
                bounds[j] = max(thresholds[0], thresholds[1]) + 1
            n_visited = n_here
        else:
            examples = example_ids[tile : tile + n_here]
            for j in range(examples.size):
                e = examples[j]
                bits[j] = philox4x32(e & _MASK, e >> _HALF, epoch, stream, k0, k1)[0]
            lengths = n_words[tile : tile + n_here]
            _draw_counts(bits, lengths, cumulative, row_start, row_size, counts)
            for j in range(n_here):
                visited[n_visited] = tile + j
                bounds[n_visited] = counts[j] << 32
                n_visited += np.int64(counts[j] > 0)
        for i in range(n_visited):
            b, bound = visited[i], bounds[i]
            e, length = example_ids[b], n_words[b]
            c0, c1 = e & _MASK, e >> _HALF
            # Said to be 32 bits, so that a product is one instruction.
            scale = (_ONE if thresholds.size else np.uint64(length)) & _MASK
            for first in range(0, length, SPAN):
                n_bits = min(SPAN, length - first)
                block = stream + np.uint64(1 + first)
                _prefetch_words(rows, b, first, n_bits)
                hit = _NONE
                for j in range(0, n_bits, AT_ONCE):
                    some = hit_bits(c0, c1, epoch, block + np.uint64(j), k0, k1, scale, bound)
                    hit |= some << np.uint64(j)
                hit &= _ALL >> np.uint64(SPAN - n_bits)
                spans[0, n_spans], spans[1, n_spans], hits[n_spans] = b, first, hit
                n_spans += np.int64(hit != _NONE)
                n_hits += n_ones(hit)
                if n_spans == TILE or n_hits >= TILE:
                    wrong = _apply_hits(
                        rows, frozen, spans, hits, n_hits, example_ids, k0, k1, epoch, stream,
                        lowest, starts, stops, draw_ids, n_draw, thresholds, null_id, scratch,
                    )  # fmt: skip
                    if wrong != NOWHERE:
                        return wrong
                    n_spans, n_hits = 0, 0
    return _apply_hits(
        rows, frozen, spans, hits, n_hits, example_ids, k0, k1, epoch, stream,
        lowest, starts, stops, draw_ids, n_draw, thresholds, null_id, scratch,
    )  # fmt: skip


@njit(inline="always")
def _prefetch_words(rows, b, first, n):
    """Ask for the ``n`` words of row ``b`` from ``first`` on: a cache line holds eight."""
    start = b * rows.shape[1] + first
    for t in range(0, SPAN, 8):  # always as many, so that nothing is to be guessed
        prefetch(rows, start + min(n, t))
    prefetch(rows, start + n)


@njit
def _apply_hits(
    rows, frozen, spans, hits, n_hits, example_ids, k0, k1, epoch, stream,
    lowest, starts, stops, draw_ids, n_draw, thresholds, null_id, scratch,
):  # fmt: skip
    """Find the hit words in their rows and put others there; return a row as `_replace_words`."""
    if n_hits == 0:
        return NOWHERE
    # Of each hit: its span, which word of the sentence, where that is in ``rows.flat``; example
    # and random bits. Of each span: where its words begin.
    span_of, word_of, places, first_words = scratch[0], scratch[1], scratch[2], scratch[3]
    examples, bits = scratch[4].view(np.uint64), scratch[5:8].view(np.uint64)
    i, hit = 0, hits[0]
    for h in range(n_hits):  # the ones of ``hits``, one by one, without a branch
        span_of[h], word_of[h] = i, spans[1, i] + n_zeros_below(hit)
        examples[h] = example_ids[spans[0, i]]
        hit &= hit - _ONE
        i += np.int64(hit == _NONE)
        hit = hits[min(i, TILE - 1)] if hit == _NONE else hit
    words = rows.reshape(-1)
    wrong = _find_hits(
        rows, frozen, spans, hits, i, first_words, span_of, word_of, n_hits, places, scratch[8],
        lowest, starts, stops,
    )  # fmt: skip
    if wrong != NOWHERE:
        return wrong
    if null_id >= 0:
        for h in range(n_hits):
            words[places[h]] = null_id
        return NOWHERE
    for h in range((n_hits + 3) // 4 * 4):  # whole vectors; what is too much is unread
        block = stream + np.uint64(1 + word_of[h])
        bits[0, h], bits[1, h], bits[2, h], _ = philox4x32(
            examples[h] & _MASK, examples[h] >> _HALF, epoch, block, k0, k1
        )
    if draw_ids.size == 0:
        for h in range(n_hits):
            v = np.int64(words[places[h]])
            words[places[h]] = other_word(v, bits[1, h], bits[2, h], n_draw, lowest, starts, stops)
        return NOWHERE
    for h in range(n_hits):
        v = np.int64(words[places[h]])
        if thresholds.size:
            rank = first_not_below(v, draw_ids, 0, draw_ids.size)
            is_inside = rank < n_draw and draw_ids[rank] == v
            if np.int64(bits[0, h]) > thresholds[0 if is_inside else 1]:
                continue
        words[places[h]] = other_drawable(v, bits[1, h], bits[2, h], draw_ids)
    return NOWHERE


@njit
def _find_hits(
    rows, frozen, spans, hits, n_spans, first_words, span_of, word_of, n_hits, places, cursor,
    lowest, starts, stops,
):  # fmt: skip
    """Fill in ``places``: where in ``rows.flat`` the hit words are; return a wrong row or -1.

    ``cursor`` is kept from call to call: a word that became the null word is no word any more, so
    a sentence must not be counted again from its beginning.
    """
    width = rows.shape[1]
    for i in range(n_spans):
        first_words[i] = _first_word(
            rows, frozen, spans[0, i], spans[1, i], hits[i], lowest, starts, stops
        )
    # Row ``last`` has ``n_seen`` words up to and including ``column``.
    last, column, n_seen = cursor[0], cursor[1], cursor[2]
    for h in range(n_hits):
        b, word = spans[0, span_of[h]], word_of[h]
        if first_words[span_of[h]] >= 0:
            last, column, n_seen = b, first_words[span_of[h]] + word, word + 1
            places[h] = b * width + column
            continue
        if b != last:
            last, column, n_seen = b, -1, 0
        while n_seen <= word:  # at least so many columns on
            stop = column + 1 + (word + 1 - n_seen)
            if stop > width:
                return b
            for t in range(column + 1, stop):
                if is_word(rows[b, t], lowest, starts, stops):
                    n_seen += frozen.size == 0 or not frozen[b, t]
            column = stop - 1
        places[h] = b * width + column
    cursor[0], cursor[1], cursor[2] = last, column, n_seen
    return NOWHERE


@njit(inline="always")
def _first_word(rows, frozen, b, first, hit, lowest, starts, stops):
    """Return where the words of row ``b`` begin if all up to the last hit stand in one piece.

    -1 if not, or if that would take a longer look: then they have to be counted.
    """
    width = rows.shape[1]
    if frozen.size or first > 0 or width < LANES:
        return -1
    n = SPAN - n_zeros_above(hit)
    words = _NONE  # which of the first 64 columns hold words
    for t in range(0, min(n + 1, width, SPAN), LANES):  # one more for bos
        column = min(t, width - LANES)
        words |= word_bits(rows, b * width + column, lowest, starts, stops) << np.uint64(column)
    offset = min(n_zeros_below(words), SPAN - 1)
    n_in_a_row = n_zeros_below(~(words >> np.uint64(offset)))
    return offset if n_in_a_row >= n else -1


@njit(nogil=True, cache=True)
def sample_rows(
    source, rows, frozen, n_words, do_count, do_copy, example_ids, max_id, k0, k1, epoch, stream,
    size, lowest, starts, stops, draw_ids, n_draw,
    cumulative, row_start, row_size, thresholds, null_id,
):  # fmt: skip
    """`prepare_rows`, then replace words of ``rows``; `BAD_LENGTH`: a given length was wrong.

    ``thresholds`` holds the constant law: a word is hit if its 32 bits are at most
    ``thresholds[0]``, or ``thresholds[1]`` if it is outside the drawable words; empty: the counts.
    """
    k0, k1, epoch, stream = np.uint64(k0), np.uint64(k1), np.uint64(epoch), np.uint64(stream)
    problem, row = prepare_rows(
        source, rows, frozen, n_words, do_count, do_copy, example_ids, max_id,
        size, lowest, starts, stops,
    )  # fmt: skip
    if problem != NO_ERROR or (thresholds.size and max(thresholds[0], thresholds[1]) < 0):
        return problem, row
    row = _replace_words(
        rows, frozen, n_words, example_ids, k0, k1, epoch, stream,
        lowest, starts, stops, draw_ids, n_draw,
        cumulative, row_start, row_size, thresholds, null_id,
    )  # fmt: skip
    return (BAD_LENGTH, row) if row >= 0 else (NO_ERROR, 0)
