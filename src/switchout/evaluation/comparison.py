"""Systems with several runs each, compared with a baseline on the same test sentences."""

from __future__ import annotations

import math
import statistics as stats
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from switchout.errors import SwitchOutError
from switchout.evaluation.metrics import Array, Measure, Metric
from switchout.evaluation.resampling import bootstrap_scores, jackknife, subset_sums
from switchout.evaluation.significance import (
    SeedsTest,
    bootstrap_interval,
    holm,
    p_bootstrap,
    p_randomization,
    seeds_test,
)
from switchout.progress import Meter

N_RESAMPLES = 10_000


@dataclass(frozen=True)
class System:
    """Outputs of one system: a list of hypotheses per run (seed)."""

    name: str
    runs: Sequence[Sequence[str]]
    run_names: Sequence[str] = ()

    def run_name(self, run: int) -> str:
        """Return what a run is called, by its index."""
        return self.run_names[run] if self.run_names else f"run {run + 1}"


@dataclass(frozen=True)
class Scored:
    """A system under one metric.

    Attributes:
        system: Whose outputs.
        scores: Corpus score of each run.
        tested: Index of the lower-median run, which the single-run tests use.
        statistics: Sentence statistics [sentence, statistic] of each run.
        pseudo_values: Jackknife pseudo-values of all runs, [run, sentence].
    """

    system: System
    scores: tuple[float, ...]
    tested: int
    statistics: Sequence[Array]
    pseudo_values: Array

    @property
    def name(self) -> str:
        return self.system.name

    @property
    def tested_run(self) -> str:
        """The name of the run that the single-run tests use."""
        return self.system.run_name(self.tested)

    @property
    def mean(self) -> float:
        """Mean score over runs."""
        return stats.fmean(self.scores)

    @property
    def median(self) -> float:
        """Median score over runs."""
        return stats.median(self.scores)

    @property
    def spread(self) -> float | None:
        """Standard deviation over runs."""
        return stats.stdev(self.scores) if len(self.scores) > 1 else None


@dataclass(frozen=True)
class Comparison:
    """One system against the baseline under one metric; δ = system − baseline.

    ``p_bootstrap`` and ``p_randomization`` compare the lower-median runs; ``seeds`` compares the
    systems (None with fewer than 2 runs a side). ``ci95`` is that of ``seeds``, or the bootstrap's
    of ``delta``, over all runs; None where one sentence leaves nothing to resample.
    """

    metric: Measure
    baseline: Scored
    system: Scored
    delta: float
    p_bootstrap: float
    p_randomization: float
    seeds: SeedsTest | None
    ci95: tuple[float, float] | None
    n_resamples: int
    p_holm: float = math.nan

    @property
    def p_seeds(self) -> float | None:
        """The p-value of the test over seeds; None where there is none."""
        return None if self.seeds is None else self.seeds.p

    @property
    def p(self) -> float:
        """The p-value that the verdict and Holm's correction use: over seeds where there are."""
        return self.p_bootstrap if self.seeds is None else self.seeds.p

    @property
    def tested_delta(self) -> float:
        """The difference between the two runs that the sentence tests compare."""
        base, system = self.baseline, self.system
        return system.scores[system.tested] - base.scores[base.tested]

    @property
    def is_paired(self) -> bool:
        """Whether runs of the same seed were compared with each other."""
        return self.seeds is not None and self.seeds.is_paired

    @property
    def gains(self) -> Array:
        """What each sentence adds to δ, [sentence]: jackknifed, mean over runs; mean ≈ δ."""
        system, baseline = self.system.pseudo_values, self.baseline.pseudo_values
        return np.asarray(system.mean(axis=0) - baseline.mean(axis=0))

    def to_dict(self) -> dict[str, Any]:
        """Return what ``switchout compare --json`` prints."""
        return {
            "metric": self.metric.name,
            "baseline": self.baseline.name,
            "system": self.system.name,
            "delta": self.delta,
            "p_bootstrap": self.p_bootstrap,
            "p_randomization": self.p_randomization,
            "p_seeds": self.p_seeds,
            "p_holm": self.p_holm,
            "ci95": None if self.ci95 is None else list(self.ci95),
            "paired": self.is_paired,
            "baseline_scores": list(self.baseline.scores),
            "system_scores": list(self.system.scores),
            "baseline_median": self.baseline.median,
            "system_median": self.system.median,
            "tested_runs": [self.baseline.tested_run, self.system.tested_run],
            "seeds_needed": None if self.seeds is None else self.seeds.seeds_needed(),
            "n_resamples": self.n_resamples,
            "signature": self.metric.signature,
        }


