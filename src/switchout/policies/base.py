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
from switchout.sampling.laws import Floats, log_binomials
from switchout.sampling.rule import Rule
from switchout.words import Words

Bools = npt.NDArray[np.bool_]


class Policy(ABC):
    """A distribution q(x_hat | x) over sentences of the length of x."""

    name: ClassVar[str]
    default_side: ClassVar[str] = "source"
    n_slots: int = 1  # policies of a chain draw from slots of their own

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

    @abstractmethod
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
        """`sample` at a ready-made address, slot included."""

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
    """A policy that a `Rule` samples; subclasses give it, and the probabilities."""

    words: Words

    @property
    @abstractmethod
    def rule(self) -> Rule: ...

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
        return corrupt(
            tokens, self.rule, words=self.words, address=address, example_ids=example_ids,
            frozen=frozen, lengths=lengths, out=out,
        )  # fmt: skip

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


class HammingPolicy(RulePolicy):
    """A policy whose probabilities depend on which words change, not on what they are.

    Subclasses give the rule to sample by, and two closed forms for a sentence of L words.
    """

    @abstractmethod
    def log_pattern(self, length: int, changes: int, outside: tuple[int, int]) -> float:
        """Return the log-probability that exactly these ``changes`` of ``length`` words are hit.

        ``outside``: how many of the changed, and of the kept, words are not drawable themselves.
        """

    def _log_prob(self, new: Any, old: Any, frozen: Bools | None) -> Floats:
        real = self.words.is_word(old)
        if frozen is not None:
            real &= ~frozen
        changed = new != old
        inside = self.words.is_drawable(old) if self.words.draw_ids.size else real
        possible = ~(changed & ~(real & self._may_become(new))).any(axis=1)
        log_choices = (changed * self._log_choices(inside)).sum(axis=1)
        length, changes = real.sum(axis=1), (changed & real).sum(axis=1)
        out_changed = (changed & real & ~inside).sum(axis=1)
        out_kept = (~changed & real & ~inside).sum(axis=1)
        result = np.full(old.shape[0], -np.inf)
        keys = np.stack([length, changes, out_changed, out_kept], axis=1)
        for key in np.unique(keys[possible], axis=0):
            rows = possible & (keys == key).all(axis=1)
            pattern = self.log_pattern(int(key[0]), int(key[1]), (int(key[2]), int(key[3])))
            result[rows] = pattern - log_choices[rows]
        return result

    def _may_become(self, new: Any) -> Bools:
        return self.words.is_drawable(new)

    def _log_choices(self, inside: Bools) -> Floats:
        """Return the log of how many words each word may become."""
        n_draw = len(self.words)
        return np.asarray(np.log(n_draw - inside.astype(np.float64)))

    def change_probabilities(self, length: int) -> Floats:
        """Return how probable 0, 1, … ``length`` changed words are, [length + 1].

        Example:
            >>> import switchout as so
            >>> so.SwitchOut(so.Words(32000), tau=1.0).change_probabilities(10)[:3].round(3)
            array([0.723, 0.117, 0.08 ])
        """
        if length < 0:
            raise ValueError(f"length must be at least 0, got {length}")
        return np.exp(log_binomials(length) + self._log_patterns(length))

    def _log_patterns(self, length: int) -> Floats:
        """Return the log-probability of any one set of h hit words, h = 0..length."""
        patterns = [self.log_pattern(length, h, (0, 0)) for h in range(length + 1)]
        return np.array(patterns, np.float64)

    @abstractmethod
    def expected_changes(self, lengths: npt.ArrayLike) -> Floats:
        """Return the expected number of changed words for sentences of ``lengths`` words."""

    @abstractmethod
    def entropy(self, lengths: npt.ArrayLike) -> Floats:
        """Return the entropy of q in nats for sentences of ``lengths`` drawable words."""

    @abstractmethod
    def temperature(self, lengths: npt.ArrayLike) -> Floats:
        """Return tau for sentences of ``lengths`` words."""

    def objective(self, lengths: npt.ArrayLike) -> Floats:
        """Return J = E[-changes] + tau · entropy (equation 1), for each length."""
        tau = self.temperature(lengths)
        with np.errstate(invalid="ignore"):
            diversity = np.where(tau == 0, 0.0, tau * self.entropy(lengths))
        return np.asarray(diversity - self.expected_changes(lengths))
