"""Short loops over lines and words, compiled: all kernels but `kernel.rewrite`.

Every kernel returns a tuple of integers, as `native` wants it.
"""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import numpy as np

from switchout.text.scan import (
    ALL_BITS,
    copy_bytes,
    enter_word,
    find_word,
    find_words,
    is_blank,
    kernel,
    lowest_bit,
    newline_bits,
    word_keys,
)


@kernel
def find_lines(data, size, starts, ends):
    """Fill in where the lines of ``data[:size]`` start and end, as many as fit; return how many."""
    count, start = 0, 0
    for base in range(0, size, 64):
        bits = newline_bits(data, base)
        if base + 64 > size:
            bits &= ALL_BITS >> np.uint64(base + 64 - size)
        while bits:
            if count == ends.size:
                return count
            end = base + lowest_bit(bits)
            starts[count], ends[count] = start, end
            start = end + 1
            count += 1
            bits &= bits - np.uint64(1)
    return count


@kernel
def kept_pairs(source, target, keep, n_dropped):
    """Fill in ``keep`` and count the dropped: empty source, empty target, both empty."""
    for i in range(keep.size):
        no_source = is_blank(source.data, source.starts[i], source.ends[i])
        no_target = is_blank(target.data, target.starts[i], target.ends[i])
        keep[i] = not (no_source or no_target)
        if not keep[i]:
            n_dropped[2 if no_source and no_target else 0 if no_source else 1] += 1


@kernel
def fill_slots(slots, blob, offsets, n_words):
    """Enter words into an empty table; return a word seen before, or -1."""
    for word in range(n_words):
        start, size = offsets[word], offsets[word + 1] - offsets[word]
        low, high = word_keys(blob, start, size)
        found = find_word(blob, start, size, low, high, slots, blob)
        if found >= 0:
            return word
        enter_word(slots, -1 - found, low, high, size, word, start)
    return -1


@kernel
def count_words(lines, begin, edges, slots, blob, offsets, counts, n_words):
    """Count from line ``begin`` on; return the first line without room, and the new n_words."""
    data, starts, ends, _ = lines
    for i in range(begin, ends.size):
        n_bytes = ends[i] - starts[i]
        if n_words + n_bytes + 2 > offsets.size or offsets[n_words] + n_bytes + 64 > blob.size:
            return i, n_words
        for w in range(find_words(data, starts[i], ends[i], edges)):
            start, size = edges[2 * w], edges[2 * w + 1] - edges[2 * w]
            low, high = word_keys(data, start, size)
            word = find_word(data, start, size, low, high, slots, blob)
            if word < 0:
                copy_bytes(blob, offsets[n_words], data, start, size)
                offsets[n_words + 1] = offsets[n_words] + size
                enter_word(slots, -1 - word, low, high, size, n_words, offsets[n_words])
                word = n_words
                n_words += 1
            counts[word] += 1
    return ends.size, n_words


@kernel
def find_columns(lines, tabs, stops):
    """Fill in where columns 1 and 2 of each line end; return a line without a tab, or -1."""
    data, starts, ends, _ = lines
    for i in range(ends.size):
        tab = starts[i]
        while tab < ends[i] and data[tab] != 0x09:
            tab += 1
        if tab == ends[i]:
            return i
        stop = tab + 1
        while stop < ends[i] and data[stop] != 0x09:
            stop += 1
        tabs[i], stops[i] = tab, stop
    return -1


@kernel
def join_columns(source, source_ends, target, target_ends, rest, rows, out):
    """Put source, target and the rest of each line side by side; return the size."""
    data, starts, ends, _ = rest
    size, from_source, from_target = 0, 0, 0
    for k in range(rows.size):
        to_source, to_target = source_ends[k] + 1, target_ends[k] + 1  # with the tab or newline
        copy_bytes(out, size, source, from_source, to_source - from_source)
        size += to_source - from_source
        copy_bytes(out, size, target, from_target, to_target - from_target)
        size += to_target - from_target
        from_source, from_target = to_source, to_target
        if starts[rows[k]] <= ends[rows[k]]:  # there is a third column
            n_bytes = ends[rows[k]] + 1 - starts[rows[k]]
            copy_bytes(out, size, data, starts[rows[k]], n_bytes)
            size += n_bytes
    return size
