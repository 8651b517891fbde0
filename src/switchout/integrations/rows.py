"""Training rows of any toolkit: their two columns of ids switched, the rest kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

import numpy as np

from switchout.errors import SwitchOutError, did_you_mean
from switchout.integrations.one_text import OneText
from switchout.policies.lists import like
from switchout.policies.policy import Policy
from switchout.policies.whole_words import WholeWords
from switchout.ranges import SEED

Key = str | int
Frozen = Callable[[Any], Any]
SETTINGS = ["source_key", "target_key", "frozen_x", "frozen_y", "one_text"]
# Columns with an entry for each id of the source, or the target: they follow where lengths change.
COMPANIONS = {
    "source": ("attention_mask", "token_type_ids", "special_tokens_mask"),
    "target": ("decoder_attention_mask",),
}
SHIFTED = "decoder_input_ids"  # the labels, one place later
AS_IT_IS = "as it is"  # a side without a policy


class RowSwitch:
    """Switches rows: dicts of columns, or tuples. A row itself is never written to.

    Args:
        source, target: A policy (or `WholeWords`) for each side; None: the side stays as it is.
        seed: Of all randomness; the rest of the address comes with the rows.
        source_key, target_key: Names of the columns, or places in a tuple.
        frozen_x, frozen_y: From a row to a mask of places that the side leaves alone, or to None.
        one_text: Prompt and completion are one text, as decoder-only models read it: see `OneText`.
    """

    def __init__(
        self,
        source: Policy | WholeWords | None = None,
        target: Policy | WholeWords | None = None,
        *,
        seed: int,
        source_key: Key = "input_ids",
        target_key: Key = "labels",
        frozen_x: Frozen | None = None,
        frozen_y: Frozen | None = None,
        one_text: bool = False,
        **unknown: Any,
    ) -> None:
        for name in unknown:
            raise TypeError(f"unknown setting {name!r}{_advice(name)}")
        for side, policy in (("source", source), ("target", target)):
            if policy is not None and not hasattr(policy, "sample_lists"):
                raise TypeError(
                    f"the {side} must be a policy such as so.SwitchOut(words, tau=1.0), got"
                    f" {policy!r:.80}"
                )
        if source is None and target is None:
            raise SwitchOutError(
                "nothing to switch: give a policy for the source or the target; switch_out(trainer,"
                " …) takes tau_x and tau_y as well"
            )
        self.seed = SEED.check(seed, "seed")
        self._text = OneText(source_key, target_key) if one_text else None
        if self._text is not None:
            if isinstance(source, WholeWords) or isinstance(target, WholeWords):
                raise SwitchOutError("whole words change lengths: not where labels are the text")
            if source is not None:
                frozen_x = self._text.frozen_x(frozen_x)
        sides = (
            ("source", source_key, source, frozen_x),
            ("target", target_key, target, frozen_y),
        )
        self.sides = [side for side in sides if side[2] is not None]

    @property
    def noise(self) -> dict[str, Any]:
        """What decides which ids are drawn, as short plain data."""
        sides = {side: _described(policy) for side, _, policy, _ in self.sides}
        return {"seed": self.seed, "source": AS_IT_IS, "target": AS_IT_IS} | sides

    def check(self, row: Any) -> None:
        """Refuse rows that lack a column, or have one too many, before training begins."""
        is_mapping = isinstance(row, Mapping)
        there = list(row) if is_mapping else list(range(len(row)))
        for side, key, _, frozen in self.sides:
            if key not in there:
                raise SwitchOutError(
                    f"the {side} has a policy but its rows no column {key!r}; they have: "
                    + ", ".join(map(repr, there))
                )
            if side == "target" and is_mapping and key != SHIFTED and SHIFTED in row:
                raise SwitchOutError(
                    f"the rows have a column {SHIFTED!r}, which would not fit the new {key!r}:"
                    " remove it, the collator makes it from the new labels"
                )
            if self._text is not None and side == "target" and frozen is None:
                self._text.check_target(row)

    def __call__(self, rows: Sequence[Any], example_ids: Sequence[int], epoch: int) -> list[Any]:
        """Return new rows; ``example_ids`` says which example each of them is."""
        new: list[Any] = [dict(row) if isinstance(row, Mapping) else list(row) for row in rows]
        if self._text is not None:
            for row, example in zip(rows, example_ids, strict=True):
                self._text.check(row, example)
        for side, key, policy, frozen in self.sides:
            columns = [row[key] for row in new]
            masks = None if frozen is None else [_as_flags(frozen(row)) for row in rows]
            address = {"seed": self.seed, "epoch": epoch, "side": side}
            try:
                made = _sample(policy, columns, masks, {**address, "example_ids": example_ids})
            except ValueError:
                _name_the_row(policy, columns, masks, address, example_ids)
                raise
            for row, (ids, places) in zip(new, made, strict=True):
                if places is not None:
                    _follow(row, COMPANIONS[side], len(row[key]), places)
                row[key] = ids
        if self._text is not None:
            for row in new:
                self._text.join(row)
        return [
            row if isinstance(row, dict) else getattr(type(old), "_make", type(old))(row)
            for row, old in zip(new, rows, strict=True)
        ]


def _described(policy: Any) -> str:
    """Return a line that differs where policies or their words do."""
    kind = policy.policy if isinstance(policy, WholeWords) else policy
    if not isinstance(kind, Policy):
        return type(kind).__name__
    facts = json.dumps(kind.to_dict(), sort_keys=True, default=str)
    digest = sha256(facts.encode()).hexdigest()[:8]
    unit = "whole words" if isinstance(policy, WholeWords) else "words"
    return f"{kind!r}, {unit} {digest}"


def _advice(name: str) -> str:
    """Say what may stand where ``name`` was given."""
    if name.startswith(("tau", "rate")):
        kind = "tau" if name.startswith("tau") else "rate"
        return (
            f": switch_out(trainer, …) takes {kind}_x for the source and {kind}_y for the target,"
            f" all else policies: so.SwitchOut(words, {kind}=…)"
        )
    return did_you_mean(name, SETTINGS)


def _sample(policy: Any, columns: Any, masks: Any, address: Any) -> list[tuple[Any, Any]]:
    if isinstance(policy, WholeWords):
        made = policy.sample(columns, frozen=masks, **address)
        pairs = zip(made, columns, strict=True)
        return [(like(ids, column), places) for (ids, places), column in pairs]
    return [(ids, None) for ids in policy.sample_lists(columns, frozen=masks, **address)]


def _follow(row: Any, companions: tuple[str, ...], n_ids: int, places: Any) -> None:
    for name in companions:
        if isinstance(row, dict) and name in row and len(row[name]) == n_ids:
            row[name] = like(np.asarray(row[name])[places], row[name])


def _as_flags(mask: Any) -> Any:
    return None if mask is None else np.asarray(mask, bool)


def _name_the_row(policy: Any, columns: Any, masks: Any, address: Any, example_ids: Any) -> None:
    """Say which row of the training set was refused: a batch's row number would help nobody."""
    for i, (column, example) in enumerate(zip(columns, example_ids, strict=True)):
        mask = None if masks is None else [masks[i]]
        try:
            _sample(policy, [column], mask, {**address, "example_ids": [example]})
        except ValueError as error:
            raise SwitchOutError(f"row {example} of the training set: {error}") from None
