"""One side of a chunk of lines: find the words, draw, copy what stays, write what changes.

The integers are those of `switchout.kernels`: the i-th known word of line e is the i-th real word
of example e. A word outside the vocabulary, or a special one, is left alone and not counted.

* A line whose n is 0 whatever its length is not even split into words.
* Untouched bytes, line after line, are copied in one piece when the next change comes.
* Words of a line are hashed first and compared afterwards, so that cache misses overlap.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from switchout.augment.scan import (
    copy_bytes,
    find_word,
    find_words,
    first_slot,
    is_blank,
    prefetch,
    word_key,
)
from switchout.kernels import draw_count, other_word
from switchout.philox import philox4x32

TILE = 64
_HALF, _MASK = np.uint64(32), np.uint64(0xFFFFFFFF)
_NONE = np.empty(0, np.int64)

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]
Words64 = npt.NDArray[np.uint64]


class Lines(NamedTuple):
    """Lines as spans of one array of bytes, each followed by ``gap`` bytes that belong to it."""

    data: Bytes  # at least `scan.PADDING` bytes longer than the last line's end
    starts: Ints  # [lines]
    ends: Ints  # [lines]
    gap: int  # 1: a newline or tab follows and is copied along; 0: nothing follows


class WordTable(NamedTuple):
    """The known words: a hash table over their bytes; ``blob`` ends with the null word."""

    slots: Words64  # [n_slots, 2]
    blob: Bytes
    offsets: Ints  # [words + 2]


class Law(NamedTuple):
    """How many words change, as integers (see `switchout.laws` and `kernels.replace_words`)."""

    cumulative: Words64
    row_start: Ints  # [max_length + 1]
    row_size: Ints  # [max_length + 1]; 0: the row of this length has not been made yet
    one_row: bool  # all lengths share the row, so a longer sentence never has a larger p(0)
    threshold: int  # the constant law: a word is hit if its 32 bits are at most this; -2: counts
    null_id: int  # hit words become this word; -1: another word, uniform


class Address(NamedTuple):
    """Where the randomness of a side begins (see `switchout.philox`)."""

    seed: np.uint64
    epoch: np.uint64  # of copy 0; copy k is one epoch further
    stream: np.uint64


class Progress(NamedTuple):
    """What `rewrite` returns: where it stopped, and why it stopped before the last line."""

    line: int  # first line not done
    size: int  # bytes of ``out`` in use
    emitted: int  # lines in ``out``
    n_words: int
    n_known: int
    missing_length: int  # a length without a row; -1: none, so ``out`` was too small


@njit(nogil=True, cache=True)
def kept_pairs(source, target, keep, n_dropped):
    """Fill in ``keep`` and count the dropped: empty source, empty target, both empty."""
    for i in range(keep.size):
        no_source = is_blank(source.data, source.starts[i], source.ends[i])
        no_target = is_blank(target.data, target.starts[i], target.ends[i])
        keep[i] = not (no_source or no_target)
        if not keep[i]:
            n_dropped[2 if no_source and no_target else 0 if no_source else 1] += 1


@njit(nogil=True, forceinline=True)
def _know_words(data, n_words, edges, keys, known, slots, blob, offsets):
    """Replace ``edges`` by those of the known words, fill in their ids; return how many."""
    for w in range(n_words):
        keys[w] = word_key(data, edges[2 * w], edges[2 * w + 1] - edges[2 * w])
        prefetch(slots, 2 * first_slot(keys[w], len(slots)))
    n_known = 0
    for w in range(n_words):
        start, end = edges[2 * w], edges[2 * w + 1]
        word = find_word(data, start, end - start, keys[w], slots, blob, offsets)
        if word >= 0:
            known[n_known] = word
            edges[2 * n_known], edges[2 * n_known + 1] = start, end
            n_known += 1
    return n_known


@njit(nogil=True, forceinline=True)
def _draw(known, n_known, limit, example, epoch, stream, seed, n_draw, null_id, bits, hits, words):
    """Fill in which known words are hit and what they become; return how many."""
    k0, k1 = seed & _MASK, seed >> _HALF
    c0, c1 = example & _MASK, example >> _HALF
    n_hits = 0
    for first in range(0, n_known, TILE):
        block = stream + np.uint64(1 + first)
        n_here = min(TILE, n_known - first)
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
                words[n_hits] = other_word(
                    known[first + j], r[1], r[2], n_draw, 0, _NONE, _NONE, _NONE
                )
            n_hits += 1
    return n_hits


@njit(nogil=True, forceinline=True)
def _never_changes(u, n_bytes, threshold, one_row, cumulative, row_size):
    """Return whether n = 0 for every number of words that ``n_bytes`` can hold."""
    if threshold != -2:
        return threshold < 0
    if not one_row:
        return False
    total = cumulative[row_size[(n_bytes + 1) >> 1] - 1]
    return u * (total >> _HALF) + ((u * (total & _MASK)) >> _HALF) < cumulative[0]


@njit(nogil=True, cache=True)
def rewrite(
    lines, keep, first_example, table, law, address, copies, keep_original, count_all,
    begin, out, size, out_ends, changes, emitted,
):  # fmt: skip
    """Write the lines from ``begin`` on, each ``copies`` times, to ``out[size:]``.

    Args:
        lines, keep: The lines; which of them to write, [lines] or empty for all.
        first_example: Example id of line 0.
        copies, keep_original: Changed copies of each line, and whether itself comes first.
        count_all: Count the words of lines that cannot change, too.
        out_ends: To fill in: end of each line written, without its gap.
        changes: To fill in: changed words of each line written; -1 for an original.
        emitted: Lines written before this call.
    """
    # Unpacked once: reading an array out of a tuple counts a reference each time.
    data, starts, ends, gap = lines
    slots, blob, offsets = table
    cumulative, row_start, row_size, one_row, threshold, null_id = law
    seed, first_epoch, stream = address
    n_lines = ends.size
    longest = 0
    for i in range(begin, n_lines):
        longest = max(longest, ends[i] - starts[i])
    edges = np.empty(longest + 2, np.int64)
    known, keys = np.empty(longest // 2 + 1, np.int64), np.empty(longest // 2 + 1, np.uint64)
    hits, words = np.empty(longest // 2 + 1, np.int64), np.empty(longest // 2 + 1, np.int64)
    bits = np.empty(TILE, np.uint64)
    n_draw = offsets.size - 2
    all_words, all_known = 0, 0
    from_, to = 0, 0  # untouched bytes not copied yet
    for i in range(begin, n_lines):
        if keep.size and not keep[i]:
            continue
        start, end = starts[i], ends[i]
        stop = end + gap
        undo_size, undo_from, undo_to, undo_emitted = size, from_, to, emitted
        missing = -1
        n_known = -1  # the words have not been looked up
        if count_all:
            n_words = find_words(data, start, end, edges)
            n_known = _know_words(data, n_words, edges, keys, known, slots, blob, offsets)
            all_words += n_words
            all_known += n_known
        example = np.uint64(first_example + i)
        for copy in range(-1 if keep_original else 0, copies):
            n_hits = -1
            if copy >= 0:
                n_hits = 0
                epoch = first_epoch + np.uint64(copy)
                u = philox4x32(
                    example & _MASK, example >> _HALF, epoch, stream,
                    seed & _MASK, seed >> _HALF,
                )[0]  # fmt: skip
                if not _never_changes(u, end - start, threshold, one_row, cumulative, row_size):
                    if n_known < 0:
                        n_words = find_words(data, start, end, edges)
                        n_known = _know_words(
                            data, n_words, edges, keys, known, slots, blob, offsets
                        )
                    limit = threshold
                    if limit == -2:
                        if row_size[n_known] == 0:
                            missing = n_known
                            break
                        n = draw_count(u, n_known, cumulative, row_start, row_size)
                        limit = ((np.int64(n) << 32) - 1) // n_known if n > 0 else -1
                    if limit >= 0:
                        n_hits = _draw(
                            known, n_known, np.uint64(limit), example, epoch, stream, seed,
                            n_draw, null_id, bits, hits, words,
                        )  # fmt: skip
            room = size + (to - from_) + (stop - start)
            for h in range(n_hits):
                room += offsets[words[h] + 1] - offsets[words[h]]
            if room > out.size:
                missing = -2
                break
            if start != to:
                copy_bytes(out, size, data, from_, to - from_)
                size += to - from_
                from_ = start
            for h in range(n_hits):
                word_start = edges[2 * hits[h]]
                copy_bytes(out, size, data, from_, word_start - from_)
                size += word_start - from_
                first = offsets[words[h]]
                n_bytes = offsets[words[h] + 1] - first
                copy_bytes(out, size, blob, first, n_bytes)
                size += n_bytes
                from_ = edges[2 * hits[h] + 1]
            to = stop
            out_ends[emitted] = size + (end - from_)
            changes[emitted] = n_hits
            emitted += 1
        if missing != -1:
            size, from_, to, emitted = undo_size, undo_from, undo_to, undo_emitted
            if count_all:
                all_words -= n_words
                all_known -= n_known
            copy_bytes(out, size, data, from_, to - from_)
            return Progress(i, size + to - from_, emitted, all_words, all_known, missing)
    copy_bytes(out, size, data, from_, to - from_)
    return Progress(n_lines, size + to - from_, emitted, all_words, all_known, -1)
