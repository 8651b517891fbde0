"""Rows of decoder-only models: prompt and completion are one text, its ids are the labels, too.

Labels are -100 at the prompt. The source is the prompt, the target is the completion, and what
changes there changes in both columns: the model reads what it is to write.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from switchout.errors import SwitchOutError
from switchout.policies.lists import like

NO_LABEL = -100
Bools = npt.NDArray[np.bool_]


class OneText:
    """What `RowSwitch` does otherwise where rows are one text; the two keys name its columns."""

    def __init__(self, ids_key: Any = "input_ids", labels_key: Any = "labels") -> None:
        self.ids_key, self.labels_key = ids_key, labels_key

    def is_in(self, row: Any) -> bool:
        """Return whether a row's labels are its ids, or -100."""
        ids, labels = (np.asarray(row[key]) for key in (self.ids_key, self.labels_key))
        return ids.shape == labels.shape and bool(((labels == NO_LABEL) | (labels == ids)).all())

    def check(self, row: Any, example: int) -> None:
        """Refuse a row whose labels are something else."""
        if not self.is_in(row):
            names = f"{self.labels_key!r} must be the ids of {self.ids_key!r}, or -100"
            raise SwitchOutError(f"row {example} of the training set: {names}")

    def completion(self, row: Any) -> Bools:
        """Return a mask of the places that have a label."""
        return np.asarray(np.asarray(row[self.labels_key]) != NO_LABEL)

    def prompts(self, ids: Iterable[Any], labels: Iterable[Any]) -> Iterator[Any]:
        """Yield the ids of each row that have no label."""
        for row, row_labels in zip(ids, labels, strict=True):
            yield np.asarray(row)[np.asarray(row_labels) == NO_LABEL]

    def frozen_x(self, frozen: Callable[[Any], Any] | None) -> Callable[[Any], Any]:
        """Return ``frozen`` with the completion frozen besides."""
        if frozen is None:
            raise SwitchOutError(
                "the source is the whole prompt, with its instruction: say which of its places stay"
                " as they are, frozen_x=… (from a row to a mask, or to None)"
            )
        return partial(self._beyond_the_prompt, frozen)  # workers may have to pickle it

    def _beyond_the_prompt(self, frozen: Callable[[Any], Any], row: Any) -> Bools:
        mask, completion = frozen(row), self.completion(row)
        if mask is not None and len(mask) != len(completion):
            raise SwitchOutError(
                f"frozen_x gave {len(mask)} places for a row of {len(completion)}: {row}"
            )
        return completion if mask is None else completion | np.asarray(mask, bool)

    def check_target(self, row: Any) -> None:
        """Refuse rows without a prompt, before training begins."""
        if self.completion(row).all():
            raise SwitchOutError(
                "no label is -100, so a prompt would change with its completion: train with a loss"
                " on completions only, or say which places stay as they are, frozen_y=…"
            )

    def join(self, row: Any) -> None:
        """Write the new labels of a row over its ids."""
        ids, labels = row[self.ids_key], np.asarray(row[self.labels_key])
        row[self.ids_key] = like(np.where(labels == NO_LABEL, np.asarray(ids), labels), ids)
