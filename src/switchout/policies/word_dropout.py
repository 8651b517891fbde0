"""Word dropout: words become the null word."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from switchout.policies.hamming_policy import ConstantPolicy, share, times_log
from switchout.policies.policy import Bools
from switchout.sampling import laws
from switchout.sampling.laws import Floats
from switchout.words import Words, check_words


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
        if not 0 <= null_id < check_words(words).size:
            raise ValueError(f"null_id must lie between 0 and {words.size - 1}, got {null_id}")
        self.null_id = int(null_id)
        super().__init__(words, (self.rate, self.rate), self.null_id)

    @classmethod
    def for_tau(cls, words: Words, *, tau: float, null_id: int = 0) -> WordDropout:
        """Return the policy of a temperature: the rate with rate / (1 - rate) = exp(-1 / tau)."""
        return cls(words, rate=share(1, laws.check_tau(tau)), null_id=null_id)

    def temperature(self, lengths: npt.ArrayLike) -> Floats:
        if self.rate > 0.5:
            raise ValueError(f"a rate above 0.5 has no temperature, got {self.rate}")
        with np.errstate(divide="ignore"):
            tau = 1 / np.log(np.float64(1 - self.rate) / self.rate) if self.rate else 0.0
        return np.full(np.asarray(lengths).shape, tau)

    def log_pattern(self, length: int, changes: int, outside: tuple[int, int]) -> float:
        return times_log(changes, self.rate) + times_log(length - changes, 1 - self.rate)

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
