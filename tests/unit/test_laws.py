"""The law of the count, in floats and integers, against sums by the book."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from switchout.sampling import laws

TAUS = [0.0, 1e-5, 0.3, 1.0, 7.5, 1e4, 1e12, 1e300, math.inf]


def book(tau, length):
    if tau == 0:
        return np.eye(1, length + 1)[0]
    weights = np.exp(-np.arange(length + 1) / tau)
    return weights / weights.sum()


@pytest.mark.parametrize("tau", TAUS)
@pytest.mark.parametrize("length", [0, 1, 7, 200])
def test_count_probabilities_are_the_normalised_weights(tau, length):
    np.testing.assert_allclose(
        np.exp(laws.log_count_probabilities(tau, length)), book(tau, length), atol=1e-14
    )


@pytest.mark.parametrize("tau", TAUS)
@pytest.mark.parametrize("length", [0, 1, 7, 200, 10_000])
def test_expected_count_is_the_mean_of_the_law(tau, length):
    mean = (book(tau, length) * np.arange(length + 1)).sum()
    assert laws.expected_count(tau, length) == pytest.approx(mean, rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("tau", TAUS)
@pytest.mark.parametrize("length", [0, 1, 3, 60, 10_000])
def test_integer_table_gives_the_law_to_32_bits(tau, length):
    """P(n <= k) = ceil(C_k 2^32 / C_L) / 2^32, exactly, must be the law's cumulative sum."""
    table = laws.shared_table(tau, length)
    first, size = int(table.start[length]), int(table.size[length])
    row = [int(c) for c in table.cumulative[first : first + size]]
    exact = [math.ceil(Fraction(c << 32, row[-1])) / 2**32 for c in row]
    cumulative = np.cumsum(book(tau, length))
    np.testing.assert_allclose(exact, cumulative[: len(exact)], atol=1e-9)
    assert cumulative[len(exact) - 1] > 1 - 1e-9  # nothing of weight was cut


@pytest.mark.parametrize("tau", [0.5, 1.0, 20.0])
def test_table_ends_where_weights_vanish(tau):
    assert laws.shared_table(tau, 10_000).cumulative.size < 60 * max(tau, 1)


@pytest.mark.parametrize("rate", [0.0, 1e-4, 0.1, 0.37, 0.4999, 0.5])
def test_tau_for_rate_gives_that_share_of_words(rate):
    lengths = np.array([1, 2, 25, 400, 10_000])
    shares = laws.expected_count(laws.tau_for_rate(rate, lengths), lengths) / lengths
    np.testing.assert_allclose(shares, rate, rtol=1e-6)


def test_rate_table_serves_each_length_its_own_temperature():
    table = laws.rate_table(0.2, np.array([3, 30, 3]))
    for length in (3, 30):
        tau = float(laws.tau_for_rate(0.2, length)[0])
        first, size = int(table.start[length]), int(table.size[length])
        np.testing.assert_array_equal(
            table.cumulative[first : first + size], laws.cumulative_weights(tau, length)
        )


@pytest.mark.parametrize(
    ("tau", "error"),
    [
        (-1, ValueError),
        (math.nan, ValueError),
        ("1", TypeError),
        (True, TypeError),
        (None, TypeError),
    ],
    ids=str,
)
def test_what_is_no_temperature_is_refused(tau, error):
    with pytest.raises(error, match="tau"):
        laws.check_tau(tau)
