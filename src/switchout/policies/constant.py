"""Policies that hit each word by itself with a constant probability: the exact max-ent ones."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from switchout import laws
from switchout.laws import Floats
from switchout.policies.base import Bools, HammingPolicy
from switchout.sampling import Rule
from switchout.words import Words


class ConstantPolicy(HammingPolicy):
    """Each word is hit with ``probability``, or ``outside`` if it is not drawable itself."""

    def __init__(self, words: Words, probabilities: tuple[float, float], null_id: int = -1) -> None:
        self.words = words
        self.probability, self.outside = probabilities
        self._rule = Rule(probabilities=probabilities, null_id=null_id)

    @property
    def rule(self) -> Rule:
        return self._rule

    def log_pattern(self, length: int, changes: int, outside: tuple[int, int]) -> float:
        out_changed, out_kept = outside
        p, p_out = self.probability, self.outside
        kept = length - changes
        return (
            _times_log(changes - out_changed, p)
            + _times_log(kept - out_kept, 1 - p)
            + _times_log(out_changed, p_out)
            + _times_log(out_kept, 1 - p_out)
        )

    def expected_changes(self, lengths: npt.ArrayLike) -> Floats:
        return np.asarray(lengths, np.float64) * self.probability

    def entropy(self, lengths: npt.ArrayLike) -> Floats:
        p = self.probability
        choices = float(self._log_choices(np.array(True)))
        per_word = -_times_log(p, p) - _times_log(1 - p, 1 - p) + p * choices
        return np.asarray(lengths, np.float64) * per_word


class Hamming(ConstantPolicy):
    """The exact max-ent policy for negative Hamming distance: q ∝ exp(-changes / tau).

    It factorises: each word changes by itself with probability a / (1 + a), a = (W - 1) e^(-1/tau).
    With real vocabularies tau = 1 changes nearly every word; see `rescaled`.

    Example:
        >>> Hamming(Words(size=17204), tau=1.0).expected_changes(1).round(4)
        np.float64(0.9998)
        >>> Hamming.rescaled(Words(size=17204), tau=1.0).expected_changes(1).round(4)
        np.float64(0.2689)
    """

    name: ClassVar[str] = "hamming"

    def __init__(self, words: Words, tau: float) -> None:
        self.tau = laws.check_tau(tau)
        n_draw = len(words)
        super().__init__(words, (_share(n_draw - 1, self.tau), _share(n_draw, self.tau)))

    @classmethod
    def rescaled(cls, words: Words, tau: float) -> Hamming:
        """Return the policy for the reward times 1 + log(W - 1) of Norouzi et al. (2016).

        This is what makes tau in (0, 1] usable: at tau = 1 the odds of a change are 1 / e.
        """
        return cls(words, tau=laws.check_tau(tau) / (1 + math.log(len(words) - 1)))

    def temperature(self, lengths: npt.ArrayLike) -> Floats:
        return np.full(np.asarray(lengths).shape, self.tau)

    def to_dict(self) -> dict[str, Any]:
        return {"policy": self.name, "tau": self.tau, "words": self.words.to_dict()}


class WordDropout(ConstantPolicy):
    """Each word becomes the null word with probability ``rate`` (appendix A.1).

    The exact max-ent policy on N(x), where rate / (1 - rate) = exp(-1 / tau); the appendix says
    rate = exp(-1 / tau), which is not so once normalised.
    """

    name: ClassVar[str] = "word_dropout"

    def __init__(self, words: Words, rate: float, null_id: int = 0) -> None:
        self.rate = laws.check_rate(rate, highest=1.0)
        if isinstance(null_id, bool) or not isinstance(null_id, int | np.integer):
            raise TypeError(f"null_id must be an integer, got {null_id!r}")
        if not 0 <= null_id < words.size:
            raise ValueError(f"null_id must lie between 0 and {words.size - 1}, got {null_id}")
        self.null_id = int(null_id)
        super().__init__(words, (self.rate, self.rate), self.null_id)

    @classmethod
    def for_tau(cls, words: Words, *, tau: float, null_id: int = 0) -> WordDropout:
        """Return the policy of a temperature: the rate with rate / (1 - rate) = exp(-1 / tau)."""
        return cls(words, rate=_share(1, laws.check_tau(tau)), null_id=null_id)

    def temperature(self, lengths: npt.ArrayLike) -> Floats:
        if self.rate > 0.5:
            raise ValueError(f"a rate above 0.5 has no temperature, got {self.rate}")
        with np.errstate(divide="ignore"):
            tau = 1 / np.log(np.float64(1 - self.rate) / self.rate) if self.rate else 0.0
        return np.full(np.asarray(lengths).shape, tau)

    def log_pattern(self, length: int, changes: int, outside: tuple[int, int]) -> float:
        return _times_log(changes, self.rate) + _times_log(length - changes, 1 - self.rate)

    def _log_prob(self, new: Any, old: Any, frozen: Bools | None) -> Floats:
        # A sentence that holds the null word as a word cannot show whether that one was hit.
        is_null = old == self.null_id
        return super()._log_prob(new, old, is_null if frozen is None else frozen | is_null)

    def _may_become(self, new: Any) -> Bools:
        return np.asarray(new == self.null_id)

    def _log_choices(self, inside: Bools) -> Floats:
        return np.zeros(inside.shape)

    def to_dict(self) -> dict[str, Any]:
        return {
            "policy": self.name,
            "rate": self.rate,
            "null_id": self.null_id,
            "words": self.words.to_dict(),
        }


def _share(choices: int, tau: float) -> float:
    """Return a / (1 + a), where a = choices · exp(-1 / tau)."""
    if tau == 0:
        return 0.0
    return 1 / (1 + math.exp(min(1 / tau - math.log(choices), 700.0)))


def _times_log(times: float, p: float) -> float:
    """Return times · log(p), where 0 · log(0) = 0."""
    if times == 0:
        return 0.0
    return times * math.log(p) if p > 0 else -math.inf
