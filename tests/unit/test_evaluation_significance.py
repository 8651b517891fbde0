"""The tests' formulas, against enumeration, closed forms, SciPy and sacrebleu."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.stats
from sacrebleu.significance import PairedTest, estimate_ci
from test_evaluation_statistics import REFERENCES, SACREBLEU, damaged

from switchout.evaluation.comparison import System, compare
from switchout.evaluation.metrics import FORMULAS, Metric
from switchout.evaluation.significance import (
    SeedsTest,
    bootstrap_interval,
    holm,
    p_bootstrap,
    p_randomization,
    seeds_test,
    student_p,
    student_quantile,
)


@pytest.mark.parametrize("df", [1, 1.5, 3, 7.25, 120, 54321.5])
def test_student_equals_scipy(df: float) -> None:
    for t in (0, 0.01, 0.7, 2, 5, 40):
        assert student_p(-t, df) == pytest.approx(2 * scipy.stats.t.sf(t, df), rel=1e-9)
    for probability in (0.6, 0.8, 0.975, 0.9999):
        expected = scipy.stats.t.ppf(probability, df)
        assert student_quantile(probability, df) == pytest.approx(expected, rel=1e-8)


def test_p_values_count_as_defined() -> None:
    resampled = np.array([1.0, 2.0, 3.0 + 1e-12, 0.5, 4.1])
    # δ = 2: |δ* − δ| = 1, 0, 1, 1.5, 2.1; one is ≥ 2
    assert p_bootstrap(2.0, resampled) == 2 / 6
    assert p_bootstrap(-1.0, np.array([-2.0, 0.0 - 1e-12, -1.0])) == 3 / 4  # slack: 1 ≥ 1
    assert p_randomization(-2.0, np.array([2.0 - 1e-12, -2.5, 1.9, 0.0])) == 3 / 5


def test_no_difference_gives_p_one() -> None:
    assert p_bootstrap(0.0, np.array([0.0, 0.3, -0.2])) == 1
    assert p_randomization(0.0, np.array([0.0, 0.3, -0.2])) == 1


@pytest.mark.parametrize("seed", range(20))
def test_bootstrap_interval_holds_zero_exactly_where_p_exceeds_5_percent(seed: int) -> None:
    rng = np.random.default_rng(seed)
    delta = rng.uniform(1.5, 2.5)
    resampled = delta + rng.standard_normal(999)
    low, high = bootstrap_interval(delta, resampled)
    assert (low <= 0 <= high) == (p_bootstrap(delta, resampled) > 0.05)


@pytest.mark.parametrize(
    ("p_values", "expected"),
    [
        ([0.2], [0.2]),
        ([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]),
        ([0.5, 0.9, 0.6], [1.0, 1.0, 1.0]),
        ([0.04, 0.011, 0.02, 0.001], [0.04, 0.033, 0.04, 0.004]),
    ],
    ids=["one", "textbook", "capped", "unsorted"],
)
def test_holm(p_values: list[float], expected: list[float]) -> None:
    assert holm(p_values) == pytest.approx(expected)


def test_holm_rejects_what_the_step_down_procedure_rejects() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        p_values = (rng.random(5) ** 3).tolist()
        rejected = set()
        for rank, index in enumerate(np.argsort(p_values)):
            if p_values[index] > 0.05 / (5 - rank):
                break
            rejected.add(int(index))
        assert {i for i, p in enumerate(holm(p_values)) if p <= 0.05} == rejected


def test_randomization_approaches_the_enumerated_p_value() -> None:
    references, base = REFERENCES[:10], damaged(REFERENCES[:10], 7)
    other = damaged(references, 8)
    metric = Metric("bleu", references)
    a, b = metric.statistics(base), metric.statistics(other)
    delta = metric.score(b) - metric.score(a)
    shuffled = []
    for choice in itertools.product([False, True], repeat=10):
        swap = np.array(choice)[:, None]
        pair = np.where(swap, a, b).sum(axis=0), np.where(swap, b, a).sum(axis=0)
        shuffled.append(metric.from_sums(pair[0]) - metric.from_sums(pair[1]))
    exact = np.mean(np.abs(shuffled) >= abs(delta) - 1e-9)
    [result] = compare(references, System("a", [base]), [System("b", [other])], n_resamples=40_000)
    assert 0.1 < exact < 0.9  # or the comparison says little
    assert result.p_randomization == pytest.approx(exact, abs=5 * 0.5 / np.sqrt(40_000))


@pytest.mark.parametrize("name", FORMULAS)
def test_sacrebleus_own_bootstrap_is_reproduced_from_our_sums(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its formula on its resampling indices, from our statistics: the same numbers."""
    monkeypatch.setenv("SACREBLEU_SEED", "12345")
    outputs = [damaged(REFERENCES, seed) for seed in (2, 3)]
    test = PairedTest(
        [("a", outputs[0]), ("b", outputs[1])],
        {name: SACREBLEU[name]()},
        [REFERENCES],
        test_type="bs",
        n_samples=400,
    )
    *_, (_, theirs) = test()[1].values()

    n_sentences = len(REFERENCES)
    draws = np.random.default_rng(12345).choice(n_sentences, size=(400, n_sentences), replace=True)
    counts = np.array([np.bincount(row, minlength=n_sentences) for row in draws])
    metric = Metric(name, REFERENCES)
    statistics = [metric.statistics(output) for output in outputs]
    a, b = (metric.from_sums(counts @ s) for s in statistics)
    delta = abs(metric.score(statistics[1]) - metric.score(statistics[0]))
    sizes = np.abs(b - a)
    p = (np.count_nonzero(sizes - sizes.mean() > delta) + 1) / (400 + 1)
    assert p == theirs.p_value
    assert theirs.score == metric.score(statistics[1])
    # their resampled scores are computed in single precision
    assert estimate_ci(b) == pytest.approx((theirs.mean, theirs.ci), rel=1e-5)


