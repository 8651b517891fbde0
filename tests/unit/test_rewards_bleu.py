"""RAML with sentence-BLEU reward: what is kept of the proposals, addresses, what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import switchout as so
from switchout.policies.rewards import raml_bleu, sentence_bleu

WORDS = so.Words(40)
POLICY = so.Hamming.rescaled(WORDS, tau=1.5)
RNG = np.random.default_rng(1)
SENTENCES = [[1, *RNG.integers(4, 40, n).tolist(), 2] for n in (1, 5, 12, 30)]


def bleu(sentences, ids, **changes):
    address = dict(seed=3, example_ids=ids, tau=0.1, n_proposals=8) | changes
    return raml_bleu(sentences, POLICY, **address)


def mean_bleu(drawn, y) -> float:
    return float(np.mean([sentence_bleu(y_hat[1:-1], y[1:-1]) for y_hat in drawn]))


def test_same_address_gives_same_sentences_in_any_batch():
    ids = [10, 11, 12, 2**40]
    together = bleu(SENTENCES, ids)
    alone = [bleu([s], [i])[0] for s, i in zip(SENTENCES, ids, strict=True)]
    assert together == alone == bleu(SENTENCES[::-1], ids[::-1])[::-1]
    assert together != SENTENCES


@pytest.mark.parametrize(
    "change",
    [dict(seed=0), dict(epoch=1), dict(side="source"), dict(example_ids=range(50, 100))],
    ids=["seed", "epoch", "side", "example"],
)
def test_each_part_of_the_address_matters(change):
    many = [SENTENCES[2]] * 50
    assert bleu(many, range(50)) != bleu(many, range(50), **change)


def test_proposals_of_one_sentence_differ():
    """With one proposal repeated, the best of many would be no better than one."""
    y = SENTENCES[3]
    one, many = (bleu([y] * 200, range(200), tau=0.0, n_proposals=k) for k in (1, 16))
    assert mean_bleu(many, y) > mean_bleu(one, y) + 0.1


def test_lower_tau_keeps_higher_bleu():
    y = SENTENCES[2]
    scores = [
        mean_bleu(bleu([y] * 300, range(300), tau=t, rescaled=True, n_proposals=32), y)
        for t in (1.0, 3.0, 10.0)
    ]
    assert scores[0] > scores[1] > scores[2]


def test_one_proposal_is_the_policy_itself_at_any_tau():
    y = [SENTENCES[2]] * 50
    low, high = (bleu(y, range(50), tau=t, n_proposals=1) for t in (0.01, 100.0))
    assert low == high


def test_specials_and_length_stay():
    for y, y_hat in zip(SENTENCES, bleu(SENTENCES, range(4)), strict=True):
        assert len(y_hat) == len(y)
        assert y_hat[0] == 1
        assert y_hat[-1] == 2
        assert all(w >= 4 for w in y_hat[1:-1])


def test_empty_batch_and_sentences_without_words():
    assert bleu([], []) == []
    assert bleu([[], [1, 2]], [0, 1]) == [[], [1, 2]]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (dict(tau=-1.0), ValueError, "tau"),
        (dict(tau=float("nan")), ValueError, "tau"),
        (dict(n_proposals=0), ValueError, "n_proposals"),
        (dict(seed=2**64), ValueError, "seed"),
        (dict(side="sauce"), ValueError, "side"),
        (dict(example_ids=[1]), ValueError, "example_ids"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_bad_arguments_are_refused(change, error, message):
    with pytest.raises(error, match=message):
        bleu(SENTENCES, range(4), **change)
