"""Resampled test sets as matrix products: weights [resample, sentence] @ statistics.

One pass over the random weights serves all systems, runs and metrics at once, so they all see the
same resampled test sets. The weights are made in blocks that stay in the processor's cache.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from switchout.evaluation.metrics import Array, Measure

BLOCK = 2**16  # weights made at a time


def bootstrap_sums(statistics: Sequence[Array], *, n_resamples: int, seed: int) -> list[Array]:
    """Return sums over test sets drawn with replacement, of the size of the real one.

    Args:
        statistics: Arrays [sentence, statistic] of the same sentences.
        n_resamples: Number of test sets; all arrays get the same ones.
        seed: Address of the randomness.

    Returns:
        An array [resample, statistic] for each of ``statistics``.
    """
    rng = np.random.default_rng((seed, 0))
    return _weighted_sums(statistics, _counts, n_resamples, rng)


def bootstrap_scores(
    metric: Measure, sides: Sequence[Sequence[Array]], *, n_resamples: int, seed: int
) -> list[Array]:
    """Return the scores of several sides' runs on the same resampled test sets.

    Args:
        metric: Of the scores.
        sides: Statistics [sentence, statistic] of each run of each side.
        n_resamples, seed: As for `bootstrap_sums`.

    Returns:
        An array [run, resample] for each side.
    """
    runs = [run for side in sides for run in side]
    sums = iter(bootstrap_sums(runs, n_resamples=n_resamples, seed=seed))
    return [np.array([metric.from_sums(next(sums)) for _ in side]) for side in sides]


def subset_sums(statistics: Sequence[Array], *, n_resamples: int, seed: int) -> list[Array]:
    """Return sums over random subsets: each sentence is in with probability one half."""
    rng = np.random.default_rng((seed, 1))  # independent of the bootstrap's
    return _weighted_sums(statistics, _coins, n_resamples, rng)


def jackknife(metric: Measure, statistics: Array) -> Array:
    """Return the pseudo-values N·score − (N−1)·score without sentence i, [sentence].

    Their mean is the corpus score (less its bias), their variance / N its variance, so that a
    corpus score behaves like a mean over sentences.
    """
    n_sentences = len(statistics)
    total = statistics.sum(axis=0)
    without = metric.from_sums(total - statistics)
    return n_sentences * metric.from_sums(total) - (n_sentences - 1) * without


def _weighted_sums(
    statistics: Sequence[Array],
    draw: Callable[[np.random.Generator, int, int], Array],
    n_resamples: int,
    rng: np.random.Generator,
) -> list[Array]:
    matrix = np.hstack(statistics)
    n_sentences, n_columns = matrix.shape
    sums = np.empty((n_resamples, n_columns))
    step = max(8, BLOCK // n_sentences)
    for start in range(0, n_resamples, step):
        block = sums[start : start + step]
        np.matmul(draw(rng, len(block), n_sentences), matrix, out=block)
    return np.split(sums, np.cumsum([s.shape[1] for s in statistics])[:-1], axis=1)


def _counts(rng: np.random.Generator, n_rows: int, n_sentences: int) -> Array:
    """How often each sentence is drawn, [row, sentence]; rows sum to the number of sentences."""
    smallest = np.min_scalar_type(n_sentences)  # narrow integers take fewer random bits
    draws = rng.integers(n_sentences, size=(n_rows, n_sentences), dtype=smallest)
    cells = draws + np.arange(n_rows)[:, None] * n_sentences
    counts = np.bincount(cells.ravel(), minlength=n_rows * n_sentences)
    return counts.reshape(n_rows, n_sentences).astype(float)


def _coins(rng: np.random.Generator, n_rows: int, n_sentences: int) -> Array:
    n_bytes = -(-n_sentences // 8)
    random_bytes = np.frombuffer(rng.bytes(n_rows * n_bytes), dtype=np.uint8)
    bits = np.unpackbits(random_bytes.reshape(n_rows, n_bytes), axis=1, count=n_sentences)
    return bits.astype(float)
