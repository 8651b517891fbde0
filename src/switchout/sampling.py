"""The sampler: draw which words change and what they become, then apply it.

Every policy that replaces words independently of what they are is a `Rule`: draw how likely a
word of this sentence is to be hit (a count n out of L, or a constant), hit each word with that
probability, put another word (or the null word) there. All in integers, from the addressed random
words of `switchout.philox`; the only floats are in the tables of `switchout.laws`. So every
framework returns the same ids.

`corrupt` is the one entry: arrays whose values are at hand run the loops of `switchout.kernels`;
traced arrays and those on a device run `corrupt_arrays`, the same algorithm over array operations.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from switchout import kernels, laws
from switchout.backends import Array, Backend, backend_of
from switchout.philox import (
    MASK,
    MAX_BLOCKS,
    MULTIPLIER_0,
    MULTIPLIER_1,
    ROUNDS,
    WEYL_0,
    WEYL_1,
    Address,
)
from switchout.words import Words

MAX_TRACED_RATE_LENGTH = 4096  # a row per length: 64 MB of table at this length
NO_MASK = np.empty((0, 0), np.bool_)


@dataclass(frozen=True)
class RowTable:
    """What each word may become: compressed rows with inclusive cumulative 32-bit thresholds."""

    start: np.ndarray[Any, Any]  # int64 [size + 1]
    ids: np.ndarray[Any, Any]  # int64 [entries]
    limits: np.ndarray[Any, Any]  # uint32 [entries]


@dataclass(frozen=True)
class Rule:
    """How words are hit and by what they are replaced; exactly one of the first four is given."""

    tau: Any = None  # Algorithm 1 with this temperature
    rate: float | None = None  # Algorithm 1 with the tau that changes this share of the words
    probabilities: tuple[float, float] | None = None  # each word by itself: in, out of draw_ids
    table: RowTable | None = None  # each word by itself: one draw from its row
    null_id: int = -1  # what a hit word becomes; -1: another word, uniformly

    def thresholds(self, words: Words) -> tuple[int, int] | None:
        """The constant law as inclusive 32-bit thresholds; -1: never."""
        if self.probabilities is None:
            return None
        inside, outside = (round(p * 2**32) - 1 for p in self.probabilities)
        return inside, outside if words.draw_ids.size else inside


def corrupt(
    tokens: Array,
    rule: Rule,
    *,
    words: Words,
    address: Address,
    example_ids: Any,
    frozen: Array | None = None,
    lengths: Any = None,
    out: Array | None = None,
) -> Array:
    """Return ``tokens`` [batch, time] with words replaced; the same type, dtype and device.

    Args:
        tokens: Word ids of any supported array library; left as they are unless ``out`` is them.
        rule: What to draw.
        words: Which ids are words.
        address: Seed, epoch, side and slot.
        example_ids: Which example each row is, [batch] integers.
        frozen: Further positions to leave alone, bool [batch, time].
        lengths: Number of words of each sentence, if known [batch]; trusted, saves a pass.
        out: Where to write; may be ``tokens`` itself.
    """
    backend = backend_of(tokens)
    _check_shapes(backend, tokens, frozen)
    if backend.on_host(tokens) and not _array_path_forced():
        return _corrupt_on_host(
            backend, tokens, rule, words, address, example_ids, frozen, lengths, out
        )
    if lengths is not None or out is not None:
        raise TypeError("out= and lengths= need an array whose values are at hand on the CPU")
    example_ids = check_example_ids(example_ids, tokens.shape[0])
    if backend.on_host(tokens):
        _check_range(backend.to_numpy(tokens), words)
    return corrupt_arrays(backend, tokens, rule, words, address, example_ids, frozen)


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
    ids = xp.words(tokens, tokens)
    is_word = words_mask(tokens, words)
    if frozen is not None:
        is_word = is_word & ~frozen
    seen = xp.cumsum_rows(is_word)  # [batch, time]; the i-th real word has seen == 1 + i
    length = seen[:, -1:] if tokens.shape[1] else xp.words(tokens, tokens)  # [batch, 1]

    low, high = xp.split(example_ids, tokens)
    low, high = low[:, None], high[:, None]
    random = random_words(xp, tokens, address, low, high, xp.xor(seen, address.stream))
    if rule.table is not None:
        return _similar_words(xp, tokens, is_word, rule.table, random[0])
    limits = rule.thresholds(words)
    if limits is None:
        sentence = random_words(xp, tokens, address, low, high, xp.words(address.stream, tokens))
        count = _draw_counts(xp, tokens, rule, sentence[0], length)
        hit = xp.multiply(random[0], length)[0] < count  # bits / 2^32 < n / L
    else:
        hit = _at_most(xp, random[0], limits[0])
    if rule.null_id >= 0:
        return xp.where(is_word & hit, xp.restore(xp.words(rule.null_id, tokens), tokens), tokens)
    other, is_inside = _other_words(xp, ids, words, random[1], random[2])
    if limits is not None and is_inside is not None:
        hit = (is_inside & hit) | (~is_inside & _at_most(xp, random[0], limits[1]))
    return xp.where(is_word & hit, xp.restore(other, tokens), tokens)


def _similar_words(
    xp: Backend, tokens: Array, is_word: Array, table: RowTable, bits: Array
) -> Array:
    """Return each word's draw from its row: the first entry whose threshold is not below."""
    start = xp.words(table.start, tokens)
    limits, ids = xp.words(table.limits, tokens), xp.words(table.ids, tokens)
    index = xp.words(xp.where(is_word, tokens, 0 * tokens), tokens)
    low, stop = xp.take(start, index), xp.take(start, index + 1)
    is_free = is_word & (low < stop)
    low = xp.where(is_free, low, 0 * low)
    high = xp.where(is_free, stop, low + 1) - 1
    for _ in range(int(np.diff(table.start).max(initial=1)).bit_length()):
        middle = low + (high - low) // 2
        is_below = xp.take(limits, middle) < bits
        low = xp.where(is_below & (low < high), middle + 1, low)
        high = xp.where(is_below, high, middle)
    return xp.where(is_free, xp.restore(xp.take(ids, low), tokens), tokens)


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
    k0, k1 = xp.split(address.seed, like)
    c2, _ = xp.split(address.epoch, like)
    k0, k1, c2 = (xp.words(word, like) for word in (k0, k1, c2))
    for turn in range(ROUNDS):
        high0, low0 = xp.multiply(c0, MULTIPLIER_0)
        high1, low1 = xp.multiply(c2, MULTIPLIER_1)
        key0 = xp.add(k0, xp.words(turn * WEYL_0 & MASK, like))[1]
        key1 = xp.add(k1, xp.words(turn * WEYL_1 & MASK, like))[1]
        c0, c1 = xp.xor(xp.xor(high1, c1), key0), low1
        c2, c3 = xp.xor(xp.xor(high0, c3), key1), low0
    return c0, c1, c2, c3


