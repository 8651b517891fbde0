"""NumPy: the array path here is for tests; users' arrays go through the compiled core."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
MASK = 0xFFFFFFFF


class NumpyBackend:
    """Words are int64; products wrap, and their upper half is masked."""

    name = "numpy"

    def owns(self, x: Any) -> bool:
        return isinstance(x, np.ndarray)

    def on_host(self, x: Array) -> bool:
        return True

    def to_numpy(self, x: Array) -> Array:
        return x

    def from_numpy(self, array: Array, like: Array) -> Array:
        return array

    def from_floats(self, array: Array, like: Array) -> Array:
        return array

    def is_compiling(self) -> bool:
        return False

    def is_integer(self, x: Array) -> bool:
        return x.dtype.kind in "iu"

    def has_room(self, x: Array, size: int) -> bool:
        return bool(size <= 1 << 8 * x.dtype.itemsize - (x.dtype.kind == "i"))

    def is_bool(self, x: Array) -> bool:
        return bool(x.dtype == np.bool_)

    def to_u32(self, x: Any, like: Array) -> Array:
        return np.asarray(x).astype(np.int64)

    def halves(self, x: Any, like: Array) -> tuple[Any, Any]:
        if isinstance(x, int):
            return x & MASK, x >> 32
        x = np.asarray(x).astype(np.int64)
        return x & MASK, (x >> 32) & MASK

    def cast_back(self, words: Array, like: Array) -> Array:
        return words.astype(like.dtype)

    def multiply(self, a: Array, b: Any) -> tuple[Array, Array]:
        with np.errstate(over="ignore"):
            product = a * np.int64(b) if isinstance(b, int) else a * b
        return (product >> 32) & MASK, product & MASK

    def add(self, a: Array, b: Any) -> tuple[Array, Array]:
        total = a + b
        return total >> 32, total & MASK

    def xor(self, a: Any, b: Any) -> Any:
        return a ^ b

    def where(self, condition: Array, a: Any, b: Any) -> Array:
        return np.asarray(np.where(condition, a, b))

    def take(self, table: Array, index: Array) -> Array:
        values: Array = table[index]
        return values

    def searchsorted(self, table: Array, values: Array) -> Array:
        return np.asarray(np.searchsorted(table, values))

    def cumsum_rows(self, mask: Array) -> Array:
        return np.cumsum(mask, axis=1, dtype=np.int64)

    def host_table(self, build: Any, tau: Any, n_entries: int) -> tuple[Array, Array]:
        raise NotImplementedError("NumPy has no traced temperatures")


BACKEND = NumpyBackend()
