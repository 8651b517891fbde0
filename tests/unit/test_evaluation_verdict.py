"""What would settle a comparison: at the level that its p has to reach in its family."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scipy.stats import nct as noncentral
from scipy.stats import t as student
from test_evaluation_statistics import REFERENCES, damaged

from switchout.evaluation.comparison import Comparison, System, compare, corrected
from switchout.evaluation.significance import SeedsTest
from switchout.evaluation.verdict import LEVEL, verdict, what_settles

N_SEEDS = 9


def seeds_of(p: float, n_runs: int) -> SeedsTest:
    """A gap of 1 with this p, where runs alone vary."""
    df = 2.0 * (n_runs - 1)
    variance = float(student.isf(p / 2, df)) ** -2
    return SeedsTest(1.0, variance, df, variance * n_runs, 0.0, 1000)


@pytest.fixture(scope="module")
def sides() -> list[System]:
    runs = [damaged(REFERENCES, seed) for seed in range(2 * N_SEEDS)]
    return [System("base", runs[:N_SEEDS]), System("new", runs[N_SEEDS:])]


def a_test(sides: list[System], p: float, family: int, n_runs: int = N_SEEDS) -> Comparison:
    """A comparison with this p, the smallest in its family."""
    base, new = (replace(side, runs=side.runs[:n_runs]) for side in sides)
    [result] = compare(REFERENCES, base, [new], n_resamples=50)
    result = replace(result, delta=1.0, seeds=seeds_of(p, n_runs))
    return corrected([result], [1.0] * (family - 1))[0]


def power(n_runs: int, run_variance: float, level: float) -> float:
    """The chance to find a gap of 1 where runs alone vary."""
    df = 2 * (n_runs - 1)
    limit = student.isf(level / 2, df)
    return float(noncentral.sf(limit, df, (n_runs / run_variance) ** 0.5))


def test_seeds_that_settle_it_do_so_after_the_correction(sides: list[System]) -> None:
    result = a_test(sides, 0.0026, family=20)
    assert result.seeds is not None
    assert result.p_holm == pytest.approx(0.052)
    assert result.seeds.seeds_needed() == 7  # for one question; there are nine already
    needed = int(what_settles(result).removesuffix(" seeds a side"))
    assert needed > N_SEEDS
    powers = [power(n, result.seeds.run_variance, 0.05 / 20) for n in (needed - 1, needed)]
    assert powers[0] < 0.8 <= powers[1]


def test_one_question_takes_what_the_plain_level_takes(sides: list[System]) -> None:
    result = a_test(sides, 0.2, family=1)
    assert result.seeds is not None
    assert what_settles(result) == f"{result.seeds.seeds_needed()} seeds a side"


@pytest.mark.parametrize("family", [1, 20])
def test_as_many_seeds_as_there_are_never_settle_it(sides: list[System], family: int) -> None:
    """Few degrees of freedom hide a gap for which the formula asks less than was trained."""
    result = a_test(sides, 0.04, family=1)
    assert result.seeds is not None
    unsure = corrected([replace(result, seeds=replace(result.seeds, delta=2.0, df=1.0))])[0]
    unsure = replace(unsure, p_holm=min(1.0, family * unsure.p))
    assert unsure.p > LEVEL
    assert unsure.seeds is not None
    assert unsure.seeds.seeds_needed(LEVEL / family) <= N_SEEDS  # type: ignore[operator]
    assert what_settles(unsure) == f"more than {N_SEEDS} seeds a side"


def test_a_corrected_p_of_one_gives_a_bound_only(sides: list[System]) -> None:
    """The family asks for 0.05 / 20, but p_holm = 1 tells of 0.05 / 5 at most."""
    result = a_test(sides, 0.2, family=20)
    assert result.p_holm == 1
    assert result.seeds is not None
    assert what_settles(result) == f"at least {result.seeds.seeds_needed(0.01)} seeds a side"


def test_a_verdict_on_few_runs_counts_the_correction_too(sides: list[System]) -> None:
    alone, one_of_ten = (a_test(sides, 0.06, family, n_runs=3) for family in (1, 10))
    numbers = [what_settles(result).split()[0] for result in (alone, one_of_ten)]
    assert int(numbers[0]) < int(numbers[1])
    for result, number in zip((alone, one_of_ten), numbers, strict=True):
        assert f"this spread, {number} seeds a side" in verdict(result)
