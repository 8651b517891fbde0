"""Rows of a ``datasets`` set, switched as they are mapped; the way for streamed sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.utils.data import get_worker_info

from switchout.errors import SwitchOutError
from switchout.integrations.rows import RowSwitch
from switchout.policies import Policy
from switchout.policies.whole_words import WholeWords
from switchout.ranges import EPOCH


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
            needed(None)
        if not hasattr(indices, "__len__"):
            raise SwitchOutError("the rows come one by one: use data.map(…, batched=True)")
        return [int(i) for i in indices]


def needed(id_column: str | None) -> str:
    """Return the column, or refuse to go on without one."""
    if id_column is None:
        raise SwitchOutError(
            "a streamed training set has no row numbers that last (they begin anew in every worker"
            " and follow a shuffle): give its rows a column of numbers and name it, id_column=…"
        )
    return id_column
