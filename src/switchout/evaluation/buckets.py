"""Gain of systems over a baseline in groups of test sentences: where does it help?

Figure 2 of the paper buckets by WER to the nearest training sentence. Here every bucket also has
its number of sentences and an interval, and the trend over the buckets is tested (`trend`).

* A bucket is a set of test sentences, the same for all systems.
* The score of a bucket is the corpus score of its sentences; with several runs, the mean over runs.
* Intervals and trends count seeds and sentences as the test of the whole set does (`seeds_test`).
  Where the system or the baseline has one run, they resample the sentences alone, the same ones
  for both. No other system has a say in that.
"""

from __future__ import annotations

from collections.abc import Sequence, Sized
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from switchout.errors import SwitchOutError
from switchout.evaluation.comparison import N_RESAMPLES, Scored
from switchout.evaluation.features import Feature, length
from switchout.evaluation.metrics import Array, Measure
from switchout.evaluation.resampling import bootstrap_scores, jackknife
from switchout.evaluation.significance import bootstrap_interval, seeds_test
from switchout.evaluation.trend import Trend, trend, trend_over_seeds

N_BUCKETS = 5


@dataclass(frozen=True)
class Bucket:
    """The test sentences with low ≤ value < high (None: no bound), as indices."""

    label: str
    low: float | None
    high: float | None
    members: NDArray[np.int64]


@dataclass(frozen=True)
class Gain:
    """One system in one bucket; everything None in an empty bucket, ``ci95`` below 2 sentences."""

    baseline: float | None
    system: float | None
    delta: float | None
    ci95: tuple[float, float] | None


@dataclass(frozen=True)
class Breakdown:
    """Gains of all systems by one feature.

    Attributes:
        feature: What the buckets are made by.
        metric: Of the scores.
        baseline: Its name.
        systems: Their names.
        buckets: In the order of the feature.
        gains: [system][bucket].
        trends: [system]; None where no slope can be found.
        counts_seeds: [system], whether its intervals do; with one run a side has none to count.
    """

    feature: Feature
    metric: Measure
    baseline: str
    systems: Sequence[str]
    buckets: Sequence[Bucket]
    gains: Sequence[Sequence[Gain]]
    trends: Sequence[Trend | None]
    counts_seeds: Sequence[bool]

    def to_dict(self) -> dict[str, Any]:
        """Return what ``switchout buckets --json`` prints for one feature."""
        return {
            "by": self.feature.name,
            "title": self.feature.title,
            "metric": self.metric.name,
            "signature": self.metric.signature,
            "baseline": self.baseline,
            "counts_seeds": all(self.counts_seeds),
            "buckets": [
                {"label": b.label, "low": b.low, "high": b.high, "sentences": len(b.members)}
                for b in self.buckets
            ],
            "systems": [
                {
                    "system": name,
                    "counts_seeds": has_seeds,
                    "buckets": [asdict(gain) for gain in gains],
                    "trend": asdict(slope) | {"per": self.feature.unit} if slope else None,
                }
                for name, has_seeds, gains, slope in zip(
                    self.systems, self.counts_seeds, self.gains, self.trends, strict=True
                )
            ],
        }


def break_down(
    references: Sequence[str],
    baseline: Scored,
    systems: Sequence[Scored],
    features: Sequence[Feature],
    *,
    metric: Measure,
    edges: Sequence[float] | None = None,
    n_buckets: int = N_BUCKETS,
    n_resamples: int = N_RESAMPLES,
    seed: int = 0,
) -> list[Breakdown]:
    """Return the gains of the systems by each feature.

    Args:
        references: Real text, one line per test sentence.
        baseline, systems: From `score_system`, or the sides of a `Comparison`.
        features: Quantities to bucket by.
        metric: That they were scored with.
        edges: Where buckets begin; by default so that buckets hold about equally many sentences.
        n_buckets: How many, if ``edges`` does not say so.
        n_resamples, seed: Of the bootstrap over sentences.
    """
    sides = [side.statistics for side in (baseline, *systems)]
    lengths = length(references).values
    result = []
    for feature in features:
        cuts = edges if edges is not None else quantile_edges(feature.values, n_buckets)
        buckets = make_buckets(feature.values, cuts)
        by_bucket = [_gains(metric, sides, bucket.members, n_resamples, seed) for bucket in buckets]
        trends = [_trend(baseline, side, feature, lengths, (n_resamples, seed)) for side in systems]
        result.append(
            Breakdown(
                feature=feature,
                metric=metric,
                baseline=baseline.name,
                systems=[side.name for side in systems],
                buckets=buckets,
                gains=[[gains[k] for gains in by_bucket] for k in range(len(systems))],
                trends=trends,
                counts_seeds=[_have_seeds(sides[0], side) for side in sides[1:]],
            )
        )
    return result


def _have_seeds(baseline: Sized, system: Sized) -> bool:
    """Whether both sides, sequences of runs, have several."""
    return min(len(baseline), len(system)) > 1


