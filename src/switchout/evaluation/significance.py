"""The tests: is a difference more than the luck of the test sentences, or of the seeds?

All are two-sided. δ = score(system) − score(baseline). `docs/evaluation.md` derives `seeds_test`
and reports how often each rejects a true null hypothesis.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from switchout.evaluation.metrics import Array

SLACK = 1e-9  # scores that differ by rounding only are equal
POWER = 0.8  # chance of a significant result that `SeedsTest.seeds_needed` aims at
ENOUGH_RUNS, MOST_RUNS = 4, 1000  # a side; with fewer, the seeds' spread is hardly known


def p_bootstrap(delta: float, resampled: Array) -> float:
    """Return (1 + #{|δ* − δ| ≥ |δ|}) / (R + 1) for δ* of bootstrapped test sets, [resample]."""
    return _share(np.abs(resampled - delta), delta)


def p_randomization(delta: float, shuffled: Array) -> float:
    """Return (1 + #{|δ*| ≥ |δ|}) / (R + 1) for δ* with outputs swapped at random, [resample]."""
    return _share(np.abs(shuffled), delta)


def _share(deviations: Array, delta: float) -> float:
    extreme = int(np.count_nonzero(deviations >= abs(delta) - SLACK))
    return (1 + extreme) / (len(deviations) + 1)


def bootstrap_interval(delta: float, resampled: Array) -> tuple[float, float]:
    """Return the 95% interval that belongs to `p_bootstrap`: it holds 0 where p > 0.05."""
    deviations = np.sort(np.abs(resampled - delta))[::-1]
    allowed = math.floor(0.05 * (len(deviations) + 1)) - 1  # as many may reach past the interval
    half = float(deviations[max(allowed, 0)])
    return delta - half, delta + half


@dataclass(frozen=True)
class SeedsTest:
    """A test of δ that counts both seeds and test sentences as drawn at random.

    Attributes:
        delta: Difference of the means over runs.
        variance: Estimated variance of ``delta``.
        df: Degrees of freedom (Satterthwaite).
        run_variance: Variance of one run's score, summed over the two sides; if paired, of the
            difference between two runs of a seed.
        sentence_variance: What is left of ``variance`` with infinitely many runs.
        n_sentences: Number of test sentences.
        is_paired: Runs of the same seed were compared with each other.
    """

    delta: float
    variance: float
    df: float
    run_variance: float
    sentence_variance: float
    n_sentences: int
    is_paired: bool = False

    @property
    def p(self) -> float:
        """Two-sided; scores that never vary are equal or not."""
        if self.variance <= 0:
            return float(abs(self.delta) <= SLACK)
        return student_p(self.delta / math.sqrt(self.variance), self.df)

    @property
    def ci95(self) -> tuple[float, float]:
        """The 95% interval of the true difference."""
        half = 0.0
        if self.variance > 0:
            half = student_quantile(0.975, self.df) * math.sqrt(self.variance)
        return self.delta - half, self.delta + half

    @property
    def smallest_gap(self) -> float:
        """The true difference that this test would call significant 4 times in 5."""
        return _smallest_gap(self.variance, self.df)

    def seeds_needed(self, level: float = 0.05) -> int | None:
        """Return how many runs a side would show a true difference of ``delta``, 4 times in 5.

        None: not even a thousand, because the test set is too small for this difference.

        Args:
            level: What p must not exceed; 5% where this is the only question.
        """
        if not self._settles(MOST_RUNS, level):
            return None
        low, high = ENOUGH_RUNS - 1, MOST_RUNS  # `low` does not settle it, `high` does
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._settles(middle, level) else (middle, high)
        return high

    def _settles(self, n_runs: int, level: float = 0.05) -> bool:
        runs = self.run_variance / n_runs
        variance = runs + self.sentence_variance
        if variance <= 0:
            return abs(self.delta) > SLACK
        # unpaired: two sides of n_runs − 1 degrees of freedom each, taken as equally variable
        run_df = (n_runs - 1) * (1 if self.is_paired else 2)
        df = variance**2 / (runs**2 / run_df + self.sentence_variance**2 / (self.n_sentences - 1))
        return abs(self.delta) >= _smallest_gap(variance, df, level)


def _smallest_gap(variance: float, df: float, level: float = 0.05) -> float:
    needed = student_quantile(1 - level / 2, df) + student_quantile(POWER, df)
    return needed * math.sqrt(variance)


def seeds_test(
    delta: float, baseline: Array, system: Array, *, is_paired: bool = False
) -> SeedsTest:
    """Test δ on jackknife pseudo-values [run, sentence] of the two sides, 2 runs or more each.

    Each side is a two-way layout, pseudo-value = mean + run + sentence + rest. The variance of δ is
    s²_A/n_A + s²_B/n_B (between runs) + v (between sentences, of the difference of the run means);
    both hold the rest (run × sentence), so it is taken off once.

    Paired, run r of both sides has the same seed and the layout is that of the differences: one
    "side" instead of two. What a seed does to both sides alike then cancels. Whether to pair is
    decided before the runs are seen; choosing the smaller p-value is no test.

    Example:
        >>> a = np.array([[1.0, 3.0], [5.0, 7.5], [9.0, 11.0]])
        >>> unpaired, paired = (seeds_test(1.0, a, a + 1, is_paired=p) for p in (False, True))
        >>> round(unpaired.p, 1), round(paired.p, 1)
        (0.8, 0.0)
    """
    if is_paired and len(baseline) != len(system):
        raise ValueError(f"{len(baseline)} and {len(system)} runs cannot be paired")
    sides = [system - baseline] if is_paired else [baseline, system]
    n_sentences = baseline.shape[1]
    runs, likely_runs, rests, run_df, rest_df = [], [], [], [], []
    for side in sides:
        n_runs = len(side)
        by_run, by_sentence = side.mean(axis=1), side.mean(axis=0)
        rest = side - by_run[:, None] - by_sentence + by_run.mean()
        run_df.append(n_runs - 1)
        rest_df.append((n_runs - 1) * (n_sentences - 1))
        runs.append(float(by_run.var(ddof=1)) / n_runs)
        # A variance of few runs is mostly underestimated (χ² is skewed), which would promise too
        # many degrees of freedom: n/(n−1) brings its median near the truth.
        likely_runs.append(runs[-1] * n_runs / (n_runs - 1))
        rests.append(float((rest**2).sum()) / rest_df[-1] / (n_sentences * n_runs))
    gains = system.mean(axis=0) - baseline.mean(axis=0)
    sentences = float(gains.var(ddof=1)) / n_sentences
    sentence_variance = max(sentences - sum(rests), 0.0)
    terms = zip(
        [*likely_runs, sentences, *rests], [*run_df, n_sentences - 1, *rest_df], strict=True
    )
    uncertainty = sum(term**2 / df for term, df in terms)
    satterthwaite = (sum(likely_runs) + sentence_variance) ** 2 / (uncertainty or 1.0)
    return SeedsTest(
        delta=delta,
        variance=sum(runs) + sentence_variance,
        df=max(satterthwaite, min(run_df)),
        run_variance=sum(run * len(side) for run, side in zip(runs, sides, strict=True)),
        sentence_variance=sentence_variance,
        n_sentences=n_sentences,
        is_paired=is_paired,
    )


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's adjusted p-values, in the order given.

    Example:
        >>> holm([0.04, 0.01, 0.03])
        [0.06, 0.03, 0.06]
    """
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    adjusted, largest = [0.0] * len(p_values), 0.0
    for rank, index in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def student_p(t: float, df: float) -> float:
    """Return P(|T| ≥ |t|) of Student's t; ``df`` may be any real number (base install: no SciPy).

    Example:
        >>> round(student_p(2.0, 10), 6)
        0.073388
    """
    return _incomplete_beta(df / (df + t * t), df / 2, 0.5)


def student_quantile(probability: float, df: float) -> float:
    """Return the t with P(T ≤ t) = probability, for probability ≥ 0.5, by bisection.

    Example:
        >>> round(student_quantile(0.975, 4), 4)
        2.7764
    """
    tail = 2 * (1 - probability)
    low, high = 0.0, 1.0
    while student_p(high, df) > tail:
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if student_p(middle, df) > tail else (low, middle)
    return high


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """Regularised I_x(a, b) by Lentz's continued fraction (DLMF 8.17.22)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast on the other side
        return 1 - _incomplete_beta(1 - x, b, a)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(log_front + a * math.log(x) + b * math.log1p(-x)) / a
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, 100_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / (1 + term * d)
            c = 1 + term / c
            fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return front * fraction
