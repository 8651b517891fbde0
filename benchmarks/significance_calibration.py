"""How often do the tests of `switchout compare` reject a true null hypothesis, and see +1 BLEU?

Real reference sentences, outputs made by damaging them. Every trial draws fresh test sentences,
systems and runs; baseline and system follow the same law, so the null hypothesis holds exactly.

* A sentence has outputs of several qualities (share of damaged words) and several replicates.
* A run of quality b (a corpus BLEU) mixes two neighbouring qualities, sentence by sentence, so
  that its expected BLEU is b. Runs differ in b: Gaussian with the given spread.
* In half of the sentences all runs of both systems make the same mistakes, in a quarter the runs
  of one system do, in the rest each run its own: some sentences are harder than others, some are
  harder for one system, as with real ones.

Seed spread is in units of the test-set spread: the standard deviation, over test sets, of the BLEU
difference of two single runs of equal quality.

    OMP_NUM_THREADS=1 python benchmarks/significance_calibration.py [--paired] [--only 4v9]
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from switchout.evaluation.metrics import Array, Metric
from switchout.evaluation.resampling import bootstrap_sums, jackknife, subset_sums
from switchout.evaluation.significance import SeedsTest, p_bootstrap, p_randomization, seeds_test
from switchout.files import read_lines

SLOW = "about ten minutes"

DAMAGE = (0.15, 0.2, 0.25, 0.3, 0.35)  # share of words replaced; a third as many are dropped
REPLICATES = 4
GRID = ((2, 2), (3, 3), (4, 4), (4, 9), (9, 9))
SPREADS = (0.4, 1.0, 2.5)
PAIRED_GRID, CORRELATIONS = ((4, 4), (9, 9)), (-0.4, 0.0, 0.4, 0.8)
QUALITY = 2.0  # of the runs, in units of the DAMAGE list's index: the middle of the list


@dataclass(frozen=True)
class Population:
    """Statistics of many possible outputs, [damage, replicate, sentence, statistic]."""

    metric: Metric
    statistics: Array

    @classmethod
    def from_sentences(cls, references: Sequence[str], seed: int = 0) -> Population:
        metric = Metric("bleu", references, tokenize="none")
        rng = random.Random(seed)
        vocabulary = [word for line in references for word in line.split()]
        tables = [
            [
                metric.statistics(_damaged(references, share, vocabulary, rng))
                for _ in range(REPLICATES)
            ]
            for share in DAMAGE
        ]
        return cls(metric, np.array(tables))

    @property
    def n_sentences(self) -> int:
        return self.statistics.shape[2]

    @cached_property
    def expected_sums(self) -> Array:
        return self.statistics.mean(axis=1).sum(axis=1)

    @cached_property
    def curve(self) -> tuple[Array, Array]:
        grid = np.linspace(0, len(DAMAGE) - 1, 401)
        return grid, self.bleu(grid)

    def bleu(self, quality: Array) -> Array:
        """Expected BLEU of a run at a position (0 … len(DAMAGE) − 1) in the damage list."""
        sums = self.expected_sums
        low = np.clip(np.floor(quality).astype(int), 0, len(DAMAGE) - 2)
        share = (quality - low)[..., None]
        return self.metric.from_sums((1 - share) * sums[low] + share * sums[low + 1])

    def quality(self, bleu: Array) -> Array:
        """The inverse of `bleu`, by interpolation on a fine grid."""
        grid, bleus = self.curve
        return np.interp(bleu, bleus[::-1], grid[::-1])

    def draw_systems(
        self, n_sentences: int, sides: Sequence[Array], rng: np.random.Generator
    ) -> list[Array]:
        """Outputs of new systems on a new test set, [run, sentence, statistic] per side.

        Args:
            n_sentences: Size of the test set.
            sides: Expected BLEU of each run, [run], for each system.
            rng: Source of all randomness.
        """
        sentences = rng.integers(self.n_sentences, size=n_sentences)
        sharing = rng.random(n_sentences)
        for_all = rng.random((2, 1, n_sentences))
        systems = []
        for bleus in sides:
            for_system = rng.random((2, 1, n_sentences))
            for_run = rng.random((2, len(bleus), n_sentences))
            coin, which = np.where(
                sharing < 0.5, for_all, np.where(sharing < 0.75, for_system, for_run)
            )
            damage = np.floor(self.quality(bleus)[:, None] + coin).astype(int)
            replicate = (which * REPLICATES).astype(int)
            systems.append(
                self.statistics[np.minimum(damage, len(DAMAGE) - 1), replicate, sentences]
            )
        return systems


def _damaged(
    references: Sequence[str], share: float, vocabulary: list[str], rng: random.Random
) -> list[str]:
    return [
        " ".join(
            rng.choice(vocabulary) if rng.random() < share else word
            for word in line.split()
            if rng.random() > share / 3
        )
        for line in references
    ]


def hierarchical_bootstrap(a: Array, b: Array, metric: Metric, seed: int) -> float:
    """The alternative: resample runs and sentences, then the formula of `p_bootstrap`."""
    runs = [*a, *b]
    scores = np.array([metric.from_sums(run.sum(axis=0)) for run in runs])
    delta = float(scores[len(a) :].mean() - scores[: len(a)].mean())
    resampled = np.stack(
        [metric.from_sums(s) for s in bootstrap_sums(runs, n_resamples=999, seed=seed)], axis=1
    )
    rng = np.random.default_rng((seed, 2))
    weights = [rng.multinomial(n, [1 / n] * n, size=999) / n for n in (len(a), len(b))]
    means = [
        (resampled[:, : len(a)] * weights[0]).sum(axis=1),
        (resampled[:, len(a) :] * weights[1]).sum(axis=1),
    ]
    return p_bootstrap(delta, means[1] - means[0])


def plain_satterthwaite(test: SeedsTest, a: Array, b: Array) -> float:
    """The alternative: run variances as estimated, without the factor n/(n−1), in the formula."""
    runs = [float(side.mean(axis=1).var(ddof=1)) / len(side) for side in (a, b)]
    sentences = float((b.mean(axis=0) - a.mean(axis=0)).var(ddof=1)) / test.n_sentences
    terms = zip([*runs, sentences], [len(a) - 1, len(b) - 1, test.n_sentences - 1], strict=True)
    df = test.variance**2 / sum(term**2 / df for term, df in terms)
    return replace(test, df=df).p


def sacrebleu_bootstrap(delta: float, resampled: Array) -> float:
    """sacrebleu's formula, for comparison: |δ*| − mean |δ*| > |δ|."""
    sizes = np.abs(resampled)
    extreme = int(np.count_nonzero(sizes - sizes.mean() > abs(delta)))
    return (1 + extreme) / (len(sizes) + 1)