def compare(
    references: Sequence[str],
    baseline: System,
    systems: Sequence[System],
    *,
    metrics: Sequence[str] = ("bleu",),
    tokenize: str = "13a",
    lowercase: bool = False,
    is_paired: bool = False,
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
    meter: Meter | None = None,
) -> list[Comparison]:
    """Compare each system with the baseline; ``p_holm`` corrects for their number, per metric.

    Args:
        references: Real text, one line per test sentence.
        baseline, systems: Their outputs.
        metrics: Any of bleu, chrf, ter.
        tokenize, lowercase: sacrebleu's tokenizer and case for BLEU.
        is_paired: Run k of every system has the seed of run k of the baseline, and it was decided
            before looking that the test over seeds pairs them.
        n_resamples, seed: Of the tests that resample sentences.
        meter: Advanced by one per run and metric.

    Example:
        >>> base = System("base", [["a b c d e", "f g h i k"]])
        >>> [result] = compare(["a b c d e", "f g h i j"], base, [System("same", base.runs)])
        >>> result.delta, result.p_bootstrap, result.p_randomization
        (0.0, 1.0, 1.0)
    """
    if not systems:
        raise SwitchOutError("no system to compare with the baseline: give at least one")
    if is_paired and any(len(system.runs) != len(baseline.runs) for system in systems):
        raise SwitchOutError("paired by seed: all systems need as many runs as the baseline")
    results = []
    for name in metrics:
        metric = Metric(name, references, tokenize=tokenize, lowercase=lowercase)
        base, *others = [score_system(metric, s, meter=meter) for s in (baseline, *systems)]
        results += compare_scored(
            metric, base, others, is_paired=is_paired, n_resamples=n_resamples, seed=seed
        )
    return results


def score_system(metric: Metric, system: System, *, meter: Meter | None = None) -> Scored:
    """Return a system's runs under one metric, ready to be compared several times."""
    statistics = []
    for hypotheses in system.runs:
        statistics.append(metric.statistics(hypotheses))
        if meter:
            meter.advance()
    return scored_from(metric, system, statistics)


def scored_from(metric: Measure, system: System, statistics: Sequence[Array]) -> Scored:
    """Return the same from stored statistics; the system may come without its texts."""
    scores = tuple(metric.score(s) for s in statistics)
    tested = sorted(range(len(scores)), key=scores.__getitem__)[(len(scores) - 1) // 2]
    pseudo_values = np.array([jackknife(metric, s) for s in statistics])
    return Scored(system, scores, tested, statistics, pseudo_values)


def compare_scored(
    metric: Measure,
    base: Scored,
    others: Sequence[Scored],
    *,
    is_paired: bool = False,
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
) -> list[Comparison]:
    """Compare each with ``base``, all on the same resampled test sets, Holm-corrected."""
    base_drawn, *others_drawn = bootstrap_scores(
        metric, [s.statistics for s in (base, *others)], n_resamples=n_resamples, seed=seed
    )
    base_tested = base.statistics[base.tested]
    swapped = subset_sums(
        [other.statistics[other.tested] - base_tested for other in others],
        n_resamples=n_resamples,
        seed=seed,
    )
    results = []
    for other, drawn, swap in zip(others, others_drawn, swapped, strict=True):
        other_sum = other.statistics[other.tested].sum(axis=0)
        swapped_base = metric.from_sums(base_tested.sum(axis=0) + swap)
        results.append(
            _comparison(
                metric,
                base,
                other,
                is_paired=is_paired,
                resampled=drawn[other.tested] - base_drawn[base.tested],
                resampled_means=drawn.mean(axis=0) - base_drawn.mean(axis=0),
                shuffled=metric.from_sums(other_sum - swap) - swapped_base,
            )
        )
    return corrected(results)


def corrected(results: Sequence[Comparison], others: Sequence[float] = ()) -> list[Comparison]:
    """Return the comparisons with ``p_holm`` for all of them and ``others``, p-values, together."""
    adjusted = holm([*(result.p for result in results), *others])[: len(results)]
    return [replace(result, p_holm=p) for result, p in zip(results, adjusted, strict=True)]


def _comparison(
    metric: Measure,
    base: Scored,
    other: Scored,
    *,
    is_paired: bool,
    resampled: Array,
    resampled_means: Array,
    shuffled: Array,
) -> Comparison:
    """Put together what is known; arrays are differences [resample] of runs, or of their means."""
    delta = other.mean - base.mean
    tested_delta = other.scores[other.tested] - base.scores[base.tested]
    one_sentence = base.pseudo_values.shape[1] < 2
    seeds = None
    if not one_sentence and min(len(base.scores), len(other.scores)) > 1:
        sides = base.pseudo_values, other.pseudo_values
        seeds = seeds_test(delta, *sides, is_paired=is_paired)
    ci95 = seeds.ci95 if seeds else bootstrap_interval(delta, resampled_means)
    return Comparison(
        metric=metric,
        baseline=base,
        system=other,
        delta=delta,
        # resampling one sentence only repeats it: no evidence, not overwhelming evidence
        p_bootstrap=1.0 if one_sentence else p_bootstrap(tested_delta, resampled),
        p_randomization=p_randomization(tested_delta, shuffled),
        seeds=seeds,
        ci95=None if one_sentence else ci95,
        n_resamples=len(resampled),
    )
