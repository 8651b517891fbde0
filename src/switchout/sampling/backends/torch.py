"""PyTorch: CPU tensors are NumPy views; CUDA tensors use int64 array operations.

Inside ``torch.compile`` a call becomes one custom operator, so a new seed, epoch or temperature
changes its arguments and never the graph (see `sampling.torch_graph`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

MASK = 0xFFFFFFFF
_INTEGERS = {torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
             torch.uint16, torch.uint32, torch.uint64}  # fmt: skip


class TorchBackend:
    """Words are int64; products wrap, and their upper half is masked."""

    name = "torch"

    def owns(self, x: Any) -> bool:
        return isinstance(x, torch.Tensor)

    def on_host(self, x: torch.Tensor) -> bool:
        return x.is_cpu and type(x) is torch.Tensor

    def to_numpy(self, x: torch.Tensor) -> np.ndarray[Any, Any]:
        array: np.ndarray[Any, Any] = x.numpy() if x.is_cpu else x.cpu().numpy()
        return array

    def from_numpy(self, array: np.ndarray[Any, Any], like: torch.Tensor) -> torch.Tensor:
        tensor = torch.from_numpy(array)
        return tensor if tensor.dtype is like.dtype else tensor.to(like.dtype)

    def from_floats(self, array: np.ndarray[Any, Any], like: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(array).to(like.device)

    def is_compiling(self) -> bool:
        return bool(torch.compiler.is_compiling())

    def is_integer(self, x: torch.Tensor) -> bool:
        return x.dtype in _INTEGERS

    def has_room(self, x: torch.Tensor, size: int) -> bool:
        return bool(size <= 1 << 8 * x.dtype.itemsize - x.dtype.is_signed)

    def is_bool(self, x: torch.Tensor) -> bool:
        return x.dtype is torch.bool

    def to_u32(self, x: Any, like: torch.Tensor) -> torch.Tensor:
        if isinstance(x, np.ndarray):
            x = x.astype(np.int64)  # torch has few operations on unsigned types
        return torch.as_tensor(x, device=like.device).to(torch.int64)

    def halves(self, x: Any, like: torch.Tensor) -> tuple[Any, Any]:
        if isinstance(x, int):
            return x & MASK, x >> 32
        if isinstance(x, np.ndarray):
            x = torch.from_numpy(x.astype(np.uint64).view(np.int64))
        x = x.to(device=like.device, dtype=torch.int64)
        return x & MASK, (x >> 32) & MASK

    def cast_back(self, words: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
        return words.to(like.dtype)

    def multiply(self, a: torch.Tensor, b: Any) -> tuple[torch.Tensor, torch.Tensor]:
        product = a * b
        return (product >> 32) & MASK, product & MASK

    def add(self, a: torch.Tensor, b: Any) -> tuple[torch.Tensor, torch.Tensor]:
        total = a + b
        return total >> 32, total & MASK

    def xor(self, a: Any, b: Any) -> torch.Tensor:
        return a ^ b

    def where(self, condition: torch.Tensor, a: Any, b: Any) -> torch.Tensor:
        return torch.where(condition, a, b)

    def take(self, table: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        return table[index]

    def searchsorted(self, table: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        return torch.searchsorted(table, values)

    def cumsum_rows(self, mask: torch.Tensor) -> torch.Tensor:
        return torch.cumsum(mask, dim=1, dtype=torch.int64)

    def host_table(self, build: Any, tau: Any, n_entries: int) -> tuple[Any, Any]:
        raise TypeError("tau must be a number: a temperature on a device would have to be copied")


BACKEND = TorchBackend()
