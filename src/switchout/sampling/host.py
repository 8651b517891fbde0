"""From arrays whose values are at hand to the numba kernels and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from switchout.kernels import sample_rows
from switchout.kernels_rows import BAD_EXAMPLE, BAD_ID, BAD_LENGTH, NO_ERROR, prepare_rows
from switchout.kernels_similar import replace_similar
from switchout.sampling import laws
from switchout.sampling.address import Address
from switchout.sampling.backends import Array, Backend
from switchout.sampling.checks import (
    INT32,
    INT64,
    as_example_ids,
    as_lengths,
    check_out,
    check_range,
)
from switchout.sampling.philox import MASK
from switchout.words import Words

if TYPE_CHECKING:
    from switchout.sampling.rule import Rule

NumpyArray = np.ndarray[Any, Any]
NO_MASK = np.empty((0, 0), np.bool_)
NO_THRESHOLDS = NO_ROWS = np.empty(0, np.int64)
ANY_ID, SIGNED_ID = np.uint64((1 << 64) - 1), np.uint64((1 << 63) - 1)


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
    original = backend.to_numpy(tokens)
    ids, is_signed = as_example_ids(example_ids, original.shape[0])
    target = None if out is None else check_out(backend, tokens, out)
    mask = NO_MASK if frozen is None else np.ascontiguousarray(backend.to_numpy(frozen))
    source, rows = _rows_to_write(original, target)
    n_rows, width = source.shape
    n_words = np.empty(n_rows, np.int64) if lengths is None else as_lengths(lengths, n_rows)
    preparation = (
        source, rows, mask, n_words, lengths is None, rows is not source,
        ids, SIGNED_ID if is_signed else ANY_ID,
    )  # fmt: skip
    special = words.size, words.lowest, words.range_starts, words.range_stops
    key = address.seed & MASK, address.seed >> 32, address.epoch, address.stream
    if rule.tau is not None:
        longest = 1 << width.bit_length()  # few distinct tables, whatever the batch
        problem, row = sample_rows(
            *preparation, *key, *special, words.draw_ids, len(words),
            laws.shared_table(float(rule.tau), longest).cumulative, NO_ROWS, NO_ROWS,
            NO_THRESHOLDS, rule.null_id,
        )  # fmt: skip
    else:
        problem, row = _sample_by_other_laws(rule, words, preparation, key, special)
    if problem == BAD_EXAMPLE:
        raise ValueError(f"example_ids must lie in 0 <= id < 2^64, got {ids.view(np.int64)[row]}")
    if problem == BAD_ID:
        check_range(source, words)
    if problem == BAD_LENGTH:
        raise ValueError(f"lengths[{row}] = {n_words[row]}: the row does not have so many words")
    if target is None:
        same = rows.dtype == original.dtype
        return backend.from_numpy(rows if same else rows.astype(original.dtype), tokens)
    if rows is not target:
        target[...] = rows
    return out


def _rows_to_write(source: NumpyArray, target: NumpyArray | None) -> tuple[NumpyArray, NumpyArray]:
    """Return source and result as the kernels want them: few types, contiguous, writable."""
    kind = source.dtype
    flags = source.flags
    if (kind != INT64 and kind != INT32) or not (flags.c_contiguous and flags.writeable):
        copy = np.array(source, INT32 if kind == INT32 else INT64, order="C")
        return copy, copy
    if target is not None and target.flags.c_contiguous:
        return (source, source) if np.may_share_memory(source, target) else (source, target)
    return source, np.empty_like(source)


def _sample_by_other_laws(
    rule: Rule, words: Words, preparation: Any, key: Any, special: Any
) -> tuple[int, int]:
    """Sample where the law is not one temperature: a rate, constant probabilities, a table."""
    rows, mask, n_words, ids = (preparation[i] for i in (1, 2, 3, 6))
    limits = rule.thresholds(words)
    if limits is not None:
        return sample_rows(  # type: ignore[no-any-return]
            *preparation, *key, *special, words.draw_ids, len(words),
            *laws.shared_table(0.0, 0), np.array(limits, np.int64), rule.null_id,
        )  # fmt: skip
    problem, row = prepare_rows(*preparation, *special)
    if problem != NO_ERROR:
        return problem, row
    if rule.table is not None:
        replace_similar(rows, mask, ids, *key, *special[1:], *rule.table)
        return NO_ERROR, 0
    return sample_rows(  # type: ignore[no-any-return]
        rows, rows, mask, n_words, False, False, *preparation[6:], *key, *special, words.draw_ids,
        len(words), *laws.rate_table(rule.rate or 0.0, n_words), NO_THRESHOLDS, rule.null_id,
    )  # fmt: skip
