"""From a temperature, a tokenizer and a training set to a policy that suits the model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from torch.utils.data import IterableDataset

from switchout.errors import SwitchOutError
from switchout.integrations.one_text import OneText
from switchout.pieces import Pieces
from switchout.policies import Policy
from switchout.policies.factory import OF_SIDE, make_policy
from switchout.policies.whole_words import WholeWords, WordBook
from switchout.words import Words

_NO_LIMIT = 1 << 20  # tokenizers without a greatest length say 10^30


class PolicyMaker:
    """Makes a side's policy from a temperature, the tokenizer and the training set.

    Args:
        model, data: What is trained, on which rows.
        tokenizer: That made them; None: not known.
        unit, draw: See `switch_out`.
        text: Where both sides are one text.
    """

    def __init__(
        self, model: Any, data: Any, *, tokenizer: Any, unit: str, draw: str, text: OneText | None
    ) -> None:
        self._tokenizer = getattr(tokenizer, "tokenizer", tokenizer)  # of a processor
        self._model, self._data = model, data
        self._unit, self._draw, self._text = unit, draw, text

    def make(
        self, side: str, key: Any, tau: float | None, rate: float | None
    ) -> Policy | WholeWords:
        """Return the policy of a side, whose ids stand in the column ``key``."""
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
        n_ids, owner = _n_embeddings(self._model, side), "model"
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
        if isinstance(self._data, IterableDataset):
            wanted = "unit='piece' and " if self._unit == "word" else ""
            raise ValueError(
                "a streamed training set cannot be read before training: use "
                f"{wanted}draw='vocabulary', or give policies"
            )
        rows = column_rows(self._data, key)
        if self._text is None or key != self._text.ids_key:
            return rows
        return self._text.prompts(rows, column_rows(self._data, self._text.labels_key))

    def _max_length(self) -> int | None:
        config = getattr(self._model, "config", None)
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
