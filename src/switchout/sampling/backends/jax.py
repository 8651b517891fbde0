"""JAX: concrete CPU arrays are NumPy views; traced ones use 32-bit words.

Without x64, JAX has no 64-bit integers and wraps silently, so a product of two words is put
together from 16-bit halves, and 64-bit example ids are split on the host.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

MASK = 0xFFFFFFFF
WORD = jnp.uint32


class JaxBackend:
    """Words are uint32, which wrap by themselves."""

    name = "jax"

    def owns(self, x: Any) -> bool:
        return isinstance(x, jax.Array)

    def on_host(self, x: Any) -> bool:
        if isinstance(x, jax.core.Tracer):
            return False
        return all(device.platform == "cpu" for device in x.devices())

    def to_numpy(self, x: Any) -> np.ndarray[Any, Any]:
        return np.asarray(x)

    def from_numpy(self, array: np.ndarray[Any, Any], like: Any) -> Any:
        return jax.device_put(array.astype(like.dtype, copy=False), like.sharding)

    def from_floats(self, array: np.ndarray[Any, Any], like: Any) -> Any:
        return jax.device_put(array, like.sharding)

    def is_compiling(self) -> bool:
        return False

    def is_integer(self, x: Any) -> bool:
        return bool(jnp.issubdtype(x.dtype, jnp.integer))

    def has_room(self, x: Any, size: int) -> bool:
        return bool(size <= 1 << 8 * x.dtype.itemsize - (x.dtype.kind == "i"))

    def is_bool(self, x: Any) -> bool:
        return bool(x.dtype == jnp.bool_)

    def to_u32(self, x: Any, like: Any) -> Any:
        if isinstance(x, int):
            return jnp.asarray(np.uint32(x & MASK))
        if isinstance(x, np.ndarray):
            return jnp.asarray(x.astype(np.uint32))
        return x.astype(WORD)

    def halves(self, x: Any, like: Any) -> tuple[Any, Any]:
        if isinstance(x, int):
            return x & MASK, x >> 32
        if isinstance(x, np.ndarray):
            x = x.astype(np.uint64)
            low, high = (x & np.uint64(MASK)), (x >> np.uint64(32))
            return jnp.asarray(low.astype(np.uint32)), jnp.asarray(high.astype(np.uint32))
        if x.dtype.itemsize == 8:
            return x.astype(WORD), (x >> 32).astype(WORD)
        return x.astype(WORD), jnp.zeros_like(x, WORD)

    def cast_back(self, words: Any, like: Any) -> Any:
        return words.astype(like.dtype)

    def multiply(self, a: Any, b: Any) -> tuple[Any, Any]:
        b = jnp.asarray(np.uint32(b)) if isinstance(b, int) else b
        half = np.uint32(16)
        low_mask = np.uint32(0xFFFF)
        a0, a1, b0, b1 = a & low_mask, a >> half, b & low_mask, b >> half
        middle = a1 * b0 + (a0 * b0 >> half)  # below 2^32: (2^16 - 1)^2 + 2^16 - 1
        middle2 = a0 * b1 + (middle & low_mask)
        return a1 * b1 + (middle >> half) + (middle2 >> half), a * b

    def add(self, a: Any, b: Any) -> tuple[Any, Any]:
        total = a + b
        return (total < a).astype(WORD), total

    def xor(self, a: Any, b: Any) -> Any:
        return a ^ (np.uint32(b) if isinstance(b, int) else b)

    def where(self, condition: Any, a: Any, b: Any) -> Any:
        return jnp.where(condition, a, b)

    def take(self, table: Any, index: Any) -> Any:
        return jnp.take(table, index)

    def searchsorted(self, table: Any, values: Any) -> Any:
        return jnp.searchsorted(table, values).astype(WORD)

    def cumsum_rows(self, mask: Any) -> Any:
        return jnp.cumsum(mask, axis=1, dtype=WORD)

    def host_table(self, build: Any, tau: Any, n_entries: int) -> tuple[Any, Any]:
        shape = jax.ShapeDtypeStruct((2, n_entries), WORD)
        rows = jax.pure_callback(
            lambda value: build(value, n_entries).astype(np.uint32), shape, tau
        )
        return rows[0], rows[1]


BACKEND = JaxBackend()
