"""Samples of every policy, on every framework, follow the exact law; wrong samplers do not."""

from __future__ import annotations

import math

import algorithm1
import numpy as np
import pytest
from algorithm1 import MISTAKES, SENTENCE
from goodness import LIMIT, p_value

import switchout as so
from switchout.policies import maxent

N = 60_000
WORDS = so.Words(7, special_ids=(0, 1, 2, 3))
TABLE = so.SimilarityTable.from_dictionary({4: [5, 6], 5: [6]}, WORDS)
POLICIES = {
    "switchout 0.5": so.SwitchOut(WORDS, tau=0.5),
    "switchout 3": so.SwitchOut(WORDS, tau=3.0),
    "switchout inf": so.SwitchOut(WORDS, tau=math.inf),
    "switchout rate": so.SwitchOut(WORDS, rate=0.3),
    "raml 0.8": so.RAML(WORDS, tau=0.8),
    "hamming 0.7": so.Hamming(WORDS, tau=0.7),
    "hamming rescaled": so.Hamming.rescaled(WORDS, tau=0.9),
    "word dropout": so.WordDropout(WORDS, rate=0.3, null_id=0),
    "similar 0.6": so.Similar(WORDS, TABLE, tau=0.6),
}


def exact_law(policy):
    """The policy's law on SENTENCE from Algorithm 1 by the book, or from equation 2."""
    if isinstance(policy, so.SwitchOut):
        tau = policy.tau if policy.rate is None else float(policy.temperature(3))
        return algorithm1.law(tau)
    if isinstance(policy, so.WordDropout):
        support = maxent.neighborhood(SENTENCE, WORDS, null_id=policy.null_id)
        tau = 1 / math.log((1 - policy.rate) / policy.rate)
        return support, maxent.MaxEnt(maxent.word_dropout(0), tau).probabilities(SENTENCE, support)
    support = maxent.replacements(SENTENCE, WORDS)
    similarity = maxent.negative_hamming
    if isinstance(policy, so.Similar):
        similarity = maxent.from_table(policy.table)
    return support, maxent.MaxEnt(similarity, policy.tau).probabilities(SENTENCE, support)


def draws(policy, framework=None, **address):
    x = np.tile(np.array(SENTENCE, np.int32), (N, 1))
    settings = {"seed": 11, "example_ids": np.arange(N), **address}
    if framework is None:
        return policy.sample(x, **settings)
    run = framework.eager(lambda tokens: policy.sample(tokens, **settings))
    return framework.numpy(run(framework.array(x)))


@pytest.mark.parametrize("name", POLICIES)
def test_kernel_samples_follow_the_exact_law(name):
    policy = POLICIES[name]
    support, q = exact_law(policy)
    assert p_value(map(tuple, draws(policy).tolist()), support, np.asarray(q)) > LIMIT


@pytest.mark.usefixtures("array_path")
@pytest.mark.parametrize("name", POLICIES)
def test_array_samples_follow_the_exact_law_on_every_framework(name, framework):
    policy = POLICIES[name]
    support, q = exact_law(policy)
    samples = map(tuple, draws(policy, framework).tolist())
    assert p_value(samples, support, np.asarray(q)) > LIMIT


@pytest.mark.parametrize("tau", [0.7, 3.0])
@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_same_test_rejects_a_sampler_with(mistake, tau):
    support, q = algorithm1.law(tau)
    samples = algorithm1.wrong_samples(mistake, tau, N, np.random.default_rng(5))
    assert p_value(map(tuple, samples.tolist()), support, q) < LIMIT


def test_the_book_sampler_without_mistake_is_accepted():
    support, q = algorithm1.law(0.5)
    samples = algorithm1.wrong_samples("none", 0.5, N, np.random.default_rng(5))
    assert p_value(map(tuple, samples.tolist()), support, q) > LIMIT


INDEPENDENT = {
    "sides": ({"side": "source"}, {"side": "target"}),
    "epochs": ({"epoch": 0}, {"epoch": 1}),
    "seeds": ({"seed": 0}, {"seed": 1}),
    "seeds above 32 bits": ({"seed": 7}, {"seed": 7 + (1 << 32)}),
    "examples": ({}, {"example_ids": np.arange(N) + N}),
    "examples above 32 bits": ({}, {"example_ids": np.arange(N) + (1 << 32)}),
}


