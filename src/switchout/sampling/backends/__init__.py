"""Array libraries: found by the type of the array, never imported on the user's behalf.

A backend is the 20 operations that `switchout.sampling` needs. Requirements:

* A framework's module here is loaded only if the framework itself is in ``sys.modules``: a torch
  tensor can only exist if torch is loaded.
* Random words are 32-bit unsigned numbers held in a type with room for them: int64 where there is
  one, uint32 in JAX, which has no 64-bit integers by default.
* ``on_host`` says whether values can be looked at now, without a copy from a device or a tracer;
  such arrays go through the compiled core as NumPy views.
"""

from __future__ import annotations

import sys
from typing import Any, Protocol

import numpy as np

Array = Any  # an array of NumPy, PyTorch, TensorFlow or JAX


class Backend(Protocol):
    """What the array path needs of a framework; words are unsigned 32-bit numbers."""

    name: str

    def owns(self, x: Array) -> bool:
        """Whether ``x`` is an array of this framework."""

    def on_host(self, x: Array) -> bool:
        """Whether its values can be looked at now: on the CPU, not traced."""

    def to_numpy(self, x: Array) -> np.ndarray[Any, Any]:
        """A NumPy view of an array on the host; a copy of one on a device."""

    def from_numpy(self, array: np.ndarray[Any, Any], like: Array) -> Array:
        """Ids as an array with the dtype and device of ``like``."""

    def from_floats(self, array: np.ndarray[Any, Any], like: Array) -> Array:
        """Floats as an array on the device of ``like``; their dtype stays."""

    def is_compiling(self) -> bool:
        """Whether a graph compiler that cannot look into us is tracing the caller."""

    def is_integer(self, x: Array) -> bool:
        """Whether ``x`` holds integers, signed or not."""

    def has_room(self, x: Array, size: int) -> bool:
        """Whether the dtype of ``x``, integers, holds all ids below ``size``."""

    def is_bool(self, x: Array) -> bool:
        """Whether ``x`` is a mask."""

    def to_u32(self, x: Any, like: Array) -> Array:
        """A number or array as words, on the device of ``like``."""

    def halves(self, x: Any, like: Array) -> tuple[Any, Any]:
        """The lower and the upper word of 64-bit numbers."""

    def cast_back(self, words: Array, like: Array) -> Array:
        """Words with the dtype of ``like``."""

    def multiply(self, a: Array, b: Any) -> tuple[Array, Array]:
        """The upper and the lower word of the product of two words."""

    def add(self, a: Array, b: Any) -> tuple[Array, Array]:
        """The carry and the lower word of the sum of two words."""

    def xor(self, a: Any, b: Any) -> Array:
        """Exclusive or of words."""

    def where(self, condition: Array, a: Any, b: Any) -> Array:
        """``a`` where the condition holds, else ``b``."""

    def take(self, table: Array, index: Array) -> Array:
        """The entries of a one-dimensional table at every index."""

    def searchsorted(self, table: Array, values: Array) -> Array:
        """How many entries of a sorted table are below each value."""

    def cumsum_rows(self, mask: Array) -> Array:
        """How many are true up to and including each column, as words."""

    def host_table(self, build: Any, tau: Any, n_entries: int) -> tuple[Array, Array]:
        """``build(tau, n_entries)`` [2, n], called on the host when the graph runs."""


FRAMEWORKS = ("numpy", "torch", "tensorflow", "jax")
_BY_TYPE: dict[type, Backend] = {}


def backend_of(x: Array) -> Backend:
    """Return the backend of an array; a list or another object is a TypeError."""
    found = _BY_TYPE.get(type(x))
    if found is not None:
        return found
    for name in FRAMEWORKS:
        backend = _load(name) if name in sys.modules else None
        if backend is not None and backend.owns(x):
            _BY_TYPE[type(x)] = backend
            return backend
    hint = ": np.array(…), or policy.sample_lists(rows, …)" if isinstance(x, list | tuple) else ""
    raise TypeError(
        f"expected an array of NumPy, PyTorch, TensorFlow or JAX, got {type(x).__name__}{hint}"
    )


def _load(name: str) -> Backend:
    # Import statements, because torch.compile can follow those.
    if name == "torch":
        from switchout.sampling.backends.torch import BACKEND as torch_backend

        return torch_backend
    if name == "tensorflow":
        from switchout.sampling.backends.tensorflow import BACKEND as tensorflow_backend

        return tensorflow_backend
    if name == "jax":
        from switchout.sampling.backends.jax import BACKEND as jax_backend

        return jax_backend
    from switchout.sampling.backends.numpy import BACKEND as numpy_backend

    return numpy_backend
