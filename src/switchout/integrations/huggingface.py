"""Hugging Face: one line after a Trainer was made, and its training examples are switched.

`switch_out` wraps the training set, nothing else: evaluation is untouched by construction, and
``decoder_input_ids`` are made from the new labels, because collating comes later. The callback
carries the epoch: a Trainer tells the data set only sometimes (not after a resume in the middle of
an epoch, not on several processes).

Decoder-only models, with TRL's ``SFTTrainer`` or another: prompt and completion are one text, and
`OneText` says what the two sides are there.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch.utils.data import IterableDataset, get_worker_info
from transformers import TrainerCallback

from switchout.errors import SwitchOutError, did_you_mean
from switchout.integrations.one_text import OneText
from switchout.integrations.rows import AS_IT_IS, RowSwitch
from switchout.integrations.torch import Switched, is_switched, switched_in
from switchout.pieces import Pieces
from switchout.policies import Policy
from switchout.policies.factory import OF_SIDE, USUAL_LENGTH, expected_share, make_policy
from switchout.policies.whole_words import WholeWords, WordBook
from switchout.ranges import EPOCH
from switchout.words import Words

log = logging.getLogger(__name__)

UNITS, DRAWS = ["piece", "word"], ["corpus", "vocabulary"]
_KEPT_AS = "switchout"
_NO_LIMIT = 1 << 20  # tokenizers without a greatest length say 10^30


def switch_out(
    trainer: Any,
    source: Policy | WholeWords | None = None,
    target: Policy | WholeWords | None = None,
    *,
    seed: int,
    tau_x: float | None = None,
    tau_y: float | None = None,
    rate_x: float | None = None,
    rate_y: float | None = None,
    unit: str = "piece",
    draw: str = "corpus",
    tokenizer: Any = None,
    id_column: str | None = None,
    **settings: Any,
) -> None:
    """Switch the training examples of a ``Trainer``, other ones every epoch; evaluation stays.

    Called again after a ``trainer.train()`` it replaces the noise of before.

    Args:
        trainer: A ``Seq2SeqTrainer`` or another, with a training set of tokenised rows.
        source, target: A policy for each side, or instead of it:
        tau_x, rate_x: Temperature of SwitchOut on the source, or the share of words changed.
        tau_y, rate_y: The same of RAML on the target.
        seed: Of all randomness.
        unit: "piece", or "word": all pieces of a word give way to all pieces of another word.
        draw: "corpus": only what occurs on that side of the training set is drawn; "vocabulary":
            everything that is a word.
        tokenizer: By default the trainer's ``processing_class``.
        id_column: For a streamed set, which has no row numbers: the column that has them.
        settings: ``source_key``, ``target_key``, ``frozen_x``, ``frozen_y``, ``one_text`` (found
            out by default): see `RowSwitch`.

    Example:
        >>> switch_out(trainer, tau_x=1.0, tau_y=1.1, seed=1)               # doctest: +SKIP
        >>> trainer.train()                                                 # doctest: +SKIP
    """
    for value, choices, name in ((unit, UNITS, "unit"), (draw, DRAWS, "draw")):
        if value not in choices:
            raise SwitchOutError(f"{name}={value!r} is unknown{did_you_mean(value, choices)}")
    if not hasattr(trainer, "train_dataset"):
        raise SwitchOutError(f"expected a Trainer with its data, got {type(trainer).__name__}")
    before, data = _before(trainer), _clean_set(trainer)
    if data is None:
        raise SwitchOutError("the trainer has no training set")
    if hasattr(data, "__len__") and len(data) == 0:
        raise SwitchOutError("the training set is empty")
    if is_switched(data) or (before is not None and not before.seeds_used):
        raise SwitchOutError("this trainer is switched already: twice would be more noise")
    if getattr(trainer.args, "packing", False):  # of TRL
        raise SwitchOutError(
            "packing=True makes one row of many examples, and how many words change is drawn for a"
            " row: use packing=False (padding_free=True with max_length=None needs no padding)"
        )
    keys = settings.get("source_key", "input_ids"), settings.get("target_key", "labels")
    one_text = settings.setdefault("one_text", _is_one_text(trainer.model, data, keys))
    maker = _PolicyMaker(trainer, tokenizer, unit, draw, OneText(*keys) if one_text else None)
    if tau_x is not None or rate_x is not None:
        _refuse_both("source", source, "tau_x or rate_x")
        source = maker.make("source", keys[0], tau_x, rate_x)
    if tau_y is not None or rate_y is not None:
        _refuse_both("target", target, "tau_y or rate_y")
        target = maker.make("target", keys[1], tau_y, rate_y)
    for side, policy in (("source", source), ("target", target)):
        maker.check(side, policy)
    rows: Switched | SwitchRows
    if isinstance(data, IterableDataset):
        rows = SwitchRows(source, target, seed=seed, id_column=_needed(id_column), **settings)
        trainer.train_dataset = data.map(rows, batched=True)
    else:
        rows = trainer.train_dataset = Switched(data, source, target, seed=seed, **settings)
    trainer.remove_callback(EpochCallback)  # of a training set that was there before
    trainer.add_callback(EpochCallback(rows, trainer, data, before))
    log.info("training rows: source %s; target %s", _in_words(source), _in_words(target))


def _before(trainer: Any) -> EpochCallback | None:
    """Return the callback of the noise that the training set has already."""
    for callback in trainer.callback_handler.callbacks:
        if isinstance(callback, EpochCallback) and callback.train_dataset is trainer.train_dataset:
            return callback
    return None


def _clean_set(trainer: Any) -> Any:
    before = _before(trainer)
    return trainer.train_dataset if before is None else before.clean_set


def _refuse_both(side: str, policy: Policy | WholeWords | None, also: str) -> None:
    if policy is not None:
        raise SwitchOutError(f"give a policy for the {side} or {also}, not both")


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


class SwitchRows:
    """For ``datasets``: ``data.map(SwitchRows(…), batched=True, with_indices=True)``.

    Row numbers are the example ids. A streamed set needs a column of them, ``id_column``, and no
    ``with_indices``: its numbers begin anew in every worker and follow a shuffle.

    Example:
        >>> import switchout as so
        >>> switch = SwitchRows(so.SwitchOut(so.Words(100), tau=1.0), seed=1)
        >>> switch({"input_ids": [[5, 6, 7, 2], [8, 2]]}, [0, 4])
        {'input_ids': [[32, 33, 45, 2], [8, 2]]}
    """

    def __init__(
        self,
        source: Policy | WholeWords | None = None,
        target: Policy | WholeWords | None = None,
        *,
        seed: int,
        epoch: int = 0,
        id_column: str | None = None,
        **settings: Any,
    ) -> None:
        self._switch = RowSwitch(source, target, seed=seed, **settings)
        self._id_column = id_column
        self._epoch = torch.tensor(EPOCH.check(epoch, "epoch")).share_memory_()
        self.was_read = torch.tensor(False).share_memory_()  # in any worker

    @property
    def noise(self) -> dict[str, Any]:
        """The seed, and what each side's policy is."""
        return self._switch.noise

    def set_epoch(self, epoch: int) -> None:
        """From now on rows are those of ``epoch``, in all workers."""
        self._epoch.fill_(EPOCH.check(epoch, "epoch"))

    def __call__(self, batch: Any, indices: Sequence[int] | None = None) -> dict[str, Any]:
        ids = self._ids(batch, indices)
        rows = [
            dict(zip(batch, values, strict=True)) for values in zip(*batch.values(), strict=True)
        ]
        if not rows:
            return dict(batch)
        self._switch.check(rows[0])
        self.was_read.fill_(True)
        new = self._switch(rows, ids, int(self._epoch))
        return {name: [row[name] for row in new] for name in rows[0]}

    def _ids(self, batch: Any, indices: Sequence[int] | None) -> Sequence[int]:
        if self._id_column is not None:
            if self._id_column not in batch:
                there = ", ".join(map(repr, batch))
                raise SwitchOutError(f"the rows have no column {self._id_column!r}, only {there}")
            indices = batch[self._id_column]
        elif indices is None:
            raise SwitchOutError(
                "the rows come without their numbers: use data.map(…, batched=True,"
                " with_indices=True), or for a streamed set id_column=…, a column of numbers"
            )
        elif get_worker_info() is not None:
            _needed(None)
        if not hasattr(indices, "__len__"):
            raise SwitchOutError("the rows come one by one: use data.map(…, batched=True)")
        return [int(i) for i in indices]


