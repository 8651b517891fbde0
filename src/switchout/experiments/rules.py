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

from switchout.experiments.result import translate_split
from switchout.experiments.run import Run, model_spec, open_run
from switchout.experiments.runs import RECORD, RULES
from switchout.files import atomic, read_bytes
from switchout.nmt.checkpoint import read_tensors
from switchout.nmt.model import Transformer
from switchout.nmt.train import best


def write_record(folder: Path) -> None:
    """Score the checkpoints of all rules and write ``record.json``; then forget how to resume."""
    run, result = open_run(folder), json.loads(read_bytes(folder / "result.json"))
    by_step: dict[int, dict[str, Any]] = {}
    rules = {}
    for rule in RULES:
        if rule == "dev-bleu" and not run.config.train.dev_bleu:
            continue
        step = int(best(result["validations"], rule)["step"])  # type: ignore[arg-type]
        if step not in by_step:
            by_step[step] = _scored(run, result, step)
        rules[rule] = by_step[step]
    record = {"steps": result["steps"], "rules": rules, "machine": _machine()}
    with atomic(folder / RECORD) as partial:
        partial.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    shutil.rmtree(folder / "resume", ignore_errors=True)  # three times the size of the model


def _scored(run: Run, result: dict[str, Any], step: int) -> dict[str, Any]:
    validation = next(v for v in result["validations"] if v["step"] == step)
    facts = {"step": step, "dev_perplexity": validation["dev_perplexity"]}
    is_selected = step == result["selected_step"]
    if is_selected:
        scores = {f"{split}_bleu": result.get(f"{split}_bleu") for split in ("dev", "test")}
        return {**facts, **scores, "is_selected": True}
    model, scores = _model(run, result, step), {}
    for split in {"dev", "test"} & {*run.corpus.splits}:
        lines, measured = translate_split(run, model, split, beam=run.config.search.beam)
        with atomic(run.folder / f"{split}.step-{step}.hyp") as partial:
            partial.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        scores[f"{split}_bleu"] = measured["bleu"]
    return {**facts, **scores, "is_selected": False}


def _model(run: Run, result: dict[str, Any], step: int) -> Transformer:
    """Return the weights a rule would have taken, averaged as the run averages."""
    steps = [int(v["step"]) for v in result["validations"] if v["step"] <= step]
    steps = steps[-run.config.train.average :]
    parts = [read_tensors(run.folder / "checkpoints" / f"step-{s}", "model") for s in steps]
    model = Transformer(model_spec(run))
    for name, parameter in model.requires_grad_(False).named_parameters():
        parameter.copy_(torch.stack([part[name] for part in parts]).mean(dim=0))
    return model


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
