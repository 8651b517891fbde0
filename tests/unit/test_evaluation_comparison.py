"""Systems with several runs: which runs are tested, what is said, what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest
from test_evaluation_statistics import REFERENCES, damaged

from switchout.errors import SwitchOutError
from switchout.evaluation.comparison import Comparison, System, compare
from switchout.evaluation.scores import score_all
from switchout.evaluation.significance import holm
from switchout.evaluation.verdict import is_significant, runs_compared, verdict

KEYS = [
    "metric", "baseline", "system", "delta",
    "p_bootstrap", "p_randomization", "p_seeds", "p_holm", "ci95",
]  # fmt: skip


def system(name: str, *shares: float, seed: int = 0) -> System:
    runs = [damaged(REFERENCES, seed + 10 * i, share) for i, share in enumerate(shares)]
    return System(name, runs, [f"{name}.{i}" for i in range(len(runs))])


def compared(baseline: System, *systems: System, metric: str = "bleu") -> list[Comparison]:
    return compare(REFERENCES, baseline, systems, metrics=[metric], n_resamples=500)


def test_records_have_the_documented_keys_and_are_json() -> None:
    [result] = compared(system("a", 0.3), system("b", 0.2, seed=1))
    record = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert list(record)[: len(KEYS)] == KEYS
    assert record["p_seeds"] is None
    assert record["p_holm"] == record["p_bootstrap"]


def test_runs_are_paired_in_their_order_and_only_if_there_are_as_many() -> None:
    base, other = system("a", 0.5, 0.2, 0.4), system("b", 0.45, 0.15, 0.35, seed=1)
    [unpaired] = compare(REFERENCES, base, [other], n_resamples=50)
    [paired] = compare(REFERENCES, base, [other], n_resamples=50, is_paired=True)
    assert (unpaired.is_paired, paired.is_paired) == (False, True)
    assert paired.p < unpaired.p  # the runs go up and down together
    assert "paired by seed" in verdict(paired)
    with pytest.raises(SwitchOutError, match="as many runs"):
        compare(REFERENCES, base, [system("b", 0.2, 0.3)], is_paired=True)


def test_delta_is_the_difference_of_run_means_and_tests_use_lower_median_runs() -> None:
    base, other = system("a", 0.5, 0.2, 0.3, 0.4), system("b", 0.1, 0.3, 0.2, seed=1)
    [result] = compared(base, other)
    scores = [[s["bleu"] for s in score_all(x.runs, REFERENCES)] for x in (base, other)]
    assert result.delta == pytest.approx(np.mean(scores[1]) - np.mean(scores[0]))
    lower_medians = [sorted(scores[0])[1], sorted(scores[1])[1]]
    chosen = [scores[0].index(lower_medians[0]), scores[1].index(lower_medians[1])]
    names = [f"a.{chosen[0]}", f"b.{chosen[1]}"]
    assert result.to_dict()["tested_runs"] == names
    assert all(name in runs_compared(result) for name in names)
    single = compared(System("a", [base.runs[chosen[0]]]), System("b", [other.runs[chosen[1]]]))
    assert single[0].p_bootstrap == result.p_bootstrap
    assert single[0].p_randomization == result.p_randomization


def test_interval_of_one_run_against_several_is_of_the_means() -> None:
    """The middle of the interval is δ, not the difference of the runs that p_bootstrap compares."""
    [result] = compared(system("a", 0.9, 0.2, 0.1), system("b", 0.25, seed=1))
    assert result.seeds is None
    assert result.delta > 10  # the lower-median run of a is better than b, its mean is not
    assert sum(result.ci95) / 2 == pytest.approx(result.delta)  # type: ignore[arg-type]
    assert "the means over runs" in runs_compared(result)


@pytest.mark.parametrize("metric", ["bleu", "chrf", "ter"])
@pytest.mark.parametrize("n_runs", [1, 3])
def test_identical_systems_have_p_one(metric: str, n_runs: int) -> None:
    base = system("a", *[0.3] * n_runs)
    [result] = compared(base, System("b", base.runs), metric=metric)
    assert (result.delta, result.p_bootstrap, result.p_randomization) == (0, 1, 1)
    assert result.p == 1
    assert result.ci95 is not None
    assert result.ci95[0] <= 0 <= result.ci95[1]
    assert "No difference" in verdict(result)


def test_one_sentence_tests_nothing() -> None:
    [result] = compare(["a b c d"], System("a", [["a b"]]), [System("b", [["a b c d"]])])
    assert result.delta > 0
    assert (result.p_bootstrap, result.p_randomization) == (1, 1)
    assert result.ci95 is None
    assert "nothing is tested" in verdict(result)


def test_holm_corrects_over_systems_within_a_metric() -> None:
    systems = [system(f"s{i}", 0.3 - 0.05 * i, seed=i) for i in range(1, 4)]
    results = compared(system("a", 0.3), *systems)
    assert [r.p_holm for r in results] == holm([r.p_bootstrap for r in results])


def test_all_systems_see_the_same_resampled_test_sets() -> None:
    base, first, second = system("a", 0.3), system("b", 0.2, seed=1), system("c", 0.25, seed=2)
    alone = compared(base, second)[0]
    together = compared(base, first, second)[1]
    assert alone.p_bootstrap == together.p_bootstrap
    assert alone.p_randomization == together.p_randomization


def test_gains_have_mean_delta() -> None:
    [result] = compared(system("a", 0.3, 0.32), system("b", 0.2, 0.22, seed=1), metric="chrf")
    assert result.gains.mean() == pytest.approx(result.delta, rel=0.05)


def test_verdict_gives_the_plain_p_by_its_name_and_the_corrected_one_by_its_own() -> None:
    others = [system(name, *[0.3] * 4, seed=seed) for name, seed in (("b", 1), ("c", 2))]
    for result in compared(system("a", *[0.35] * 4), *others):
        assert f"p_seeds = {result.seeds.p:.3f}" in verdict(result)  # type: ignore[union-attr]
        corrected = f"p_holm = {result.p_holm:.3f}"
        assert (corrected in verdict(result)) == (result.p_holm != result.p)
    [single] = compared(system("a", 0.35), system("b", 0.3, seed=1))
    assert "p_bootstrap" in verdict(single)
    assert "p_holm" not in verdict(single)


def test_lower_ter_is_better() -> None:
    [result] = compared(
        system("a", 0.5, 0.5, 0.5, 0.5), system("b", 0.1, 0.1, 0.1, 0.1, seed=1), metric="ter"
    )
    assert result.delta < 0
    assert "b is better than a" in verdict(result)


@pytest.mark.parametrize(
    ("n_base", "n_system", "expected"),
    [
        (1, 1, "One run a side is too few"),
        (2, 2, "2 runs a side are too few"),
        (3, 5, "3 and 5 runs are few: confirm it with at least 4"),  # a difference is found
        (1, 3, "One run against 3 is too few"),
        (3, 1, "One run against 3 is too few"),
        (4, 4, None),
    ],
)
def test_few_runs_are_said_to_be_few(n_base: int, n_system: int, expected: str | None) -> None:
    base, other = system("a", *[0.35] * n_base), system("b", *[0.25] * n_system, seed=1)
    [result] = compared(base, other)
    text = verdict(result)
    assert f"{result.ci95[0]:+.2f} to {result.ci95[1]:+.2f}" in text  # type: ignore[index]
    if expected is None:
        assert "few" not in text
    else:
        assert expected in text
        assert "seeds" in text  # how many would settle it, or that one must train more


def test_no_system_is_refused() -> None:
    with pytest.raises(SwitchOutError, match="no system"):
        compare(REFERENCES, system("a", 0.3), [])


def test_a_p_of_two_runs_says_nothing_of_a_mean_on_their_other_side() -> None:
    """One run against three, one of them far above: the median run is worse, the mean better."""
    one, others = system("base", 0.5), system("new", 0.7, 0.72, 0.0, seed=3)
    [result] = compared(one, others)
    assert result.tested_delta < 0 < result.delta
    assert result.p_bootstrap < 0.01
    assert not is_significant(result)
    assert "No difference" in verdict(result)
    [alike] = compared(one, system("new", 0.1, 0.12, 0.0, seed=3))
    assert is_significant(alike)
