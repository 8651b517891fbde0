"""What other rules of choosing the checkpoint would have said, written down beside the result.

The rule that counts is fixed in the configuration before the run. The paper takes the checkpoint
of the lowest dev perplexity; whether SwitchOut helps can depend on that.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import torch

from switchout.nmt.loop import Validation, best
from switchout.nmt.model import Transformer
from switchout.runs.finished import RECORD, RULES
from switchout.runs.folder import Run, model_spec, open_run, remove_folder
from switchout.runs.result import undamaged, weights_at, write_translation
from switchout.runs.sealed import hashes, read_sealed, write_sealed


def write_record(folder: Path) -> None:
    """Score the checkpoints of all rules and write ``record.json``; then forget how to resume."""
    run, result = open_run(folder), read_sealed(folder / "result.json")
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
    names = [f"{split}.step-{step}.hyp" for step in by_step for split in ("dev", "test")]
    files = hashes(folder, [name for name in names if (folder / name).is_file()])
    machine = _machine()
    remove_folder(folder / RECORD)
    write_sealed(
        folder / RECORD,
        {"steps": result["steps"], "rules": rules, "machine": machine, "files": files},
    )
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
    """The commit of our own checkout; None where we are installed, in whatever repository."""
    here = Path(__file__).resolve()
    root = here.parents[3]
    try:
        project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        is_ours = project["name"] == "switchout" and here == root / "src/switchout/runs/record.py"
    except (OSError, ValueError, KeyError):
        is_ours = False
    if not is_ours:
        return None
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(root), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        return done.stdout.strip()

    try:
        if Path(git("rev-parse", "--show-toplevel")).resolve() != root:
            return None
        return git("rev-parse", "--short=12", "HEAD")
    except (OSError, subprocess.CalledProcessError):
        return None
