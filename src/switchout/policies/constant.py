"""Policies that hit each word by itself with a constant probability: the exact max-ent ones."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from switchout.policies.base import HammingPolicy
from switchout.sampling.laws import Floats
from switchout.sampling.rule import Rule
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
