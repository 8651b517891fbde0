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
from collections.abc import Mapping
from typing import Any

from switchout.errors import SwitchOutError, did_you_mean, needs

with needs("torch", "transformers"):
    from torch.utils.data import IterableDataset

from switchout.integrations.epoch_callback import EpochCallback
from switchout.integrations.one_text import NO_LABEL, OneText
from switchout.integrations.policy_maker import PolicyMaker
from switchout.integrations.rows import AS_IT_IS
from switchout.integrations.switch_rows import SwitchRows, needed
from switchout.integrations.torch import Switched, is_switched
from switchout.policies import Policy
from switchout.policies.factory import USUAL_LENGTH, expected_share
from switchout.policies.whole_words import WholeWords

__all__ = ["EpochCallback", "SwitchRows", "switch_out"]

log = logging.getLogger(__name__)

LABELS = ("label", "labels", "label_ids")  # a collator renames the first and the last
UNITS, DRAWS = ["piece", "word"], ["corpus", "vocabulary"]


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
    maker = PolicyMaker(
        trainer.model,
        data,
        tokenizer=trainer.processing_class if tokenizer is None else tokenizer,
        unit=unit,
        draw=draw,
        text=OneText(*keys) if one_text else None,
    )
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
        rows = SwitchRows(source, target, seed=seed, id_column=needed(id_column), **settings)
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
    if isinstance(row, Mapping) and not {keys[1], *LABELS} & row.keys():
        raise SwitchOutError(
            f"the training set has no column {keys[1]!r}: the collator would copy the changed ids"
            f" there; give it labels, {NO_LABEL} at the prompt"
        )
    there = isinstance(row, Mapping) and all(key in row for key in keys)
    return there and OneText(*keys).is_in(row)
