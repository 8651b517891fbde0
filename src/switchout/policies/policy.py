"""What every policy can do: sample, say how probable a sample is, and describe itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from switchout.policies.lists import from_block, to_block, to_mask
from switchout.policies.stream import Stream
from switchout.sampling.address import Address
from switchout.sampling.backends import Array, backend_of
from switchout.sampling.checks import check_range
from switchout.sampling.corrupt import corrupt
from switchout.sampling.laws import Floats
from switchout.sampling.rule import Rule
from switchout.words import Words, check_words

Bools = npt.NDArray[np.bool_]


class Policy(ABC):
    """A distribution q(x_hat | x) over sentences of the length of x."""

    name: ClassVar[str]
    default_side: ClassVar[str] = "source"
    steps: Sequence[tuple[Rule, Words]]  # done one after the other, each with a slot of its own

    def sample(
        self,
        tokens: Array,
        *,
        seed: int,
        example_ids: Any,
        epoch: int = 0,
        frozen: Array | None = None,
        side: str | None = None,
        lengths: Any = None,
        out: Array | None = None,
    ) -> Array:
        """Return augmented ``tokens`` [batch, time]: the same type, dtype, shape and device.

        Args:
            tokens: Word ids of NumPy, PyTorch, TensorFlow or JAX; left as they are.
            seed, example_ids, epoch: Address of the randomness: the same address, the same ids.
            frozen: Further positions to leave alone, bool [batch, time].
            side: "source" or "target": independent randomness; by default the policy's own.
            lengths: Number of words of each sentence, if known [batch]; trusted, saves a pass.
            out: Where to write instead of a new array; may be ``tokens`` itself.
        """
        side = self.default_side if side is None else side
        if backend_of(tokens).is_compiling():
            from switchout.sampling.torch_graph import sample_in_graph  # imports torch

            return sample_in_graph(
                self, tokens, tau=0.0, seed=seed, example_ids=example_ids, epoch=epoch,
                frozen=frozen, side=side,
            )  # fmt: skip
        address = Address(seed, epoch, side)
        return self.sample_at(
            tokens, address, example_ids=example_ids, frozen=frozen, lengths=lengths, out=out
        )

    def sample_lists(
        self,
        rows: Sequence[Any],
        *,
        seed: int,
        example_ids: Any,
        epoch: int = 0,
        frozen: Sequence[Any] | None = None,
        side: str | None = None,
    ) -> list[Any]:
        """Return augmented rows of ids of different lengths: what `sample` makes of them padded.

        Args:
            rows: Lists (or tuples, or arrays) of ids, as data sets hold them before batching; each
                comes back as a new one of its type.
            frozen: For each row a mask of further positions to leave alone, or None.
            seed, example_ids, epoch, side: As in `sample`.

        Example:
            >>> import switchout as so
            >>> policy = so.SwitchOut(so.Words(100), tau=1.0)
            >>> policy.sample_lists([[5, 6, 7, 2], [8, 2]], seed=1, example_ids=[0, 4])
            [[32, 33, 45, 2], [8, 2]]
        """
        block = to_block(rows)
        mask = None if frozen is None else to_mask(frozen, rows)
        self.sample(
            block, seed=seed, example_ids=example_ids, epoch=epoch, frozen=mask, side=side,
            out=block,
        )  # fmt: skip
        return from_block(block, rows)

    def sample_at(
        self,
        tokens: Array,
        address: Address,
        *,
        example_ids: Any,
        frozen: Array | None = None,
        lengths: Any = None,
        out: Array | None = None,
    ) -> Array:
        """`sample` at a ready-made address; its slot is that of the first step."""
        if lengths is not None and len(self.steps) > 1:
            raise TypeError("words are counted anew before each of several policies: no lengths")
        for i, (rule, words) in enumerate(self.steps):
            if i:
                address = Address(address.seed, address.epoch, address.side, address.slot + 1)
            tokens = corrupt(
                tokens, rule, words=words, address=address, example_ids=example_ids,
                frozen=frozen, lengths=lengths, out=out,
            )  # fmt: skip
        return tokens

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return plain data from which `policy_from_dict` makes an equal policy."""

    def stream(
        self, *, seed: int, rank: int = 0, world_size: int = 1, side: str | None = None
    ) -> Stream:
        """Return a function of batches that numbers the examples itself."""
        side = self.default_side if side is None else side
        return Stream(self, seed=seed, rank=rank, world_size=world_size, side=side)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        shown = {k: v for k, v in self.to_dict().items() if k not in ("policy", "words", "table")}
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in shown.items())})"


class RulePolicy(Policy):
    """A policy of one step, whose probabilities are known.

    Args:
        words: Which ids are words.
        rule: How they are hit and what they become.
    """

    def __init__(self, words: Words, rule: Rule) -> None:
        self.words, self.rule = check_words(words), rule
        self.steps = ((rule, self.words),)

    def log_prob(self, x_hat: Array, x: Array, frozen: Array | None = None) -> Array:
        """Return log q(x_hat | x), [batch]; -inf outside the support."""
        backend = backend_of(x)
        new, old = np.asarray(backend.to_numpy(x_hat)), np.asarray(backend.to_numpy(x))
        if new.shape != old.shape or old.ndim != 2:
            raise ValueError(f"x_hat and x must be [batch, time], got {new.shape}, {old.shape}")
        check_range(old, self.words)
        check_range(new, self.words)
        mask = None if frozen is None else np.asarray(backend.to_numpy(frozen))
        return backend.from_floats(self._log_prob(new, old, mask), x)

    @abstractmethod
    def _log_prob(self, new: Any, old: Any, frozen: Bools | None) -> Floats: ...