def joint_p_value(a, b, policy):
    """p-value of pairs of samples under independence, each following the policy's law."""
    support, q = exact_law(policy)
    pairs = [(s, t) for s in support for t in support]
    joint = np.outer(q, q).reshape(-1)
    samples = zip(map(tuple, a.tolist()), map(tuple, b.tolist()), strict=True)
    return p_value(samples, pairs, joint)


@pytest.mark.parametrize("what", INDEPENDENT)
def test_randomness_is_independent_between(what):
    policy = POLICIES["switchout 3"]
    first, second = INDEPENDENT[what]
    assert joint_p_value(draws(policy, **first), draws(policy, **second), policy) > LIMIT


def test_shared_randomness_is_rejected():
    policy = POLICIES["switchout 3"]
    samples = draws(policy)
    assert joint_p_value(samples, samples, policy) < LIMIT


def test_policies_of_a_chain_draw_independently():
    """Two dropouts by two null words: both hit or not, and the first wins where both hit."""
    words = so.Words(8, special_ids=(0, 1, 2, 3))
    chain = so.Chain(
        so.WordDropout(words, rate=0.4, null_id=7), so.WordDropout(words, rate=0.3, null_id=0)
    )
    # 7 is a word, so the second policy may drop it as well: every word is 0 with 0.3.
    x = np.full((N, 1), 4)
    out = chain.sample(x, seed=3, example_ids=np.arange(N))
    law = {0: 0.3, 7: 0.7 * 0.4, 4: 0.7 * 0.6}
    assert p_value(out[:, 0].tolist(), list(law), np.array(list(law.values()))) > LIMIT
    shared = np.where(out[:, 0] == 0, 0, np.where(out[:, 0] == 7, 4, 4))  # one draw for both
    assert p_value(shared.tolist(), list(law), np.array(list(law.values()))) < LIMIT


@pytest.mark.parametrize("tau", [0.5, 3.0, 40.0])
@pytest.mark.parametrize("length", [1, 2, 25, 1000])
def test_number_of_changes_follows_the_mixture_of_binomials(length, tau):
    from scipy import stats

    n_samples = 20_000 if length < 1000 else 2_000
    x = np.full((n_samples, length + 2), 4)
    x[:, 0], x[:, -1] = 1, 2
    words = so.Words(50_000)
    y = so.switch_out(x, tau=tau, words=words, seed=1, example_ids=np.arange(n_samples))
    p_n = algorithm1.count_law(tau, length)
    h = np.arange(length + 1)
    q = sum(p * stats.binom.pmf(h, length, n / length) for n, p in enumerate(p_n))
    assert p_value((y != x).sum(axis=1).tolist(), h.tolist(), q) > LIMIT
    inverted = sum(
        p * stats.binom.pmf(h, length, n / length)
        for n, p in enumerate(algorithm1.count_law(1 / tau, length))
    )
    assert p_value((y != x).sum(axis=1).tolist(), h.tolist(), inverted) < LIMIT


@pytest.mark.parametrize("special_ids", [(0, 1, 2, 3), (0, 19), (7, 8, 13), ()], ids=str)
@pytest.mark.parametrize("draw_ids", [None, (4, 5, 11, 12, 18)], ids=["all", "some"])
def test_replacements_are_uniform_over_the_other_drawable_words(special_ids, draw_ids):
    words = so.Words(20, special_ids=special_ids, draw_ids=draw_ids)
    drawable = words.drawable().tolist()
    for own in (5, 10):
        x = np.full((N, 1), own)
        y = so.Hamming(words, tau=math.inf).sample(x, seed=2, example_ids=np.arange(N))[:, 0]
        others = [w for w in drawable if w != own]
        changed = y[y != own].tolist()
        assert p_value(changed, others, np.full(len(others), 1 / len(others))) > LIMIT
        everything = drawable if own in drawable else [*drawable, own]
        uniform = np.full(len(everything), 1 / len(everything))
        assert p_value(changed, everything, uniform) < LIMIT  # own word drawable


def test_the_largest_vocabulary_is_drawn_to_its_ends():
    words = so.Words(1 << 24)
    x = np.full((N, 1), 1 << 20)
    y = so.Hamming(words, tau=math.inf).sample(x, seed=2, example_ids=np.arange(N))[:, 0]
    bins = np.bincount((y * 16) // (1 << 24), minlength=16)
    drawn = np.repeat(np.arange(16), bins).tolist()
    assert p_value(drawn, list(range(16)), np.full(16, 1 / 16)) > LIMIT
    assert y.min() >= 4
