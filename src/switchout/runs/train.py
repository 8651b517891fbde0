"""Train one run from its configuration: prepare, fit, select, translate, score."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import torch

from switchout.errors import SwitchOutError
from switchout.runs.config import Config
from switchout.runs.noise import build_noise
from switchout.runs.result import Result, finish, known_result, translate_split, write_result
from switchout.runs.folder import Run, locked, model_spec, move_aside, open_run, prepare_run
from switchout.files import read_bytes
from switchout.nmt.checkpoint import read_tensors, weights_folder
from switchout.nmt.cpu import check_bfloat16, prepare_cpu
from switchout.nmt.distributed import Processes, processes
from switchout.nmt.model import Transformer
from switchout.nmt.restore import Validation
from switchout.nmt.schedule import Schedule
from switchout.nmt.loop import LoopSpec, Outcome, fit, resume
from switchout.nmt.trainer import Noise, NonFiniteLoss, Trace, Trainer, UpdateSpec, perplexity


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
        spec = _loop_spec(config)
        if (known := known_result(run, spec)) is not None:
            return known
        trainer = make_trainer(run, device, team, trace=trace)
        outcome = resume(trainer, folder, spec=spec)
        if outcome.state == "running":
            outcome = _fit(run, trainer, outcome, spec)
        if outcome.state == "done" and team.is_first:
            return finish(run, trainer, outcome)
        return write_result(run, trainer, state=outcome.state)


def _fit(run: Run, trainer: Trainer, outcome: Outcome, spec: LoopSpec) -> Outcome:
    if trainer.processes.is_first:
        (run.folder / "result.json").unlink(missing_ok=True)  # of a shorter run
    validate = _validator(run, trainer.processes, trainer.device)
    try:
        return fit(trainer, run.folder, outcome, spec=spec, validate=validate)
    except NonFiniteLoss:
        write_result(run, trainer, state="non-finite")
        raise


def make_trainer(
    run: Run, device: str, team: Processes = Processes(), *, trace: Trace | None = None
) -> Trainer:
    """Return the untrained model of a run, with its data, noise and optimizer."""
    config = run.config
    model = Transformer(model_spec(run), seed=config.seed).to(device)
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
        noise_steps=None if config.augment.until == 1 else round(config.augment.until * t.steps),
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


def _validator(
    run: Run, team: Processes, device: torch.device
) -> Callable[[Transformer], Validation]:
    """Return what measures a model on the dev set: perplexity, and BLEU of greedy search."""
    t = run.config.train

    def validate(model: Transformer) -> Validation:
        measured = {
            "dev_perplexity": perplexity(model, run.dev, precision=t.precision, processes=team)
        }
        if t.dev_bleu:
            bleu = translate_split(run, model, "dev", beam=1)[1]["bleu"] if team.is_first else 0.0
            measured["dev_bleu"] = team.from_first(bleu, device)
        return measured

    return validate


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