class _PolicyMaker:
    """Makes a side's policy from a temperature, the tokenizer and the training set."""

    def __init__(
        self, trainer: Any, tokenizer: Any, unit: str, draw: str, text: OneText | None
    ) -> None:
        tokenizer = trainer.processing_class if tokenizer is None else tokenizer
        self._tokenizer = getattr(tokenizer, "tokenizer", tokenizer)  # of a processor
        self._trainer, self._unit, self._draw, self._text = trainer, unit, draw, text

    def make(
        self, side: str, key: Any, tau: float | None, rate: float | None
    ) -> Policy | WholeWords:
        if self._tokenizer is None:
            raise SwitchOutError("the trainer has no processing_class: give tokenizer=…")
        pieces = self._pieces(side)
        try:
            if self._unit == "piece":
                return make_policy(OF_SIDE[side], self._words(pieces, key), tau=tau, rate=rate)
            book = WordBook(pieces, self._rows(key))
            policy = make_policy(OF_SIDE[side], book.words, tau=tau, rate=rate)
            return WholeWords(book, policy, self._max_length())
        except (TypeError, ValueError) as error:
            raise SwitchOutError(f"the {side}, column {key!r}: {error}") from None

    def check(self, side: str, policy: Any) -> None:
        """Refuse a policy that puts ids into the rows which the model has no embedding for."""
        highest = _highest_id(policy)
        n_ids, owner = _n_embeddings(self._trainer.model, side), "model"
        if n_ids is None and self._tokenizer is not None:
            n_ids, owner = len(self._pieces(side)), "tokenizer"
        if highest is not None and n_ids is not None and highest >= n_ids:
            raise SwitchOutError(
                f"the policy of the {side} draws ids up to {highest}, the {owner} has {n_ids}:"
                " use so.Words.from_tokenizer(tokenizer)"
            )

    def _pieces(self, side: str) -> Pieces:
        if side == "target" and getattr(self._tokenizer, "separate_vocabs", False):  # Marian
            return Pieces.from_vocabulary(self._tokenizer.target_encoder)
        return Pieces.of(self._tokenizer)

    def _words(self, pieces: Pieces, key: Any) -> Words:
        if len(pieces) - len(pieces.special) < 2:
            raise ValueError(f"none of the tokenizer's {len(pieces)} ids are words")
        drawn = pieces.seen_in(self._rows(key)) if self._draw == "corpus" else None
        if drawn is not None and len(drawn) < 2:
            raise ValueError(f"the training set must have at least two words, got {len(drawn)}")
        return Words(len(pieces), pieces.special, drawn)

    def _rows(self, key: Any) -> Iterator[Any]:
        data = _clean_set(self._trainer)
        if isinstance(data, IterableDataset):
            wanted = "unit='piece' and " if self._unit == "word" else ""
            raise ValueError(
                "a streamed training set cannot be read before training: use "
                f"{wanted}draw='vocabulary', or give policies"
            )
        rows = column_rows(data, key)
        if self._text is None or key != self._text.ids_key:
            return rows
        return self._text.prompts(rows, column_rows(data, self._text.labels_key))

    def _max_length(self) -> int | None:
        config = getattr(self._trainer.model, "config", None)
        if not getattr(config, "is_encoder_decoder", True):
            raise ValueError("unit='word' changes lengths, which needs an encoder-decoder model")
        limits = (
            getattr(config, "max_position_embeddings", None),
            getattr(self._tokenizer, "model_max_length", None),
        )
        return min((n for n in limits if n is not None and n < _NO_LIMIT), default=None)


