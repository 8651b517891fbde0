"""Going on with a run: the newest good state, and what its continuation can promise."""

from __future__ import annotations

import logging
import platform
from pathlib import Path
from typing import Any

import torch

from switchout.nmt.checkpoint import (
    is_whole,
    newest_good,
    read_facts,
    read_tensors,
    remove_leftovers,
    step_folders,
)
from switchout.nmt.trainer import Trainer

log = logging.getLogger(__name__)

Validation = dict[str, float]  # step, dev_perplexity, maybe dev_bleu


def restore(trainer: Trainer, folder: Path) -> list[Validation]:
    """Restore the newest good state, say what was found, and return its validations."""
    parent, processes = folder / "resume", trainer.processes
    found: Path | None = None
    if processes.is_first:
        remove_leftovers(parent)
        remove_leftovers(folder / "checkpoints")
        found = newest_good(parent)
    step = int(processes.from_first(int(found.name[5:]) if found else 0, trainer.device))
    if step == 0:
        return []
    found = parent / f"step-{step}"
    facts = read_facts(found)
    trainer.restore({s: read_tensors(found, s) for s in ("model", "optimizer")}, facts["trainer"])
    if processes.is_first:
        log.info("%s", promise(step, facts["machine"], machine(trainer)))
    history: list[Validation] = facts["history"]
    return history


def recover(folder: Path) -> tuple[list[Validation], dict[str, Any] | None]:
    """Return the validations of all checkpoints and the trainer's numbers at the last one.

    Nothing, if one of them is damaged or older than these facts.
    """
    history: list[Validation] = []
    facts: dict[str, Any] = {}
    for path in step_folders(folder / "checkpoints"):
        if not is_whole(path):
            return [], None
        facts = read_facts(path)
        names = ("step", "dev_perplexity", "dev_bleu")
        history.append({name: facts[name] for name in names if name in facts})
    return history, facts.get("trainer")


def machine(trainer: Trainer) -> dict[str, Any]:
    """Return the facts on which bitwise equality depends."""
    device = trainer.device
    return {
        "torch": torch.__version__,
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu",
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "architecture": platform.machine(),
        "threads": torch.get_num_threads(),
        "world": trainer.processes.world,
        "deterministic": device.type == "cpu" or torch.are_deterministic_algorithms_enabled(),
    }


def promise(step: int, before: dict[str, Any], now: dict[str, Any]) -> str:
    """Say what a resume under other circumstances still promises."""
    changed = [f"{k} {before[k]} -> {now[k]}" for k in now if before.get(k) != now[k]]
    if not now["deterministic"]:
        changed.append("CUDA without train.deterministic")
    start = f"resuming at step {step}"
    if not changed:
        return f"{start}: bitwise the run that was never interrupted"
    return (
        f"{start}: same examples and noise in the same order, parameters equal to rounding only "
        f"({'; '.join(changed)})"
    )