def layout(
    rng: np.random.Generator, n_runs: int, *, run: float, sentence: np.ndarray, rest: float
) -> np.ndarray:
    runs = run * rng.standard_normal((n_runs, 1))
    return runs + sentence + rest * rng.standard_normal((n_runs, len(sentence)))


def test_variance_of_the_seeds_test_is_unbiased() -> None:
    """Against the variance of δ over many draws of runs and sentences together."""
    rng = np.random.default_rng(0)
    deltas, estimates = [], []
    for _ in range(4000):
        common = 3 * rng.standard_normal(30)
        sides = [
            layout(rng, n, run=0.5, sentence=common + 2 * rng.standard_normal(30), rest=1.5)
            for n in (3, 5)
        ]
        delta = float(sides[1].mean() - sides[0].mean())
        deltas.append(delta)
        estimates.append(seeds_test(delta, *sides).variance)
    # var = 0.25/3 + 0.25/5 + 2·4/30 + 1.5²/30·(1/3 + 1/5)
    exact = 0.25 / 3 + 0.25 / 5 + 8 / 30 + 2.25 / 30 * (1 / 3 + 1 / 5)
    assert np.var(deltas) == pytest.approx(exact, rel=0.1)
    assert np.mean(estimates) == pytest.approx(exact, rel=0.03)


def test_seeds_test_equals_welch_where_sentences_do_not_matter_and_sides_are_equal() -> None:
    rng = np.random.default_rng(1)
    sides = [rng.standard_normal((n, 1)) + np.zeros((1, 400)) for n in (6, 6)]
    scores = [side.mean(axis=1) for side in sides]
    result = seeds_test(float(scores[1].mean() - scores[0].mean()), *sides)
    welch = scipy.stats.ttest_ind(scores[1], scores[0], equal_var=False)
    assert result.p == pytest.approx(welch.pvalue, rel=1e-9)
    assert result.ci95 == pytest.approx(welch.confidence_interval(0.95), rel=1e-9)


def test_seeds_test_equals_the_paired_t_test_where_runs_do_not_differ() -> None:
    rng = np.random.default_rng(2)
    gains = rng.standard_normal(50) + 0.2
    base = rng.standard_normal(50)
    sides = np.tile(base, (3, 1)), np.tile(base + gains, (2, 1))
    result = seeds_test(float(gains.mean()), *sides)
    paired = scipy.stats.ttest_1samp(gains, 0)
    assert result.p == pytest.approx(paired.pvalue, rel=1e-9)


