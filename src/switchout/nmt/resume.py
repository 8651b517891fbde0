"""Going on with a run: the newest good state, and what its continuation can promise."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from switchout.files.writing import sweep
from switchout.nmt.checkpoint import (
    is_whole,
    newest_good,
    read_facts,
    read_tensors,
    step_folders,
)
from switchout.nmt.loop import LoopSpec, Outcome, Validation, is_stale
from switchout.nmt.machine import machine_facts
from switchout.nmt.trainer import Progress, Trainer

log = logging.getLogger(__name__)

SAME = "bitwise the run that was never interrupted"


def resume(trainer: Trainer, folder: Path, *, spec: LoopSpec) -> Outcome:
    """Bring a fresh ``trainer`` to the newest good state; return how the run stands."""
    history = _restore(trainer, folder)
    if not history and trainer.progress.step == 0:
        history = _finished_before(trainer, folder, spec)
    step = trainer.progress.step
    is_measured = bool(history) and history[-1]["step"] == step  # else the loop validates its end
    is_done = (step >= spec.steps and is_measured) or is_stale(history, spec)
    return Outcome("done" if is_done else "running", history)


def _restore(trainer: Trainer, folder: Path) -> list[Validation]:
    """Restore the newest good state, say what was found, and return its validations."""
    parent, processes = folder / "resume", trainer.processes
    found: Path | None = None
    if processes.is_first:
        for place in (parent, folder / "checkpoints"):
            sweep(place, again=True)
        found = newest_good(parent)
    step = int(processes.from_first(int(found.name[5:]) if found else 0, trainer.device))
    if step == 0:
        return []
    found = parent / f"step-{step}"
    facts = read_facts(found)
    trainer.restore({s: read_tensors(found, s) for s in ("model", "optimizer")}, facts["trainer"])
    if processes.is_first:
        now = machine_facts(trainer.device, processes)
        reasons = [_other_length(trainer), _promise(facts["machine"], now)]
        log.info("resuming at step %d: %s", step, "; ".join(filter(None, reasons)) or SAME)
    history: list[Validation] = facts["history"]
    return history


def _finished_before(trainer: Trainer, folder: Path, spec: LoopSpec) -> list[Validation]:
    """Return the validations of a run that was done, whose states for a resume were removed.

    None, if one of its checkpoints is damaged or older than the facts needed here.
    """
    history: list[Validation] = []
    facts: dict[str, Any] = {}
    for path in step_folders(folder / "checkpoints"):
        if not is_whole(path):
            return []
        facts = read_facts(path)
        names = ("step", "dev_perplexity", "dev_bleu")
        history.append({name: facts[name] for name in names if name in facts})
    if "trainer" not in facts:
        return []
    if facts["trainer"]["step"] < spec.steps and not is_stale(history, spec):
        return []
    trainer.progress = Progress.of(facts["trainer"])
    return history


def _other_length(trainer: Trainer) -> str:
    """Say that the steps made so far are not those of a run of this length."""
    if not (before := trainer.progress.steps_before):
        return ""
    steps = trainer.spec.schedule.total
    return (
        f"steps were {', '.join(map(str, before))}, are {steps}: learning rates and noise so far "
        f"are those of the other length, so this is not a run of {steps} steps from the start"
    )


def _promise(before: dict[str, Any], now: dict[str, Any]) -> str:
    """Say what a resume under other circumstances still promises."""
    before = {"arithmetic": 1, **before}  # older states do not say
    changed = [f"{k} {before.get(k)} -> {v}" for k, v in now.items() if before.get(k) != v]
    if not now["deterministic"]:
        changed.append("CUDA without train.deterministic")
    if not changed:
        return ""
    return (
        "same examples and noise in the same order, parameters equal to rounding only "
        f"({'; '.join(changed)})"
    )
