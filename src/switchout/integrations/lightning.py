"""Lightning: the switched set of `switchout.integrations.torch`, and who tells it the epoch.

Example:
    >>> train = Switched(rows, source, target, seed=1)                      # doctest: +SKIP
    >>> Trainer(callbacks=[EpochCallback(train)]).fit(model, DataLoader(train))  # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any

from switchout.errors import needs

with needs("torch", "lightning"):
    from lightning.pytorch import Callback

from switchout.integrations.torch import Switched


class EpochCallback(Callback):  # type: ignore[misc]
    """Tells a switched training set which epoch begins, also after a resume."""

    def __init__(self, dataset: Switched) -> None:
        self._dataset = dataset

    def on_train_epoch_start(self, trainer: Any, module: Any) -> None:
        self._dataset.set_epoch(trainer.current_epoch)

    # A run that goes on within an epoch, or right behind its last batch, has no start of an epoch,
    # and its workers are started before any other hook.
    def on_load_checkpoint(self, trainer: Any, module: Any, checkpoint: dict[str, Any]) -> None:
        batches = checkpoint["loops"]["fit_loop"]["epoch_loop.batch_progress"]
        self._dataset.set_epoch(checkpoint["epoch"] + bool(batches["is_last_batch"]))
