"""Algorithm 1: a count n with p(n) ∝ exp(-n / tau), then each word with probability n / L.

As a policy, `SwitchOut`, and as one function, `switch_out`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from switchout.policies.hamming_policy import HammingPolicy
from switchout.sampling import laws
from switchout.sampling.address import Address
from switchout.sampling.backends import Array, backend_of
from switchout.sampling.corrupt import corrupt
from switchout.sampling.laws import Floats
from switchout.sampling.rule import Rule
from switchout.words import Words, check_words


class SwitchOut(HammingPolicy):
    """Replace words by uniform other words, as many as Algorithm 1 says.

    Args:
        words: Which ids are words.
        tau: Temperature; 0 changes nothing, infinity makes the count uniform on 0..L.
        rate: Instead of ``tau``: the expected share of changed words, at most 0.5; tau is then
            solved for each length.

    Example:
        >>> policy = SwitchOut(Words(size=32000), tau=1.0)
        >>> policy.expected_changes([5, 25]).round(3)
        array([0.567, 0.582])
        >>> SwitchOut(Words(size=32000), rate=0.1).expected_changes([5, 25])
        array([0.5, 2.5])
    """

    name: ClassVar[str] = "switchout"

    def __init__(self, words: Words, tau: Any = None, *, rate: float | None = None) -> None:
        if isinstance(tau, Words):
            raise TypeError(f"words come first: {type(self).__name__}(words, tau)")
        if (tau is None) == (rate is None):
            both = "" if tau is None else ", not both"
            raise ValueError(f"{type(self).__name__} needs either tau or rate{both}")
        self.rate = None if rate is None else laws.check_rate(rate, highest=0.5)
        super().__init__(words, Rule(rate=self.rate) if tau is None else _rule_of(tau))
        self.tau = self.rule.tau

    @classmethod
    def for_rate(cls, words: Words, *, rate: float, length: int) -> SwitchOut:
        """Return the policy of one tau that changes this share of words at this length."""
        rate = laws.check_rate(rate, highest=0.5)
        if length < 1:
            raise ValueError(f"length must be at least 1, got {length}")
        return cls(words, tau=float(laws.tau_for_rate(rate, length)[0]))

    def temperature(self, lengths: npt.ArrayLike) -> Floats:
        lengths = np.asarray(lengths)
        if self.rate is None:
            return np.full(lengths.shape, self.tau)
        return laws.tau_for_rate(self.rate, lengths).reshape(lengths.shape)

    def log_pattern(self, length: int, changes: int, outside: tuple[int, int]) -> float:
        return float(self._log_patterns(length)[changes])

    def _log_patterns(self, length: int) -> Floats:
        if length == 0:
            return np.zeros(1)
        log_p = laws.log_count_probabilities(float(self.temperature(length)), length)
        n = np.arange(length + 1)[:, None]
        h = np.arange(length + 1)[None, :]
        with np.errstate(divide="ignore", invalid="ignore"):
            hit = np.where(h == 0, 0.0, h * np.log(n / length))
            kept = np.where(h == length, 0.0, (length - h) * np.log1p(-n / length))
            terms = log_p[:, None] + hit + kept
        return np.asarray(np.logaddexp.reduce(terms, axis=0))

    def expected_changes(self, lengths: npt.ArrayLike) -> Floats:
        return laws.expected_count(self.temperature(lengths), lengths)

    def entropy(self, lengths: npt.ArrayLike) -> Floats:
        lengths = np.asarray(lengths)
        unique, inverse = np.unique(lengths, return_inverse=True)
        values = np.array([self._entropy(int(n)) for n in unique], np.float64)
        return values[inverse].reshape(lengths.shape)

    def _entropy(self, length: int) -> float:
        if length == 0:
            return 0.0
        patterns = self._log_patterns(length)
        h = np.arange(length + 1)
        log_mass = laws.log_binomials(length) + patterns  # of all sentences at Hamming distance h
        log_q = patterns - h * np.log(len(self.words) - 1)
        mass = np.exp(log_mass)
        return float(-(mass * np.where(mass > 0, log_q, 0.0)).sum())

    def to_dict(self) -> dict[str, Any]:
        setting = {"tau": self.tau} if self.rate is None else {"rate": self.rate}
        return {"policy": self.name, **setting, "words": self.words.to_dict()}


def switch_out(
    tokens: Array,
    *,
    tau: float,
    words: Words,
    seed: int,
    example_ids: Any,
    epoch: int = 0,
    frozen: Array | None = None,
    side: str = "source",
    lengths: Any = None,
    out: Array | None = None,
) -> Array:
    """Replace about n words per sentence, where p(n) ∝ exp(-n / tau).

    Algorithm 1 of the paper: draw a count per sentence, choose each word with probability
    count / length, put another word there, uniformly. Special tokens are never replaced, never
    drawn and never counted.

    Args:
        tokens: Word ids, [batch, time], of NumPy, PyTorch, TensorFlow or JAX; left as they are.
        tau: Temperature. 0 returns a copy of ``tokens``; infinity makes n uniform on 0..length.
        words: Which ids are words.
        seed, example_ids, epoch: Address of the randomness: the same address gives the same ids,
            whatever the batch, padding or framework. example_ids: [batch] integers.
        frozen: Further positions to leave alone, bool [batch, time].
        side: "source" or "target": independent randomness.
        lengths: Number of words of each sentence, if known [batch]; trusted, saves a pass.
        out: Where to write instead of a new array; may be ``tokens`` itself.

    Returns:
        Ids of the same shape, type, dtype and device as ``tokens``.

    Example:
        >>> import numpy as np
        >>> x = np.array([[1, 7, 9, 2, 0]])          # <s> a b </s> <pad>
        >>> switch_out(x, tau=0.0, words=Words(10), seed=0, example_ids=[0])
        array([[1, 7, 9, 2, 0]])
    """
    if backend_of(tokens).is_compiling():
        from switchout.sampling.torch_graph import sample_in_graph  # imports torch

        return sample_in_graph(
            words, tokens, tau=tau, seed=seed, example_ids=example_ids, epoch=epoch,
            frozen=frozen, side=side,
        )  # fmt: skip
    return corrupt(
        tokens, _rule_of(tau), words=check_words(words), address=Address(seed, epoch, side),
        example_ids=example_ids, frozen=frozen, lengths=lengths, out=out,
    )  # fmt: skip


def _rule_of(tau: Any) -> Rule:
    """Return Algorithm 1 at a temperature; a traced one, not known yet, passes as it is."""
    if type(tau) is float:
        return _made_rule(tau)
    if hasattr(tau, "dtype") and not isinstance(tau, np.generic | np.ndarray):
        backend = backend_of(tau)
        if not backend.on_host(tau):
            return Rule(tau=tau)
        tau = backend.to_numpy(tau).item()
    return _made_rule(laws.check_tau(tau))


@lru_cache(maxsize=256)
def _made_rule(tau: float) -> Rule:
    return Rule(tau=laws.check_tau(tau))
