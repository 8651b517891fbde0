"""Philox4x32-10 in the kernels' loops; apart from `philox`, so that addresses need no numba."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from switchout.philox import MASK, MULTIPLIER_0, MULTIPLIER_1, ROUNDS, WEYL_0, WEYL_1


@njit(inline="always")
def philox4x32(c0: Any, c1: Any, c2: Any, c3: Any, k0: Any, k1: Any) -> Any:
    """Return the four words at one counter; all arguments and results are uint32 in uint64."""
    m0, m1 = np.uint64(MULTIPLIER_0), np.uint64(MULTIPLIER_1)
    w0, w1 = np.uint64(WEYL_0), np.uint64(WEYL_1)
    mask, half = np.uint64(MASK), np.uint64(32)
    for _ in range(ROUNDS):
        # Only the lower halves count; masked here, where the multiplication does it for nothing.
        p0, p1 = m0 * (c0 & mask), m1 * (c2 & mask)
        c0, c1, c2, c3 = (p1 >> half) ^ c1 ^ k0, p1, (p0 >> half) ^ c3 ^ k1, p0
        k0, k1 = (k0 + w0) & mask, (k1 + w1) & mask
    return c0 & mask, c1 & mask, c2 & mask, c3 & mask
