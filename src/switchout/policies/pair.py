"""A policy for each side of a sentence pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from switchout.policies.policy import Policy
from switchout.sampling.backends import Array


@dataclass(frozen=True)
class Pair:
    """A policy for each side of a sentence pair, independent of each other (equation 4).

    Example:
        >>> import switchout as so
        >>> pair = so.Pair(source=so.SwitchOut(so.Words(100), tau=1.0))
        >>> pair.target is None          # the target stays as it is
        True
    """

    source: Policy | None = None
    target: Policy | None = None

    def sample(
        self,
        x: Array,
        y: Array,
        *,
        seed: int,
        example_ids: Any,
        epoch: int = 0,
        frozen_x: Array | None = None,
        frozen_y: Array | None = None,
    ) -> tuple[Array, Array]:
        """Return augmented source and target ids; a side without policy comes back as it is."""
        if self.source is not None:
            x = self.source.sample(
                x, seed=seed, example_ids=example_ids, epoch=epoch, frozen=frozen_x, side="source"
            )
        if self.target is not None:
            y = self.target.sample(
                y, seed=seed, example_ids=example_ids, epoch=epoch, frozen=frozen_y, side="target"
            )
        return x, y

    def to_dict(self) -> dict[str, Any]:
        """Return plain data from which `policy_from_dict` makes an equal pair."""
        sides = {"source": self.source, "target": self.target}
        return {"policy": "pair", **{k: p and p.to_dict() for k, p in sides.items()}}
