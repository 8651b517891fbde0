"""The generic solution of the paper, computed exactly: ``q*(x̂ | x) ∝ exp(s(x̂, x) / tau)``.

Equations 1 to 4 over a support small enough to list. This is the oracle of the tests and a
teaching tool; the policies sample the same laws from closed forms, at any vocabulary size.

* A sentence is a tuple of ids, a pair is a tuple of two sentences, a support is a list of either.
* A similarity is any function ``(x_hat, x) -> float``; ``-inf`` means "never".
* Everything is computed in log space, and the limits ``tau = 0`` and ``tau = inf`` are exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from switchout.words import Words

if TYPE_CHECKING:
    from switchout.policies.similarity_table import SimilarityTable

Sentence = tuple[int, ...]
Similarity = Callable[[Any, Any], float]
Floats = NDArray[np.float64]


class MaxEnt:
    """The policy that maximises J = smoothness + tau · diversity (equations 1 and 2).

    Example:
        >>> policy = MaxEnt(negative_hamming, tau=1.0)
        >>> support = replacements((5,), Words(7))
        >>> policy.probabilities((5,), support).round(3)
        array([0.576, 0.212, 0.212])
        >>> round(policy.objective((5,), support), 3)               # the largest possible J
        0.551
        >>> round(policy.objective((5,), support, q=[0.6, 0.2, 0.2]), 3)     # any other q: less
        0.55
    """

    def __init__(self, similarity: Similarity, tau: float) -> None:
        if not tau >= 0:
            raise ValueError(f"tau must be a temperature of at least 0, got {tau}")
        self.similarity = similarity
        self.tau = float(tau)

    def similarities(self, x: Any, support: Sequence[Any]) -> Floats:
        """Return s(x̂, x) for every x̂ of the support, [support]."""
        sims = np.array([self.similarity(x_hat, x) for x_hat in support], dtype=np.float64)
        if sims.size == 0 or np.isnan(sims).any() or sims.max() in (-np.inf, np.inf):
            raise ValueError(
                "the support needs a member of finite similarity, and none nan or +inf"
            )
        return sims

    def log_probabilities(self, x: Any, support: Sequence[Any]) -> Floats:
        """Return log q*(x̂ | x), [support] (equation 2)."""
        sims = self.similarities(x, support)
        distance = sims - sims.max()  # ≤ 0, so that nothing overflows and the best member is 0
        if self.tau == 0:
            logits = np.where(distance == 0, 0.0, -np.inf)
        elif self.tau == math.inf:
            logits = np.where(distance == -np.inf, -np.inf, 0.0)
        else:
            with np.errstate(over="ignore"):  # -inf is what a tiny tau means
                logits = distance / self.tau
        log_q: Floats = logits - np.log(np.exp(logits).sum())
        return log_q

    def probabilities(self, x: Any, support: Sequence[Any]) -> Floats:
        """Return q*(x̂ | x), [support] (equation 2)."""
        q: Floats = np.exp(self.log_probabilities(x, support))
        return q

    def smoothness(self, x: Any, support: Sequence[Any], q: Iterable[float] | None = None) -> float:
        """Return E_q[s(x̂, x)], the first term of equation 1; of q* where no q is given."""
        weights = self._weights(x, support, q)
        sims = self.similarities(x, support)
        return float((weights[weights > 0] * sims[weights > 0]).sum())

    def entropy(self, x: Any, support: Sequence[Any], q: Iterable[float] | None = None) -> float:
        """Return H(q) in nats, the paper's diversity; of q* where no q is given."""
        weights = self._weights(x, support, q)
        seen = weights[weights > 0]
        return float(-(seen * np.log(seen)).sum()) + 0.0

    def objective(self, x: Any, support: Sequence[Any], q: Iterable[float] | None = None) -> float:
        """Return J(q; x) of equation 1; of q* where no q is given."""
        diversity = self.entropy(x, support, q)
        # inf · 0 would be nan: a policy with a single outcome has no diversity at any temperature
        return self.smoothness(x, support, q) + (self.tau * diversity if diversity else 0.0)

    def _weights(self, x: Any, support: Sequence[Any], q: Iterable[float] | None) -> Floats:
        if q is None:
            return self.probabilities(x, support)
        weights = np.asarray(list(q), dtype=np.float64)
        if weights.shape != (len(support),) or weights.min() < 0 or abs(weights.sum() - 1) > 1e-9:
            raise ValueError("q must hold one probability per member of the support, of sum 1")
        return weights


