"""One update of a model, and everything that has to be saved to repeat the next one exactly.

* The state is the parameters, Adam's moments and a few numbers. Order, noise and dropout are
  functions of (seed, step or epoch, example) and are not part of it.
* Gradient = sum of the loss over the global batch / its number of target tokens, whatever the
  number of processes or of parts a process cuts its share into.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from hashlib import sha256
from typing import Any, Literal, Protocol

import numpy as np
import torch
from torch import Tensor

from switchout.corpora.encoded import EncodedPairs
from switchout.corpora.vocabulary import PAD
from switchout.errors import SwitchOutError
from switchout.nmt.batches import Batch, BatchPlan, make_batch, split
from switchout.nmt.dropout import dropout_keys
from switchout.nmt.flat import FlatParameters, Sums
from switchout.nmt.machine import Processes
from switchout.nmt.model import Transformer
from switchout.nmt.schedule import Schedule

Precision = Literal["float32", "bfloat16"]


class Noise(Protocol):
    """Augments a batch of ids; `switchout.Pair` does."""

    def sample(
        self, x: Tensor, y: Tensor, *, seed: int, example_ids: Any, epoch: int
    ) -> tuple[Tensor, Tensor]: ...


@dataclass(frozen=True)
class UpdateSpec:
    """How one update is made.

    Attributes:
        batch_tokens: Of the global batch, see `BatchPlan`.
        device_tokens: Most cells a process computes at once; a larger share is accumulated.
        clip: Longest gradient; a longer one is scaled down. 0: never.
        noise_steps: Augment so many steps from the start; None: all.
        precision: Type of matrix products; parameters, sums and Adam are always float32.
        is_compiled: Pass the feed-forward blocks through ``torch.compile``.
    """

    seed: int
    schedule: Schedule
    batch_tokens: int
    device_tokens: int | None = None
    betas: tuple[float, float] = (0.9, 0.98)
    epsilon: float = 1e-9
    clip: float = 0.0
    label_smoothing: float = 0.0
    noise_steps: int | None = None
    precision: Precision = "float32"
    is_compiled: bool = False

    def same_steps(self, other: UpdateSpec, n: int) -> bool:
        """Return whether the first n steps have the same learning rates and noise in both."""
        ours, theirs = (
            n if x.noise_steps is None else min(x.noise_steps, n) for x in (self, other)
        )
        rate, other_rate = self.schedule.rate, other.schedule.rate
        return ours == theirs and all(rate(i) == other_rate(i) for i in range(1, n + 1))


@dataclass
class Progress:
    """The numbers of a run's state; they travel through JSON unchanged."""

    step: int = 0
    tokens: int = 0  # target tokens so far
    seconds: float = 0.0  # in updates so far
    cpu_seconds: float = 0.0  # likewise, of the first process
    stream: str = ""  # hash chain over the example ids of every step
    since_log: dict[str, float] = field(default_factory=lambda: {"loss": 0.0, "tokens": 0.0})
    # Lengths the run was to have before, where its first steps would be others from the start.
    steps_before: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Progress:
        """Return what a checkpoint noted; older ones say more than we need, or less."""
        return cls(**{f.name: facts[f.name] for f in fields(cls) if f.name in facts})


@dataclass(frozen=True)
class Update:
    """What one update showed."""

    tokens: int
    gradient_norm: float
    learning_rate: float
    is_stop_wanted: bool


class NonFiniteLoss(SwitchOutError):
    """The loss or its gradient is not a number; the message names the batch."""


