"""Edit-distance and BLEU rewards against exact enumeration."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from goodness import LIMIT, p_value

import switchout as so
from switchout.policies import maxent
from switchout.policies.edit_law import EditLaw, script_weight
from switchout.policies.rewards import raml_bleu, raml_edit_distance, sentence_bleu
from switchout.sampling.address import Address
from switchout.words import Words

WORDS = Words(5, special_ids=(0, 1))  # draws 2, 3, 4
MAX_LENGTH = 8
SENTENCES = [(2,), (2, 3), (2, 2, 3), (4, 4, 4), (2, 3, 2, 3)]
N = 10_000


def edit_law(y: tuple[int, ...], tau: float) -> tuple[list[tuple[int, ...]], np.ndarray]:
    """Return q* on the sentences of 1 to MAX_LENGTH words: the law given such a length."""
    support = [s for s in maxent.sentences(WORDS, max_length=MAX_LENGTH) if s]
    return support, maxent.MaxEnt(maxent.negative_edit_distance, tau).probabilities(y, support)


def edited(y: tuple[int, ...], tau: float, seed: int = 11) -> list[tuple[int, ...]]:
    drawn = raml_edit_distance([y] * N, WORDS, tau=tau, seed=seed, example_ids=range(N))
    return [tuple(s) for s in drawn if len(s) <= MAX_LENGTH]


@pytest.mark.parametrize("y", SENTENCES, ids=str)
@pytest.mark.parametrize("tau", [0.3, 0.5, 0.8])
def test_edit_distance_law_is_exact(y, tau):
    assert p_value(edited(y, tau), *edit_law(y, tau)) > LIMIT


@pytest.mark.parametrize("y", SENTENCES[1:], ids=str)
def test_edit_distance_test_rejects_a_wrong_temperature(y):
    assert p_value(edited(y, 0.45), *edit_law(y, 0.5)) < LIMIT


@pytest.mark.parametrize("y", SENTENCES[2:], ids=str)
def test_edit_distance_test_rejects_scripts_without_the_correction(y):
    """Accepting every script (what counting scripts instead of sentences amounts to) fails."""
    a, free, drawable = math.exp(-1 / 0.8), np.ones(len(y), bool), WORDS.drawable()
    ids = np.array(y)
    drawn = [
        EditLaw(drawable, a, Address(5)).draw_script(ids, free, i, accept_all=True)[0]
        for i in range(3 * N)
    ]
    drawn = [tuple(s.tolist()) for s in drawn if 0 < len(s) <= MAX_LENGTH]
    assert p_value(drawn, *edit_law(y, 0.8)) < LIMIT


def test_scripts_are_drawn_by_their_weight():
    """The proposal itself: each sentence comes with the weight of all its scripts."""
    y, a = np.array([2, 3, 2]), math.exp(-1 / 0.5)
    free, drawable = np.ones(3, bool), WORDS.drawable()
    support = maxent.sentences(WORDS, max_length=MAX_LENGTH)
    scripts = [script_weight(np.array(s, np.int64), y, free, a) for s in support]
    weight = np.array([mass * a**edits for edits, mass in scripts])
    drawn = [
        EditLaw(drawable, a, Address(6)).draw_script(y, free, i, accept_all=True)[0]
        for i in range(N)
    ]
    drawn = [tuple(s.tolist()) for s in drawn if len(s) <= MAX_LENGTH]
    assert p_value(drawn, support, weight / weight.sum()) > LIMIT


def test_specials_inside_a_sentence_split_the_edit_distance():
    """Around an unk the two halves are edited independently, and the unk stays."""
    y, tau = (2, 1, 3), 0.4
    drawn = [s for s in edited(y, tau) if sum(w == 1 for w in s) == 1]
    assert len(drawn) > 0.99 * N  # all but the few that are too long
    halves = [s for s in maxent.sentences(WORDS, max_length=4)]
    joint = maxent.MaxEnt(lambda hat, pair: sum(map(maxent.negative_edit_distance, hat, pair)), tau)
    pairs = [(a, b) for a in halves for b in halves if a + b]
    q = joint.probabilities(((2,), (3,)), pairs)
    split = [(s[: s.index(1)], s[s.index(1) + 1 :]) for s in drawn]
    assert p_value([p for p in split if max(map(len, p)) <= 4], pairs, q) > LIMIT


def bleu_law(y: tuple[int, ...], tau: float) -> tuple[list[tuple[int, ...]], np.ndarray]:
    support = maxent.replacements(y, WORDS)
    return support, maxent.MaxEnt(sentence_bleu, tau).probabilities(y, support)


def resampled_law(y: tuple[int, ...], tau: float, policy: so.Hamming, k: int) -> np.ndarray:
    """Return the exact law of what is kept of k proposals, over all k-tuples of them."""
    support = maxent.replacements(y, WORDS)
    x_hat = np.array(support)
    p = np.exp(policy.log_prob(x_hat, np.broadcast_to(np.array(y), x_hat.shape)))
    weight = np.exp(np.array([sentence_bleu(s, y) for s in support]) / tau) / p
    law = np.zeros(len(support))
    for chosen in product(range(len(support)), repeat=k):
        drawn = list(chosen)
        np.add.at(law, drawn, p[drawn].prod() * weight[drawn] / weight[drawn].sum())
    return law


def kept(
    y: tuple[int, ...], policy: so.Hamming, n: int = N, **options: float
) -> list[tuple[int, ...]]:
    drawn = raml_bleu([y] * n, policy, seed=4, example_ids=range(n), **options)
    return [tuple(s) for s in drawn]


@pytest.mark.parametrize("k", [1, 2, 3])
def test_bleu_law_of_few_proposals_is_exact(k):
    y, tau, policy = (2, 3), 0.2, so.Hamming(WORDS, tau=0.5)
    support, _ = bleu_law(y, tau)
    law = resampled_law(y, tau, policy, k)
    assert law.sum() == pytest.approx(1)
    assert p_value(kept(y, policy, tau=tau, n_proposals=k), support, law) > LIMIT


def test_bleu_law_of_one_proposal_is_not_the_reward():
    y, tau, policy = (2, 3), 0.2, so.Hamming(WORDS, tau=0.5)
    assert p_value(kept(y, policy, tau=tau, n_proposals=1), *bleu_law(y, tau)) < LIMIT


@pytest.mark.parametrize("tau", [0.15, 0.3])
def test_bleu_law_tends_to_the_reward(tau):
    y = (2, 3, 4, 2)
    policy = so.Hamming(WORDS, tau=1.0)
    draws = kept(y, policy, n=2000, tau=tau, n_proposals=64)
    assert p_value(draws, *bleu_law(y, tau)) > LIMIT
    assert p_value(draws, *bleu_law(y, 3 * tau)) < LIMIT
