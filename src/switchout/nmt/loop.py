"""The loop around `Trainer`: log, validate, save, stop, and go on after anything.

``folder/resume/step-N`` holds the newest full states, ``folder/checkpoints/step-N`` the weights
of every validation. Only the first process writes.
"""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from switchout.errors import SwitchOutError
from switchout.nmt.batches import prefetch
from switchout.nmt.checkpoint import prune, write_checkpoint
from switchout.nmt.machine import machine_facts
from switchout.nmt.metrics import Metrics
from switchout.nmt.model import Transformer
from switchout.nmt.trainer import Trainer, Update
from switchout.progress import Meter

Select = Literal["dev-perplexity", "dev-bleu", "last"]
Validation = dict[str, float]  # step, dev_perplexity, maybe dev_bleu
KEEP = 2  # resume checkpoints; a damaged newest one leaves one more


@dataclass(frozen=True)
class LoopSpec:
    """How long, and how often what happens.

    Attributes:
        steps: Of the whole run.
        checkpoint_every: Steps between validations, whose weights are kept.
        save_every, save_minutes: Steps, and minutes at most, between two saves for a resume.
        patience: Validations without improvement after which to stop; None: never.
    """

    steps: int
    checkpoint_every: int
    save_every: int
    save_minutes: float = 5.0
    log_every: int = 50
    select: Select = "dev-perplexity"
    patience: int | None = None
    tensorboard: bool = True
    about: Mapping[str, Any] = field(default_factory=dict)  # what run this is; in every checkpoint


@dataclass
class Outcome:
    """How a run stands."""

    state: Literal["running", "done", "stopped"] = "running"
    history: list[Validation] = field(default_factory=list)


def best(history: list[Validation], select: Select) -> Validation:
    """Return the validation that ``select`` chooses; the earliest of equals."""
    if select == "last":
        return history[-1]
    if select == "dev-bleu":
        return max(history, key=lambda v: v["dev_bleu"])
    return min(history, key=lambda v: v["dev_perplexity"])


