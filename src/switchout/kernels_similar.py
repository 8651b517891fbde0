"""The sampler of `Similar` as a loop, compiled by numba: one categorical draw per word.

The same integers as `switchout.sampling`; like all kernels it releases the GIL and keeps no state.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from switchout.kernels import first_not_below
from switchout.kernels_rows import is_word
from switchout.philox_numba import philox4x32

_HALF, _MASK, _ONE = np.uint64(32), np.uint64(0xFFFFFFFF), np.uint64(1)


@njit(nogil=True, cache=True)
def replace_similar(
    tokens, frozen, example_ids, k0, k1, epoch, stream,
    lowest, starts, stops, row_start, ids, limits,
):  # fmt: skip
    """Replace each word by a categorical draw from its row of the table, in place.

    Row w spans ``row_start[w]`` to ``row_start[w + 1]``; entry j is drawn if the bits are at most
    ``limits[j]`` and above the one before. An empty row leaves the word alone.
    """
    n_rows, n_columns = tokens.shape
    k0, k1, epoch, stream = np.uint64(k0), np.uint64(k1), np.uint64(epoch), np.uint64(stream)
    for b in range(n_rows):
        e = example_ids[b]
        block = stream
        for t in range(n_columns):
            v = tokens[b, t]
            if not is_word(v, lowest, starts, stops) or (frozen.size and frozen[b, t]):
                continue
            block += _ONE
            low, high = row_start[v], row_start[v + 1] - 1
            if high <= low:
                if high == low:
                    tokens[b, t] = ids[low]
                continue
            u = philox4x32(e & _MASK, e >> _HALF, epoch, block, k0, k1)[0]
            tokens[b, t] = ids[first_not_below(u, limits, low, high)]
