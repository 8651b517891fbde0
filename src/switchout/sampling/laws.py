"""How many words change: the law of the count n of Algorithm 1, in floats and in integers.

Algorithm 1 draws n from 0..L with p(n) ∝ exp(-n / tau), then replaces each of the L words with
probability n / L. Here are the closed forms of that law (float64, stable for every tau), the tau
that makes the expected share of changed words equal to a given rate, and the one conversion to
integers that all samplers share.

The integer form: C_k = round(2^39 · sum_{j<=k} exp(-j / tau)). With u uniform on 32 bits,
n = #{k : C_k <= floor(u · C_L / 2^32)} follows the law to 32 bits. The weights do not depend on the
length, so one row serves every sentence, and it ends where 2^39 no longer sees the next weight.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SCALE = 39  # bits after the point: 2^39 · (2^24 + 1) weights still fit 64 bits
# After each row of a table: the core may look at four entries without asking how many there are.
# As a signed number it is still the largest.
END_OF_ROW = np.full(3, (1 << 63) - 1, np.uint64)


class CountTable(NamedTuple):
    """Rows of cumulative integer weights; the row of length L is [start[L], start[L] + size[L])."""

    cumulative: npt.NDArray[np.uint64]
    start: Ints  # [max_length + 1]
    size: Ints  # [max_length + 1]


def check_tau(tau: float) -> float:
    """Return ``tau`` as a float; refuse what is no temperature."""
    if isinstance(tau, bool) or not isinstance(tau, int | float | np.integer | np.floating):
        raise TypeError(f"tau must be a number, got {tau!r}")
    if math.isnan(tau) or tau < 0:
        raise ValueError(f"tau must be a temperature >= 0 (0: no change; inf: most), got {tau}")
    return float(tau)


def check_rate(rate: float, *, highest: float) -> float:
    """Return ``rate`` as a float between 0 and ``highest``."""
    if isinstance(rate, bool) or not isinstance(rate, int | float | np.integer | np.floating):
        raise TypeError(f"rate must be a number, got {rate!r}")
    if not 0 <= rate <= highest:
        raise ValueError(
            f"rate must lie between 0 and {highest:g}, a share of words (0.1: 10%), got {rate}"
        )
    return float(rate)


def cumulative_weights(tau: float, max_length: int) -> npt.NDArray[np.uint64]:
    """Return C_0..C_max_length, cut after the first entry that equals the last.

    Example:
        >>> cumulative_weights(np.inf, 2) >> np.uint64(SCALE)
        array([1, 2, 3], dtype=uint64)
    """
    terms = max_length + 1
    if tau < max_length:  # later weights are below 2^-40 of the first
        terms = min(terms, math.ceil(tau * (28 + math.log1p(tau))) + 2)
    k = np.arange(1, terms + 1, dtype=np.float64)
    if tau == 0:
        sums = np.ones(1)
    elif 1 / tau < 1e-300:
        sums = k
    else:
        sums = np.expm1(-k / tau) / np.expm1(-1 / tau)
    row = np.rint(np.ldexp(sums, SCALE)).astype(np.uint64)
    return row[: int(np.searchsorted(row, row[-1])) + 1]


@lru_cache(maxsize=256)
def shared_table(tau: float, max_length: int) -> CountTable:
    """Return the table of one temperature for every length up to ``max_length``."""
    row = cumulative_weights(tau, max_length)
    size = np.minimum(np.arange(1, max_length + 2), row.size)
    row = np.concatenate([row, END_OF_ROW])
    return CountTable(row, np.zeros(max_length + 1, np.int64), size)


def rate_table(rate: float, lengths: Ints) -> CountTable:
    """Return a table with a row for each of the distinct ``lengths``, tau solved for each."""
    lengths = np.unique(lengths)
    taus = tau_for_rate(rate, lengths)
    rows = [cumulative_weights(float(t), int(n)) for t, n in zip(taus, lengths, strict=True)]
    sizes = np.array([row.size for row in rows], np.int64)
    start = np.zeros(int(lengths.max(initial=0)) + 1, np.int64)
    size = np.ones_like(start)
    start[lengths] = np.cumsum(sizes + END_OF_ROW.size) - (sizes + END_OF_ROW.size)
    size[lengths] = sizes
    if not rows:
        rows = [cumulative_weights(0.0, 0)]  # what length 0 needs
    parts = [part for row in rows for part in (row, END_OF_ROW)]
    return CountTable(np.concatenate(parts), start, size)


@lru_cache(maxsize=32)
def full_rate_table(rate: float, max_length: int) -> CountTable:
    """Return `rate_table` for every length up to ``max_length``."""
    return rate_table(rate, np.arange(max_length + 1))


def log_count_probabilities(tau: float, length: int) -> Floats:
    """Return log p(n) for n = 0..length, p(n) ∝ exp(-n / tau)."""
    n = np.arange(length + 1, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        logits = np.where(n == 0, 0.0, -n / np.float64(tau))
    return np.asarray(logits - np.logaddexp.reduce(logits))


def expected_count(tau: float | Floats, lengths: npt.ArrayLike) -> Floats:
    """Return E[n] for each length: L/2 at tau = inf, about 0.58 at tau = 1 and long sentences."""
    tau, length = np.broadcast_arrays(np.asarray(tau, np.float64), np.asarray(lengths, np.float64))
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        beta = 1.0 / tau
        exact = 1.0 / np.expm1(beta) - (length + 1) / np.expm1((length + 1) * beta)
    # Where (L + 1) / tau is small both terms are huge and cancel: second-order series instead.
    series = length / 2 - length * (length + 2) * np.minimum(beta, 1.0) / 12
    return np.where(tau == 0, 0.0, np.where((length + 1) * beta < 1e-4, series, exact))


def tau_for_rate(rate: float, lengths: npt.ArrayLike) -> Floats:
    """Return, for each length, the tau with E[n] = rate · L; rate 0.5 gives infinity."""
    length = np.atleast_1d(np.asarray(lengths, np.float64))
    if rate in (0.0, 0.5):
        return np.full(length.shape, math.inf if rate else 0.0)
    low, high = np.full(length.shape, -8.0), np.full(length.shape, 40.0)  # log tau
    for _ in range(200):
        middle = (low + high) / 2
        is_low = expected_count(np.exp(middle), length) < rate * length
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
    return np.where(length > 0, np.exp((low + high) / 2), 0.0)


def log_binomials(n: int) -> Floats:
    """Return log C(n, h) for h = 0..n."""
    log_factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])
    return np.asarray(log_factorials[n] - log_factorials - log_factorials[::-1])
