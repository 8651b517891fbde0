"""Ragged rows of ids, as data sets hold them before batching: to a padded block and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from switchout.pieces import as_ids, in_short
from switchout.sampling.backends import backend_of

NO_WORD = -1  # what fills a row up: no policy counts, changes or draws a negative id


def to_block(rows: Sequence[Any]) -> npt.NDArray[np.int64]:
    """Return rows of ids as one array [rows, longest row], filled up on the right."""
    arrays = [as_ids(row, i) for i, row in enumerate(rows)]
    block = np.full((len(rows), max(map(len, arrays), default=0)), NO_WORD, np.int64)
    for i, ids in enumerate(arrays):
        block[i, : len(ids)] = ids
    return block


def to_mask(masks: Sequence[Any], rows: Sequence[Any]) -> npt.NDArray[np.bool_]:
    """Return ragged masks as one, of the shape of the rows' block; None: nothing is frozen."""
    if len(masks) != len(rows):
        raise ValueError(f"frozen must have a mask for each of {len(rows)} rows, got {len(masks)}")
    block = np.zeros((len(rows), max(map(len, rows), default=0)), bool)
    for i, (mask, row) in enumerate(zip(masks, rows, strict=True)):
        if mask is None:
            continue
        if len(mask) != len(row):
            raise ValueError(f"frozen[{i}] has {len(mask)} entries, rows[{i}] has {len(row)}")
        flags = np.asarray(mask)
        if flags.size and flags.dtype.kind != "b":
            raise TypeError(f"frozen[{i}] must hold True and False, got {in_short(mask)}")
        block[i, : len(row)] = flags
    return block


def from_block(block: npt.NDArray[np.int64], rows: Sequence[Any]) -> list[Any]:
    """Return the rows of a block, each as long as it was and of the type that it had."""
    return [like(block[i, : len(row)], row) for i, row in enumerate(rows)]


def like(ids: npt.NDArray[np.int64], row: Any) -> Any:
    """Return ids as what ``row`` is: a list, a tuple, or an array of a framework."""
    if isinstance(row, list):
        return ids.tolist()
    if isinstance(row, tuple):
        return tuple(ids.tolist())
    backend = backend_of(row)
    array = ids.astype(backend.to_numpy(row).dtype)
    if not np.array_equal(array, ids):
        raise ValueError(f"a row of {array.dtype} cannot hold the id {ids.max():,}: use int32")
    return backend.from_numpy(array, row)