def _trend(
    baseline: Scored,
    system: Scored,
    feature: Feature,
    lengths: Array,
    resampling: tuple[int, int],
) -> Trend | None:
    """The trend of a gain; over seeds too where both sides have several runs."""
    sides = baseline.pseudo_values, system.pseudo_values
    if _have_seeds(*sides):
        return trend_over_seeds(*sides, feature.scale, lengths=lengths)
    n_resamples, seed = resampling
    gains = sides[1].mean(axis=0) - sides[0].mean(axis=0)
    return trend(gains, feature.scale, lengths=lengths, n_resamples=n_resamples, seed=seed)


def quantile_edges(values: Array, n_buckets: int) -> list[float]:
    """Return up to ``n_buckets - 1`` edges between distinct values, nearest to equal shares.

    Example:
        >>> quantile_edges(np.array([0, 0, 0, 0, 0, 0, 1, 2, 3, 3]), 3)
        [1.0, 2.0]
    """
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) < 2:
        return []
    below = np.cumsum(counts)[:-1]  # sentences before each possible edge
    targets = np.arange(1, n_buckets) * len(values) / n_buckets
    nearest = np.unique(np.abs(below[:, None] - targets).argmin(axis=0))
    return [float(edge) for edge in distinct[1:][nearest]]


def make_buckets(values: Array, edges: Sequence[float]) -> list[Bucket]:
    """Group sentences by where their value lies among the edges."""
    if not np.isfinite(edges).all() or any(high <= low for low, high in pairwise(edges)):
        raise SwitchOutError(f"bucket edges must be finite and increase, got {list(edges)}")
    place = np.searchsorted(np.asarray(edges, dtype=float), values, side="right")
    bounds = [None, *edges, None]
    are_whole = bool((values % 1 == 0).all()) and all(edge % 1 == 0 for edge in edges)
    label = _label_of_counts if are_whole else _label
    return [
        Bucket(label(low, high), low, high, np.flatnonzero(place == i))
        for i, (low, high) in enumerate(pairwise(bounds))
    ]


def _label(low: float | None, high: float | None) -> str:
    if low is None:
        return "all" if high is None else f"< {high:.3f}"
    return f"≥ {low:.3f}" if high is None else f"{low:.3f} – {high:.3f}"


def _label_of_counts(low: float | None, high: float | None) -> str:
    if high is None:
        return "all" if low is None else f"≥ {low:.0f}"
    if low is None:
        return "0" if high == 1 else f"≤ {high - 1:.0f}"
    return f"{low:.0f}" if high - low == 1 else f"{low:.0f} – {high - 1:.0f}"


def _gains(
    metric: Measure,
    sides: Sequence[Sequence[Array]],
    members: NDArray[np.int64],
    n_resamples: int,
    seed: int,
) -> list[Gain]:
    """Compare every system with the baseline, the first side, on some sentences, [system]."""
    if not len(members):
        return [Gain(None, None, None, None)] * (len(sides) - 1)
    here = [[run[members] for run in runs] for runs in sides]
    base, *scores = (float(np.mean([metric.score(run) for run in runs])) for runs in here)
    deltas = [score - base for score in scores]
    intervals = _intervals(metric, here, deltas, n_resamples, seed)
    return [
        Gain(base, score, delta, interval)
        for score, delta, interval in zip(scores, deltas, intervals, strict=True)
    ]


def _intervals(
    metric: Measure,
    sides: Sequence[Sequence[Array]],
    deltas: Sequence[float],
    n_resamples: int,
    seed: int,
) -> list[tuple[float, float] | None]:
    """Intervals of the differences; each over seeds too where its two sides have several runs."""
    baseline, *systems = sides
    if len(baseline[0]) < 2:
        return [None] * len(deltas)
    base = _pseudo_values(metric, baseline)
    without_seeds = [runs for runs in systems if not _have_seeds(baseline, runs)]
    drawn = iter(_drawn_gains(metric, baseline, without_seeds, n_resamples, seed))
    return [
        seeds_test(delta, base, _pseudo_values(metric, runs)).ci95
        if _have_seeds(baseline, runs)
        else bootstrap_interval(delta, next(drawn))
        for delta, runs in zip(deltas, systems, strict=True)
    ]


def _pseudo_values(metric: Measure, runs: Sequence[Array]) -> Array:
    return np.array([jackknife(metric, run) for run in runs])


def _drawn_gains(
    metric: Measure,
    baseline: Sequence[Array],
    systems: Sequence[Sequence[Array]],
    n_resamples: int,
    seed: int,
) -> list[Array]:
    """Gains of the systems on the same resampled test sets, [system][resample]."""
    if not systems:
        return []  # nobody would look at what is drawn
    by_run = bootstrap_scores(metric, [baseline, *systems], n_resamples=n_resamples, seed=seed)
    base, *drawn = (scores.mean(axis=0) for scores in by_run)
    return [other - base for other in drawn]