def single_run_trial(
    population: Population, rng: np.random.Generator, *, n_sentences: int, gain: float
) -> dict[str, float]:
    """p-values of the sentence tests for two single runs of fixed quality."""
    metric, base = population.metric, population.bleu(np.array([QUALITY]))
    [a], [b] = population.draw_systems(n_sentences, [base, base + gain], rng)
    seed = int(rng.integers(2**32))
    sums = a.sum(axis=0), b.sum(axis=0)
    delta = float(metric.from_sums(sums[1]) - metric.from_sums(sums[0]))
    drawn = bootstrap_sums([a, b], n_resamples=999, seed=seed)
    resampled = metric.from_sums(drawn[1]) - metric.from_sums(drawn[0])
    [swap] = subset_sums([b - a], n_resamples=999, seed=seed)
    shuffled = metric.from_sums(sums[1] - swap) - metric.from_sums(sums[0] + swap)
    return {
        "p_bootstrap": p_bootstrap(delta, resampled),
        "p_randomization": p_randomization(delta, shuffled),
        "sacrebleu": sacrebleu_bootstrap(delta, resampled),
    }


@dataclass(frozen=True)
class Setting:
    """Two systems with several runs each; ``seed_spread`` and ``gain`` in BLEU.

    With a ``correlation`` run k of both systems has the same seed, which moves both alike.
    """

    n_sentences: int
    n_runs: tuple[int, int]
    seed_spread: float
    gain: float
    correlation: float = 0.0

    def draw(self, population: Population, rng: np.random.Generator) -> list[Array]:
        base = population.bleu(np.array([QUALITY]))
        own = [rng.standard_normal(n) for n in self.n_runs]
        if self.correlation:
            own[1] = self.correlation * own[0] + math.sqrt(1 - self.correlation**2) * own[1]
        runs = [base + self.seed_spread * deviation for deviation in own]
        return population.draw_systems(self.n_sentences, [runs[0], runs[1] + self.gain], rng)


def seeds_trial(
    population: Population, rng: np.random.Generator, *, setting: Setting
) -> dict[str, float]:
    """p-values of the test over seeds."""
    metric, sides = population.metric, setting.draw(population, rng)
    pseudo_values = [np.array([jackknife(metric, run) for run in side]) for side in sides]
    means = [metric.from_sums(side.sum(axis=1)).mean() for side in sides]
    test = seeds_test(float(means[1] - means[0]), *pseudo_values)
    return {"p_seeds": test.p, "plain Satterthwaite": plain_satterthwaite(test, *pseudo_values)}


def paired_trial(
    population: Population, rng: np.random.Generator, *, setting: Setting
) -> dict[str, float]:
    """p-values of the test over seeds, unpaired and paired, and of the wrong use of both."""
    metric, sides = population.metric, setting.draw(population, rng)
    pseudo_values = [np.array([jackknife(metric, run) for run in side]) for side in sides]
    means = [metric.from_sums(side.sum(axis=1)).mean() for side in sides]
    delta = float(means[1] - means[0])
    unpaired, paired = (
        seeds_test(delta, *pseudo_values, is_paired=is_paired).p for is_paired in (False, True)
    )
    return {"unpaired": unpaired, "paired": paired, "the smaller": min(unpaired, paired)}


