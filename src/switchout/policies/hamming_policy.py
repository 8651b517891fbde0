"""Policies whose probabilities depend on which words change, not on what they are."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from switchout.policies.policy import Bools, RulePolicy
from switchout.sampling.laws import Floats, log_binomials
from switchout.sampling.rule import Rule
from switchout.words import Words


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

    def untouched(self, length: int) -> float:
        """Return how probable it is that no word of ``length`` changes."""
        return math.exp(self.log_pattern(length, 0, (0, 0)))

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


class ConstantPolicy(HammingPolicy):
    """Each word is hit by itself with ``probability``; one that may not be drawn: ``outside``."""

    def __init__(self, words: Words, probabilities: tuple[float, float], null_id: int = -1) -> None:
        super().__init__(words, Rule(probabilities=probabilities, null_id=null_id))
        self.probability, self.outside = probabilities

    def log_pattern(self, length: int, changes: int, outside: tuple[int, int]) -> float:
        out_changed, out_kept = outside
        p, p_out = self.probability, self.outside
        kept = length - changes
        return (
            times_log(changes - out_changed, p)
            + times_log(kept - out_kept, 1 - p)
            + times_log(out_changed, p_out)
            + times_log(out_kept, 1 - p_out)
        )

    def expected_changes(self, lengths: npt.ArrayLike) -> Floats:
        return np.asarray(lengths, np.float64) * self.probability

    def entropy(self, lengths: npt.ArrayLike) -> Floats:
        p = self.probability
        choices = float(self._log_choices(np.array(True)))
        per_word = -times_log(p, p) - times_log(1 - p, 1 - p) + p * choices
        return np.asarray(lengths, np.float64) * per_word


def share(choices: int, tau: float) -> float:
    """Return a / (1 + a), where a = choices · exp(-1 / tau)."""
    if tau == 0:
        return 0.0
    return 1 / (1 + math.exp(min(1 / tau - math.log(choices), 700.0)))


def times_log(times: float, p: float) -> float:
    """Return times · log(p), where 0 · log(0) = 0."""
    if times == 0:
        return 0.0
    return times * math.log(p) if p > 0 else -math.inf