class Loop:
    """Trains to the end, or until asked to stop.

    Args:
        trainer, outcome: As `switchout.nmt.resume` left them.
        folder: Of the run.
        spec: How long.
        validate: Measures the model on the dev set; called by all processes together.
    """

    def __init__(
        self,
        trainer: Trainer,
        outcome: Outcome,
        folder: Path,
        *,
        spec: LoopSpec,
        validate: Callable[[Transformer], Validation],
    ):
        self.trainer, self.folder, self.spec, self.validate = trainer, folder, spec, validate
        self.outcome, self.is_first = outcome, trainer.processes.is_first
        self.saved_at = time.monotonic()
        self._shown: dict[str, Any] = {}

    def run(self) -> Outcome:
        """Make the steps that are left and return how the run stands."""
        progress, start = self.trainer.progress, self.trainer.progress.step
        metrics = None  # only the first process tells
        showing: AbstractContextManager[Meter | None] = nullcontext()
        if self.is_first:
            metrics = Metrics(self.folder, until=start, tensorboard=self.spec.tensorboard)
            showing = Meter("training", total=self.spec.steps, unit="steps", done=start)
        steps = range(start, self.spec.steps)
        with _asked_to_stop() as asked, showing as meter:
            if start >= self.spec.steps:  # cut to the steps of a state between two validations
                self._validate(metrics)
                self.outcome.state = "done"
                self._save()
            clock, cpu_clock = time.perf_counter(), time.process_time()
            for examples, parts in prefetch(self.trainer.batches, steps):
                update = self.trainer.update(examples, parts, is_stop_wanted=bool(asked))
                progress.seconds += time.perf_counter() - clock
                progress.cpu_seconds += time.process_time() - cpu_clock
                self._after(update, metrics, meter)
                if self.outcome.state != "running":
                    break
                clock, cpu_clock = time.perf_counter(), time.process_time()
        if metrics is not None:
            metrics.close()
        return self.outcome

    def _after(self, update: Update, metrics: Metrics | None, meter: Meter | None) -> None:
        """Log, validate and save what is due after an update, and decide whether to go on."""
        progress, spec = self.trainer.progress, self.spec
        is_last = progress.step == spec.steps
        if progress.step % spec.log_every == 0 or is_last:
            self._log(update, metrics)
        if progress.step % spec.checkpoint_every == 0 or is_last:
            self._validate(metrics)
            is_last = is_last or is_stale(self.outcome.history, spec)
        if is_last:
            self.outcome.state = "done"
        elif update.is_stop_wanted:
            self.outcome.state = "stopped"
        if self._is_save_due() or self.outcome.state != "running":
            self._save()
        if meter is not None:
            meter.advance(1, note=self._note())

    def _is_save_due(self) -> bool:
        minutes = (time.monotonic() - self.saved_at) / 60
        return (
            self.trainer.progress.step % self.spec.save_every == 0
            or minutes >= self.spec.save_minutes
        )

    def _log(self, update: Update, metrics: Metrics | None) -> None:
        progress = self.trainer.progress
        loss = progress.since_log["loss"] / progress.since_log["tokens"]
        progress.since_log = {"loss": 0.0, "tokens": 0.0}
        if metrics is None:
            return
        record = {
            "step": progress.step,
            "epoch": (progress.step - 1) // self.trainer.plan.batches_per_epoch,
            "loss": loss,
            "perplexity": math.exp(min(loss, 700.0)),
            "learning_rate": update.learning_rate,
            "gradient_norm": update.gradient_norm,
            "tokens": progress.tokens,
            "tokens_per_second": progress.tokens / progress.seconds,
            "time": time.time(),
        }
        metrics.add(record)
        self._shown = record

    def _validate(self, metrics: Metrics | None) -> None:
        step = self.trainer.progress.step
        measured: Validation = {"step": step, **self.validate(self.trainer.model)}
        self.outcome.history.append(measured)
        if self.is_first:
            weights = {"model": self.trainer.flat.state()}
            facts = {
                "model": self.trainer.model.spec.to_dict(),
                **measured,
                "trainer": self.trainer.facts(),
                "run": self.spec.about,
            }
            self._write(self.folder / "checkpoints" / f"step-{step}", weights, facts)
        if metrics is not None:
            metrics.add({**measured, "time": time.time()})

    def _save(self) -> None:
        self.saved_at = time.monotonic()
        if not self.is_first:
            return
        parent = self.folder / "resume"
        facts = {
            "trainer": self.trainer.facts(),
            "history": self.outcome.history,
            "machine": machine_facts(self.trainer.device, self.trainer.processes),
            "run": self.spec.about,
        }
        step = self.trainer.progress.step
        self._write(parent / f"step-{step}", self.trainer.tensors(), facts)
        prune(parent, keep=KEEP)

    def _write(self, folder: Path, tensors: dict[str, Any], facts: dict[str, Any]) -> None:
        try:
            write_checkpoint(folder, tensors, facts)
        except (OSError, SwitchOutError) as error:
            what = str(error)
            if isinstance(error, OSError):
                what = f"{folder}: could not be written ({error.strerror})"
            raise SwitchOutError(
                f"{what}; stopped at step "
                f"{self.trainer.progress.step}; earlier checkpoints are whole: "
                "mend the cause and run the same command again"
            ) from None

    def _note(self) -> str:
        shown, last = self._shown, self.outcome.history[-1:]
        if not shown:
            return ""
        dev = f", dev perplexity {last[0]['dev_perplexity']:.2f}" if last else ""
        return (
            f"loss {shown['loss']:.3f}, perplexity {shown['perplexity']:.2f}, "
            f"{shown['tokens_per_second']:,.0f} tokens/s{dev}"
        )


def is_stale(history: list[Validation], spec: LoopSpec) -> bool:
    """Whether the last ``patience`` validations were no better than the best before them."""
    if spec.patience is None or not history:
        return False
    rule: Select = "dev-perplexity" if spec.select == "last" else spec.select
    return len(history) - 1 - history.index(best(history, rule)) >= spec.patience


@contextmanager
def _asked_to_stop() -> Iterator[list[int]]:
    """Collect signals that ask us to end; the second one acts as usual, nohup's is ignored."""
    asked: list[int] = []
    before: dict[int, Any] = {}

    def note(number: int, frame: object) -> None:
        asked.append(number)
        signal.signal(number, before[number])

    try:
        for number in map(int, (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)):
            if signal.getsignal(number) != signal.SIG_IGN:
                before[number] = signal.signal(number, note)
    except ValueError:  # not in the main thread: the caller handles signals
        pass
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
