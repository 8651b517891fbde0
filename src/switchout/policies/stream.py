"""For those who have no example ids: a function of batches that numbers the examples itself."""

from __future__ import annotations

import operator
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from switchout.sampling.address import Address
from switchout.sampling.backends import Array

if TYPE_CHECKING:
    from switchout.policies.policy import Policy


N_IDS = 1 << 64


class Stream:
    """Call it with batch after batch; the p-th example of rank r is number p · world_size + r.

    Not for workers of a PyTorch DataLoader: each has a copy that counts for itself and starts again
    with every epoch, so noise would repeat. There it raises: use
    `switchout.integrations.torch.Switched`, or call the stream in the training loop.

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
        rank, world_size = operator.index(rank), operator.index(world_size)
        if world_size < 1 or not 0 <= rank < world_size:
            raise ValueError(f"rank must lie in 0 <= rank < world_size, got {rank}, {world_size}")
        self._policy, self._rank, self._world_size = policy, rank, world_size
        self._address = Address(seed, 0, side)
        self._seen = 0

    def __call__(self, tokens: Array, frozen: Array | None = None) -> Array:
        """Return the augmented batch [batch, time]."""
        _refuse_workers()
        n_rows = int(tokens.shape[0])
        self._check_end(self._seen + n_rows)
        first = self._seen * self._world_size + self._rank
        ids = np.arange(n_rows, dtype=np.uint64) * np.uint64(self._world_size) + np.uint64(first)
        result = self._policy.sample_at(tokens, self._address, example_ids=ids, frozen=frozen)
        self._seen += n_rows  # only once it worked
        return result

    def _check_end(self, seen: int) -> None:
        """Refuse to count on where ids would begin again from 0."""
        if (seen - 1) * self._world_size + self._rank >= N_IDS:
            raise ValueError(f"the stream has come to its end: example {seen} has no id below 2^64")

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
        if type(state["seen"]) is not int or state["seen"] < 0:
            raise ValueError(f"seen must be a count, got {state['seen']!r}")
        self._check_end(state["seen"])
        self._seen = state["seen"]


def _refuse_workers() -> None:
    """Raise in a worker of a DataLoader; torch is looked at only if it is loaded."""
    data = sys.modules.get("torch.utils.data")
    if data is not None and data.get_worker_info() is not None:
        raise RuntimeError(
            "policy.stream counts the examples it has seen, which a DataLoader worker cannot: noise"
            " would repeat. Use switchout.integrations.torch.Switched, or call it in the main loop"
        )
