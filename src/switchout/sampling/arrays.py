"""The algorithm over array operations: the readable reference, and what devices run.

No look at a value and no shape that depends on one, so it can be traced by any framework.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from switchout.sampling import laws
from switchout.sampling.address import MASK, Address
from switchout.sampling.backends import Array, Backend
from switchout.sampling.rule import RowTable, Rule
from switchout.words import Words

MAX_TRACED_RATE_LENGTH = 4096  # a row per length: 64 MB of table at this length
ROUNDS = 10  # of Philox, with its constants
MULTIPLIER_0, MULTIPLIER_1 = 0xD2511F53, 0xCD9E8D57
WEYL_0, WEYL_1 = 0x9E3779B9, 0xBB67AE85
UNKNOWN_WIDTH = 1 << 16  # counts are drawn up to here where a graph does not know its width


def corrupt_arrays(
    xp: Backend,
    tokens: Array,
    rule: Rule,
    words: Words,
    address: Address,
    example_ids: Any,
    frozen: Array | None,
) -> Array:
    """`corrupt` over array operations: no look at a value, no shape that depends on one."""
    ids = xp.to_u32(tokens, tokens)
    is_word = words_mask(tokens, words)
    if frozen is not None:
        is_word = is_word & ~frozen
    seen = xp.cumsum_rows(is_word)  # [batch, time]; the i-th real word has seen == 1 + i
    length = seen[:, -1:]  # [batch, 1]

    low, high = xp.halves(example_ids, tokens)
    low, high = low[:, None], high[:, None]
    random = random_words(xp, tokens, address, low, high, xp.xor(seen, address.stream))
    if rule.table is not None:
        return _similar_words(xp, tokens, is_word, rule.table, random[0])
    limits = rule.thresholds(words)
    if limits is None:
        sentence = random_words(xp, tokens, address, low, high, xp.to_u32(address.stream, tokens))
        count = _draw_counts(xp, tokens, rule, sentence[0], length)
        hit = xp.multiply(random[0], length)[0] < count  # bits / 2^32 < n / L
    else:
        hit = _at_most(xp, random[0], limits[0])
    if rule.null_id >= 0:
        return xp.where(
            is_word & hit, xp.cast_back(xp.to_u32(rule.null_id, tokens), tokens), tokens
        )
    other, is_inside = _other_words(xp, ids, words, random[1], random[2])
    if limits is not None and is_inside is not None:
        hit = (is_inside & hit) | (~is_inside & _at_most(xp, random[0], limits[1]))
    return xp.where(is_word & hit, xp.cast_back(other, tokens), tokens)


def _similar_words(
    xp: Backend, tokens: Array, is_word: Array, table: RowTable, bits: Array
) -> Array:
    """Return each word's draw from its row: the first entry whose threshold is not below."""
    start = xp.to_u32(table.start, tokens)
    limits, ids = xp.to_u32(table.limits, tokens), xp.to_u32(table.ids, tokens)
    index = xp.to_u32(xp.where(is_word, tokens, 0 * tokens), tokens)
    low, stop = xp.take(start, index), xp.take(start, index + 1)
    is_free = is_word & (low < stop)
    low = xp.where(is_free, low, 0 * low)
    high = xp.where(is_free, stop, low + 1) - 1
    for _ in range(int(np.diff(table.start).max(initial=1)).bit_length()):
        middle = low + (high - low) // 2
        is_below = xp.take(limits, middle) < bits
        low = xp.where(is_below & (low < high), middle + 1, low)
        high = xp.where(is_below, high, middle)
    return xp.where(is_free, xp.cast_back(xp.take(ids, low), tokens), tokens)


def words_mask(tokens: Array, words: Words) -> Array:
    """Return where ``tokens`` are words, as a mask of the same framework."""
    mask = tokens >= words.lowest
    for start, stop in zip(words.range_starts.tolist(), words.range_stops.tolist(), strict=True):
        mask = mask & ((tokens < start) | (tokens >= stop))
    return mask


def random_words(
    xp: Backend, like: Array, address: Address, c0: Array, c1: Array, c3: Array
) -> tuple[Array, Array, Array, Array]:
    """Return the four Philox words at each counter (c0, c1, epoch, c3)."""
    k0, k1 = xp.halves(address.seed, like)
    c2, _ = xp.halves(address.epoch, like)
    k0, k1, c2 = (xp.to_u32(word, like) for word in (k0, k1, c2))
    for turn in range(ROUNDS):
        high0, low0 = xp.multiply(c0, MULTIPLIER_0)
        high1, low1 = xp.multiply(c2, MULTIPLIER_1)
        key0 = xp.add(k0, xp.to_u32(turn * WEYL_0 & MASK, like))[1]
        key1 = xp.add(k1, xp.to_u32(turn * WEYL_1 & MASK, like))[1]
        c0, c1 = xp.xor(xp.xor(high1, c1), key0), low1
        c2, c3 = xp.xor(xp.xor(high0, c3), key1), low0
    return c0, c1, c2, c3


