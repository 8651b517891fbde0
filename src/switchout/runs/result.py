"""The end of a run: select weights, translate dev and test with them, write down what came out.

``result.json`` has what the rule of the configuration chose; that rule is fixed before the run.
``record.json`` has what other rules of choosing the checkpoint would have said: whether SwitchOut
helps can depend on that. The paper takes the checkpoint of the lowest dev perplexity.
"""

from __future__ import annotations

import logging
import os
import platform
import shutil
import subprocess
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from switchout.errors import SwitchOutError
from switchout.evaluation.scores import score
from switchout.files import write_text
from switchout.nmt.checkpoint import is_whole, read_tensors, write_checkpoint
from switchout.nmt.flat import copy_parameters
from switchout.nmt.loop import LoopSpec, Outcome, Validation, best, is_stale
from switchout.nmt.model import Transformer
from switchout.nmt.search import SearchOptions
from switchout.nmt.trainer import Trainer, perplexity
from switchout.nmt.translate import translate_lines
from switchout.runs.finished import RECORD, RULES
from switchout.runs.folder import Run, open_run, remove_folder
from switchout.runs.sealed import check_files, hashes, read_sealed, sealed, write_sealed

log = logging.getLogger(__name__)

Result = dict[str, Any]
KEPT = ("bleu", "chrf")  # scores of a result


def known_result(run: Run, spec: LoopSpec) -> Result | None:
    """Return what an earlier visit found out, if the run was done and its weights are whole."""
    path = run.folder / "result.json"
    if not path.exists():
        return None
    try:
        result: Result = read_sealed(path)
        check_files(run.folder, result.get("files", {}), advice="translated again")
        if result["state"] != "done" or not is_whole(run.folder / result["weights"]):
            return None
        is_done = result["steps"] >= spec.steps or is_stale(result["validations"], spec)
        return result if is_done else None
    except SwitchOutError as error:
        log.warning("%s; the result is made again", error)
    except (KeyError, TypeError):
        log.warning("%s: damaged; the result is made again", path)
    return None


def finish(run: Run, trainer: Trainer, outcome: Outcome) -> Result:
    """Translate dev and test with the selected weights and write down the result."""
    chosen, weights = _select(run, outcome.history)
    trainer.flat.load(weights)
    measured: Result = {**chosen, "validations": outcome.history}
    if run.config.train.average > 1:
        measured["dev_perplexity"] = perplexity(trainer.model, run.dev)
    for split in ("dev", "test"):
        if split not in run.corpus.splits:
            continue
        scores = _write_translation(run, trainer.model, split, f"{split}.hyp")
        measured |= {f"{split}_{name}": scores[name] for name in KEPT}
        measured["bleu_signature"] = scores["signature"]
    names = [f"{split}.hyp" for split in ("dev", "test") if split in run.corpus.splits]
    measured["files"] = hashes(run.folder, names)
    return write_result(run, trainer, state="done", measured=measured)


def _write_translation(run: Run, model: Transformer, split: str, name: str) -> dict[str, Any]:
    """Write the translation of a split into the run's folder and return its scores."""
    beam = run.config.search.beam
    lines, scores = translate_split(run, model, split, beam=beam, metrics=KEPT)
    remove_folder(run.folder / name)
    write_text(run.folder / name, "".join(line + "\n" for line in lines))
    return scores


def translate_split(
    run: Run, model: Transformer, split: str, *, beam: int, metrics: Sequence[str]
) -> tuple[list[str], dict[str, Any]]:
    """Return the translation of a split, and its scores as the corpus is scored.

    Only those that are asked for: TER takes longer than the translation.
    """
    src, references = run.corpus.pairs(split)
    options = SearchOptions(beam, run.config.search.length_penalty)
    lines = translate_lines([model], src, run.codecs, options)
    bleu = run.corpus.bleu
    return lines, score(
        lines, references, tokenize=bleu.tokenize, lowercase=bleu.lowercase, metrics=metrics
    )


