"""Rewards on sentences: edit distance, BLEU, addresses, specials, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sacrebleu
from rapidfuzz.distance import Levenshtein

from switchout.policies.edit_law import script_weight
from switchout.policies.rewards import raml_edit_distance, sentence_bleu
from switchout.words import Words

WORDS = Words(40)
RNG = np.random.default_rng(1)
SENTENCES = [[1, *RNG.integers(4, 40, n).tolist(), 2] for n in (1, 5, 12, 30)]
TAU = dict(tau=0.95, rescaled=True)


def edit(sentences, ids, **changes):
    address = dict(seed=3, example_ids=ids, epoch=0, side="target") | TAU | changes
    return raml_edit_distance(sentences, changes.pop("words", WORDS), **address)


def test_shortest_script_is_the_levenshtein_distance():
    rng = np.random.default_rng(0)
    for _ in range(2000):
        size = rng.integers(2, 5)
        y = rng.integers(0, size, rng.integers(1, 10))
        y_hat = rng.integers(0, size, rng.integers(0, 10))
        edits, weight = script_weight(y_hat, y, np.ones(len(y), bool), 0.1)
        assert edits == Levenshtein.distance(y.tolist(), y_hat.tolist())
        assert weight >= 1


def test_scripts_respect_words_that_may_not_be_edited():
    y, y_hat, fixed = np.array([4, 3, 5]), np.array([3, 3]), np.array([True, False, True])
    assert script_weight(y_hat, y, fixed, 0.1)[0] == 2  # 4 -> 3, 5 deleted: or the 3 would move
    assert script_weight(np.array([4, 5]), y, fixed, 0.1)[1] == 0  # the 3 cannot go


def test_long_sentences_and_far_pairs_stay_finite():
    y = np.arange(4, 3004)
    edits, weight = script_weight(y[::-1].copy(), y, np.ones(y.size, bool), 1e-6)
    assert edits == Levenshtein.distance(y.tolist(), y[::-1].tolist())
    assert np.isfinite(weight)


def test_same_address_gives_same_sentences_in_any_batch():
    ids = [10, 11, 12, 2**40]
    together = edit(SENTENCES, ids)
    alone = [edit([s], [i])[0] for s, i in zip(SENTENCES, ids, strict=True)]
    assert together == alone == edit(SENTENCES[::-1], ids[::-1])[::-1]
    assert together != SENTENCES


@pytest.mark.parametrize(
    "change",
    [dict(seed=0), dict(epoch=1), dict(side="source"), dict(example_ids=range(300, 600))],
    ids=["seed", "epoch", "side", "example"],
)
def test_each_part_of_the_address_matters(change):
    many = [SENTENCES[2]] * 300
    assert edit(many, range(300)) != edit(many, range(300), **change)


def test_specials_stay_and_no_other_special_appears():
    y = [1, 3, 8, 3, 9, 2, 2]
    for y_hat in edit([y] * 200, range(200)):
        assert y_hat[:2] == [1, 3]
        assert y_hat[-2:] == [2, 2]
        assert [w for w in y_hat if w < 4] == [1, 3, 3, 2, 2]


def test_draw_ids_limit_what_comes_in():
    words = Words(40, draw_ids=(20, 21, 22))
    drawn = raml_edit_distance([[8, 9, 20]] * 200, words, tau=0.7, seed=0, example_ids=range(200))
    assert {w for s in drawn for w in s} == {8, 9, 20, 21, 22}


def test_sentences_without_words_come_back_and_none_becomes_empty():
    assert edit([[], [1, 2]], [0, 1]) == [[], [1, 2]]
    drawn = raml_edit_distance([[4]] * 500, Words(6), tau=1.4, seed=0, example_ids=range(500))
    assert min(map(len, drawn)) == 1


def test_input_stays_and_tau_zero_copies():
    sentences = [[5, 6]]
    same = edit(sentences, [0], tau=0.0)
    assert same == sentences
    same[0].append(7)
    assert sentences == [[5, 6]]


def test_tau_without_a_law_is_refused_with_the_limit():
    with pytest.raises(ValueError, match=r"36 words tau must be below 0.2791, got 0.3"):
        edit(SENTENCES, range(4), tau=0.3, rescaled=False)
    assert len(edit(SENTENCES, range(4), tau=0.27, rescaled=False)) == 4
    assert len(edit(SENTENCES, range(4), tau=1.0, rescaled=True)) == 4


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (dict(tau=-1.0), ValueError, "tau"),
        (dict(tau=float("nan")), ValueError, "tau"),
        (dict(tau=float("inf")), ValueError, "tau"),
        (dict(seed=-1), ValueError, "seed"),
        (dict(epoch=2**32), ValueError, "epoch"),
        (dict(side="sauce"), ValueError, "side"),
        (dict(example_ids=[1]), ValueError, "example_ids"),
        (dict(example_ids=[0.5] * 4), TypeError, "example_ids"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_bad_arguments_are_refused(change, error, message):
    with pytest.raises(error, match=message):
        edit(SENTENCES, range(4), **change)


@pytest.mark.parametrize(
    ("sentence", "error"), [([40], ValueError), ([4.5], TypeError), ([[4]], TypeError)], ids=str
)
def test_bad_sentences_are_refused(sentence, error):
    with pytest.raises(error):
        edit([sentence], [0])


def test_bleu_equals_sacrebleu_with_one_added():
    rng = np.random.default_rng(2)
    bleu = sacrebleu.BLEU(
        tokenize="none", smooth_method="add-k", smooth_value=1, effective_order=False
    )
    for _ in range(300):
        reference = rng.integers(4, 9, rng.integers(1, 12)).tolist()
        hypothesis = rng.integers(4, 9, rng.integers(1, 12)).tolist()
        texts = (" ".join(map(str, s)) for s in (hypothesis, reference))
        expected = bleu.sentence_score(next(texts), [next(texts)]).score / 100
        assert sentence_bleu(hypothesis, reference) == pytest.approx(expected, abs=1e-12)


def test_bleu_of_nothing_is_zero():
    assert sentence_bleu([], [4]) == sentence_bleu([4], []) == 0.0


def test_tau_a_hair_below_its_limit_is_refused_instead_of_filling_the_memory():
    tau = 1 / math.log(len(WORDS) * (1 + 1e-12))
    with pytest.raises(ValueError, match="too near its limit"):
        edit([[4]], [0], tau=tau, rescaled=False)