def _draw_counts(xp: Backend, like: Array, rule: Rule, bits: Array, length: Array) -> Array:
    """Return n of each sentence from 32 random bits, [batch, 1] (see `laws`)."""
    table_high, table_low, start, size, n_entries = _count_table(xp, like, rule)
    first, entries = xp.take(start, length), xp.take(size, length)
    last = first + entries - 1
    carry, _ = xp.multiply(bits, xp.take(table_low, last))
    v_high, v_low = xp.multiply(bits, xp.take(table_high, last))
    overflow, v_low = xp.add(v_low, carry)
    v_high = v_high + overflow
    count = xp.words(np.zeros(1, np.int64), like) + 0 * length
    step = 1 << (n_entries.bit_length() - 1)
    while step:  # the largest n with C_{n-1} <= v, by bisection
        candidate = count + step
        is_valid = candidate < entries + 0 * candidate
        index = first + xp.where(is_valid, candidate - 1, 0 * candidate)
        c_high, c_low = xp.take(table_high, index), xp.take(table_low, index)
        is_below = (c_high < v_high) | ((c_high == v_high) & (c_low <= v_low))
        count = xp.where(is_valid & is_below, candidate, count)
        step >>= 1
    return count


def _count_table(xp: Backend, like: Array, rule: Rule) -> tuple[Array, Array, Array, Array, int]:
    """Return the rows for every length up to the width of the batch, in 32-bit halves."""
    width = int(like.shape[1])
    if rule.rate is not None:
        if width > MAX_TRACED_RATE_LENGTH:
            raise ValueError(
                f"rate= on traced or device arrays serves up to {MAX_TRACED_RATE_LENGTH} positions,"
                f" got {width}: use tau=, or an array on the CPU"
            )
        table = laws.full_rate_table(rule.rate, width)
    elif isinstance(rule.tau, float):
        table = laws.shared_table(rule.tau, width)
    else:  # a traced temperature: the row is computed on the host when its value is known
        high, low = xp.host_table(_full_row, rule.tau, width + 1)
        zeros = xp.words(np.zeros(width + 1, np.int64), like)
        return high, low, zeros, xp.words(np.arange(1, width + 2), like), width + 1
    high, low = table.cumulative >> np.uint64(32), table.cumulative & np.uint64(MASK)
    arrays = (xp.words(a.astype(np.int64), like) for a in (high, low, table.start, table.size))
    return *arrays, int(table.size.max())  # type: ignore[return-value]


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
        draw_ids = xp.words(words.draw_ids, ids)
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
    return bits <= xp.words(limit, bits) if limit >= 0 else bits != bits