def test_paired_variance_is_unbiased_and_pairing_what_differs_is_not() -> None:
    """Runs of a seed share an effect: the paired form sees the variance that δ has."""
    rng = np.random.default_rng(4)
    deltas, paired, unpaired = [], [], []
    for _ in range(4000):
        common, seeds = 3 * rng.standard_normal(30), rng.standard_normal((5, 1))
        sides = [
            seeds + layout(rng, 5, run=0.5, sentence=common + 2 * rng.standard_normal(30), rest=1.5)
            for _ in range(2)
        ]
        deltas.append(float(sides[1].mean() - sides[0].mean()))
        paired.append(seeds_test(deltas[-1], *sides, is_paired=True).variance)
        unpaired.append(seeds_test(deltas[-1], *sides).variance)
    exact = 2 * 0.25 / 5 + 8 / 30 + 2 * 2.25 / 30 / 5
    assert np.var(deltas) == pytest.approx(exact, rel=0.1)
    assert np.mean(paired) == pytest.approx(exact, rel=0.03)
    assert np.mean(unpaired) > 1.5 * exact  # the negative control counts the shared effect


def test_paired_seeds_test_equals_the_paired_t_test_where_sentences_do_not_matter() -> None:
    rng = np.random.default_rng(5)
    sides = [rng.standard_normal((6, 1)) + np.zeros((1, 400)) for _ in range(2)]
    scores = [side.mean(axis=1) for side in sides]
    result = seeds_test(float(scores[1].mean() - scores[0].mean()), *sides, is_paired=True)
    theirs = scipy.stats.ttest_rel(scores[1], scores[0])
    assert result.p == pytest.approx(theirs.pvalue, rel=1e-9)
    assert result.ci95 == pytest.approx(theirs.confidence_interval(0.95), rel=1e-9)


def test_unequal_numbers_of_runs_cannot_be_paired() -> None:
    with pytest.raises(ValueError, match="3 and 2 runs"):
        seeds_test(0.0, np.zeros((3, 9)), np.zeros((2, 9)), is_paired=True)


def test_interval_and_p_value_agree() -> None:
    for delta in (0.5, 1.9, 2.2, 5.0):
        result = SeedsTest(delta, 1.0, 12.3, 1.0, 0.5, 100)
        low, high = result.ci95
        assert (low <= 0 <= high) == (result.p > 0.05)


@pytest.mark.parametrize("is_paired", [False, True], ids=["unpaired", "paired"])
@pytest.mark.parametrize("run_variance", [0.1, 1.0, 4.0])
def test_as_many_seeds_as_asked_for_find_the_gap_four_times_in_five(
    run_variance: float, is_paired: bool
) -> None:
    rng = np.random.default_rng(3)
    asked = SeedsTest(1.0, 1.0, 5.0, run_variance, 0.02, 200, is_paired)
    needed = asked.seeds_needed()
    assert needed is not None
    found = 0
    for _ in range(400):
        sentence = np.sqrt(0.02 * 200) * rng.standard_normal(200)
        spread = np.sqrt(run_variance / 2)
        base = layout(rng, needed, run=spread, sentence=np.zeros(200), rest=0.01)
        other = layout(rng, needed, run=spread, sentence=sentence + 1.0, rest=0.01)
        delta = float(other.mean() - base.mean())
        found += seeds_test(delta, base, other, is_paired=is_paired).p <= 0.05
    assert found / 400 > 0.7  # whole seeds: more than 0.8 is common, less is not
    assert needed == 4 or not asked._settles(needed - 1)


@pytest.mark.parametrize("is_paired", [False, True], ids=["unpaired", "paired"])
@pytest.mark.parametrize("run_variance", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("level", [0.05, 0.01, 0.0025])
def test_a_stricter_level_takes_as_many_seeds_as_the_exact_power_says(
    level: float, run_variance: float, is_paired: bool
) -> None:
    """Where runs alone vary, t is noncentral, and its power is known; the formula is near it."""

    def power(n_runs: int) -> float:
        df = (n_runs - 1) * (1 if is_paired else 2)
        limit = scipy.stats.t.isf(level / 2, df)
        return float(scipy.stats.nct.sf(limit, df, np.sqrt(n_runs / run_variance)))

    needed = SeedsTest(1.0, 1.0, 5.0, run_variance, 0.0, 200, is_paired).seeds_needed(level)
    assert needed is not None
    exact = next(n_runs for n_runs in range(4, 100) if power(n_runs) >= 0.8)
    assert exact - 1 <= needed <= exact
    assert power(needed) > 0.79


def test_no_number_of_seeds_makes_up_for_a_small_test_set() -> None:
    assert SeedsTest(0.1, 1.0, 5.0, 0.1, 0.5, 200).seeds_needed() is None


def test_equal_runs_without_any_spread_give_p_one() -> None:
    side = np.full((2, 10), 3.0)
    result = seeds_test(0.0, side, side)
    assert result.p == 1
    assert result.ci95 == (0, 0)
