"""What the loops of the compiled core read: lines as spans of one array of bytes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

PADDING = 64  # bytes that may be read behind every array of bytes

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int64]


class Lines(NamedTuple):
    """Lines as spans of one array of bytes, each followed by ``gap`` bytes that belong to it."""

    data: Bytes  # at least `PADDING` bytes longer than the last line's end
    starts: Ints  # [lines]
    ends: Ints  # [lines]
    gap: int  # 1: a newline or tab follows and is copied along; 0: nothing follows
