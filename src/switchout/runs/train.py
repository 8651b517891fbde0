"""Train one run from its configuration: prepare, fit, select, translate, score."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

from switchout.errors import TRAINING, SwitchOutError, needs

with needs(*TRAINING):  # told before a folder is made
    import torch

from switchout.nmt.checkpoint import read_tensors
from switchout.nmt.loop import Loop, LoopSpec, Outcome, Validation
from switchout.nmt.machine import (
    Processes,
    check_bfloat16,
    find_device,
    is_first_process,
    local_rank,
    prepare_cpu,
    processes,
)
from switchout.nmt.model import Transformer
from switchout.nmt.resume import resume
from switchout.nmt.schedule import Schedule
from switchout.nmt.trainer import NonFiniteLoss, Trainer, UpdateSpec, perplexity
from switchout.runs.config import Config, Train
from switchout.runs.folder import Run, check_place, move_aside, open_run, removed_if_refused
from switchout.runs.leases import held
from switchout.runs.noise import build_noise, warn_of_noise
from switchout.runs.preparing import prepare_run, start_weights
from switchout.runs.result import Result, finish, known_result, translate_split, write_result

log = logging.getLogger(__name__)

S = TypeVar("S")


def train(config: Config, out: Path | str, *, restart: bool = False) -> Result:
    """Train, or go on training, the run in folder ``out``; return what ``result.json`` holds.

    Under ``torchrun`` every process calls this. Only the first one writes.

    Args:
        config: What to train.
        out: Folder of the run.
        restart: Move an earlier run aside.
    """
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise SwitchOutError(f"{folder}: is a file; choose another folder")
    with ExitStack() as stack:
        if is_first_process():
            check_place(folder)  # before anything is written or moved
            aside = move_aside(folder) if restart else None
            keep = stack.enter_context(removed_if_refused(folder, aside=aside))
            stack.enter_context(held(folder))
            return train_held(config, folder, keep=keep)
        return train_held(config, folder)


def train_held(config: Config, folder: Path, *, keep: Callable[[], None] = lambda: None) -> Result:
    """Do what `train` does in a folder whose lease is ours.

    Args:
        config, folder: As for `train`.
        keep: Called when nothing can be refused any more.
    """
    device = find_device(config.train.device)
    if device == "cuda":
        device = f"cuda:{local_rank()}"
    start_weights(config)  # refused at once, if it is wrong
    prepare_cpu(config.train.threads)
    _check_machine(config, device)
    with processes(device) as group:
        if group.is_first:
            prepare_run(config, folder)
            log.info("noise: %s", config.augment)
        group.from_first(0, device)  # the others wait until the folder is ready
        run = open_run(folder)
        spec = _spec(LoopSpec, config.train, about=run.signature)
        if (known := known_result(run, spec)) is not None:
            keep()
            return known
        trainer = make_trainer(run, device, group)
        keep()
        outcome = resume(trainer, folder, spec=spec)
        if outcome.state == "running":
            outcome = _fit(run, trainer, outcome, spec)
        if outcome.state == "done" and group.is_first:
            return finish(run, trainer, outcome)
        return write_result(run, trainer, state=outcome.state)


def _fit(run: Run, trainer: Trainer, outcome: Outcome, spec: LoopSpec) -> Outcome:
    if trainer.processes.is_first:
        (run.folder / "result.json").unlink(missing_ok=True)  # of a shorter run
    validate = _validator(run, trainer.processes, trainer.device)
    try:
        return Loop(trainer, outcome, run.folder, spec=spec, validate=validate).run()
    except NonFiniteLoss:
        write_result(run, trainer, state="non-finite")
        raise


def make_trainer(run: Run, device: str, group: Processes = Processes()) -> Trainer:
    """Return the untrained model of a run, with its data, noise and optimizer."""
    config = run.config
    try:
        model = Transformer(run.model_spec(), seed=config.seed).to(device)
    except (RuntimeError, MemoryError) as error:
        reason = str(error).splitlines()[0]
        raise SwitchOutError(f"[model] does not fit into memory ({reason})") from None
    noise = build_noise(config.augment, *(c.vocabulary for c in run.codecs))
    if group.is_first:
        warn_of_noise(noise)
    spec = _update_spec(config)
    trainer = Trainer(model, run.train, spec=spec, noise=noise, processes=group)
    if (weights := start_weights(config)) is not None:
        _initialise(trainer, weights)
    return trainer


def _update_spec(config: Config) -> UpdateSpec:
    t, until = config.train, config.augment.until
    shape = {"d_model": config.model.d_model, "total": t.steps}
    return _spec(
        UpdateSpec,
        t,
        seed=config.seed,
        schedule=_spec(Schedule, t, kind=t.schedule, **shape),
        betas=(t.beta1, t.beta2),
        noise_steps=None if until == 1 else round(until * t.steps),
        is_compiled=t.compile,
    )


def _spec(spec: Callable[..., S], keys: Train, **others: Any) -> S:
    """Return a spec of ``switchout.nmt``: its fields are keys of ``[train]``, or given here."""
    names = inspect.signature(spec).parameters.keys() & Train.model_fields.keys()
    return spec(**{name: getattr(keys, name) for name in names} | others)


def _validator(
    run: Run, group: Processes, device: torch.device
) -> Callable[[Transformer], Validation]:
    """Return what measures a model on the dev set: perplexity, and BLEU of greedy search."""
    t = run.config.train

    def validate(model: Transformer) -> Validation:
        measured = {
            "dev_perplexity": perplexity(model, run.dev, precision=t.precision, processes=group)
        }
        if t.dev_bleu:
            bleu = _greedy_bleu(run, model) if group.is_first else 0.0
            measured["dev_bleu"] = group.from_first(bleu, device)
        return measured

    return validate


def _greedy_bleu(run: Run, model: Transformer) -> float:
    """BLEU of the dev set by the cheapest search."""
    scores = translate_split(run, model, "dev", beam=1, metrics=["bleu"])[1]
    return float(scores["bleu"])


def _initialise(trainer: Trainer, weights: Path) -> None:
    """Take the weights of another run over the same vocabularies; see `start_weights`."""
    try:
        trainer.flat.load(read_tensors(weights, "model"))
    except ValueError as error:
        raise SwitchOutError(f"train.init_from: {weights} is another model: {error}") from None


def _check_machine(config: Config, device: str) -> None:
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).splitlines()[0]
        raise SwitchOutError(f"train.device = {config.train.device!r}: {reason}") from None
    if config.train.precision == "bfloat16" and device == "cpu":
        check_bfloat16()
    if config.train.deterministic:
        torch.use_deterministic_algorithms(True)
