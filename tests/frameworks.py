"""The same few things in each framework: make an array, read it back, compile a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


class Framework:
    """NumPy, and the base of the others."""

    name = "numpy"

    def array(self, values: np.ndarray) -> Any:
        return values.copy()

    def numpy(self, array: Any) -> np.ndarray:
        return np.asarray(array)

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return function

    def eager(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Run operation by operation (JAX would compile each of them by itself: all at once)."""
        return function


class Torch(Framework):
    name = "torch"

    def array(self, values: np.ndarray) -> Any:
        import torch

        return torch.from_numpy(values.copy())

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        import torch

        torch._dynamo.reset()
        return torch.compile(function, fullgraph=True, backend="aot_eager")


class TensorFlow(Framework):
    name = "tensorflow"

    def array(self, values: np.ndarray) -> Any:
        import tensorflow as tf

        return tf.constant(values)

    def numpy(self, array: Any) -> np.ndarray:
        return array.numpy()

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        import tensorflow as tf

        return tf.function(function)


class Jax(Framework):
    name = "jax"

    def array(self, values: np.ndarray) -> Any:
        import jax.numpy as jnp

        return jnp.asarray(values)

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        import jax

        return jax.jit(function)

    eager = compile


FRAMEWORKS = {kind.name: kind for kind in (Framework, Torch, TensorFlow, Jax)}