def _draw_counts(xp: Backend, like: Array, rule: Rule, bits: Array, length: Array) -> Array:
    """Return n of each sentence from 32 random bits, [batch, 1] (see `laws`)."""
    if isinstance(rule.tau, float) and rule.tau == math.inf:
        return xp.multiply(bits, length + 1)[0]
    high, low, first, entries, most = _count_rows(xp, like, rule, length)
    total = first + entries - 1
    carry, _ = xp.multiply(bits, xp.take(low, total))
    v_high, v_low = xp.multiply(bits, xp.take(high, total))
    overflow, v_low = xp.add(v_low, carry)
    v_high = v_high + overflow
    count = 0 * length
    step = 1 << (most.bit_length() - 1)
    while step:  # the largest n with C_{n-1} <= v, by bisection
        candidate = count + step
        is_valid = candidate < entries
        index = first + xp.where(is_valid, candidate - 1, 0 * candidate)
        c_high, c_low = xp.take(high, index), xp.take(low, index)
        is_below = (c_high < v_high) | ((c_high == v_high) & (c_low <= v_low))
        count = xp.where(is_valid & is_below, candidate, count)
        step >>= 1
    return count


def _count_rows(
    xp: Backend, like: Array, rule: Rule, length: Array
) -> tuple[Array, Array, Array, Array, int]:
    """Return the cumulative weights in 32-bit halves, each sentence's row in them, the longest."""
    width = like.shape[1]
    if rule.rate is not None:
        if width is None or width > MAX_TRACED_RATE_LENGTH:
            raise ValueError(
                "rate= on traced or device arrays needs a width of at most"
                f" {MAX_TRACED_RATE_LENGTH}, got {width}: use tau=, or an array on the CPU"
            )
        table = laws.full_rate_table(rule.rate, width)
        first, entries = (xp.take(xp.to_u32(a, like), length) for a in (table.start, table.size))
        return *_halves(xp, like, table.cumulative), first, entries, int(table.size.max())
    if isinstance(rule.tau, float):
        row = laws.cumulative_weights(rule.tau, UNKNOWN_WIDTH if width is None else width)
        high, low = _halves(xp, like, row)
        most = row.size
    elif width is None:
        raise ValueError("a traced tau needs a batch of known width")
    else:  # computed on the host, when the graph runs
        most = width + 1
        high, low = xp.host_table(_full_row, rule.tau, most)
    entries = xp.where(length < most, length + 1, 0 * length + most)
    return high, low, 0 * length, entries, most


def _halves(xp: Backend, like: Array, row: Any) -> tuple[Array, Array]:
    return xp.to_u32(row >> np.uint64(32), like), xp.to_u32(row & np.uint64(MASK), like)


def _full_row(tau: Any, n_entries: int) -> np.ndarray[Any, Any]:
    """Return C_0..C_{n-1} of a temperature that came out of a graph, [n, 2] 32-bit halves."""
    row = laws.cumulative_weights(laws.check_tau(float(tau)), n_entries - 1)
    row = np.concatenate([row, np.full(n_entries - row.size, row[-1])])
    return np.stack([row >> np.uint64(32), row & np.uint64(MASK)])


def _other_words(
    xp: Backend, ids: Array, words: Words, low: Array, high: Array
) -> tuple[Array, Array | None]:
    """Return a drawable word other than each of ``ids``, and where ids are drawable themselves."""
    n_draw = len(words)
    is_inside = None
    if words.draw_ids.size:
        draw_ids = xp.to_u32(words.draw_ids, ids)
        rank = xp.searchsorted(draw_ids, ids)
        rank = xp.where(rank < n_draw, rank, 0 * rank)
        is_inside = xp.take(draw_ids, rank) == ids
        shift = _scaled(xp, low, high, n_draw)
        step = rank + 1 + _scaled(xp, low, high, n_draw - 1)
        step = xp.where(step >= n_draw, step - n_draw, step)
        return xp.take(draw_ids, xp.where(is_inside, step, shift)), is_inside
    rank = ids - words.lowest
    ranges = list(zip(words.range_starts.tolist(), words.range_stops.tolist(), strict=True))
    for start, stop in reversed(ranges):
        rank = xp.where(ids >= stop, rank - (stop - start), rank)
    step = rank + 1 + _scaled(xp, low, high, n_draw - 1)
    word = xp.where(step >= n_draw, step - n_draw, step) + words.lowest
    for start, stop in ranges:
        word = xp.where(word >= start, word + (stop - start), word)
    return word, is_inside


def _scaled(xp: Backend, low: Array, high: Array, choices: int) -> Array:
    """Return floor(u · choices / 2^64), where u = high · 2^32 + low."""
    carry, _ = xp.multiply(low, choices)
    upper, rest = xp.multiply(high, choices)
    return upper + xp.add(rest, carry)[0]


def _at_most(xp: Backend, bits: Array, limit: int) -> Array:
    # A limit of -1 (never) does not fit an unsigned word.
    return bits <= xp.to_u32(limit, bits) if limit >= 0 else bits != bits
