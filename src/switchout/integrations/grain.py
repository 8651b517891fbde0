"""grain: a transform that stands right behind the source, before shuffle and repeat.

There the index counts on over the epochs, so that (epoch, example) is divmod(index, rows). Behind a
shuffle it is a position: half of the rows would get the noise of others.
"""

from __future__ import annotations

from typing import Any

from switchout.errors import SwitchOutError, needs

with needs("grain"):
    import grain

from switchout.integrations.rows import RowSwitch
from switchout.policies.policy import Policy
from switchout.policies.whole_words import WholeWords


class SwitchOut(grain.transforms.MapWithIndex):  # type: ignore[misc]
    """``source.map_with_index(SwitchOut(len(source), …)).seed(1).shuffle().repeat(10)``.

    Args:
        n_rows: Number of rows of the source.
        source, target: A policy for each side; None: the side stays as it is.
        seed: Of all randomness.
        settings: ``source_key``, ``target_key``, ``frozen_x``, ``frozen_y``: see `RowSwitch`.
    """

    def __init__(
        self,
        n_rows: int,
        source: Policy | WholeWords | None = None,
        target: Policy | WholeWords | None = None,
        *,
        seed: int,
        **settings: Any,
    ) -> None:
        if n_rows < 1:
            raise SwitchOutError(f"n_rows must be the number of rows, got {n_rows}")
        self._n_rows = n_rows
        self._switch = RowSwitch(source, target, seed=seed, **settings)

    def map_with_index(self, index: int, row: Any) -> Any:
        epoch, example = divmod(int(index), self._n_rows)
        return self._switch([row], [example], epoch)[0]
