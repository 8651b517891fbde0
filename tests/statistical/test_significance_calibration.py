"""How often the comparison tests reject a true null hypothesis: a small copy of the simulation.

`benchmarks/significance_calibration.py` runs the full one; `docs/evaluation.md` has its numbers.
"""

from __future__ import annotations

import importlib.util
import math
import os
import random
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import scipy.stats

from switchout.evaluation.resampling import bootstrap_sums, jackknife, subset_sums
from switchout.evaluation.significance import p_bootstrap, p_randomization, seeds_test
from switchout.files import read_lines

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("SWITCHOUT_DATA", ROOT.parent / "shared" / "data"))
LEVEL, N_SENTENCES, N_RESAMPLES = 0.05, 300, 399


def load_simulation() -> ModuleType:
    path = ROOT / "benchmarks" / "significance_calibration.py"
    spec = importlib.util.spec_from_file_location("significance_calibration", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


simulation = load_simulation()


@pytest.fixture(scope="module")
def population():  # type: ignore[no-untyped-def]
    """Real sentences where they are at hand, else random ones with frequent and rare words."""
    real = DATA / "iwslt14_de_en" / "test.en.gz"
    if real.exists():
        return simulation.Population.from_sentences(read_lines(real)[:800])
    rng = random.Random(0)
    words, weights = [f"w{i}" for i in range(2000)], [1 / (i + 1) for i in range(2000)]
    lines = [" ".join(rng.choices(words, weights, k=rng.randint(3, 30))) for _ in range(800)]
    return simulation.Population.from_sentences(lines)


def is_too_often(n_rejected: int, n_trials: int) -> bool:
    """Whether a test of level 5% rejects so often with probability below one in a million."""
    return scipy.stats.binom.sf(n_rejected - 1, n_trials, LEVEL) < 1e-6


def is_too_rare(n_rejected: int, n_trials: int) -> bool:
    return scipy.stats.binom.cdf(n_rejected, n_trials, LEVEL) < 1e-6


def test_sentence_tests_reject_a_true_null_in_5_percent(population) -> None:  # type: ignore[no-untyped-def]
    n_trials = 600
    metric, quality = population.metric, population.bleu(np.array([2.0]))
    rejected = {"bootstrap": 0, "randomization": 0, "too narrow": 0, "not centred": 0}
    for trial in range(n_trials):
        rng = np.random.default_rng((7, trial))
        [a], [b] = population.draw_systems(N_SENTENCES, [quality, quality], rng)
        sums = a.sum(axis=0), b.sum(axis=0)
        delta = float(metric.from_sums(sums[1]) - metric.from_sums(sums[0]))
        drawn = bootstrap_sums([a, b], n_resamples=N_RESAMPLES, seed=trial)
        resampled = metric.from_sums(drawn[1]) - metric.from_sums(drawn[0])
        [swap] = subset_sums([b - a], n_resamples=N_RESAMPLES, seed=trial)
        shuffled = metric.from_sums(sums[1] - swap) - metric.from_sums(sums[0] + swap)
        rejected["bootstrap"] += p_bootstrap(delta, resampled) <= LEVEL
        rejected["randomization"] += p_randomization(delta, shuffled) <= LEVEL
        # negative controls: twice too many sentences drawn; |δ*| ≥ |δ| on the bootstrap
        narrow = delta + (resampled - delta) / math.sqrt(2)
        rejected["too narrow"] += p_bootstrap(delta, narrow) <= LEVEL
        rejected["not centred"] += p_randomization(delta, resampled) <= LEVEL
    for name in ("bootstrap", "randomization"):
        assert not is_too_often(rejected[name], n_trials), rejected
        assert not is_too_rare(rejected[name], n_trials), rejected
    assert is_too_often(rejected["too narrow"], n_trials)
    assert is_too_rare(rejected["not centred"], n_trials)


def welch_on_runs(a: np.ndarray, b: np.ndarray) -> float:
    """Negative control: seeds only, the test set taken as given."""
    return float(scipy.stats.ttest_ind(a.mean(axis=1), b.mean(axis=1), equal_var=False).pvalue)


def paired_on_sentences(a: np.ndarray, b: np.ndarray) -> float:
    """Negative control: sentences only, the runs taken as given."""
    return float(scipy.stats.ttest_1samp(b.mean(axis=0) - a.mean(axis=0), 0).pvalue)


@pytest.mark.parametrize(
    ("n_runs", "spread", "control"),
    [((2, 2), 2.5, paired_on_sentences), ((4, 4), 1.0, paired_on_sentences),
     ((4, 9), 0.4, welch_on_runs), ((9, 9), 0.4, welch_on_runs)],
    ids=["2v2 seeds vary most", "4v4 both vary", "4v9 sentences vary most", "9v9"],
)  # fmt: skip
def test_seeds_test_seldom_rejects_a_true_null(
    population,  # type: ignore[no-untyped-def]
    n_runs: tuple[int, int],
    spread: float,
    control: Callable[[np.ndarray, np.ndarray], float],
) -> None:
    n_trials, test_set_spread = 300, 0.9  # the latter: BLEU, at this size of the test set
    metric, quality = population.metric, population.bleu(np.array([2.0]))
    n_rejected = n_control = 0
    for trial in range(n_trials):
        rng = np.random.default_rng((8, trial))
        qualities = [quality + spread * test_set_spread * rng.standard_normal(n) for n in n_runs]
        sides = population.draw_systems(N_SENTENCES, qualities, rng)
        a, b = (np.array([jackknife(metric, run) for run in side]) for side in sides)
        means = [metric.from_sums(side.sum(axis=1)).mean() for side in sides]
        n_rejected += seeds_test(float(means[1] - means[0]), a, b).p <= LEVEL
        n_control += control(a, b) <= LEVEL
    assert not is_too_often(n_rejected, n_trials), n_rejected
    assert is_too_often(n_control, n_trials), n_control


def test_paired_seeds_test_seldom_rejects_a_true_null_and_sees_more(population) -> None:  # type: ignore[no-untyped-def]
    """Runs of a seed go up and down together; the smaller of two p-values is no test."""
    n_trials, correlation = 300, 0.8
    setting = simulation.Setting(N_SENTENCES, (4, 4), 2.5 * 0.9, 0.0, correlation)
    null = [
        simulation.paired_trial(population, np.random.default_rng((9, trial)), setting=setting)
        for trial in range(n_trials)
    ]
    n_rejected = sum(p["paired"] <= LEVEL for p in null)
    assert not is_too_often(n_rejected, n_trials), n_rejected
    assert not is_too_rare(n_rejected, n_trials), n_rejected
    gaining = simulation.Setting(N_SENTENCES, (4, 4), 2.5 * 0.9, 3.0, correlation)
    found = [
        simulation.paired_trial(population, np.random.default_rng((10, trial)), setting=gaining)
        for trial in range(100)
    ]
    seen = {name: sum(p[name] <= LEVEL for p in found) for name in ("paired", "unpaired")}
    assert seen["paired"] > seen["unpaired"] + 15, seen


def test_pairing_runs_that_have_nothing_in_common_keeps_the_level_but_sentences_alone_do_not(
    population,  # type: ignore[no-untyped-def]
) -> None:
    n_trials = 300
    setting = simulation.Setting(N_SENTENCES, (4, 4), 2.5 * 0.9, 0.0)
    n_rejected = n_control = 0
    for trial in range(n_trials):
        sides = setting.draw(population, np.random.default_rng((11, trial)))
        metric = population.metric
        a, b = (np.array([jackknife(metric, run) for run in side]) for side in sides)
        means = [metric.from_sums(side.sum(axis=1)).mean() for side in sides]
        delta = float(means[1] - means[0])
        n_rejected += seeds_test(delta, a, b, is_paired=True).p <= LEVEL
        n_control += paired_on_sentences(a, b) <= LEVEL
    assert not is_too_often(n_rejected, n_trials), n_rejected
    assert is_too_often(n_control, n_trials), n_control
