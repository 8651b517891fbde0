"""The exact max-ent policy for negative Hamming distance."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from switchout.policies.hamming_policy import ConstantPolicy, share
from switchout.sampling import laws
from switchout.sampling.laws import Floats
from switchout.words import Words, check_words


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
        n_draw = len(check_words(words))
        super().__init__(words, (share(n_draw - 1, self.tau), share(n_draw, self.tau)))

    @classmethod
    def rescaled(cls, words: Words, tau: float) -> Hamming:
        """Return the policy for the reward times 1 + log(W - 1) of Norouzi et al. (2016).

        This is what makes tau in (0, 1] usable: at tau = 1 the odds of a change are 1 / e.
        """
        return cls(words, tau=laws.check_tau(tau) / (1 + math.log(len(words) - 1)))

    @classmethod
    def for_rate(cls, words: Words, *, rate: float) -> Hamming:
        """Return the policy that changes each word with probability ``rate``.

        Example:
            >>> Hamming.for_rate(Words(size=17204), rate=0.05).probability.__round__(6)
            0.05
        """
        rate, others = laws.check_rate(rate, highest=0.5), len(words) - 1
        if rate == 0:
            return cls(words, tau=0.0)
        odds = math.log(others) + math.log1p(-rate) - math.log(rate)  # = 1 / tau
        return cls(words, tau=1 / odds if odds > 0 else math.inf)

    def temperature(self, lengths: npt.ArrayLike) -> Floats:
        return np.full(np.asarray(lengths).shape, self.tau)

    def to_dict(self) -> dict[str, Any]:
        return {"policy": self.name, "tau": self.tau, "words": self.words.to_dict()}