def write_result(
    run: Run, trainer: Trainer, *, state: str, measured: Result | None = None
) -> Result:
    """Return the result and, in the first process, write it."""
    progress, config = trainer.progress, run.config
    result: Result = {
        "signature": run.signature["signature"],
        "state": state,
        **config.augment.summary(),
        "seed": config.seed,
        "steps": progress.step,
        "selected_step": None,
        "dev_perplexity": None,
        "dev_bleu": None,
        "test_bleu": None,
        "test_chrf": None,
        "seconds": progress.seconds,
        "cpu_seconds": progress.cpu_seconds,
        "tokens_per_second": progress.tokens / max(progress.seconds, 1e-9),
        **(measured or {}),
    }
    if progress.steps_before:  # then it is not what its key alone would give
        result["steps_before"] = progress.steps_before
    if trainer.processes.is_first:
        remove_folder(run.folder / "result.json")
        write_sealed(run.folder / "result.json", result)
    return sealed(result)


def write_record(folder: Path) -> None:
    """Score the checkpoints of all rules and write ``record.json``; then forget how to resume."""
    run, result = open_run(folder), read_sealed(folder / "result.json")
    left = _undamaged(run, result["validations"])
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


def _undamaged(run: Run, history: list[Validation]) -> list[Validation]:
    """Return the validations whose checkpoints are whole; at least one."""
    left = [v for v in history if is_whole(_checkpoint(run, v))]
    if not left:
        raise SwitchOutError(f"{run.folder}/checkpoints: no undamaged checkpoint is left")
    return left


def _weights_at(
    run: Run, left: list[Validation], chosen: Validation
) -> tuple[dict[str, torch.Tensor], list[int]]:
    """Return the weights of a validation, averaged with those before if the run asks for it.

    Also returns the steps they come from.
    """
    used = left[: left.index(chosen) + 1][-run.config.train.average :]
    parts = [read_tensors(_checkpoint(run, v), "model") for v in used]
    steps = [int(v["step"]) for v in used]
    if len(parts) == 1:
        return parts[0], steps
    return {name: torch.stack([p[name] for p in parts]).mean(dim=0) for name in parts[0]}, steps


def _select(run: Run, history: list[Validation]) -> tuple[Result, dict[str, torch.Tensor]]:
    """Return the validation that counts and its weights; an average is written down."""
    left = _undamaged(run, history)
    chosen = best(left, run.config.train.select)
    weights, steps = _weights_at(run, left, chosen)
    measured = {"selected_step": steps[-1], "dev_perplexity": chosen["dev_perplexity"]}
    if len(steps) == 1:
        return {**measured, "weights": f"checkpoints/step-{steps[-1]}"}, weights
    facts = {"model": run.model_spec().to_dict(), "steps": steps}
    write_checkpoint(run.folder / "checkpoints" / "average", {"model": weights}, facts)
    return {**measured, "weights": "checkpoints/average"}, weights


def _checkpoint(run: Run, validation: Validation) -> Path:
    return run.folder / "checkpoints" / f"step-{int(validation['step'])}"


def _scored(
    run: Run, result: dict[str, Any], left: list[Validation], chosen: Validation
) -> dict[str, Any]:
    step = int(chosen["step"])
    facts = {"step": step, "dev_perplexity": chosen["dev_perplexity"]}
    if step == result["selected_step"]:
        scores = {f"{split}_bleu": result.get(f"{split}_bleu") for split in ("dev", "test")}
        return {**facts, **scores, "is_selected": True}
    model = Transformer(run.model_spec()).requires_grad_(False)
    weights, _ = _weights_at(run, left, chosen)
    copy_parameters(weights, dict(model.named_parameters()))
    scores = {
        f"{split}_bleu": _write_translation(run, model, split, f"{split}.step-{step}.hyp")["bleu"]
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
        is_ours = project["name"] == "switchout" and here == root / "src/switchout/runs/result.py"
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
