"""Algorithm 1: a count n with p(n) ∝ exp(-n / tau), then each word with probability n / L."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from switchout.policies.base import HammingPolicy
from switchout.sampling import laws
from switchout.sampling.backends import backend_of
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
        if (tau is None) == (rate is None):
            raise ValueError(f"{type(self).__name__} needs either tau or rate")
        self.words = check_words(words)
        self.rate = None if rate is None else laws.check_rate(rate, highest=0.5)
        self._rule = Rule(rate=self.rate) if tau is None else rule_of(tau)
        self.tau = self._rule.tau

    @classmethod
    def for_rate(cls, words: Words, *, rate: float, length: int) -> SwitchOut:
        """Return the policy of one tau that changes this share of words at this length."""
        rate = laws.check_rate(rate, highest=0.5)
        if length < 1:
            raise ValueError(f"length must be at least 1, got {length}")
        return cls(words, tau=float(laws.tau_for_rate(rate, length)[0]))

    @property
    def rule(self) -> Rule:
        return self._rule

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


def rule_of(tau: Any) -> Rule:
    """Return Algorithm 1 at a temperature; a traced one, not known yet, passes as it is."""
    if type(tau) is float:
        return _rule_of_float(tau)
    if hasattr(tau, "dtype") and not isinstance(tau, np.generic | np.ndarray):
        backend = backend_of(tau)
        if not backend.on_host(tau):
            return Rule(tau=tau)
        tau = backend.to_numpy(tau).item()
    return _rule_of_float(laws.check_tau(tau))


@lru_cache(maxsize=256)
def _rule_of_float(tau: float) -> Rule:
    return Rule(tau=laws.check_tau(tau))
