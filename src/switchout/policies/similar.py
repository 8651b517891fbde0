"""The exact max-ent policy for similarities that depend on the words."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from switchout.policies.policy import Bools, RulePolicy
from switchout.policies.similarity_table import SimilarityTable
from switchout.sampling import laws
from switchout.sampling.backends import Array, backend_of
from switchout.sampling.laws import Floats
from switchout.sampling.rule import RowTable, Rule
from switchout.words import Words, check_words


class Similar(RulePolicy):
    """Each word becomes a word of its row with probability ∝ exp(similarity / tau).

    s(x_hat, x) = sum_i sim(x_i, x_hat_i) factorises, so this is equation 2 exactly.

    Args:
        words: Which ids are words.
        table: What each word may become and how similar that is; see `SimilarityTable`.
        tau: Temperature; 0 takes the most similar word, infinity draws uniformly from the row.
    """

    name: ClassVar[str] = "similar"

    def __init__(self, words: Words, table: SimilarityTable, tau: float) -> None:
        if (
            table.words.size != check_words(words).size
            or table.words.special_ids != words.special_ids
        ):
            raise ValueError("table and words disagree about which ids are words")
        self.table, self.tau = table, laws.check_tau(tau)
        self._row_of = np.repeat(np.arange(words.size), np.diff(table.indptr))  # [entries]
        self._log_probs = self._row_log_probs()
        rows = RowTable(table.indptr, table.ids, self._row_limits())
        super().__init__(words, Rule(table=rows))

    def _row_log_probs(self) -> Floats:
        """Return log q(candidate | word) for every entry of the table."""
        sims, starts = self.table.sims, self.table.indptr[:-1][np.diff(self.table.indptr) > 0]
        if not sims.size:
            return np.empty(0)
        best = self._per_entry(np.maximum.reduceat(sims, starts), starts)
        with np.errstate(invalid="ignore", divide="ignore"):
            logits = np.where(sims == best, 0.0, (sims - best) / np.float64(self.tau))
        if self.tau == np.inf:
            logits = np.where(np.isneginf(sims), -np.inf, 0.0)
        totals = np.add.reduceat(np.exp(logits), starts)
        return np.asarray(logits - self._per_entry(np.log(totals), starts))

    def _per_entry(self, per_row: Floats, starts: npt.NDArray[np.int64]) -> Floats:
        return np.repeat(per_row, np.diff(np.append(starts, self.table.sims.size)))

    def _row_limits(self) -> npt.NDArray[np.uint32]:
        """Return the cumulative probabilities of each row as inclusive 32-bit thresholds."""
        limits = np.empty(self.table.ids.size, np.uint32)
        for first, last in zip(self.table.indptr[:-1], self.table.indptr[1:], strict=True):
            if last > first:
                sums = np.cumsum(np.exp(self._log_probs[first:last]))
                limits[first:last] = np.clip(np.rint(sums / sums[-1] * 2**32) - 1, 0, 2**32 - 1)
        return limits

    def _log_prob(self, new: Any, old: Any, frozen: Bools | None) -> Floats:
        real = self._is_free(old, frozen)
        if not self.table.ids.size:  # nothing may change
            return np.where((new == old).all(axis=1), 0.0, -np.inf)
        keys = self._row_of * self.words.size + self.table.ids  # ascending: rows, then ids
        wanted = np.where(real, old.astype(np.int64) * self.words.size + new, 0)
        entry = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
        found = real & (keys[entry] == wanted)
        per_word = np.where(found, self._log_probs[entry], np.where(new == old, 0.0, -np.inf))
        return np.asarray(per_word.sum(axis=1))

    def expected_changes(self, x: Array) -> Floats:
        """Return the expected number of changed words of each sentence, [batch]."""
        own = self._row_of == self.table.ids
        return self._sum_over_words(x, np.where(own, 0.0, np.exp(self._log_probs)))

    def entropy(self, x: Array) -> Floats:
        """Return the entropy of q(. | x) in nats, [batch]."""
        p = np.exp(self._log_probs)
        return self._sum_over_words(x, np.where(p > 0, -p * self._log_probs, 0.0))

    def _sum_over_words(self, x: Array, per_entry: Floats) -> Floats:
        old = np.asarray(backend_of(x).to_numpy(x))
        per_word = np.bincount(self._row_of, per_entry, minlength=self.words.size)
        return np.asarray(
            np.where(self._is_free(old, None), per_word[old.clip(0)], 0.0).sum(axis=1)
        )

    def _is_free(self, old: Any, frozen: Any) -> Any:
        """Return where a word has a row to draw from."""
        real = self.words.is_word(old)
        if frozen is not None:
            real &= ~frozen
        return real & (np.diff(self.table.indptr)[np.where(real, old, 0)] > 0)

    def to_dict(self) -> dict[str, Any]:
        table = {
            "indptr": self.table.indptr.tolist(),
            "ids": self.table.ids.tolist(),
            "sims": self.table.sims.tolist(),
        }
        return {
            "policy": self.name, "tau": self.tau, "table": table, "words": self.words.to_dict()
        }  # fmt: skip
