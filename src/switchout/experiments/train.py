"""Train one run from its configuration: prepare, fit, select, translate, score."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch

from switchout.errors import SwitchOutError
from switchout.evaluation.scores import score
from switchout.experiments.config import Config
from switchout.experiments.noise import build_noise
from switchout.experiments.run import (
    Run,
    locked,
    move_aside,
    open_run,
    policy_name,
    prepare_run,
    tau_of,
)
from switchout.files import atomic, read_bytes
from switchout.nmt.checkpoint import (
    DamagedCheckpoint,
    check,
    read_tensors,
    weights_folder,
    write_checkpoint,
)
from switchout.nmt.cpu import check_bfloat16, prepare_cpu
from switchout.nmt.distributed import Processes, processes
from switchout.nmt.model import ModelSpec, Transformer
from switchout.nmt.schedule import Schedule
from switchout.nmt.train import LoopSpec, Outcome, Validation, best, fit, resume
from switchout.nmt.trainer import Noise, NonFiniteLoss, Trace, Trainer, UpdateSpec, perplexity
from switchout.nmt.translate import translate_lines

log = logging.getLogger(__name__)

Result = dict[str, Any]


def train(
    config: Config, out: Path | str, *, restart: bool = False, trace: Trace | None = None
) -> Result:
    """Train, or go on training, the run in folder ``out``; return what ``result.json`` holds.

    Under ``torchrun`` every process calls this. Only the first one writes.

    Args:
        config: What to train.
        out: Folder of the run.
        restart: Move an earlier run aside.
        trace: Told every batch as the model sees it.
    """
    folder, device = Path(out), _device(config)
    prepare_cpu(config.train.threads)
    _check_machine(config, device)
    with ExitStack() as stack:
        team = stack.enter_context(processes(device))
        if team.is_first:
            if restart:
                move_aside(folder)
            stack.enter_context(locked(folder))
            prepare_run(config, folder)
        team.from_first(0, device)  # the others wait until the folder is ready
        run = open_run(folder)
        trainer = make_trainer(run, device, team, trace=trace)
        spec = _loop_spec(config)
        outcome = resume(trainer, folder, spec=spec)
        if outcome.state == "running":
            if team.is_first:
                (folder / "result.json").unlink(missing_ok=True)
            try:
                validate = _validator(run, team, device)
                outcome = fit(trainer, folder, outcome, spec=spec, validate=validate)
            except NonFiniteLoss:
                _write_result(run, trainer, state="non-finite", measured={})
                raise
        return _known_result(run, trainer) or _finish(run, trainer, outcome)


def make_trainer(
    run: Run, device: str, team: Processes = Processes(), *, trace: Trace | None = None
) -> Trainer:
    """Return the untrained model of a run, with its data, noise and optimizer."""
    config = run.config
    model = Transformer(_model_spec(run), seed=config.seed).to(device)
    noise: Noise | None = build_noise(config.augment, *(c.vocabulary for c in run.codecs))
    trainer = Trainer(
        model,
        run.train,
        spec=_update_spec(config),
        noise=noise,
        processes=team,
        trace=trace,
    )
    if config.train.init_from is not None:
        _initialise(trainer, run, Path(config.train.init_from))
    return trainer


def _model_spec(run: Run) -> ModelSpec:
    src, tgt = (len(codec.vocabulary) for codec in run.codecs)
    return ModelSpec(src_size=src, tgt_size=tgt, **run.config.model.model_dump())


def _update_spec(config: Config) -> UpdateSpec:
    t = config.train
    return UpdateSpec(
        seed=config.seed,
        schedule=Schedule(
            t.schedule,
            learning_rate=t.learning_rate,
            warmup=t.warmup,
            decay=t.decay,
            decay_every=t.decay_every,
            decay_from=t.decay_from,
            d_model=config.model.d_model,
            total=t.steps,
        ),
        batch_tokens=t.batch_tokens,
        device_tokens=t.device_tokens,
        betas=(t.beta1, t.beta2),
        epsilon=t.epsilon,
        clip=t.clip,
        label_smoothing=t.label_smoothing,
        precision=t.precision,
        is_compiled=t.compile,
    )


def _loop_spec(config: Config) -> LoopSpec:
    t = config.train
    return LoopSpec(
        steps=t.steps,
        checkpoint_every=t.checkpoint_every,
        save_every=t.save_every,
        save_minutes=t.save_minutes,
        log_every=t.log_every,
        select=t.select,
        patience=t.patience,
        tensorboard=t.tensorboard,
    )


def _validator(run: Run, team: Processes, device: str) -> Callable[[Transformer], Validation]:
    """Return what measures a model on the dev set: perplexity, and BLEU of greedy search."""
    t = run.config.train

    def validate(model: Transformer) -> Validation:
        measured = {
            "dev_perplexity": perplexity(model, run.dev, precision=t.precision, processes=team)
        }
        if t.dev_bleu:
            bleu = _translate(run, model, "dev", beam=1)[1]["bleu"] if team.is_first else 0.0
            measured["dev_bleu"] = team.from_first(bleu, device)
        return measured

    return validate


def _known_result(run: Run, trainer: Trainer) -> Result | None:
    """Return what an earlier visit found out, if it still stands."""
    path = run.folder / "result.json"
    if not trainer.processes.is_first or not path.exists():
        return None
    result: Result = json.loads(read_bytes(path))
    stands = result["state"] == "done" and result["steps"] == trainer.progress.step
    return result if stands and _is_good(run.folder / result["weights"]) else None


def _finish(run: Run, trainer: Trainer, outcome: Outcome) -> Result:
    """Translate dev and test with the selected weights and write down the result."""
    if outcome.state != "done" or not trainer.processes.is_first:
        return _write_result(run, trainer, state=outcome.state, measured={})
    chosen, weights = _select(run, outcome.history)
    trainer.flat.load(weights)
    measured: Result = {**chosen, "validations": outcome.history}
    if run.config.train.average > 1:
        measured["dev_perplexity"] = perplexity(trainer.model, run.dev)
    for split in ("dev", "test"):
        if split not in run.corpus.splits:
            continue
        lines, scores = _translate(run, trainer.model, split, beam=run.config.search.beam)
        with atomic(run.folder / f"{split}.hyp") as partial:
            partial.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        measured |= {f"{split}_{name}": scores[name] for name in ("bleu", "chrf")}
        measured["bleu_signature"] = scores["signature"]
    return _write_result(run, trainer, state="done", measured=measured)


def _translate(
    run: Run, model: Transformer, split: str, *, beam: int
) -> tuple[list[str], dict[str, Any]]:
    src, references = run.corpus.pairs(split)
    lines = translate_lines(
        [model], src, run.codecs, beam=beam, length_penalty=run.config.search.length_penalty
    )
    bleu = run.corpus.bleu
    return lines, score(lines, references, tokenize=bleu.tokenize, lowercase=bleu.lowercase)


def _select(run: Run, history: list[Validation]) -> tuple[Result, dict[str, torch.Tensor]]:
    """Return the validation that counts and its weights, averaged if the run asks for it."""
    left = [v for v in history if _is_good(_checkpoint(run, v))]
    if not left:
        raise SwitchOutError(f"{run.folder}/checkpoints: no undamaged checkpoint is left")
    chosen = best(left, run.config.train.select)
    used = left[: left.index(chosen) + 1][-run.config.train.average :]
    folders = [_checkpoint(run, v) for v in used]
    total = read_tensors(folders[0], "model")
    for folder in folders[1:]:
        for name, value in read_tensors(folder, "model").items():
            total[name] += value
    step = int(chosen["step"])
    measured = {"selected_step": step, "dev_perplexity": chosen["dev_perplexity"]}
    if len(folders) == 1:
        return {**measured, "weights": f"checkpoints/step-{step}"}, total
    weights = {name: value / len(folders) for name, value in total.items()}
    facts = {"model": _model_spec(run).to_dict(), "steps": [int(v["step"]) for v in used]}
    write_checkpoint(run.folder / "checkpoints" / "average", {"model": weights}, facts)
    return {**measured, "weights": "checkpoints/average"}, weights


def _checkpoint(run: Run, validation: Validation) -> Path:
    return run.folder / "checkpoints" / f"step-{int(validation['step'])}"


def _is_good(folder: Path) -> bool:
    try:
        check(folder)
        return True
    except DamagedCheckpoint as error:
        log.warning("%s: not used", error)
        return False


def _write_result(run: Run, trainer: Trainer, *, state: str, measured: Result) -> Result:
    progress, config = trainer.progress, run.config
    result: Result = {
        "signature": run.signature["signature"],
        "state": state,
        "policy": policy_name(config),
        "tau_x": tau_of(config.augment.source),
        "tau_y": tau_of(config.augment.target),
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
        **measured,
    }
    if trainer.processes.is_first:
        with atomic(run.folder / "result.json") as partial:
            partial.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return result


def _initialise(trainer: Trainer, run: Run, start: Path) -> None:
    """Take the weights of another run over the same vocabularies."""
    weights = start if (start / "manifest.json").exists() else weights_folder(start)
    home = weights.parent.parent
    for side in ("src", "tgt"):
        theirs = read_bytes(home / f"vocab.{side}")
        if theirs != read_bytes(run.folder / f"vocab.{side}"):
            raise SwitchOutError(
                f"train.init_from: {home}/vocab.{side} is another vocabulary than this run's; set "
                f"vocabulary.kind = 'file' with {home}/vocab.src and {home}/vocab.tgt"
            )
    try:
        trainer.flat.load(read_tensors(weights, "model"))
    except ValueError as error:
        raise SwitchOutError(f"train.init_from: {weights} is another model: {error}") from None


def _device(config: Config) -> str:
    wanted = config.train.device
    if wanted == "auto":
        wanted = "cuda" if torch.cuda.is_available() else "cpu"
    if wanted == "cuda":
        return f"cuda:{os.environ.get('LOCAL_RANK', '0')}"
    return wanted


def _check_machine(config: Config, device: str) -> None:
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise SwitchOutError(f"train.device = {config.train.device!r}: {reason}") from None
    if config.train.precision == "bfloat16" and device == "cpu":
        check_bfloat16()
    if config.train.deterministic:
        torch.use_deterministic_algorithms(True)
