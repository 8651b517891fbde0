"""How many words of long sentences change, and where: the closed law, for lengths beyond 64."""

from __future__ import annotations

import numpy as np
import pytest
from goodness import LIMIT, p_value
from scipy.special import gammaln

import switchout as so

WORDS = so.Words(200)
POLICIES = [
    so.SwitchOut(WORDS, tau=3.0),
    so.SwitchOut(WORDS, rate=0.1),
    so.RAML(WORDS, tau=40.0),
    so.Hamming(WORDS, tau=0.15),
    so.WordDropout(WORDS, rate=0.02, null_id=0),
    so.WordDropout(WORDS, rate=0.5, null_id=0),
]
# Length and number of sentences; the rows hold a bos as well, and padding to a multiple of 50.
CASES = [(65, 20_000), (100, 20_000), (200, 10_000), (1000, 4_000), (10_000, 500)]


def changed(policy: so.HammingPolicy, length: int, n: int) -> np.ndarray:
    """Return which words of ``n`` sentences changed, [n, length]."""
    x = np.zeros((n, -(-(length + 1) // 50) * 50), np.int32)
    x[:, 0] = 1
    x[:, 1 : 1 + length] = np.random.default_rng(length).integers(4, 200, (n, length))
    y = policy.sample(x, seed=length, example_ids=np.arange(n))
    assert (y[:, 0] == 1).all()
    assert (y[:, 1 + length :] == 0).all()
    return (x != y)[:, 1 : 1 + length]


def count_law(policy: so.HammingPolicy, length: int) -> np.ndarray:
    """Return p(k words change) for k = 0..length."""
    k = np.arange(length + 1)
    choose = gammaln(length + 1) - gammaln(k + 1) - gammaln(length - k + 1)
    return np.exp(choose + [policy.log_pattern(length, int(i), (0, 0)) for i in k])


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
@pytest.mark.parametrize(("length", "n"), CASES)
def test_the_number_of_changes_and_their_places_follow_the_law(policy, length, n):
    hits = changed(policy, length, n)
    counts = hits.sum(axis=1)
    support = range(length + 1)
    if length <= 200:  # beyond, the closed law of every count takes minutes
        law = count_law(policy, length)
        assert p_value(counts, support, law) > LIMIT
        if length > 65:  # negative control: words beyond the 64th are never hit
            assert p_value(hits[:, :64].sum(axis=1), support, law) < LIMIT
    expected = float(policy.expected_changes([length])[0])
    assert abs(counts.mean() - expected) < 5 * counts.std() / np.sqrt(n)
    tenths = np.arange(length) * 10 // length  # every part of the sentence is hit alike
    share = np.bincount(tenths) / length
    where = np.nonzero(hits)[1]
    assert p_value(tenths[where], range(10), share) > LIMIT
    assert p_value(tenths[where // 2], range(10), share) < LIMIT  # negative control
