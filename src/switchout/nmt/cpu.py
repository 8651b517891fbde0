"""What makes training on a CPU fast, and safe, before the first tensor."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import torch

from switchout.errors import SwitchOutError

# malloc.h; freed memory stays with the process instead of being mapped and zeroed anew each step.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_MMAP_LARGEST = 32 << 20  # glibc refuses more

_PROBE = """
import torch
a = torch.randn(64, 64, dtype=torch.bfloat16, requires_grad=True)
(a @ a).float().sum().backward()
"""


def prepare_cpu(threads: int) -> None:
    """Set the threads of this process, keep freed memory, and round denormal numbers to zero.

    Adam's moments of rare words fade into denormal numbers, which are slow.
    """
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # glibc has it, others do without
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, _MMAP_LARGEST)
        mallopt(_TRIM_THRESHOLD, 1 << 30)


def check_bfloat16() -> None:
    """Refuse bfloat16 where it kills the process: some machines announce AMX and mask it."""
    probe = subprocess.run([sys.executable, "-c", _PROBE], capture_output=True, check=False)
    if probe.returncode != 0:
        raise SwitchOutError(
            f"train.precision = 'bfloat16' does not work on this CPU (a probe ended with "
            f"{probe.returncode}); use 'float32'"
        )
