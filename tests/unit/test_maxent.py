"""The generic solution: equation 2, its limits, its decomposition, and its supports."""

from __future__ import annotations

import math

import numpy as np
import pytest

from switchout.policies import maxent
from switchout.policies.maxent import MaxEnt, negative_hamming
from switchout.policies.similarity_table import SimilarityTable
from switchout.words import Words

WORDS = Words(7)  # draws 4, 5, 6
X = (4, 5, 2)  # two words and </s>
SUPPORT = maxent.replacements(X, WORDS)


def test_support_is_every_choice_of_words_and_no_other_special():
    assert len(SUPPORT) == len(set(SUPPORT)) == 9
    assert SUPPORT[0] == X
    assert all(x_hat[2] == 2 and set(x_hat[:2]) <= {4, 5, 6} for x_hat in SUPPORT)


def test_support_keeps_a_word_that_may_not_be_drawn():
    few = Words(9, draw_ids=(7, 8))
    assert maxent.replacements((4,), few) == [(4,), (7,), (8,)]


def test_neighborhood_drops_each_word_or_keeps_it():
    hats = maxent.neighborhood((4, 5, 2), WORDS, null_id=0)
    assert sorted(hats) == [(0, 0, 2), (0, 5, 2), (4, 0, 2), (4, 5, 2)]


def test_sentences_count_every_length():
    assert len(maxent.sentences(WORDS, max_length=3)) == 1 + 3 + 9 + 27


@pytest.mark.parametrize("tau", [0.3, 1.0, 4.0])
def test_odds_are_exponentials_of_similarity_over_tau(tau):
    q = MaxEnt(negative_hamming, tau).probabilities(X, SUPPORT)
    h = np.array([-negative_hamming(x_hat, X) for x_hat in SUPPORT])
    assert q.sum() == pytest.approx(1)
    np.testing.assert_allclose(q / q[0], np.exp(-h / tau))


@pytest.mark.parametrize("tau", [0.2, 1.0, 3.0])
def test_objective_of_the_solution_is_tau_log_partition(tau):
    z = sum(math.exp(negative_hamming(x_hat, X) / tau) for x_hat in SUPPORT)
    assert MaxEnt(negative_hamming, tau).objective(X, SUPPORT) == pytest.approx(tau * math.log(z))


def test_tau_zero_keeps_the_sentence_and_infinity_is_uniform():
    np.testing.assert_array_equal(
        MaxEnt(negative_hamming, 0.0).probabilities(X, SUPPORT), [1] + [0] * 8
    )
    np.testing.assert_allclose(MaxEnt(negative_hamming, np.inf).probabilities(X, SUPPORT), 1 / 9)


def test_limits_are_approached():
    for limit, near in ((0.0, 1e-3), (np.inf, 1e9)):
        exact = MaxEnt(negative_hamming, limit).probabilities(X, SUPPORT)
        close = MaxEnt(negative_hamming, near).probabilities(X, SUPPORT)
        np.testing.assert_allclose(close, exact, atol=1e-8)


def test_tiny_tau_neither_overflows_nor_underflows_to_nan():
    log_q = MaxEnt(negative_hamming, 1e-308).log_probabilities(X, SUPPORT)
    assert log_q[0] == 0
    assert not np.isnan(log_q).any()


def test_minus_infinity_is_never_drawn_even_at_infinite_tau():
    policy = MaxEnt(maxent.word_dropout(0), np.inf)
    q = policy.probabilities((4,), [(4,), (0,), (5,)])
    np.testing.assert_allclose(q, [0.5, 0.5, 0])
    assert policy.entropy((4,), [(4,), (0,), (5,)]) == pytest.approx(math.log(2))


def test_entropy_smoothness_and_objective_of_a_given_q():
    policy = MaxEnt(negative_hamming, 2.0)
    q = [0.5, 0.5] + [0.0] * 7
    assert policy.entropy(X, SUPPORT, q) == pytest.approx(math.log(2))
    assert policy.smoothness(X, SUPPORT, q) == -0.5
    assert policy.objective(X, SUPPORT, q) == pytest.approx(2 * math.log(2) - 0.5)


def test_certain_policy_has_no_diversity_at_infinite_tau():
    policy = MaxEnt(negative_hamming, np.inf)
    assert policy.objective(X, SUPPORT, [1.0] + [0.0] * 8) == 0.0


def test_pair_solution_factorises_into_the_two_sides():
    x, y = (4, 5), (6,)
    xs, ys = maxent.replacements(x, WORDS), maxent.replacements(y, WORDS)
    joint = MaxEnt(maxent.paired(negative_hamming, 0.7, negative_hamming, 1.9), 1.0)
    q = joint.probabilities((x, y), [(a, b) for a in xs for b in ys])
    q_x = MaxEnt(negative_hamming, 0.7).probabilities(x, xs)
    q_y = MaxEnt(negative_hamming, 1.9).probabilities(y, ys)
    np.testing.assert_allclose(q, np.outer(q_x, q_y).reshape(-1))


def test_rescaled_reward_cancels_the_vocabulary_at_tau_one():
    scaled = MaxEnt(maxent.rescaled(negative_hamming, 3), 1.0).probabilities(X, SUPPORT)
    changed = sum(q for q, x_hat in zip(scaled, SUPPORT, strict=True) if x_hat[0] != X[0])
    assert changed == pytest.approx(math.exp(-1) / (1 + math.exp(-1)))


def test_table_similarity_sums_its_entries_and_forbids_the_rest():
    table = SimilarityTable.from_dictionary({4: {5: -0.5}, 5: {6: -2.0}}, WORDS)
    s = maxent.from_table(table)
    assert s((5, 6, 2), X) == -2.5
    assert s((4, 5, 2), X) == 0.0
    assert s((6, 5, 2), X) == -math.inf
    assert s((6,), (6,)) == 0.0  # no row: the word stays


def test_edit_distance_similarity_is_levenshtein():
    assert maxent.negative_edit_distance((4, 5, 6), (5, 6, 4)) == -2.0
    assert negative_hamming((4,), (4, 5)) == -math.inf


@pytest.mark.parametrize("tau", [-1.0, math.nan])
def test_no_temperature_is_refused(tau):
    with pytest.raises(ValueError, match="tau"):
        MaxEnt(negative_hamming, tau)


@pytest.mark.parametrize(
    "sims", [[], [-math.inf], [0.0, math.nan], [math.inf, 0.0]], ids=["empty", "-inf", "nan", "inf"]
)
def test_support_without_a_law_is_refused(sims):
    with pytest.raises(ValueError, match="finite similarity"):
        MaxEnt(lambda x_hat, x: sims[x_hat], 1.0).probabilities(0, range(len(sims)))


@pytest.mark.parametrize("q", [[1.0], [2.0, -1.0] + [0] * 7, [0.5] * 9], ids=["short", "<0", "sum"])
def test_q_that_is_no_distribution_is_refused(q):
    with pytest.raises(ValueError, match="of sum 1"):
        MaxEnt(negative_hamming, 1.0).objective(X, SUPPORT, q)