def _corrupt_on_host(
    backend: Backend,
    tokens: Array,
    rule: Rule,
    words: Words,
    address: Address,
    example_ids: Any,
    frozen: Array | None,
    lengths: Any,
    out: Array | None,
) -> Array:
    n_rows, width = tokens.shape
    example_ids = check_example_ids(example_ids, n_rows)
    source = backend.to_numpy(tokens)
    mask = NO_MASK if frozen is None else np.ascontiguousarray(backend.to_numpy(frozen))
    if isinstance(rule.tau, float) or rule.tau is None:
        plan = rule
    else:
        plan = Rule(tau=laws.check_tau(float(rule.tau)), null_id=rule.null_id)
    result, n_words = prepare_rows(source, words, mask, lengths, _out_array(backend, tokens, out))
    key = np.uint64(address.seed), np.uint64(address.epoch), np.uint64(address.stream)
    special = words.lowest, words.range_starts, words.range_stops
    if plan.table is not None:
        rows = plan.table
        kernels.replace_similar(
            result, mask, example_ids, *key, *special, rows.start, rows.ids, rows.limits
        )
        return _give_back(backend, result, tokens, out)
    thresholds = np.array(plan.thresholds(words) or (), np.int64)
    if thresholds.size:
        table = laws.shared_table(0.0, 0)
    elif plan.rate is not None:
        table = laws.rate_table(plan.rate, n_words)
    else:
        table = laws.shared_table(plan.tau, 1 << max(width, 1).bit_length())
    if width and (thresholds.size == 0 or thresholds.max() >= 0):
        wrong = kernels.replace_words(
            result, mask, n_words, example_ids, *key, *special, words.draw_ids, len(words),
            table.cumulative, table.start, table.size, thresholds, plan.null_id,
        )  # fmt: skip
        if wrong != kernels.NO_ERROR:
            raise ValueError(
                f"lengths[{wrong}] = {n_words[wrong]} is more words than row {wrong} has"
            )
    return _give_back(backend, result, tokens, out)


