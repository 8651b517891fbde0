"""Whole words over pieces: what a word is, the law of the numbers, and that all else stays."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
import scipy.stats

import switchout as so
import toy_tokenizers as toys
from switchout.pieces import Pieces
from switchout.policies.whole_words import Cutter, WholeWords, WordBook


def cut(names: list[str], sentence: str) -> list[str]:
    """Cut a sentence given as names with blanks between; return the units, pieces joined by |."""
    row = [names.index(name) for name in sentence.split()]
    ids, starts, _, _ = Cutter(Pieces(names)).cut([row])
    pairs = pairwise(starts)
    return ["|".join(names[i] for i in ids[a:b]) for a, b in pairs]


SPM = ["<unk>", "</s>", "▁der", "▁Hund", "e", ".", "▁", "X", "'", "s", "▁(", "!", ",", "deu_Latn"]


@pytest.mark.parametrize(
    ("sentence", "units"),
    [
        ("▁der ▁Hund e . </s>", ["▁der", "▁Hund|e", ".", "</s>"]),
        ("▁ X e ▁der", ["▁|X|e", "▁der"]),  # a mark alone belongs to what follows
        ("▁Hund ' s ▁der", ["▁Hund|'|s", "▁der"]),  # only punctuation at the end is parted
        ("▁( X ! , </s>", ["▁(|X", "!|,", "</s>"]),
        ("▁ . ▁der", ["▁|.", "▁der"]),
        ("<unk> e ▁der", ["<unk>", "e", "▁der"]),
        ("e e", ["e|e"]),
        ("</s> </s>", ["</s>", "</s>"]),
        ("", []),
    ],
)
def test_words_of_sentencepiece(sentence, units):
    assert cut(SPM, sentence) == units


@pytest.mark.parametrize(
    ("names", "sentence", "units"),
    [
        (["der", "Hund", "##e", "."], "der Hund ##e .", ["der", "Hund|##e", "."]),
        (["der", "Hu@@", "nd", "."], "der Hu@@ nd .", ["der", "Hu@@|nd", "."]),
        (["der</w>", "Hu", "nd</w>", ".</w>"], "der</w> Hu nd</w> .</w>",
         ["der</w>", "Hu|nd</w>", ".</w>"]),
        (["der", "Hund", "￭e", "￭.", "un￭"], "der un￭ Hund ￭e ￭.", ["der", "un￭|Hund|￭e", "￭."]),
        (["der", "ĠHund", "e", "."], "der ĠHund e .", ["der", "ĠHund|e", "."]),
        (["▁क", "ि", "▁ख"], "▁क ि ▁ख", ["▁क|ि", "▁ख"]),  # a vowel sign is no punctuation
    ],
)  # fmt: skip
def test_words_of_other_families(names, sentence, units):
    assert cut(names, sentence) == units


def test_rows_are_cut_apart_and_negative_ids_stand_alone():
    _, starts, is_word, per_row = Cutter(Pieces(SPM)).cut([[2, 3, 4], [], [-100, 4, 4, -100], [4]])
    assert starts == [0, 1, 3, 4, 6, 7, 8]
    assert is_word == [True, True, False, True, False, True]
    assert per_row.tolist() == [2, 0, 3, 1]


@pytest.fixture(scope="module", params=["nllb", "gpt2"])
def corpus(request):
    pytest.importorskip("transformers")
    tokenizer = getattr(toys, request.param)()
    rows = [tokenizer(line)["input_ids"] for line in toys.text()[0]]
    return tokenizer, rows


def test_the_address_and_everything_but_the_words_stay(corpus):
    tokenizer, rows = corpus
    pieces = Pieces.of(tokenizer)
    book = WordBook(pieces, rows)
    policy = WholeWords(book, so.SwitchOut(book.words, tau=1.5))
    new = policy.sample_lists(rows, seed=3, example_ids=range(len(rows)), epoch=1)
    alone = [policy.sample_lists([row], seed=3, example_ids=[i], epoch=1)[0]
             for i, row in enumerate(rows)]  # fmt: skip
    assert new == alone
    assert 0.2 < np.mean([a != b for a, b in zip(rows, new, strict=True)]) < 0.9
    assert len({len(a) - len(b) for a, b in zip(rows, new, strict=True)}) > 3
    for old, made in zip(rows, new, strict=True):
        specials = [i for i in old if i in pieces.special]
        assert [i for i in made if i in pieces.special] == specials
    again = policy.sample_lists(rows, seed=3, example_ids=range(len(rows)), epoch=1, frozen=[
        [True] * len(row) for row in rows])  # fmt: skip
    assert again == rows


def test_what_is_drawn_are_words_of_the_corpus(corpus):
    tokenizer, rows = corpus
    book = WordBook(Pieces.of(tokenizer), rows)
    whole = {word for line in toys.text()[0] for word in line.split()}
    policy = WholeWords(book, so.Hamming(book.words, tau=50.0))
    new = policy.sample_lists(rows, seed=3, example_ids=range(len(rows)))
    made = Counter(tokenizer.decode(row, skip_special_tokens=True) for row in new)
    words = [word for line in made for word in line.split()]
    share = np.mean([word in whole or word.rstrip(".,?!'") in whole for word in words])
    assert share > 0.97  # pieces: see the next test
    pieces = so.Words.from_tokenizer(tokenizer, rows)
    new = so.Hamming(pieces, tau=50.0).sample_lists(rows, seed=3, example_ids=range(len(rows)))
    lines = [tokenizer.decode(row, skip_special_tokens=True) for row in new]
    assert np.mean([word in whole for line in lines for word in line.split()]) < 0.7


def test_the_number_of_changed_words_follows_algorithm_1():
    pieces = Pieces(["</s>", "▁a", "▁b", "▁c", "d", "e"])
    row = [1, 2, 4, 3, 4, 5, 1, 2, 0]  # a bd cde a b
    book = WordBook(pieces, [row, [3, 0], [1, 4, 0]])
    n = 20_000
    policy = so.SwitchOut(book.words, tau=1.0)
    new = WholeWords(book, policy).sample_lists([row] * n, seed=1, example_ids=range(n))
    old = [(1,), (2, 4), (3, 4, 5), (1,), (2,)]
    changes = Counter()
    for made in new:
        ids, starts, _, _ = book.cutter.cut([made])
        words = [tuple(ids[a:b]) for a, b in pairwise(starts)]
        assert words.pop() == (0,)
        changes[sum(a != b for a, b in zip(old, words, strict=True))] += 1
    expected = policy.change_probabilities(5) * n
    assert scipy.stats.chisquare([changes[k] for k in range(6)], expected).pvalue > 0.001
    wrong = so.SwitchOut(book.words, tau=0.9).change_probabilities(5) * n
    assert scipy.stats.chisquare([changes[k] for k in range(6)], wrong).pvalue < 1e-6


def test_rows_that_grow_too_long_lose_words_never_specials():
    pieces = Pieces(["</s>", "▁a", "▁b", "c", "c", "c", "<2en>"])
    book = WordBook(pieces, [[1, 0], [2, 3, 4, 5, 0]])
    policy = WholeWords(book, so.Hamming(book.words, tau=float("inf")), max_length=6)
    row = [1, 1, 1, 6, 0]
    new = policy.sample_lists([row] * 50, seed=1, example_ids=range(50))
    assert max(map(len, new)) == 6
    assert all(made[-2:] == [6, 0] for made in new)
    long = [1] * 8 + [0]  # longer than allowed from the start: the trainer's affair
    made = policy.sample_lists([long] * 20, seed=1, example_ids=range(20))
    assert {len(row) for row in made} <= set(range(6, 10))


def test_places_lead_columns_along():
    pieces = Pieces(["</s>", "▁a", "▁b", "c", "d"])
    book = WordBook(pieces, [[1, 0], [2, 3, 4, 0]])
    policy = WholeWords(book, so.Hamming(book.words, tau=float("inf")))
    for i in range(20):
        ((ids, places),) = policy.sample([[0, 1, 2, 3, 0]], seed=1, example_ids=[i])
        assert len(ids) == len(places)
        assert places[0] == 0
        assert places[-1] == 4
        assert (np.diff(places) >= 0).all()


def test_a_word_that_is_not_in_the_book_is_replaced_and_never_drawn():
    pieces = Pieces(["</s>", "▁a", "▁b", "c"])
    book = WordBook(pieces, [[1, 0], [2, 0]])
    policy = WholeWords(book, so.Hamming(book.words, tau=float("inf")))
    new = policy.sample_lists([[2, 3, 0]] * 200, seed=1, example_ids=range(200))
    assert {tuple(row) for row in new} == {(1, 0), (2, 0), (2, 3, 0)}
    assert 60 < sum(row == [1, 0] for row in new) < 140


@pytest.mark.parametrize(
    ("names", "rows", "message"),
    [
        (["a", "b", "c"], [[0, 1]], "does not mark where words begin: use unit='piece'"),
        (["▁我", "们", "说"], [[0, 1, 2, 1, 2, 1, 2, 1, 2, 1]], "language without blanks"),
        (["▁a", "▁b"], [[0, 0]], "at least two words, got 1"),
        (["▁a", "▁b"], [[0, 9]], "id 9 is not below"),
    ],
)
def test_a_corpus_without_words_is_refused(names, rows, message):
    with pytest.raises(ValueError, match=message):
        WordBook(Pieces(names), rows)


def test_policies_that_do_not_fit_are_refused():
    book = WordBook(Pieces(["</s>", "▁a", "▁b"]), [[1, 2, 0]])
    with pytest.raises(ValueError, match="unit='piece'"):
        WholeWords(book, so.WordDropout(book.words, rate=0.1))
    with pytest.raises(ValueError, match=r"book\.words"):
        WholeWords(book, so.SwitchOut(so.Words(100), tau=1.0))
