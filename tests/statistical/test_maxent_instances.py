"""Word dropout, Hamming, RAML and tables are instances of equation 2, and its q* maximises J.

The policies compute their laws in closed form; here they meet the enumeration of every sentence.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import switchout as so
from switchout.policies import maxent
from switchout.policies.maxent import MaxEnt, negative_hamming

WORDS = so.Words(8)  # draws 4..7
X = (1, 4, 5, 5, 2)  # <s> a b b </s>
TAUS = [0.3, 1.0, 2.5]


def policy_law(policy, x, support) -> np.ndarray:
    """Return the policy's own probabilities of each member of a support."""
    x_hat = np.array(support)
    return np.exp(policy.log_prob(x_hat, np.broadcast_to(np.array(x), x_hat.shape)))


@pytest.mark.parametrize("tau", TAUS)
def test_hamming_is_the_exact_solution_for_negative_hamming(tau):
    support = maxent.replacements(X, WORDS)
    q = MaxEnt(negative_hamming, tau).probabilities(X, support)
    np.testing.assert_allclose(policy_law(so.Hamming(WORDS, tau=tau), X, support), q, rtol=1e-6)


@pytest.mark.parametrize("tau", TAUS)
def test_hamming_changes_each_word_with_the_closed_rate(tau):
    support = maxent.replacements(X, WORDS)
    q = MaxEnt(negative_hamming, tau).probabilities(X, support)
    a = (len(WORDS) - 1) * math.exp(-1 / tau)
    for position in (1, 2, 3):
        changed = sum(p for p, s in zip(q, support, strict=True) if s[position] != X[position])
        assert changed == pytest.approx(a / (1 + a))


@pytest.mark.parametrize("tau", [0.3, 1.0])
def test_rescaled_hamming_is_the_solution_for_the_rescaled_reward(tau):
    support = maxent.replacements(X, WORDS)
    similarity = maxent.rescaled(negative_hamming, len(WORDS))
    q = MaxEnt(similarity, tau).probabilities(X, support)
    policy = so.Hamming.rescaled(WORDS, tau=tau)
    np.testing.assert_allclose(policy_law(policy, X, support), q, rtol=1e-6)


@pytest.mark.parametrize("rate", [0.1, 0.3])
def test_word_dropout_is_an_instance_with_odds_and_not_probability(rate):
    """Appendix A.1, corrected: rate / (1 - rate) = exp(-1 / tau), so rate = λ / (1 + λ), not λ."""
    support = maxent.neighborhood(X, WORDS, null_id=0)
    tau = 1 / math.log((1 - rate) / rate)
    q = MaxEnt(maxent.word_dropout(0), tau).probabilities(X, support)
    policy = so.WordDropout(WORDS, rate=rate, null_id=0)
    np.testing.assert_allclose(policy_law(policy, X, support), q, rtol=1e-6)
    as_printed = MaxEnt(maxent.word_dropout(0), 1 / math.log(1 / rate)).probabilities(X, support)
    assert abs(as_printed - q).max() > 0.01


@pytest.mark.parametrize("tau", TAUS)
def test_raml_keeps_the_source_and_draws_the_target(tau):
    """Appendix A.2: with s = r(ŷ, y) if x̂ = x and -inf otherwise, q* is RAML's distribution."""
    x, y = (4, 5), (6, 7)
    xs, ys = maxent.replacements(x, WORDS), maxent.replacements(y, WORDS)
    pairs = [(a, b) for a in xs for b in ys]
    joint = MaxEnt(maxent.raml(negative_hamming), tau).probabilities((x, y), pairs)
    joint = joint.reshape(len(xs), len(ys))
    assert joint[[a != x for a in xs]].sum() == 0
    target = policy_law(so.Hamming(WORDS, tau=tau), y, ys)
    np.testing.assert_allclose(joint[xs.index(x)], target, rtol=1e-6)


@pytest.mark.parametrize("tau", TAUS)
def test_similar_is_the_solution_for_a_table(tau):
    table = so.SimilarityTable.from_dictionary({4: {5: -0.5, 6: -2.0}, 5: {7: -1.0}}, WORDS)
    support = maxent.replacements(X, WORDS)
    q = MaxEnt(maxent.from_table(table), tau).probabilities(X, support)
    policy = so.Similar(WORDS, table, tau=tau)
    np.testing.assert_allclose(policy_law(policy, X, support), q, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("tau", TAUS)
def test_pair_of_policies_is_the_factored_solution(tau):
    """Equations 3 and 4: the two sides are independent, each with its own temperature."""
    x, y, tau_y = (4, 5), (6,), 0.8
    xs, ys = maxent.replacements(x, WORDS), maxent.replacements(y, WORDS)
    joint = MaxEnt(maxent.paired(negative_hamming, tau, negative_hamming, tau_y), 1.0)
    q = joint.probabilities((x, y), [(a, b) for a in xs for b in ys])
    sides = (policy_law(so.Hamming(WORDS, tau=t), s, support)
             for t, s, support in ((tau, x, xs), (tau_y, y, ys)))  # fmt: skip
    np.testing.assert_allclose(q, np.outer(*sides).reshape(-1), rtol=1e-6)


def test_algorithm_1_is_not_the_exact_solution():
    """The paper calls it a slight change of the odds; it is orders of magnitude."""
    support = maxent.replacements(X, WORDS)
    q = MaxEnt(negative_hamming, 1.0).probabilities(X, support)
    law = policy_law(so.SwitchOut(WORDS, tau=1.0), X, support)
    assert law.sum() == pytest.approx(1)
    assert abs(law - q).sum() / 2 > 0.2


@pytest.mark.parametrize("tau", TAUS)
@pytest.mark.parametrize(
    "similarity", [negative_hamming, maxent.word_dropout(0)], ids=["hamming", "word dropout"]
)
def test_solution_maximises_the_objective(tau, similarity):
    """J(q*) ≥ J(q) for mixtures with random laws, large and small, and for Algorithm 1."""
    rng = np.random.default_rng(4)
    support = maxent.replacements(X, WORDS) + maxent.neighborhood(X, WORDS, null_id=0)[1:]
    policy = MaxEnt(similarity, tau)
    best = policy.probabilities(X, support)
    highest = policy.objective(X, support)
    inside = best > 0  # outside, J is -inf
    for _ in range(200):
        other = np.zeros(len(support))
        other[inside] = rng.dirichlet(np.full(inside.sum(), rng.choice([0.1, 1.0, 10.0])))
        share = rng.choice([0.01, 0.1, 1.0])
        assert policy.objective(X, support, (1 - share) * best + share * other) < highest


@pytest.mark.parametrize("tau", TAUS)
def test_entropy_of_the_policy_is_the_diversity_of_the_solution(tau):
    support = maxent.replacements(X, WORDS)
    expected = MaxEnt(negative_hamming, tau).entropy(X, support)
    assert so.Hamming(WORDS, tau=tau).entropy(np.array([3]))[0] == pytest.approx(expected, rel=1e-6)
