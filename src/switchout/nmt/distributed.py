"""The processes of one run: alone, or started by ``torchrun`` (gloo on CPU, nccl on GPU)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch

from switchout.errors import SwitchOutError
from switchout.ranges import PROCESSES, Whole

# Rank 0 may prepare data or translate a dev set while the others wait for it.
PATIENCE = timedelta(hours=6)


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