class Trainer:
    """A model, its data and its optimizer.

    Args:
        model: Trained in place; already on its device.
        pairs: Training data, never validation data: ``noise`` acts on all of it.
        spec: How.
        noise: Augmentation, or None.
        processes: Who shares the work.
    """

    def __init__(
        self,
        model: Transformer,
        pairs: EncodedPairs,
        *,
        spec: UpdateSpec,
        noise: Noise | None = None,
        processes: Processes = Processes(),
    ):
        self.model, self.pairs, self.spec, self.noise = model, pairs, spec, noise
        self.processes = processes
        self.plan = BatchPlan(
            pairs.src_lengths, pairs.tgt_lengths, seed=spec.seed, batch_tokens=spec.batch_tokens
        )
        self.flat = FlatParameters(model)
        self.optimizer = torch.optim.Adam(
            [self.flat.parameter], betas=spec.betas, eps=spec.epsilon, fused=True
        )
        self._moments = {name: torch.zeros_like(self.flat.values) for name in ("first", "second")}
        self._count = torch.zeros((), device=self.flat.values.device)
        self.optimizer.state[self.flat.parameter] = {
            "step": self._count,
            "exp_avg": self._moments["first"],
            "exp_avg_sq": self._moments["second"],
        }
        self.progress = Progress()
        self.device: torch.device = self.flat.values.device
        if spec.is_compiled:
            # What is not a kernel already: attention is one, and so is dropout with its sum.
            for layer in (*model.encoder, *model.decoder):
                layer.feed_forward.compile(dynamic=True)

    def batches(self, step: int) -> tuple[str, list[Batch]]:
        """Return a hash of who is in 0-based ``step``, and this process's share in parts."""
        epoch, indexes = self.plan.at(step)
        examples = sha256(np.asarray(self.pairs.example_ids[indexes], dtype=np.int64).tobytes())
        mine = indexes[self.processes.rank :: self.processes.world]
        batch = make_batch(self.pairs, mine, step=step, epoch=epoch)
        return examples.hexdigest(), split(batch, self.spec.device_tokens)

    def update(self, examples: str, parts: list[Batch], *, is_stop_wanted: bool = False) -> Update:
        """Make one step with what `batches` returned for it."""
        progress, spec = self.progress, self.spec
        self.flat.zero_grad()
        mine = Sums(stop=float(is_stop_wanted))
        for part in parts:
            loss, tokens = self._forward_backward(part)
            mine.loss, mine.tokens = mine.loss + loss, mine.tokens + tokens
        total = self.flat.reduce(mine, self.processes)
        self.flat.grad.div_(total.tokens)
        norm = float(self.flat.grad.norm())
        rate = spec.schedule.rate(progress.step + 1)
        if not math.isfinite(total.loss):
            raise NonFiniteLoss(self._complaint("loss", total.loss))
        if not math.isfinite(norm):
            raise NonFiniteLoss(self._complaint("gradient", norm))
        self._apply(norm, rate)
        progress.step += 1
        progress.tokens += int(total.tokens)
        progress.stream = sha256((progress.stream + examples).encode()).hexdigest()
        progress.since_log["loss"] += total.loss
        progress.since_log["tokens"] += total.tokens
        return Update(int(total.tokens), norm, rate, total.stop > 0)

    def tensors(self) -> dict[str, dict[str, Tensor]]:
        """Return the state's tensors, by file and name."""
        return {"model": self.flat.state(), "optimizer": dict(self._moments)}

    def facts(self) -> dict[str, Any]:
        """Return the state's numbers."""
        plan = {"steps": self.spec.schedule.total, "noise_steps": self.spec.noise_steps}
        return {**asdict(self.progress), "plan": plan}

    def restore(self, tensors: dict[str, dict[str, Tensor]], facts: dict[str, Any]) -> None:
        """Return to what `tensors` and `facts` described."""
        self.flat.load(tensors["model"])
        for name, moment in self._moments.items():
            moment.copy_(tensors["optimizer"][name])
        self.progress = Progress.of(facts)
        self._count.fill_(self.progress.step)
        if "plan" in facts:  # older states do not say how long they were to be
            self._note_plan(**facts["plan"])

    def _note_plan(self, steps: int, noise_steps: int | None) -> None:
        """Note the plan behind the steps that are made, if ours would have made them otherwise."""
        schedule = replace(self.spec.schedule, total=steps)
        noise_steps = noise_steps if self.noise is not None else self.spec.noise_steps
        before = replace(self.spec, schedule=schedule, noise_steps=noise_steps)
        if not before.same_steps(self.spec, self.progress.step):
            self.progress.steps_before.append(steps)

    def _forward_backward(self, batch: Batch) -> tuple[float, int]:
        if len(batch.src) == 0:  # fewer sentences than processes: join the sum with nothing
            return 0.0, 0
        device = self.device
        src, tgt_in, labels = self.augmented(batch)
        keys = dropout_keys(self.spec.seed, step=batch.step, example_ids=batch.example_ids)
        lengths = torch.from_numpy(batch.src_lengths).to(device)
        with autocast(device, self.spec.precision):
            loss, tokens = self.model.loss(
                src,
                lengths,
                tgt_in,
                labels,
                label_smoothing=self.spec.label_smoothing,
                keys=keys.to(device),
            )
        loss.backward()
        return float(loss.detach()), tokens

    def augmented(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        """Return source, decoder input and labels of ``batch`` with its noise.

        The augmented target is both input and label. Only a null word (word dropout) is no label:
        there the decoder has to guess the word that was there.
        """
        device = self.device
        src, clean = (torch.from_numpy(ids).to(device) for ids in (batch.src, batch.tgt))
        is_over = self.spec.noise_steps is not None and batch.step >= self.spec.noise_steps
        if self.noise is None or is_over:
            return src, clean[:, :-1], clean[:, 1:]
        src, tgt = self.noise.sample(
            src,
            clean,
            seed=self.spec.seed,
            example_ids=torch.from_numpy(batch.example_ids).to(device),
            epoch=batch.epoch,
        )
        labels = torch.where(tgt == PAD, clean, tgt)
        return src, tgt[:, :-1], labels[:, 1:]

    def _apply(self, norm: float, rate: float) -> None:
        if 0 < self.spec.clip < norm:
            self.flat.grad.mul_(self.spec.clip / norm)
        self.optimizer.param_groups[0]["lr"] = rate
        self.optimizer.step()

    def _complaint(self, what: str, value: float) -> str:
        step = self.progress.step
        epoch, indexes = self.plan.at(step)
        ids = ", ".join(str(int(i)) for i in self.pairs.example_ids[indexes][:8])
        more = f" and {len(indexes) - 8} more" if len(indexes) > 8 else ""
        return (
            f"{what} is {value} at step {step + 1} (epoch {epoch}, examples {ids}{more}): stopped "
            f"before the update; lower train.learning_rate or train.clip, or look at these lines"
        )


def autocast(device: torch.device, precision: Precision) -> torch.autocast:
    """Compute matrix products in ``precision``."""
    kind = getattr(torch, precision)
    return torch.autocast(device.type, dtype=kind, enabled=precision != "float32")


@torch.no_grad()  # type: ignore[untyped-decorator, unused-ignore]
def perplexity(
    model: Transformer,
    pairs: EncodedPairs,
    *,
    batch_tokens: int = 4096,
    precision: Precision = "float32",
    processes: Processes = Processes(),
) -> float:
    """Return exp of the mean loss per target token, neither smoothed nor noisy."""
    plan = BatchPlan(pairs.src_lengths, pairs.tgt_lengths, seed=0, batch_tokens=batch_tokens)
    device = model.positions.device
    sums = torch.zeros(2, dtype=torch.float64, device=device)
    for step in range(processes.rank, plan.batches_per_epoch, processes.world):
        batch = make_batch(pairs, plan.at(step)[1])
        src, lengths, tgt = (
            torch.from_numpy(ids).to(device) for ids in (batch.src, batch.src_lengths, batch.tgt)
        )
        with autocast(device, precision):
            loss, tokens = model.loss(src, lengths, tgt[:, :-1], tgt[:, 1:])
        sums += torch.tensor([float(loss), tokens], dtype=torch.float64, device=device)
    processes.sum_(sums)
    loss_sum, tokens_sum = sums.tolist()
    if not math.isfinite(loss_sum):
        raise NonFiniteLoss(f"loss is {loss_sum} on dev: stopped; lower train.learning_rate")
    return math.exp(min(loss_sum / tokens_sum, 700.0))
