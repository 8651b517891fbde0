"""What other rules of choosing the checkpoint would have said, written down beside the result.

The rule that counts is fixed in the configuration before the run. The paper takes the checkpoint
of the lowest dev perplexity; whether SwitchOut helps can depend on that.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
from pathlib import Path
from typing import Any

import torch

from switchout.runs.result import undamaged, weights_at, write_translation
from switchout.runs.folder import Run, model_spec, open_run
from switchout.runs.finished import RECORD, RULES
from switchout.files import atomic, read_bytes
from switchout.nmt.model import Transformer
from switchout.nmt.restore import Validation
from switchout.nmt.loop import best


def write_record(folder: Path) -> None:
    """Score the checkpoints of all rules and write ``record.json``; then forget how to resume."""
    run, result = open_run(folder), json.loads(read_bytes(folder / "result.json"))
    left = undamaged(run, result["validations"])
    by_step: dict[int, dict[str, Any]] = {}
    rules = {}
    for rule in RULES:
        if rule == "dev-bleu" and not run.config.train.dev_bleu:
            continue
        chosen = best(left, rule)  # type: ignore[arg-type]
        step = int(chosen["step"])
        if step not in by_step:
            by_step[step] = _scored(run, result, left, chosen)
        rules[rule] = by_step[step]
    record = {"steps": result["steps"], "rules": rules, "machine": _machine()}
    with atomic(folder / RECORD) as partial:
        partial.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    shutil.rmtree(folder / "resume", ignore_errors=True)  # three times the size of the model


def _scored(
    run: Run, result: dict[str, Any], left: list[Validation], chosen: Validation
) -> dict[str, Any]:
    step = int(chosen["step"])
    facts = {"step": step, "dev_perplexity": chosen["dev_perplexity"]}
    if step == result["selected_step"]:
        scores = {f"{split}_bleu": result.get(f"{split}_bleu") for split in ("dev", "test")}
        return {**facts, **scores, "is_selected": True}
    model = Transformer(model_spec(run)).requires_grad_(False)
    weights, _ = weights_at(run, left, chosen)
    for name, parameter in model.named_parameters():
        parameter.copy_(weights[name])
    scores = {
        f"{split}_bleu": write_translation(run, model, split, f"{split}.step-{step}.hyp")["bleu"]
        for split in ("dev", "test")
        if split in run.corpus.splits
    }
    return {**facts, **scores, "is_selected": False}


def _machine() -> dict[str, Any]:
    """Facts that are recorded, not hashed."""
    return {
        "torch": torch.__version__,
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "processor": platform.processor() or platform.machine(),
        "processors": os.cpu_count(),
        "python": platform.python_version(),
        "commit": _commit(),
    }


def _commit() -> str | None:
    """The commit of a checkout we run from; None in an installed package."""
    here = Path(__file__).parent
    command = ["git", "-C", str(here), "rev-parse", "--short=12", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None
