"""Does the gain grow with a quantity? A slope over sentences, and how sure it is.

Corpus BLEU is not a mean over sentences, but its jackknife pseudo-values are: one number g_i per
sentence, whose mean is the corpus gain Δ. g_i is not yet the gain *on* sentence i: a sentence of
l_i words moves the corpus score by its share l_i / l̄ of the words, so g_i ≈ Δ + (l_i / l̄)(r_i − Δ).
The slope is that of r_i, the gain in points where the sentence stands, by least squares on the
quantity and the length, weighted by l_i. (The slope of g_i itself would be ruled by one-word
sentences, whose distance varies most and whose words hardly count, and miss what buckets show.)
`trend` draws sentences with replacement to see how much the slope owes to the choice of sentences;
`trend_over_seeds` asks about another set of seeds too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from switchout.evaluation.metrics import Array
from switchout.evaluation.resampling import bootstrap_sums
from switchout.evaluation.significance import (
    SeedsTest,
    bootstrap_interval,
    p_bootstrap,
    seeds_test,
)


@dataclass(frozen=True)
class Trend:
    """Slope of the gain, in points of the metric per unit of the quantity; 95% interval; p.

    ``seeds``: the test over seeds and sentences behind interval and p; None: they count sentences
    alone.
    """

    slope: float
    ci95: tuple[float, float]
    p: float
    seeds: SeedsTest | None = None

    @property
    def counts_seeds(self) -> bool:
        """Whether another set of seeds was asked about too."""
        return self.seeds is not None


def trend(
    gains: Array,
    values: Array,
    *,
    lengths: Array,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> Trend | None:
    """Return the slope of the gain on a quantity, adjusted for length; None if there is none.

    Args:
        gains: Difference of jackknife pseudo-values, [sentence].
        values: The quantity, [sentence].
        lengths: Words of the references, [sentence].
        n_resamples, seed: Of the bootstrap over sentences.

    Example:
        >>> x = np.arange(20.0)
        >>> found = trend(3 * x + x % 2, x, lengths=np.full(20, 7.0), n_resamples=100)
        >>> round(found.slope, 1)
        3.0
    """
    equations = _equations(gains, values, lengths)
    if equations is None:
        return None
    products, targets = equations
    slope = float(_slopes(products.sum(axis=0), targets.sum(axis=0)))
    sums = bootstrap_sums([products, targets], n_resamples=n_resamples, seed=seed)
    resampled = _slopes(*sums)
    return Trend(slope, bootstrap_interval(slope, resampled), p_bootstrap(slope, resampled))


def trend_over_seeds(
    baseline: Array, system: Array, values: Array, *, lengths: Array
) -> Trend | None:
    """Return the same slope, tested as differences of scores are: over seeds and sentences.

    The slope of a gain is a difference of slopes, one of every run. Each is jackknifed over
    sentences, as a score is, and `seeds_test` compares the two sides.

    Args:
        baseline, system: Jackknife pseudo-values [run, sentence], 2 runs or more each.
        values, lengths: As for `trend`.
    """
    sides = [[_jackknifed(run, values, lengths) for run in runs] for runs in (baseline, system)]
    if any(slope is None for runs in sides for slope in runs):
        return None
    base, other = (np.array(runs) for runs in sides)
    slope = float(other[:, 0].mean() - base[:, 0].mean())
    test = seeds_test(slope, base[:, 1:], other[:, 1:])
    return Trend(slope, test.ci95, test.p, test)


def _jackknifed(gains: Array, values: Array, lengths: Array) -> Array | None:
    """The slope, followed by its pseudo-values, one for every sentence."""
    equations = _equations(gains, values, lengths)
    if equations is None:
        return None
    products, targets = equations
    sums = products.sum(axis=0), targets.sum(axis=0)
    slope, n_sentences = _slopes(*sums), len(gains)
    without = _slopes(sums[0] - products, sums[1] - targets)
    return np.array([slope, *(n_sentences * slope - (n_sentences - 1) * without)])


def _equations(gains: Array, values: Array, lengths: Array) -> tuple[Array, Array] | None:
    """Every sentence's part of the normal equations; their sums hold the slope; None: no slope."""
    # Standardised columns keep the normal equations well-conditioned.
    columns = [np.ones(len(gains)), _standardised(values), _standardised(lengths)]
    if _is_singular(columns):
        columns.pop()  # all of one length, or the quantity is the length
    if _is_singular(columns):
        return None
    design = np.column_stack(columns)
    mean_length, delta = lengths.mean(), gains.mean()
    weighted_gains = lengths * delta + mean_length * (gains - delta)  # l_i r_i
    products = (lengths[:, None, None] * design[:, :, None] * design[:, None, :]).reshape(
        len(gains), -1
    )
    unit = float(np.std(values))  # undoes the standardised values: the slope is in their unit
    return products, design * weighted_gains[:, None] / unit


def _is_singular(columns: list[Array]) -> bool:
    design = np.column_stack(columns)
    n_columns = len(columns)
    return len(design) <= n_columns or bool(np.linalg.matrix_rank(design) < n_columns)


def _standardised(column: Array) -> Array:
    spread = float(np.std(column))
    return np.asarray((column - column.mean()) / (spread if spread > 0 else 1.0))


def _slopes(products: Array, targets: Array) -> Array:
    """Solve normal equations [..., columns²] and [..., columns]; return the second coefficient."""
    n_columns = targets.shape[-1]
    matrix = products.reshape(*targets.shape[:-1], n_columns, n_columns)
    # A resample may hold one value only; the pseudo-inverse then says: no slope.
    inverse = np.linalg.pinv(matrix, hermitian=True)
    return np.asarray((inverse[..., 1, :] * targets).sum(axis=-1))
