"""What tells a switched training set the epoch, and watches that its noise is used and fresh."""

from __future__ import annotations

import logging
from typing import Any

from transformers import TrainerCallback

from switchout.errors import SwitchOutError
from switchout.integrations.switch_rows import SwitchRows
from switchout.integrations.torch import Switched, switched_in

log = logging.getLogger(__name__)

_KEPT_AS = "switchout"


class EpochCallback(TrainerCallback):  # type: ignore[misc]
    """Tells a switched set the epoch, also after a resume and on several processes.

    Given the trainer as well, it sees to it that training is on the set of that moment, that a
    checkpoint says its noise, and that noise does not repeat unnoticed.

    Args:
        dataset: The switched set.
        trainer: The one that trains on it.
        clean_set: What its training set was without noise.
        before: The callback of the noise that the same set had before.
    """

    def __init__(
        self,
        dataset: Switched | SwitchRows,
        trainer: Any = None,
        clean_set: Any = None,
        before: EpochCallback | None = None,
    ) -> None:
        self._dataset = dataset
        self._trainer = trainer
        self._seed: int | None = None
        self._next = 0
        self._is_read = True
        self.train_dataset = getattr(trainer, "train_dataset", None)
        self.clean_set = clean_set
        self.seeds_used: set[int] = set() if before is None else before.seeds_used

    def on_train_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        self._next = int(state.epoch or 0)  # 1.5 after a resume in the middle of the second epoch
        if self._trainer is None:
            return
        if self._trainer.train_dataset is not self.train_dataset:
            raise SwitchOutError(
                "trainer.train_dataset was replaced after switch_out, without its noise: call"
                " switch_out(trainer, …) again, or trainer.remove_callback(EpochCallback) if"
                " that is meant"
            )
        # A set that is not found here (streamed, or in another's wrapper) is known by the rows
        # that the first step reads. Only the first process is sure to read any.
        loader_set = getattr(others.get("train_dataloader"), "dataset", None)
        found = any(one is self._dataset for one in switched_in(loader_set))
        self._is_read = found or not state.is_world_process_zero
        self._dataset.was_read.fill_(False)
        noise = self._dataset.noise
        self._seed = noise["seed"]
        # With a model_init every train() is another run, of a new model.
        if self._seed in self.seeds_used and not state.global_step and not self._trainer.model_init:
            log.warning(
                "warning: train() was called before on this trainer: its epochs count from 0"
                " again, so the noise of the first call repeats; call switch_out again with"
                " another seed for fresh noise"
            )
        # Kept by transformers in the checkpoint. No name of a callback: that would be made anew.
        before = state.stateful_callbacks.get(_KEPT_AS, noise)
        state.stateful_callbacks[_KEPT_AS] = noise
        if other := [
            f"{k} {v} (was {before.get(k)})" for k, v in noise.items() if v != before.get(k)
        ]:
            log.warning(
                "warning: this run goes on with other noise than its checkpoint: %s",
                "; ".join(other),
            )

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        # Counted, not read from the state: an epoch that another callback ends early is one too.
        self._dataset.set_epoch(self._next)
        self._next += 1

    def on_step_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        # Not earlier: a Trainer that looks for a batch that fits may begin several times.
        if self._seed is not None:
            self.seeds_used.add(self._seed)
        if not (self._is_read or self._dataset.was_read):
            log.warning(
                "warning: the first step read no row of trainer.train_dataset: the trainer's own"
                " get_train_dataloader reads another data set, and trains without the noise of"
                " switch_out; let it read self.train_dataset"
            )
        self._is_read = True  # said once
