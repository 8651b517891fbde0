"""What the samplers refuse, before anything is sampled.

Shapes and dtypes are checked always, values where they are at hand (eager arrays on the CPU).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from switchout.sampling.address import MAX_BLOCKS
from switchout.sampling.backends import Array, Backend, backend_of
from switchout.words import Words

NumpyArray = np.ndarray[Any, Any]
# Ready made: NumPy would make one of ``np.int64`` at every comparison.
INT64, INT32, UINT64 = np.dtype(np.int64), np.dtype(np.int32), np.dtype(np.uint64)


def check_tokens(backend: Backend, tokens: Array, words: Words, frozen: Array | None) -> None:
    """Refuse what is no [batch, time] array of integers with a mask of the same shape.

    A drawn id that its dtype cannot hold would wrap around to another one, or to a special.
    """
    if not backend.is_integer(tokens):
        raise TypeError(f"tokens must hold integers, got {tokens.dtype}")
    if not backend.has_room(tokens, words.size):
        highest = f"{words.size - 1:,}"
        raise ValueError(f"tokens of {tokens.dtype} cannot hold ids up to {highest}: use int32")
    shape = tokens.shape
    if len(shape) != 2:
        hint = ": one sentence is x[None]" if len(shape) == 1 else ""
        raise ValueError(f"tokens must be [batch, time], got shape {tuple(shape)}{hint}")
    width = shape[1]
    if width is not None and width >= MAX_BLOCKS:
        raise ValueError(f"at most {MAX_BLOCKS - 1} positions, got {width}")
    if frozen is None:
        return
    if not backend.owns(frozen):
        raise TypeError(f"frozen must be a {backend.name} array, got {type(frozen).__name__}")
    if tuple(frozen.shape) != tuple(shape):
        shapes = f"{tuple(shape)}, got {tuple(frozen.shape)}"
        raise ValueError(f"frozen must have the shape of tokens, {shapes}")
    if not backend.is_bool(frozen):
        raise TypeError(f"frozen must be a bool mask, got {frozen.dtype}")


def check_example_ids(example_ids: Any, n_rows: int | None) -> Any:
    """Return ids as uint64 [batch], or as they are if their values are not at hand."""
    ids, is_signed = as_example_ids(example_ids, n_rows)
    if is_signed and ids.size and ids.view(np.int64).min() < 0:
        raise ValueError("example_ids must lie in 0 <= id < 2^64")
    return ids


def as_example_ids(example_ids: Any, n_rows: int | None) -> tuple[Any, bool]:
    """Return `check_example_ids`, and whether they may be negative, which the core looks at."""
    if type(example_ids) is np.ndarray:
        ids = example_ids
    elif example_ids is None:
        raise ValueError("example_ids is required: which example each row is, [batch] integers")
    elif isinstance(example_ids, list | tuple) and all(isinstance(i, int) for i in example_ids):
        if any(not 0 <= i < 1 << 64 for i in example_ids):
            raise ValueError("example_ids must lie in 0 <= id < 2^64")
        ids = np.array(example_ids, np.uint64)  # NumPy would make floats of large ones
    elif hasattr(example_ids, "dtype") and not isinstance(example_ids, np.ndarray | np.generic):
        backend = backend_of(example_ids)
        if not backend.on_host(example_ids):
            _check_traced_ids(backend, example_ids, n_rows)
            return example_ids, False
        ids = backend.to_numpy(example_ids)
    else:
        ids = np.asarray(example_ids)
    if ids.shape != (n_rows,):
        raise ValueError(f"example_ids must be [batch] = [{n_rows}], got shape {ids.shape}")
    flags = ids.flags
    if ids.dtype == INT64 and flags.c_contiguous and flags.writeable:
        return ids.view(UINT64), True
    if ids.dtype.kind not in "iu" and ids.size:
        raise TypeError(f"example_ids must hold integers, got {ids.dtype}")
    return ids.astype(np.uint64), ids.dtype.kind == "i"


def _check_traced_ids(backend: Backend, ids: Any, n_rows: int | None) -> None:
    if not backend.is_integer(ids):
        raise TypeError(f"example_ids must hold integers, got {ids.dtype}")
    if len(ids.shape) != 1 or not (n_rows is None or ids.shape[0] in (n_rows, None)):
        raise ValueError(f"example_ids must be [{n_rows}], got shape {tuple(ids.shape)}")


def as_lengths(lengths: Any, n_rows: int) -> NumpyArray:
    """Return word counts as int64 [batch]; the core looks at their values."""
    array = np.asarray(lengths)
    if array.shape != (n_rows,):
        raise ValueError(f"lengths must be [batch] = [{n_rows}], got shape {array.shape}")
    if array.dtype == np.int64 and array.flags.c_contiguous and array.flags.writeable:
        return array
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"lengths must hold integers, got {array.dtype}")
    return array.astype(np.int64)


def check_range(tokens: NumpyArray, words: Words) -> None:
    """Refuse ids that the vocabulary does not have."""
    if tokens.size and tokens.max() >= words.size:
        row, column = np.argwhere(tokens >= words.size)[0].tolist()
        raise ValueError(
            f"id {tokens[row, column]} at [{row}, {column}] is not below size {words.size}"
        )


def check_out(backend: Backend, tokens: Array, out: Array) -> NumpyArray:
    """Return ``out`` as a writable NumPy view."""
    if out is not tokens:
        if not backend.owns(out) or out.shape != tokens.shape or out.dtype != tokens.dtype:
            raise ValueError(f"out must be like tokens: {tuple(tokens.shape)} {tokens.dtype}")
        if np.may_share_memory(backend.to_numpy(out), backend.to_numpy(tokens)):
            raise ValueError("out overlaps tokens; pass tokens itself to work in place")
    array = backend.to_numpy(out)
    if not array.flags.writeable:
        raise ValueError("out cannot be written to")
    return array
