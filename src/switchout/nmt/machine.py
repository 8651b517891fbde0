"""The machine of a run: its device and threads, and the processes that share the work.

A process is alone, or one of those that ``torchrun`` started (gloo on CPU, nccl on GPU).
"""

from __future__ import annotations

import ctypes
import logging
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch

from switchout.errors import SwitchOutError
from switchout.ranges import PROCESSES, Whole

log = logging.getLogger(__name__)

# Raised by a change of ours that moves the last bits of a training. 2: the output layer in blocks.
# 3: with bfloat16 on a CPU, attention and dropout in float32. 4: a compiled loss on a CPU.
ARITHMETIC = 4

# Rank 0 may prepare data or translate a dev set while the others wait for it.
PATIENCE = timedelta(hours=6)

# malloc.h; freed memory stays with the process instead of being mapped and zeroed anew each step.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_MMAP_LARGEST = 32 << 20  # glibc refuses more

_HAVE_HALF = ("avx512_bf16", "amx_bf16")
_PROBE = """
import torch
a = torch.randn(64, 64, dtype=torch.bfloat16, requires_grad=True)
(a @ a).float().sum().backward()
"""


@dataclass(frozen=True)
class Processes:
    """Which of how many processes this is, and what they can do together."""

    rank: int = 0
    world: int = 1

    @property
    def is_first(self) -> bool:
        """Only the first process writes files and talks."""
        return self.rank == 0

    def sum_(self, tensor: torch.Tensor) -> None:
        """Replace ``tensor`` by its sum over all processes."""
        if self.world > 1:
            torch.distributed.all_reduce(tensor)

    def from_first(self, number: float, device: torch.device | str = "cpu") -> float:
        """Return the first process's ``number`` (a float64 holds every step exactly)."""
        if self.world == 1:
            return number
        told = torch.tensor([number], dtype=torch.float64, device=device)
        torch.distributed.broadcast(told, src=0)
        return float(told.item())


def is_first_process() -> bool:
    """Return whether this is the process that writes and talks."""
    return _number("RANK", 0) == 0


def local_rank() -> int:
    """Return which of the processes of its machine this is."""
    return _number("LOCAL_RANK", 0)


def _number(name: str, default: int) -> int:
    """Return what ``torchrun`` has put into the environment."""
    text = os.environ.get(name)
    limits = PROCESSES if default else Whole(0, PROCESSES.most)
    return default if text is None else limits.parse(text, name)


@contextmanager
def processes(device: str) -> Iterator[Processes]:
    """Join the processes that ``torchrun`` started, for as long as the context lasts."""
    world = _number("WORLD_SIZE", 1)
    if world == 1:
        yield Processes()
        return
    if device.startswith("cuda"):
        torch.cuda.set_device(local_rank())
    backend = "nccl" if device.startswith("cuda") else "gloo"
    try:
        torch.distributed.init_process_group(backend, timeout=PATIENCE)
    except ValueError as error:  # a variable that torchrun sets is missing or wrong
        raise SwitchOutError(f"WORLD_SIZE is {world}: {error}; start it with torchrun") from None
    try:
        yield Processes(torch.distributed.get_rank(), world)
    finally:
        torch.distributed.destroy_process_group()


def find_device(wanted: str) -> str:
    """Return what ``auto`` means here; any other device as it is."""
    if wanted != "auto":
        return wanted
    return "cuda" if torch.cuda.is_available() else "cpu"


def prepare_cpu(threads: int) -> None:
    """Set the threads of this process, keep freed memory, and round denormal numbers to zero.

    Adam's moments of rare words fade into denormal numbers, which are slow. And oneDNN, which makes
    products in bfloat16, compiles one for every shape, of which batches have some thousands: it is
    to keep them all (by default 1,024).
    """
    os.environ.setdefault("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "32768")
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # glibc has it, others do without
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, _MMAP_LARGEST)
        mallopt(_TRIM_THRESHOLD, 1 << 30)


def check_bfloat16() -> None:
    """Refuse bfloat16 where it kills the process (some machines announce AMX and mask it).

    A processor without instructions for it computes the same, at a third of the speed.
    """
    probe = subprocess.run([sys.executable, "-c", _PROBE], capture_output=True, check=False)
    if probe.returncode != 0:
        raise SwitchOutError(
            f"train.precision = 'bfloat16' does not work on this CPU (a probe ended with "
            f"{probe.returncode}); use 'float32'"
        )
    found = torch.cpu.get_capabilities()
    if found.get("architecture") == "x86_64" and not any(found.get(name) for name in _HAVE_HALF):
        log.warning(
            "train.precision = 'bfloat16': this processor has no instructions for it, and takes"
            " about three times as long as with 'float32'"
        )


def machine_facts(device: torch.device, group: Processes) -> dict[str, Any]:
    """Return the facts on which bitwise equality depends."""
    return {
        "torch": torch.__version__,
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "architecture": platform.machine(),
        "threads": torch.get_num_threads(),
        "world": group.world,
        "arithmetic": ARITHMETIC,
        "deterministic": device.type == "cpu" or torch.are_deterministic_algorithms_enabled(),
    }
