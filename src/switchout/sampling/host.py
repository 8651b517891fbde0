"""From arrays whose values are at hand to the compiled core and back."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from switchout.core import compiled
from switchout.sampling import laws
from switchout.sampling.address import Address
from switchout.sampling.backends import Array, Backend
from switchout.sampling.checks import (
    INT32,
    INT64,
    UINT64,
    as_example_ids,
    as_lengths,
    check_out,
    check_range,
)
from switchout.sampling.rule import Rule
from switchout.words import Words

NumpyArray = np.ndarray[Any, Any]
ANY_ID, SIGNED_ID = (1 << 64) - 1, (1 << 63) - 1
OK, BAD_EXAMPLE, BAD_ID, BAD_LENGTH = range(4)  # as in switchout.h


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
    """`sampling.corrupt` through the compiled core."""
    original = backend.to_numpy(tokens)
    ids, is_signed = as_example_ids(example_ids, original.shape[0])
    target = None if out is None else check_out(backend, tokens, out)
    if original.dtype == UINT64:
        check_range(original, words)  # from 2^63 on they would turn into negative, special ids
    source, rows = _source_and_rows(original, target)
    mask = None if frozen is None else np.ascontiguousarray(backend.to_numpy(frozen))
    n_words = None if lengths is None else as_lengths(lengths, source.shape[0])
    batch = source, rows, mask, n_words, ids, SIGNED_ID if is_signed else ANY_ID
    where = address.seed, address.epoch, address.stream
    if rule.tau is not None:
        longest = 1 << source.shape[1].bit_length()  # few distinct laws, whatever the batch
        law = _count_law(float(rule.tau), longest, rule.null_id)
        problem, row = compiled.sample(*batch, *where, words.compiled, law)
    elif rule.table is not None:
        problem, row = compiled.sample_similar(*batch, *where, words.compiled, rule.table.compiled)
    elif rule.rate is not None:
        problem, row = _sample_by_rate(rule.rate, rule.null_id, batch, where, words)
    else:
        law = _constant_law(rule.thresholds(words), rule.null_id)
        problem, row = compiled.sample(*batch, *where, words.compiled, law)
    if problem != OK:
        _explain(problem, row, source, words, ids, n_words)
    if target is None:
        same = rows.dtype == original.dtype
        return backend.from_numpy(rows if same else rows.astype(original.dtype), tokens)
    if rows is not target:
        target[...] = rows
    return out


def _source_and_rows(
    source: NumpyArray, target: NumpyArray | None
) -> tuple[NumpyArray, NumpyArray]:
    """Return source and result as the core wants them: int32 or int64, contiguous."""
    kind = source.dtype
    if (kind != INT64 and kind != INT32) or not source.flags.c_contiguous:
        copy = np.array(source, INT32 if kind == INT32 else INT64, order="C")
        return copy, copy
    if target is None or not target.flags.c_contiguous:
        return source, np.empty_like(source)
    return (source, source) if np.may_share_memory(source, target) else (source, target)


@lru_cache(maxsize=256)
def _count_law(tau: float, longest: int, null_id: int) -> compiled.Law:
    return compiled.make_count_law(laws.shared_table(tau, longest).cumulative, None, None, null_id)


@lru_cache(maxsize=256)
def _constant_law(limits: tuple[int, int], null_id: int) -> compiled.Law:
    return compiled.make_constant_law(*limits, null_id)


def _sample_by_rate(
    rate: float, null_id: int, batch: compiled.Batch, where: compiled.Where, words: Words
) -> tuple[int, int]:
    """Count the words first: each length that occurs has a temperature of its own."""
    source, rows, mask, _, ids, last = batch
    n_words = np.empty(source.shape[0], np.int64)
    problem, row = compiled.measure(*batch, words.compiled, n_words)
    if problem != OK:
        return problem, row
    law = compiled.make_count_law(*laws.rate_table(rate, n_words), null_id)
    return compiled.sample(source, rows, mask, n_words, ids, last, *where, words.compiled, law)


def _explain(
    problem: int, row: int, source: NumpyArray, words: Words, ids: NumpyArray, lengths: Any
) -> None:
    """Raise what the core found."""
    if problem == BAD_EXAMPLE:
        raise ValueError(f"example_ids must lie in 0 <= id < 2^64, got {ids.view(np.int64)[row]}")
    if problem == BAD_ID:
        check_range(source, words)
    raise ValueError(f"lengths[{row}] = {lengths[row]}: the row does not have so many words")
