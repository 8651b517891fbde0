"""For those who have no example ids: a function of batches that numbers the examples itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from switchout.sampling.address import Address
from switchout.sampling.backends import Array

if TYPE_CHECKING:
    from switchout.policies.base import Policy


class Stream:
    """Call it with batch after batch; the p-th example of rank r is number p · world_size + r.

    Example:
        >>> import switchout as so
        >>> noise = so.SwitchOut(so.Words(10), tau=1.0).stream(seed=7)
        >>> _ = noise(np.array([[4, 5, 6, 2]]))
        >>> noise.state()
        {'seed': 7, 'rank': 0, 'world_size': 1, 'side': 'source', 'seen': 1}
    """

    def __init__(
        self, policy: Policy, *, seed: int, rank: int = 0, world_size: int = 1, side: str = "source"
    ) -> None:
        if world_size < 1 or not 0 <= rank < world_size:
            raise ValueError(f"rank must lie in 0 <= rank < world_size, got {rank}, {world_size}")
        self._policy, self._rank, self._world_size = policy, rank, world_size
        self._address = Address(seed, 0, side)
        self._seen = 0

    def __call__(self, tokens: Array, frozen: Array | None = None) -> Array:
        """Return the augmented batch [batch, time]."""
        n_rows = int(tokens.shape[0])
        ids = np.arange(self._seen, self._seen + n_rows, dtype=np.uint64)
        ids = ids * np.uint64(self._world_size) + np.uint64(self._rank)
        result = self._policy.sample_at(tokens, self._address, example_ids=ids, frozen=frozen)
        self._seen += n_rows  # only once it worked
        return result

    def state(self) -> dict[str, Any]:
        """Return where the stream stands, as plain data."""
        return {
            "seed": self._address.seed,
            "rank": self._rank,
            "world_size": self._world_size,
            "side": self._address.side,
            "seen": self._seen,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue where ``state`` was taken; a state of another stream is refused."""
        mine = self.state()
        differing = [key for key in mine if key != "seen" and state.get(key) != mine[key]]
        if differing or set(state) != set(mine):
            raise ValueError(f"this state belongs to another stream: {differing or sorted(state)}")
        if not isinstance(state["seen"], int) or state["seen"] < 0:
            raise ValueError(f"seen must be a count, got {state['seen']!r}")
        self._seen = state["seen"]
