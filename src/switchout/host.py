"""From arrays whose values are at hand to the numba kernels and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from switchout import kernels, laws
from switchout.backends import Array, Backend
from switchout.checks import check_example_ids, check_lengths, check_out, check_range
from switchout.philox import Address
from switchout.words import Words

if TYPE_CHECKING:
    from switchout.sampling import Rule

NumpyArray = np.ndarray[Any, Any]
NO_MASK = np.empty((0, 0), np.bool_)
NO_THRESHOLDS = np.empty(0, np.int64)


def corrupt_on_host(
    backend: Backend,
    tokens: Array,
    rule: Rule,
    *,
    words: Words,
    address: Address,
    example_ids: Any,
    frozen: Array | None,
    lengths: Any,
    out: Array | None,
) -> Array:
    """`sampling.corrupt` through the kernels."""
    ids = check_example_ids(example_ids, tokens.shape[0])
    source = backend.to_numpy(tokens)
    target = None if out is None else check_out(backend, tokens, out)
    mask = NO_MASK if frozen is None else np.ascontiguousarray(backend.to_numpy(frozen))
    rows, n_words = _prepare(source, words, mask, lengths, target)
    _replace(rows, n_words, rule, words, address, ids, mask)
    if target is None:
        return backend.from_numpy(rows.astype(source.dtype, copy=False), tokens)
    if rows is not target:
        target[...] = rows
    return out


def _prepare(
    source: NumpyArray, words: Words, mask: NumpyArray, lengths: Any, target: NumpyArray | None
) -> tuple[NumpyArray, NumpyArray]:
    """Return checked rows that a kernel may write to, and how many words each has."""
    kind = np.int32 if source.dtype == np.int32 else np.int64
    if source.dtype != kind or not (source.flags.c_contiguous and source.flags.writeable):
        source = np.array(source, dtype=kind, order="C")  # one compiled variant for all layouts
        rows = source
    elif target is None:
        rows = np.empty_like(source)
    elif target.flags.c_contiguous:
        rows = source if np.may_share_memory(source, target) else target
    else:
        rows = np.empty_like(source)
    if lengths is not None:
        n_words = check_lengths(lengths, source.shape)
        if rows is not source:
            rows[...] = source
        return rows, n_words
    n_words = np.empty(source.shape[0], np.int64)
    bad = kernels.count_words(
        source, rows, mask, n_words, rows is not source,
        words.size, words.lowest, words.range_starts, words.range_stops,
    )  # fmt: skip
    if bad != kernels.NO_ERROR:
        check_range(source, words)
    return rows, n_words


def _replace(
    rows: NumpyArray,
    n_words: NumpyArray,
    rule: Rule,
    words: Words,
    address: Address,
    example_ids: NumpyArray,
    mask: NumpyArray,
) -> None:
    key = np.uint64(address.seed), np.uint64(address.epoch), np.uint64(address.stream)
    special = words.lowest, words.range_starts, words.range_stops
    if rule.table is not None:
        table = rule.table
        kernels.replace_similar(
            rows, mask, example_ids, *key, *special, table.start, table.ids, table.limits
        )
        return
    limits = rule.thresholds(words)
    if limits is not None:
        thresholds, counts = np.array(limits, np.int64), laws.shared_table(0.0, 0)
        if max(limits) < 0:
            return
    elif rule.rate is not None:
        thresholds, counts = NO_THRESHOLDS, laws.rate_table(rule.rate, n_words)
    else:
        width = 1 << rows.shape[1].bit_length()  # few distinct tables, whatever the batch
        thresholds, counts = NO_THRESHOLDS, laws.shared_table(float(rule.tau), width)
    wrong = kernels.replace_words(
        rows, mask, n_words, example_ids, *key, *special, words.draw_ids, len(words),
        counts.cumulative, counts.start, counts.size, thresholds, rule.null_id,
    )  # fmt: skip
    if wrong != kernels.NO_ERROR:
        raise ValueError(f"lengths[{wrong}] = {n_words[wrong]} is more words than the row has")
