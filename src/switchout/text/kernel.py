"""One side of a chunk of lines: find the words, draw, copy what stays, write what changes.

The integers are those of `switchout.kernels`: the i-th known word of line e is the i-th real word
of example e. A word outside the vocabulary, or a special one, is left alone and not counted.

* A line whose n is 0 whatever its length is not even split into words.
* Untouched bytes, line after line, are copied in one piece when the next change comes.
* Words of a line are hashed first and compared afterwards, so that cache misses overlap.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from switchout.intrinsics import prefetch
from switchout.kernels import draw_count, scaled
from switchout.philox_numba import philox4x32
from switchout.text.arrays import COUNTS, NO_PROBLEM, NO_ROOM, TILE
from switchout.text.scan import (
    copy_bytes,
    find_word,
    find_words,
    first_slot,
    inlined,
    kernel,
    word_keys,
)

NO_ROW = -2
_HALF, _MASK = np.uint64(32), np.uint64(0xFFFFFFFF)


@inlined
def _know_words(data, start, end, edges, keys, known, slots, blob):
    """Fill in edges and ids of the known words of a line; return how many words, how many known."""
    n_words = find_words(data, start, end, edges)
    for w in range(n_words):
        low, high = word_keys(data, edges[2 * w], edges[2 * w + 1] - edges[2 * w])
        keys[2 * w], keys[2 * w + 1] = low, high
        prefetch(slots, 4 * first_slot(low, high, len(slots)))
    n_known = 0
    for w in range(n_words):
        first, last = edges[2 * w], edges[2 * w + 1]
        word = find_word(data, first, last - first, keys[2 * w], keys[2 * w + 1], slots, blob)
        if word >= 0:
            known[n_known] = word
            edges[2 * n_known], edges[2 * n_known + 1] = first, last
            n_known += 1
    return n_words, n_known


@inlined
def _other_word(word, w1, w2, n_draw):
    """Return another word, uniform: `kernels.other_word` where every id is a word."""
    choices = np.uint64(n_draw - 1)
    step = np.int64((choices * w2 + ((choices * w1) >> _HALF)) >> _HALF) + word + 1
    return step - n_draw if step >= n_draw else step


@inlined
def _draw(known, n_known, limit, example, epoch, stream, seed, offsets, null_id, bits, hits, words):
    """Fill in which known words are hit and what they become; return how many."""
    n_draw = offsets.size - 2
    k0, k1 = seed & _MASK, seed >> _HALF
    c0, c1 = example & _MASK, example >> _HALF
    n_hits = 0
    for first in range(0, n_known, TILE):
        block = stream + np.uint64(1 + first)
        n_here = TILE if n_known - first > TILE else n_known - first
        for j in range((n_here + 15) // 16 * 16):  # whole vectors
            bits[j] = philox4x32(c0, c1, epoch, block + np.uint64(j), k0, k1)[0]
        for j in range(n_here):
            if bits[j] > limit:
                continue
            hits[n_hits] = first + j
            if null_id >= 0:
                words[n_hits] = null_id
            else:
                r = philox4x32(c0, c1, epoch, block + np.uint64(j), k0, k1)
                words[n_hits] = _other_word(known[first + j], r[1], r[2], n_draw)
            prefetch(offsets, words[n_hits])
            n_hits += 1
    return n_hits


@inlined
def _never_changes(u, n_bytes, threshold, one_row, cumulative, row_size):
    """Return whether n = 0 for every number of words that ``n_bytes`` can hold."""
    if threshold != COUNTS:
        return threshold < 0
    if not one_row:
        return False
    total = cumulative[row_size[(n_bytes + 1) >> 1] - 1]
    return scaled(u, total) < cumulative[0]


@inlined
def _limit(u, n_known, threshold, cumulative, row_start, row_size):
    """Return the largest 32 bits that hit a word; -1: none do; `NO_ROW`: make the row first."""
    if threshold != COUNTS:
        return threshold
    if row_size[n_known] == 0:
        return NO_ROW
    n = draw_count(u, n_known, cumulative, row_start, row_size)
    return ((np.int64(n) << 32) - 1) // n_known if n > 0 else -1


@inlined
def _put(out, size, data, from_, n_hits, hits, words, edges, blob, offsets):
    """Copy ``data`` from ``from_`` on, with the hit words replaced; return both new positions."""
    for h in range(n_hits):
        gap = edges[2 * hits[h]] - from_
        copy_bytes(out, size, data, from_, gap)
        first = offsets[words[h]]
        n_bytes = offsets[words[h] + 1] - first
        copy_bytes(out, size + gap, blob, first, n_bytes)
        size += gap + n_bytes
        from_ = edges[2 * hits[h] + 1]
    return size, from_


@kernel
def rewrite(
    lines, keep, first_example, table, law, address, copies, keep_original, count_all,
    scratch, begin, out, size, out_ends, changes, emitted,
):  # fmt: skip
    """Write the lines from ``begin`` on, each ``copies`` times, to ``out[size:]``.

    Args:
        lines, keep: The lines; which of them to write, [lines] or empty for all.
        first_example: Example id of line 0.
        copies, keep_original: Changed copies of each line, and whether itself comes first.
        count_all: Count the words of lines that cannot change, too.
        scratch: Working space, see `make_scratch`.
        out_ends: To fill in: end of each line written, without its gap.
        changes: To fill in: changed words of each line written; -1 for an original.
        emitted: Lines written before this call.
    """
    # Unpacked once: reading an array out of a tuple counts a reference each time.
    data, starts, ends, gap = lines
    slots, blob, offsets = table
    cumulative, row_start, row_size, one_row, threshold, null_id = law
    seed, first_epoch, stream = address
    edges, known, hits, words, keys, bits = scratch
    all_words, all_known = 0, 0
    from_, to = 0, 0  # untouched bytes not copied yet
    for i in range(begin, ends.size):
        if keep.size and not keep[i]:
            continue
        start, end, stop = starts[i], ends[i], ends[i] + gap
        undo = size, from_, to, emitted
        problem = NO_PROBLEM
        n_words, n_known = 0, -1  # not looked up
        if count_all:
            n_words, n_known = _know_words(data, start, end, edges, keys, known, slots, blob)
        example = np.uint64(first_example + i)
        c0, c1 = example & _MASK, example >> _HALF
        for copy in range(-1 if keep_original else 0, copies):
            n_hits = 0 if copy >= 0 else -1  # -1: an original
            epoch = first_epoch + np.uint64(copy if copy >= 0 else 0)
            u = philox4x32(c0, c1, epoch, stream, seed & _MASK, seed >> _HALF)[0]
            if copy >= 0 and not _never_changes(
                u, end - start, threshold, one_row, cumulative, row_size
            ):
                if n_known < 0:
                    _, n_known = _know_words(data, start, end, edges, keys, known, slots, blob)
                limit = _limit(u, n_known, threshold, cumulative, row_start, row_size)
                if limit == NO_ROW:
                    problem = n_known
                    break
                if limit >= 0:
                    n_hits = _draw(
                        known, n_known, np.uint64(limit), example, epoch, stream, seed,
                        offsets, null_id, bits, hits, words,
                    )  # fmt: skip
            room = size + (to - from_) + (stop - start)
            for h in range(n_hits):
                room += offsets[words[h] + 1] - offsets[words[h]]
            if room > out.size:
                problem = NO_ROOM
                break
            if start != to:
                copy_bytes(out, size, data, from_, to - from_)
                size += to - from_
                from_ = start
            size, from_ = _put(out, size, data, from_, n_hits, hits, words, edges, blob, offsets)
            to = stop
            out_ends[emitted] = size + (end - from_)
            changes[emitted] = n_hits
            emitted += 1
        if problem != NO_PROBLEM:  # take back the copies of this line; it comes again
            size, from_, to, emitted = undo
            copy_bytes(out, size, data, from_, to - from_)
            return i, size + to - from_, emitted, all_words, all_known, problem
        all_words += n_words
        all_known += n_known if count_all else 0
    copy_bytes(out, size, data, from_, to - from_)
    return ends.size, size + to - from_, emitted, all_words, all_known, NO_PROBLEM