def _highest_id(policy: Any) -> int | None:
    """Return the highest id that a policy can put into a row."""
    if isinstance(policy, WholeWords):
        tuples = policy.book.tuples
        return int(max(max(tuples[i]) for i in policy.book.words.drawable().tolist()))
    if not isinstance(policy, Policy):
        return None  # nothing, or something that `RowSwitch` refuses
    return max(
        rule.null_id if rule.null_id >= 0 else int(words.drawable()[-1])
        for rule, words in policy.steps
    )


def _n_embeddings(model: Any, side: str) -> int | None:
    """Return how many ids a model knows on a side; Marian's may differ. None: it does not say."""
    names = ["get_output_embeddings"] if side == "target" else []
    for name in [*names, "get_input_embeddings"]:
        try:
            layer = getattr(model, name)()
        except (AttributeError, NotImplementedError):
            continue
        # Either may be out of date or elsewhere: tied, packed or spread over processes.
        sizes: list[int] = [getattr(layer, size, 0) for size in ("num_embeddings", "out_features")]
        sizes.append(len(getattr(layer, "weight", ())))
        if max(sizes):
            return max(sizes)
    return None


def _in_words(policy: Any) -> str:
    if policy is None:
        return AS_IT_IS
    kind = policy.policy if isinstance(policy, WholeWords) else policy
    share = expected_share(kind)
    if share is None:
        return repr(kind)
    return f"{kind!r}, {100 * share:.1f}% of the words change in a sentence of {USUAL_LENGTH}"


def _is_one_text(model: Any, data: Any, keys: tuple[Any, Any]) -> bool:
    """Return whether a decoder reads what it is to write; a classifier's labels are others."""
    if getattr(getattr(model, "config", None), "is_encoder_decoder", True):
        return False
    row = next(iter(data), None)
    there = isinstance(row, Mapping) and all(key in row for key in keys)
    return there and OneText(*keys).is_in(row)


def column_rows(data: Any, key: Any) -> Iterator[Any]:
    """Yield a column's rows of ids; of a ``datasets.Dataset`` without making lists of them."""
    form = getattr(data, "format", None)
    if not isinstance(form, dict) or form.get("type") == "custom" or key not in data.column_names:
        for i in range(len(data)):
            row = data[i]
            if i == 0 and hasattr(row, "keys") and key not in row:
                raise ValueError(f"the training set has no such column, only {', '.join(row)}")
            yield row[key]
        return
    for table in data.select_columns(key).with_format("arrow").iter(1000):
        column = table.column(key).combine_chunks()
        if not hasattr(column, "offsets"):  # lists of one fixed size, or no lists
            yield from column.to_pylist()
            continue
        starts = np.asarray(column.offsets)
        values = np.asarray(column.values)
        yield from np.split(values[starts[0] : starts[-1]], starts[1:-1] - starts[0])


def _needed(id_column: str | None) -> str:
    if id_column is None:
        raise SwitchOutError(
            "a streamed training set has no row numbers that last (they begin anew in every worker"
            " and follow a shuffle): give its rows a column of numbers and name it, id_column=…"
        )
    return id_column
