"""The trend of the gain: slope against an outside solver, error rates by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from switchout.evaluation.metrics import Array
from switchout.evaluation.trend import trend, trend_over_seeds


def simulated(
    rng: np.random.Generator, n: int, slope: float, *, length_effect: float = 0.0
) -> tuple[Array, Array, Array]:
    """Pseudo-values as corpus scores make them, with heavy tails; values tied to length."""
    lengths = np.ceil(rng.gamma(2.0, 10.0, n))
    values = np.clip(0.8 - 1.5 / lengths + 0.15 * rng.standard_normal(n), 0, 1.2)
    noise = 8 * rng.standard_t(4, n) / np.sqrt(lengths / 20)
    own = slope * (values - 0.7) + length_effect * (lengths - 20) + noise
    delta = np.average(own, weights=lengths)
    gains = delta + (own - delta) * lengths / lengths.mean()
    return gains, values, lengths


def test_slope_equals_weighted_least_squares_of_the_sentences_own_gains() -> None:
    gains, values, lengths = simulated(np.random.default_rng(0), 80, 5.0)
    own = gains.mean() + (gains - gains.mean()) * lengths.mean() / lengths
    design = np.column_stack([np.ones(80), values, lengths])
    root = np.sqrt(lengths)
    expected = np.linalg.lstsq(design * root[:, None], own * root, rcond=None)[0][1]
    found = trend(gains, values, lengths=lengths, n_resamples=100)
    assert found is not None
    assert found.slope == pytest.approx(expected, rel=1e-9)


def test_an_exact_line_is_found_without_doubt() -> None:
    values = np.linspace(0, 1, 50)
    found = trend(4 * values - 1, values, lengths=np.full(50, 9.0), n_resamples=500)
    assert found is not None
    assert found.slope == pytest.approx(4)
    assert found.ci95 == pytest.approx((4, 4))
    assert found.p == pytest.approx(1 / 501)


def test_unit_of_the_values_scales_the_slope_only() -> None:
    gains, values, lengths = simulated(np.random.default_rng(1), 60, 5.0)
    one = trend(gains, values, lengths=lengths, n_resamples=200)
    hundred = trend(gains, 100 * values, lengths=lengths, n_resamples=200)
    assert one is not None
    assert hundred is not None
    assert hundred.slope == pytest.approx(one.slope / 100)
    assert hundred.p == one.p


@pytest.mark.parametrize("case", ["constant", "two-sentences"])
def test_no_trend_where_none_can_be(case: str) -> None:
    n = 2 if case == "two-sentences" else 10
    values = np.arange(n, dtype=float) if case == "two-sentences" else np.ones(n)
    assert trend(np.arange(n, dtype=float), values, lengths=np.arange(1.0, n + 1)) is None


def test_trend_on_the_length_itself_needs_no_adjustment() -> None:
    lengths = np.arange(1.0, 40)
    found = trend(np.sqrt(lengths), lengths, lengths=lengths, n_resamples=100)
    assert found is not None
    assert np.isfinite(found.slope)


def rejections(slope: float, *, length_effect: float, trials: int = 300) -> int:
    rng = np.random.default_rng(7)
    n = 0
    for trial in range(trials):
        gains, values, lengths = simulated(rng, 250, slope, length_effect=length_effect)
        found = trend(gains, values, lengths=lengths, n_resamples=300, seed=trial)
        assert found is not None
        n += found.p <= 0.05
    return n


@pytest.mark.parametrize("length_effect", [0.0, 0.3], ids=["no-effect", "longer-gains-more"])
def test_a_flat_gain_is_rarely_called_a_trend(length_effect: float) -> None:
    """The gain depends on length at most; length and value are correlated."""
    low, high = binom.ppf([5e-5, 1 - 5e-5], 300, 0.05)
    assert low <= rejections(0.0, length_effect=length_effect) <= high


def test_a_true_trend_is_found() -> None:
    """Negative control of the test above: the same count must leave its range."""
    assert rejections(25.0, length_effect=0.0, trials=100) > 60


def runs_with_slopes_of_their_own(rng: np.random.Generator, n: int, shift: float) -> Array:
    """Pseudo-values [side, run, sentence] whose slope on the values differs from run to run."""
    _, values, lengths = simulated(rng, n, 0.0)
    own = 6 * rng.standard_normal((2, 4, 1)) * (values - 0.7) + rng.standard_normal((2, 4, n))
    own[1] += shift * (values - 0.7)
    delta = (own * lengths).sum(axis=-1, keepdims=True) / lengths.sum()
    return np.concatenate(
        [delta + (own - delta) * lengths / lengths.mean(), np.broadcast_to(values, (2, 1, n)),
         np.broadcast_to(lengths, (2, 1, n))], axis=1,
    )  # fmt: skip


def test_slope_over_seeds_is_that_of_the_mean_gain() -> None:
    (base, system) = runs_with_slopes_of_their_own(np.random.default_rng(3), 60, 5.0)
    values, lengths = base[4], base[5]
    found = trend_over_seeds(base[:4], system[:4], values, lengths=lengths)
    gains = system[:4].mean(axis=0) - base[:4].mean(axis=0)
    plain = trend(gains, values, lengths=lengths, n_resamples=100)
    assert found is not None
    assert plain is not None
    assert found.counts_seeds
    assert found.slope == pytest.approx(plain.slope)


def test_a_slope_that_is_the_luck_of_the_seeds_is_not_found() -> None:
    """Runs differ in their slopes, the methods do not; resampling sentences alone is deceived."""
    rng, n_trials = np.random.default_rng(4), 150
    rejected = {"seeds": 0, "sentences": 0}
    for _ in range(n_trials):
        base, system = runs_with_slopes_of_their_own(rng, 60, 0.0)
        values, lengths = base[4], base[5]
        over_seeds = trend_over_seeds(base[:4], system[:4], values, lengths=lengths)
        gains = system[:4].mean(axis=0) - base[:4].mean(axis=0)
        alone = trend(gains, values, lengths=lengths, n_resamples=200)
        assert over_seeds is not None
        assert alone is not None
        rejected["seeds"] += over_seeds.p <= 0.05
        rejected["sentences"] += alone.p <= 0.05
    limit = binom.isf(1e-6, n_trials, 0.05)
    assert rejected["seeds"] <= limit
    assert rejected["sentences"] > limit


def test_a_slope_beyond_the_luck_of_the_seeds_is_found() -> None:
    base, system = runs_with_slopes_of_their_own(np.random.default_rng(5), 60, 60.0)
    found = trend_over_seeds(base[:4], system[:4], base[4], lengths=base[5])
    assert found is not None
    assert found.p < 0.01
    assert found.ci95[0] > 0
