"""TensorFlow: eager CPU tensors are NumPy views; symbolic ones use int64 array operations."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

MASK = 0xFFFFFFFF


class TensorFlowBackend:
    """Words are int64; products wrap, and their upper half is masked."""

    name = "tensorflow"

    def owns(self, x: Any) -> bool:
        return isinstance(x, tf.Tensor | tf.Variable)

    def on_host(self, x: Any) -> bool:
        return tf.executing_eagerly() and hasattr(x, "numpy") and "CPU" in x.device

    def to_numpy(self, x: Any) -> np.ndarray[Any, Any]:
        array: np.ndarray[Any, Any] = x.numpy()
        return array

    def from_numpy(self, array: np.ndarray[Any, Any], like: Any) -> Any:
        return tf.convert_to_tensor(array, dtype=like.dtype)

    def from_floats(self, array: np.ndarray[Any, Any], like: Any) -> Any:
        return tf.convert_to_tensor(array)

    def is_compiling(self) -> bool:
        return False

    def is_integer(self, x: Any) -> bool:
        return bool(x.dtype.is_integer)

    def has_room(self, x: Any, size: int) -> bool:
        return bool(size <= 1 << 8 * x.dtype.size - (not x.dtype.is_unsigned))

    def is_bool(self, x: Any) -> bool:
        return bool(x.dtype.is_bool)

    def to_u32(self, x: Any, like: Any) -> Any:
        return tf.cast(x, tf.int64)

    def halves(self, x: Any, like: Any) -> tuple[Any, Any]:
        if isinstance(x, int):
            return x & MASK, x >> 32
        if isinstance(x, np.ndarray):
            x = x.astype(np.uint64).view(np.int64)
        x = tf.cast(x, tf.int64)
        return tf.bitwise.bitwise_and(x, MASK), self._upper(x)

    def cast_back(self, words: Any, like: Any) -> Any:
        return tf.cast(words, like.dtype)

    def _upper(self, x: Any) -> Any:
        return tf.bitwise.bitwise_and(tf.bitwise.right_shift(x, tf.constant(32, tf.int64)), MASK)

    def multiply(self, a: Any, b: Any) -> tuple[Any, Any]:
        product = a * b
        return self._upper(product), tf.bitwise.bitwise_and(product, MASK)

    def add(self, a: Any, b: Any) -> tuple[Any, Any]:
        total = a + b
        return self._upper(total), tf.bitwise.bitwise_and(total, MASK)

    def xor(self, a: Any, b: Any) -> Any:
        return tf.bitwise.bitwise_xor(tf.cast(a, tf.int64), tf.cast(b, tf.int64))

    def where(self, condition: Any, a: Any, b: Any) -> Any:
        return tf.where(condition, a, b)

    def take(self, table: Any, index: Any) -> Any:
        return tf.gather(table, index)

    def searchsorted(self, table: Any, values: Any) -> Any:
        found = tf.searchsorted(table, tf.reshape(values, [-1]), out_type=tf.int64)
        return tf.reshape(found, tf.shape(values))

    def cumsum_rows(self, mask: Any) -> Any:
        return tf.cumsum(tf.cast(mask, tf.int64), axis=1)

    def host_table(self, build: Any, tau: Any, n_entries: int) -> tuple[Any, Any]:
        rows = tf.numpy_function(
            lambda value: build(value, n_entries).astype(np.int64), [tau], tf.int64
        )
        rows.set_shape([2, n_entries])
        return rows[0], rows[1]


BACKEND = TensorFlowBackend()
