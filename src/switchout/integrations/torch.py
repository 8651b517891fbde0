"""PyTorch: a training set whose items are other ones every epoch.

The row number is the example id, so no column has to travel through a loader or a trainer, and
what a row becomes depends on (seed, epoch, row) alone: not on workers, batches, order or resume.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, SupportsIndex

from switchout.errors import SwitchOutError, needs

with needs("torch"):
    import torch
    from torch.utils.data import Dataset, IterableDataset

from switchout.integrations.rows import RowSwitch
from switchout.policies.policy import Policy
from switchout.policies.whole_words import WholeWords
from switchout.ranges import EPOCH


class Switched(Dataset):  # type: ignore[misc]
    """A map-style training set, switched when its items are fetched; the set itself stays as it is.

    Args:
        dataset: A torch ``Dataset``, a ``datasets.Dataset`` or a list; items are dicts or tuples.
        source, target: A policy for each side; None: the side stays as it is.
        seed: Of all randomness.
        settings: ``source_key``, ``target_key`` (columns, or places in a tuple; default
            ``"input_ids"`` and ``"labels"``), ``frozen_x``, ``frozen_y``: see `RowSwitch`.

    Call `set_epoch` before each epoch. The number is in shared memory: workers that live on see it.

    Example:
        >>> import switchout as so
        >>> rows = [{"input_ids": [5, 6, 7, 2], "labels": [8, 9, 2]}]
        >>> train = Switched(rows, so.SwitchOut(so.Words(100), tau=1.0), seed=1)
        >>> train[0]
        {'input_ids': [32, 33, 45, 2], 'labels': [8, 9, 2]}
        >>> train.set_epoch(1)
        >>> train[0]
        {'input_ids': [5, 6, 7, 2], 'labels': [8, 9, 2]}
    """

    def __init__(
        self,
        dataset: Any,
        source: Policy | WholeWords | None = None,
        target: Policy | WholeWords | None = None,
        *,
        seed: int,
        **settings: Any,
    ) -> None:
        if is_switched(dataset):
            raise SwitchOutError("this training set is switched already: twice would be more noise")
        if isinstance(dataset, IterableDataset) or not hasattr(dataset, "__getitem__"):
            raise SwitchOutError(
                "a streamed training set has no row numbers: give its rows an id column and map"
                " them with switchout.integrations.huggingface.SwitchRows"
            )
        if len(dataset) == 0:
            raise SwitchOutError("the training set is empty")
        self.dataset = dataset
        self._switch = RowSwitch(source, target, seed=seed, **settings)
        self._switch.check(dataset[0])
        self._epoch = torch.zeros((), dtype=torch.int64).share_memory_()
        self.was_read = torch.tensor(False).share_memory_()  # in any worker
        # Rows fetched while nobody has set an epoch; -1 once somebody has, or was warned.
        self._unset = torch.zeros((), dtype=torch.int64).share_memory_()

    def set_epoch(self, epoch: int) -> None:
        """From now on items are those of ``epoch``, in all workers."""
        self._epoch.fill_(EPOCH.check(epoch, "epoch"))
        self._unset.fill_(-1)

    @property
    def epoch(self) -> int:
        return int(self._epoch)

    @property
    def noise(self) -> dict[str, Any]:
        """The seed, and what each side's policy is."""
        return self._switch.noise

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: Any) -> Any:
        """Return a row, or for a slice a list of rows."""
        if isinstance(index, slice):
            return self.__getitems__(range(len(self))[index])
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: Sequence[Any]) -> list[Any]:
        every = range(len(self))
        places = [_place(every, i) for i in indices]
        self.was_read.fill_(True)
        self._notice_repeats(len(places))
        fetch = getattr(self.dataset, "__getitems__", None)
        rows = [self.dataset[i] for i in places] if fetch is None else fetch(places)
        return self._switch(rows, places, self.epoch)

    def _notice_repeats(self, n_fetched: int) -> None:
        """Warn, once, when rows enough for two epochs were fetched without a `set_epoch`."""
        if self._unset < 0:
            return
        self._unset += n_fetched
        if self._unset >= 2 * len(self):
            self._unset.fill_(-1)
            warnings.warn(
                "every epoch has the same noise: call set_epoch(epoch) of this training set before"
                " each epoch (set_epoch(0) once, if you want it so)",
                stacklevel=2,
            )


def is_switched(dataset: Any) -> bool:
    """Return whether a set is switched, or one that it is a ``Subset`` or ``ConcatDataset`` of."""
    return bool(switched_in(dataset))


def switched_in(dataset: Any) -> list[Switched]:
    """Return the switched sets that a set is, or is a ``Subset`` or ``ConcatDataset`` of."""
    found, seen, switched = [dataset], set(), []
    while found:
        one = found.pop()
        if id(one) not in seen:
            seen.add(id(one))
            if isinstance(one, Switched):
                switched.append(one)
            below = getattr(one, "__dict__", {})
            several = below.get("datasets", ())
            found += [below.get("dataset"), *(several if isinstance(several, list | tuple) else ())]
    return switched


def _place(every: range, index: SupportsIndex) -> int:
    """Return a row's number, counted from the front."""
    try:
        return every[index]
    except IndexError:
        text = f"row {int(index)}: the training set has {len(every):,} rows"
        raise IndexError(text) from None
    except TypeError:
        raise TypeError(f"expected a row number or a slice, got {index!r:.80}") from None