# Similarities: s(x̂, x)


def negative_hamming(x_hat: Sentence, x: Sentence) -> float:
    """Return minus the number of changed words; -inf for another length."""
    if len(x_hat) != len(x):
        return -math.inf
    return -float(sum(a != b for a, b in zip(x_hat, x, strict=True)))


def negative_edit_distance(x_hat: Sentence, x: Sentence) -> float:
    """Return minus the word-level Levenshtein distance."""
    row = list(range(len(x) + 1))  # distances of a prefix of x_hat to every prefix of x
    for i, word in enumerate(x_hat, 1):
        above, row = row, [i]
        for j, other in enumerate(x, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (word != other)))
    return -float(row[-1])


def word_dropout(null_id: int) -> Similarity:
    """Return the similarity of appendix A.1: negative Hamming inside N(x), -inf outside."""

    def similarity(x_hat: Sentence, x: Sentence) -> float:
        inside = all(a in (b, null_id) for a, b in zip(x_hat, x, strict=False))
        return negative_hamming(x_hat, x) if inside else -math.inf

    return similarity


def rescaled(similarity: Similarity, n_words: int) -> Similarity:
    """Return (1 + log(W - 1)) · s, the reward scale of Norouzi et al. 2016."""
    scale = 1.0 + math.log(n_words - 1)
    return lambda x_hat, x: scale * similarity(x_hat, x)


def from_table(table: SimilarityTable) -> Similarity:
    """Return s(x̂, x) = Σ sim(x_i, x̂_i) of a sparse table; -inf where a pair has no entry."""

    def word(a: int, b: int) -> float:
        ids, sims = table.row(b)
        return float(sims[ids == a].sum()) if a in ids else -math.inf

    return lambda x_hat, x: math.fsum(word(a, b) for a, b in zip(x_hat, x, strict=True))


def raml(reward: Similarity) -> Similarity:
    """Return the pair similarity of appendix A.2: r(ŷ, y) if x̂ = x, else -inf."""
    return lambda hat, pair: reward(hat[1], pair[1]) if hat[0] == pair[0] else -math.inf


def paired(r_x: Similarity, tau_x: float, r_y: Similarity, tau_y: float) -> Similarity:
    """Return r_x / tau_x + r_y / tau_y (equation 3), to be used at tau = 1.

    Its q* is the product of the two sides' own q* (equation 4), so they are drawn independently.

    Example:
        >>> s = paired(negative_hamming, 1.0, negative_hamming, 0.5)
        >>> s(((7,), (9,)), ((8,), (8,)))
        -3.0
    """
    return lambda hat, pair: r_x(hat[0], pair[0]) / tau_x + r_y(hat[1], pair[1]) / tau_y


# Supports: lists of x̂


def replacements(x: Sentence, words: Words) -> list[Sentence]:
    """Return every sentence that keeps each word of x or draws another: V^|x|.

    Example:
        >>> replacements((0, 5), Words(7, special_ids=(0, 1, 2, 3, 4)))
        [(0, 5), (0, 6)]
    """
    return _product(x, words, words.drawable().tolist())


def neighborhood(x: Sentence, words: Words, *, null_id: int) -> list[Sentence]:
    """Return N(x) of appendix A.1: every word kept or dropped.

    Example:
        >>> neighborhood((5, 6, 2), Words(7), null_id=0)
        [(5, 6, 2), (5, 0, 2), (0, 6, 2), (0, 0, 2)]
    """
    return _product(x, words, [null_id])


def sentences(words: Words, *, max_length: int) -> list[Sentence]:
    """Return every sentence of at most so many words: the support of length-changing rewards.

    Example:
        >>> sentences(Words(6), max_length=1)
        [(), (4,), (5,)]
    """
    drawable = words.drawable().tolist()
    return [s for length in range(max_length + 1) for s in product(drawable, repeat=length)]


def _product(x: Sentence, words: Words, others: list[int]) -> list[Sentence]:
    is_word = words.is_word(np.array(x, dtype=np.int64)).tolist()
    rows = [
        dict.fromkeys((w, *others)) if free else (w,) for w, free in zip(x, is_word, strict=True)
    ]
    return list(product(*rows))
