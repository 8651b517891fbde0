"""What holds for every policy on every framework; a policy without an entry here fails."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import switchout as so
from switchout.policies import POLICIES as REGISTRY

WORDS = so.Words(12, special_ids=(0, 1, 2, 3))
TABLE = so.SimilarityTable.from_dictionary({4: [5, 6], 5: [9], 6: [4, 5, 7, 8]}, WORDS)
EXAMPLES = {
    "switchout": so.SwitchOut(WORDS, tau=2.0),
    "switchout rate": so.SwitchOut(WORDS, rate=0.25),
    "switchout draw": so.SwitchOut(so.Words(12, draw_ids=[5, 6, 9]), tau=2.0),
    "raml": so.RAML(WORDS, tau=1.1),
    "hamming": so.Hamming(WORDS, tau=0.5),
    "hamming draw": so.Hamming(so.Words(12, draw_ids=[5, 6, 9]), tau=0.7),
    "word_dropout": so.WordDropout(WORDS, rate=0.4, null_id=0),
    "similar": so.Similar(WORDS, TABLE, tau=1.5),
    "chain": so.Chain(so.SwitchOut(WORDS, tau=2.0), so.WordDropout(WORDS, rate=0.3)),
}
IDENTITIES = {
    "switchout": so.SwitchOut(WORDS, tau=0.0),
    "raml": so.RAML(WORDS, tau=0.0),
    "hamming": so.Hamming(WORDS, tau=0.0),
    "word_dropout": so.WordDropout(WORDS, rate=0.0),
    "similar": so.Similar(WORDS, TABLE, tau=0.0),
    "chain": so.Chain(so.SwitchOut(WORDS, tau=0.0)),
}
EXACT = [name for name in EXAMPLES if name != "chain"]


def batch(seed=0, shape=(40, 9), dtype=np.int64):
    return np.random.default_rng(seed).integers(-2, 12, shape).astype(dtype)


def test_every_policy_has_examples_here():
    assert {policy.name for policy in EXAMPLES.values()} == set(REGISTRY)
    assert set(IDENTITIES) == set(REGISTRY)


@pytest.mark.parametrize("name", EXAMPLES)
def test_type_dtype_shape_and_input_are_kept(name, framework):
    for dtype in (np.int32, np.int64):
        values = batch(dtype=dtype)
        x = framework.array(values)
        y = EXAMPLES[name].sample(x, seed=1, example_ids=np.arange(40))
        assert type(y) is type(x)
        assert y.dtype == x.dtype
        assert tuple(y.shape) == tuple(x.shape)
        np.testing.assert_array_equal(framework.numpy(x), values)
        assert (framework.numpy(y) != values).any()


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_framework_returns_the_ids_of_numpy(name, framework):
    policy, x, ids = EXAMPLES[name], batch(), np.arange(40)
    y = policy.sample(framework.array(x), seed=1, example_ids=framework.array(ids))
    np.testing.assert_array_equal(framework.numpy(y), policy.sample(x, seed=1, example_ids=ids))


@pytest.mark.parametrize("name", EXAMPLES)
def test_special_and_frozen_tokens_never_change(name):
    x, frozen = batch(), np.random.default_rng(1).random((40, 9)) < 0.3
    for seed in range(20):
        y = EXAMPLES[name].sample(x, seed=seed, example_ids=np.arange(40), frozen=frozen)
        keep = frozen | (x < 4)
        np.testing.assert_array_equal(y[keep], x[keep])
        if name not in ("word_dropout", "chain"):
            assert (y[~keep] >= 4).all()


@pytest.mark.parametrize("name", IDENTITIES)
def test_zero_temperature_changes_nothing(name):
    x = batch()
    y = IDENTITIES[name].sample(x, seed=1, example_ids=np.arange(40))
    np.testing.assert_array_equal(y, x)
    assert y is not x


@pytest.mark.parametrize("name", EXAMPLES)
def test_neither_batch_nor_padding_nor_bos_changes_what_a_sentence_becomes(name):
    policy = EXAMPLES[name]
    sentence = np.random.default_rng(3).integers(4, 12, (1, 6))
    alone = policy.sample(sentence, seed=5, example_ids=[17])
    in_batch = np.zeros((3, 11), np.int64)
    in_batch[0, 3:9] = in_batch[1, 0:6] = sentence
    in_batch[2, 0], in_batch[2, 1:7], in_batch[2, 7] = 1, sentence, 2
    for row, start in ((0, 3), (1, 0), (2, 1)):
        ids = [99, 98, 97]
        ids[row] = 17
        y = policy.sample(in_batch, seed=5, example_ids=ids)
        np.testing.assert_array_equal(y[row, start : start + 6], alone[0])


@pytest.mark.parametrize("name", EXAMPLES)
def test_seed_epoch_side_and_example_each_change_the_outcome(name):
    policy, x, ids = EXAMPLES[name], batch(shape=(200, 9)), np.arange(200)
    base = policy.sample(x, seed=0, example_ids=ids, side="source")
    np.testing.assert_array_equal(policy.sample(x, seed=0, example_ids=ids, side="source"), base)
    for change in (
        {"seed": 1},
        {"seed": 1 << 63},
        {"epoch": 1},
        {"side": "target"},
        {"example_ids": ids + 1},
        {"example_ids": ids + (1 << 40)},
    ):
        settings = {"seed": 0, "example_ids": ids, "side": "source", **change}
        assert (policy.sample(x, **settings) != base).any()


def test_raml_defaults_to_the_target_side():
    policy, x, ids = EXAMPLES["raml"], batch(), np.arange(40)
    default = policy.sample(x, seed=1, example_ids=ids)
    np.testing.assert_array_equal(policy.sample(x, seed=1, example_ids=ids, side="target"), default)
    assert (policy.sample(x, seed=1, example_ids=ids, side="source") != default).any()


@pytest.mark.parametrize("name", EXAMPLES)
def test_plain_data_and_back_is_the_same_policy(name):
    import json

    policy = EXAMPLES[name]
    again = so.policy_from_dict(json.loads(json.dumps(policy.to_dict())))
    assert again == policy
    x = batch()
    np.testing.assert_array_equal(
        again.sample(x, seed=1, example_ids=np.arange(40)),
        policy.sample(x, seed=1, example_ids=np.arange(40)),
    )


def support(x):
    """Every row of drawable words and nulls in the place of the words of ``x`` [time]."""
    choices = [[t] if t < 4 else [0, *range(4, 12)] for t in x]
    return np.array(list(itertools.product(*choices)))


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("x", [[1, 4, 6, 2], [5, 5], [10], [1, 2]], ids=str)
def test_probabilities_sum_to_one_and_give_entropy_and_changes(name, x):
    policy, space = EXAMPLES[name], support(x)
    x = np.array(x)
    log_q = policy.log_prob(space, np.broadcast_to(x, space.shape))
    q = np.exp(log_q)
    assert q.sum() == pytest.approx(1, abs=1e-12)
    changes = (q * (space != x).sum(axis=1)).sum()
    entropy = -(q[q > 0] * log_q[q > 0]).sum()
    if name == "similar":
        assert policy.entropy(x[None])[0] == pytest.approx(entropy, abs=1e-12)
        assert policy.expected_changes(x[None])[0] == pytest.approx(changes, abs=1e-12)
    elif not name.endswith("draw"):  # closed forms by length are for drawable words
        length = int((x >= 4).sum())
        assert policy.entropy([length])[0] == pytest.approx(entropy, abs=1e-12)
        assert policy.expected_changes([length])[0] == pytest.approx(changes, abs=1e-12)
        tau = float(policy.temperature([length])[0])
        assert policy.objective([length])[0] == pytest.approx(tau * entropy - changes, abs=1e-9)


@pytest.mark.parametrize("name", EXACT)
def test_probability_is_zero_outside_the_support(name, framework):
    policy = EXAMPLES[name]
    x = framework.array(np.array([[1, 4, 6, 2], [1, 4, 6, 2]]))
    impossible = framework.array(np.array([[4, 4, 6, 2], [1, 4, 1, 2]]))
    log_q = framework.numpy(policy.log_prob(impossible, x))
    assert np.isneginf(log_q).all()
    assert np.isfinite(framework.numpy(policy.log_prob(x, x))).all()


def test_frozen_words_are_not_counted():
    policy, x = EXAMPLES["switchout"], np.array([[4, 5, 6]])
    frozen = np.array([[False, True, True]])
    np.testing.assert_allclose(
        policy.log_prob(x, x, frozen=frozen), policy.log_prob(x[:, :1], x[:, :1])
    )
    assert np.isneginf(policy.log_prob(np.array([[4, 6, 6]]), x, frozen=frozen))[0]


@pytest.mark.parametrize("length", [1, 25, 300])
@pytest.mark.parametrize("rate", [0.05, 0.3])
def test_rate_is_the_expected_share_of_changed_words(rate, length):
    assert so.SwitchOut(WORDS, rate=rate).expected_changes(length) / length == pytest.approx(rate)
    one_tau = so.SwitchOut.for_rate(WORDS, rate=rate, length=length)
    assert one_tau.expected_changes(length) / length == pytest.approx(rate)


def test_word_dropout_temperature_is_of_the_odds():
    policy = so.WordDropout(WORDS, rate=0.1)
    assert float(policy.temperature(1)) == pytest.approx(1 / math.log(9))
    assert so.WordDropout.for_tau(WORDS, tau=1 / math.log(9)).rate == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: so.SwitchOut(WORDS), ValueError),
        (lambda: so.SwitchOut(WORDS, tau=1.0, rate=0.1), ValueError),
        (lambda: so.SwitchOut(WORDS, rate=0.6), ValueError),
        (lambda: so.SwitchOut.for_rate(WORDS, rate=0.6, length=25), ValueError),
        (lambda: so.SwitchOut.for_rate(WORDS, rate=0.1, length=0), ValueError),
        (lambda: so.SwitchOut(WORDS, tau=-1), ValueError),
        (lambda: so.Hamming(WORDS, tau=math.nan), ValueError),
        (lambda: so.WordDropout(WORDS, rate=1.1), ValueError),
        (lambda: so.WordDropout(WORDS, rate=0.1, null_id=12), ValueError),
        (lambda: so.WordDropout(WORDS, rate=0.1, null_id=0.0), TypeError),
        (lambda: so.Similar(so.Words(13), TABLE, tau=1.0), ValueError),
        (lambda: so.Chain(), ValueError),
        (lambda: so.Chain(1), TypeError),
        (lambda: so.policy_from_dict({"policy": "swichout"}), ValueError),
    ],
)
def test_impossible_policies_are_refused(make, error):
    with pytest.raises(error):
        make()


def test_pair_samples_each_side_by_its_own_policy():
    x, y, ids = batch(1), batch(2), np.arange(40)
    pair = so.Pair(source=EXAMPLES["switchout"], target=EXAMPLES["raml"])
    x_hat, y_hat = pair.sample(x, y, seed=7, example_ids=ids, epoch=3)
    np.testing.assert_array_equal(
        x_hat, EXAMPLES["switchout"].sample(x, seed=7, example_ids=ids, epoch=3, side="source")
    )
    np.testing.assert_array_equal(
        y_hat, EXAMPLES["raml"].sample(y, seed=7, example_ids=ids, epoch=3, side="target")
    )
    alone = so.Pair(source=EXAMPLES["switchout"]).sample(x, y, seed=7, example_ids=ids, epoch=3)
    np.testing.assert_array_equal(alone[0], x_hat)
    np.testing.assert_array_equal(alone[1], y)
    assert so.policy_from_dict(pair.to_dict()) == pair


def test_stream_numbers_examples_across_ranks_and_resumes():
    policy, x = EXAMPLES["switchout"], batch(shape=(12, 9))
    one = policy.stream(seed=7)
    whole = one(x)
    np.testing.assert_array_equal(whole, policy.sample(x, seed=7, example_ids=np.arange(12)))
    for rank in range(3):
        mine = policy.stream(seed=7, rank=rank, world_size=3)
        first = mine(x[rank::3][:1])
        resumed = policy.stream(seed=7, rank=rank, world_size=3)
        resumed.restore(mine.state())
        rest = resumed(x[rank::3][1:])
        np.testing.assert_array_equal(np.concatenate([first, rest]), whole[rank::3])
    with pytest.raises(ValueError, match="another stream"):
        policy.stream(seed=8).restore(one.state())
    with pytest.raises(ValueError, match="rank"):
        policy.stream(seed=7, rank=3, world_size=3)


@pytest.mark.parametrize("length", [0, 1, 2, 7, 40])
@pytest.mark.parametrize(
    "policy",
    [
        so.SwitchOut(so.Words(50), tau=0.7),
        so.SwitchOut(so.Words(50), rate=0.2),
        so.Hamming(so.Words(50), tau=0.3),
        so.WordDropout(so.Words(50), rate=0.3),
    ],
    ids=repr,
)
def test_law_of_changed_words_sums_to_one_and_has_the_closed_mean(policy, length):
    law = policy.change_probabilities(length)
    assert law.shape == (length + 1,)
    np.testing.assert_allclose(law.sum(), 1)
    mean = (law * np.arange(length + 1)).sum()
    np.testing.assert_allclose(mean, policy.expected_changes(length), atol=1e-12)


def test_a_chain_takes_no_lengths_because_each_policy_counts_anew():
    x = np.array([[4, 5, 6]])
    chain = so.Chain(so.SwitchOut(WORDS, tau=1.0), so.WordDropout(WORDS, rate=0.5))
    with pytest.raises(TypeError, match="no lengths"):
        chain.sample(x, seed=1, example_ids=[0], lengths=[3])


def test_chains_inside_chains_are_the_same_as_one_chain():
    x = np.tile(np.arange(4, 9), (50, 1))
    a, b, c = (so.SwitchOut(WORDS, tau=tau) for tau in (1.0, 2.0, 3.0))
    flat, nested = so.Chain(a, b, c), so.Chain(a, so.Chain(b, c))
    where = {"seed": 1, "example_ids": np.arange(50)}
    assert (flat.sample(x, **where) == nested.sample(x, **where)).all()
    assert (flat.sample(x, **where) != so.Chain(a, b).sample(x, **where)).any()


def test_arguments_in_the_wrong_place_or_too_many_say_so():
    for policy in (so.SwitchOut, so.RAML):
        with pytest.raises(TypeError, match=rf"words come first: {policy.__name__}\(words, tau\)"):
            policy(1.0, WORDS)
        with pytest.raises(ValueError, match="needs either tau or rate, not both"):
            policy(WORDS, tau=1.0, rate=0.1)
        with pytest.raises(ValueError, match=r"needs either tau or rate$"):
            policy(WORDS)