def hierarchical_trial(
    population: Population, rng: np.random.Generator, *, setting: Setting
) -> dict[str, float]:
    a, b = setting.draw(population, rng)
    seed = int(rng.integers(2**32))
    return {"hierarchical": hierarchical_bootstrap(a, b, population.metric, seed)}


Trial = Callable[..., dict[str, float]]


def rejection_rates(trial: Trial, n_trials: int, seed: int) -> dict[str, float]:
    """Share of trials with p ≤ 0.05, per test."""
    trials = [trial(np.random.default_rng((seed, i))) for i in range(n_trials)]
    return {name: float(np.mean([t[name] <= 0.05 for t in trials])) for name in trials[0]}


def binomial_limits(n_trials: int, rate: float = 0.05) -> tuple[float, float]:
    """The 99% interval of an observed rate when the true one is ``rate`` (exact, by summing)."""
    log_pmf = [
        math.lgamma(n_trials + 1) - math.lgamma(k + 1) - math.lgamma(n_trials - k + 1)
        + k * math.log(rate) + (n_trials - k) * math.log(1 - rate)
        for k in range(n_trials + 1)
    ]  # fmt: skip
    cumulative = np.cumsum(np.exp(log_pmf))
    low, high = np.searchsorted(cumulative, [0.005, 0.995])
    return low / n_trials, high / n_trials


def real_sentences(limit: int) -> list[str]:
    """Reference sentences of the German–English test set of IWSLT'14."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("SWITCHOUT_DATA", default)) / "iwslt14_de_en"
    return read_lines(folder / "test.en.gz")[:limit]


def test_set_spread(population: Population, n_sentences: int, seed: int) -> float:
    """Standard deviation over test sets of δ between two runs of equal quality, in BLEU."""
    quality = population.bleu(np.array([QUALITY]))
    deltas = []
    for i in range(1000):
        rng = np.random.default_rng((seed, 1, i))
        [a], [b] = population.draw_systems(n_sentences, [quality, quality], rng)
        a_score, b_score = population.metric.from_sums(np.stack([a, b]).sum(axis=1))
        deltas.append(b_score - a_score)
    return float(np.std(deltas, ddof=1))


def cells(
    options: argparse.Namespace, spread: float
) -> Iterator[tuple[dict[str, Any], Trial, int]]:
    """All cells of the study: what it is, the trial, how many."""
    size = options.sentences
    for gain, n_trials in ((0.0, options.trials), (1.0, options.power_trials)):
        single = partial(single_run_trial, n_sentences=size, gain=gain)
        yield {"runs": "1v1", "gain": gain}, single, 4 * n_trials  # one cell, so more of it
        for n_runs, ratio in itertools.product(GRID, SPREADS):
            setting = Setting(size, n_runs, ratio * spread, gain)
            cell = {"runs": f"{n_runs[0]}v{n_runs[1]}", "spread": ratio, "gain": gain}
            yield cell, partial(seeds_trial, setting=setting), n_trials
            if gain == 0 and options.hierarchical_trials:
                trial = partial(hierarchical_trial, setting=setting)
                yield cell, trial, options.hierarchical_trials


def paired_cells(
    options: argparse.Namespace, spread: float
) -> Iterator[tuple[dict[str, Any], Trial, int]]:
    """The cells of the study of pairing."""
    for gain, n_trials in ((0.0, options.trials), (1.0, options.power_trials)):
        for n_runs, ratio, correlation in itertools.product(PAIRED_GRID, SPREADS, CORRELATIONS):
            setting = Setting(options.sentences, n_runs, ratio * spread, gain, correlation)
            cell = {"runs": f"{n_runs[0]}v{n_runs[1]}", "spread": ratio, "gain": gain}
            trial = partial(paired_trial, setting=setting)
            yield {**cell, "correlation": correlation}, trial, n_trials


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=2000, help="under the null hypothesis")
    parser.add_argument("--power-trials", type=int, default=500, help="at +1 BLEU")
    parser.add_argument("--hierarchical-trials", type=int, default=500, help="of the alternative")
    parser.add_argument("--sentences", type=int, default=1000, help="per test set")
    parser.add_argument("--paired", action="store_true", help="the study of pairing by seed")
    parser.add_argument("--only", help="1v1, 2v2, …: these numbers of runs")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    population = Population.from_sentences(real_sentences(4000))
    spread = test_set_spread(population, options.sentences, options.seed)
    low, high = binomial_limits(options.trials)
    bleu = float(population.bleu(np.array(QUALITY)))
    print(
        f"{population.n_sentences} sentences, test sets of {options.sentences}, BLEU {bleu:.2f}, "
        f"test-set spread {spread:.3f}; 99% limits of 5% in {options.trials} trials: "
        f"{low:.4f} to {high:.4f}"
    )
    study = paired_cells if options.paired else cells
    for cell, trial, n_trials in study(options, spread):
        if n_trials and options.only in (None, cell["runs"]):
            rates = rejection_rates(partial(trial, population), n_trials, options.seed)
            print(json.dumps({**cell, "trials": n_trials, **rates}), flush=True)


if __name__ == "__main__":
    main()