def prepare_rows(
    source: np.ndarray[Any, Any],
    words: Words,
    mask: np.ndarray[Any, Any],
    lengths: Any,
    out: np.ndarray[Any, Any] | None,
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return a checked copy of ``source`` that the kernels may write to, and its word counts.

    The copy is ``out`` itself where that is a writable C-contiguous array of kernel type.
    """
    kind = np.int32 if source.dtype == np.int32 else np.int64
    result = out if out is not None and out.dtype == kind and out.flags.c_contiguous else None
    in_place = result is not None and result is source
    if not in_place and not (
        source.dtype == kind and source.flags.c_contiguous and source.flags.writeable
    ):
        source = np.array(source, dtype=kind, order="C")  # one compiled variant for all layouts
        if result is None:
            result, in_place = source, True
    if result is None:
        result = np.empty_like(source)
    if lengths is not None:
        n_words = _check_lengths(lengths, source.shape)
        if not in_place:
            result[...] = source
        return result, n_words
    n_words = np.empty(source.shape[0], np.int64)
    bad = kernels.count_words(
        source, result, mask, n_words, not in_place,
        words.size, words.lowest, words.range_starts, words.range_stops,
    )  # fmt: skip
    if bad != kernels.NO_ERROR:
        row, column = divmod(bad, source.shape[1])
        raise ValueError(
            f"id {source[row, column]} at [{row}, {column}] is not below size {words.size}"
        )
    return result, n_words


def _out_array(backend: Backend, tokens: Array, out: Array | None) -> Any:
    if out is None:
        return None
    if out is tokens:
        return _writable(backend.to_numpy(tokens))
    if not backend.owns(out) or out.shape != tokens.shape or out.dtype != tokens.dtype:
        raise ValueError(f"out must be like tokens: {tuple(tokens.shape)} {tokens.dtype}")
    array = _writable(backend.to_numpy(out))
    if np.may_share_memory(array, backend.to_numpy(tokens)):
        raise ValueError("out overlaps tokens; pass tokens itself to work in place")
    return array


def _writable(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if not array.flags.writeable:
        raise ValueError("out is read-only")
    return array


def _give_back(backend: Backend, result: Any, tokens: Array, out: Array | None) -> Array:
    if out is None:
        if result.dtype != backend.to_numpy(tokens).dtype:
            result = result.astype(backend.to_numpy(tokens).dtype)
        return backend.from_numpy(result, tokens)
    target = backend.to_numpy(out)
    if target is not result and not np.shares_memory(target, result):
        target[...] = result
    return out


def _check_shapes(backend: Backend, tokens: Array, frozen: Array | None) -> None:
    if not backend.is_integer(tokens):
        raise TypeError(f"tokens must hold integers, got {tokens.dtype}")
    if len(tokens.shape) != 2:
        raise ValueError(f"tokens must be [batch, time], got shape {tuple(tokens.shape)}")
    if tokens.shape[1] is not None and tokens.shape[1] >= MAX_BLOCKS:
        raise ValueError(f"at most {MAX_BLOCKS - 1} positions, got {tokens.shape[1]}")
    if frozen is None:
        return
    if not backend.owns(frozen):
        raise TypeError(f"frozen must be a {backend.name} array like tokens, got {type(frozen)}")
    if tuple(frozen.shape) != tuple(tokens.shape):
        raise ValueError(
            f"frozen must have the shape of tokens, {tuple(tokens.shape)}, got {tuple(frozen.shape)}"
        )
    if not str(frozen.dtype).endswith(("bool", "'bool'>")):
        raise TypeError(f"frozen must be a bool mask, got {frozen.dtype}")


def check_example_ids(example_ids: Any, n_rows: int | None) -> Any:
    """Return ids as uint64 [batch], or as they are if their values are not at hand."""
    if example_ids is None:
        raise ValueError("example_ids is required: which example each row is, [batch] integers")
    ids = example_ids
    if not isinstance(ids, np.ndarray):
        if hasattr(ids, "dtype") and hasattr(ids, "shape"):
            backend = backend_of(ids)
            if len(ids.shape) != 1 or (n_rows is not None and ids.shape[0] not in (n_rows, None)):
                raise ValueError(
                    f"example_ids must be [batch] = [{n_rows}], got {tuple(ids.shape)}"
                )
            if not backend.is_integer(ids):
                raise TypeError(f"example_ids must hold integers, got {ids.dtype}")
            if not backend.on_host(ids):
                return ids
            ids = backend.to_numpy(ids)
        else:
            ids = np.asarray(ids)
            ids = ids.astype(np.int64) if ids.size == 0 else ids
    if ids.shape != (n_rows,):
        raise ValueError(f"example_ids must be [batch] = [{n_rows}], got shape {ids.shape}")
    if ids.dtype.kind not in "iu":
        if ids.dtype == object and all(isinstance(i, int) for i in ids):
            raise ValueError("example_ids must lie in 0 <= id < 2^64")
        raise TypeError(f"example_ids must hold integers, got {ids.dtype}")
    if ids.dtype.kind == "i" and ids.size and ids.min() < 0:
        raise ValueError(f"example_ids must lie in 0 <= id < 2^64, got {ids.min()}")
    return ids.astype(np.uint64)


def _check_lengths(lengths: Any, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    array = np.asarray(lengths)
    if array.shape != shape[:1]:
        raise ValueError(f"lengths must be [batch] = [{shape[0]}], got shape {array.shape}")
    if array.dtype.kind not in "iu":
        raise TypeError(f"lengths must hold integers, got {array.dtype}")
    if array.size and (array.min() < 0 or array.max() > shape[1]):
        raise ValueError(f"lengths must lie in 0..{shape[1]}, got {array.min()}..{array.max()}")
    return array.astype(np.int64)


def _check_range(tokens: np.ndarray[Any, Any], words: Words) -> None:
    if tokens.size and tokens.max() >= words.size:
        row, column = np.argwhere(tokens >= words.size)[0]
        raise ValueError(
            f"id {tokens[row, column]} at [{row}, {column}] is not below size {words.size}"
        )


def _array_path_forced() -> bool:
    """Whether the tests' switch sends every array through `corrupt_arrays`."""
    return os.environ.get("SWITCHOUT_ARRAY_PATH") == "1"
