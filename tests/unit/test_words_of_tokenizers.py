"""Which ids of a tokenizer are words: of all families that people use, made on the spot."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
import pytest

import switchout as so
import toy_tokenizers as toys
from switchout.pieces import Pieces

FAMILIES = ["marian", "nllb", "mbart", "t5"]


@pytest.fixture(scope="module")
def tokenizers(tmp_path_factory):
    pytest.importorskip("transformers")
    return {name: toys.tokenizer_of(name, tmp_path_factory.mktemp(name)) for name in FAMILIES}


@pytest.mark.parametrize("family", FAMILIES)
def test_what_the_tokenizer_adds_around_a_sentence_is_no_word(tokenizers, family):
    tokenizer = tokenizers[family]
    words = so.Words.from_tokenizer(tokenizer)
    german, english = toys.text()
    encoded = tokenizer(list(german[:50]), text_target=list(english[:50]))
    for row in encoded["input_ids"] + encoded["labels"]:
        names = tokenizer.convert_ids_to_tokens(row)
        for name, is_word in zip(names, words.is_word(np.array(row)), strict=True):
            assert is_word == (
                name not in ("</s>", "<unk>", "deu_Latn", "eng_Latn", "de_DE", "en_XX")
            )


@pytest.mark.parametrize(
    ("family", "codes"),
    [
        ("marian", [">>deu<<", ">>eng<<", "<pad>", "</s>", "<unk>"]),
        ("nllb", ["deu_Latn", "zho_Hans", "<mask>", "<s>"]),
        ("mbart", ["de_DE", "en_XX", "<mask>"]),
        ("t5", ["<extra_id_0>", "<extra_id_99>", "<pad>"]),
    ],
)
def test_language_codes_and_placeholders_are_no_words(tokenizers, family, codes):
    tokenizer = tokenizers[family]
    words = so.Words.from_tokenizer(tokenizer)
    ids = np.array(tokenizer.convert_tokens_to_ids(codes))
    assert len(set(ids.tolist())) == len(codes)
    assert not words.is_word(ids).any()
    assert words.is_word(np.array(tokenizer.convert_tokens_to_ids(["▁der", "▁the"]))).all()


def test_added_tokens_and_holes_are_no_words(tokenizers, tmp_path):
    tokenizer = toys.t5()
    before = len(so.Words.from_tokenizer(tokenizer))
    tokenizer.add_tokens(["PLACEHOLDER7"])
    words = so.Words.from_tokenizer(tokenizer)
    assert len(words) == before
    assert words.size == len(tokenizer)
    names = Pieces(["a", None, "b", "<0x0A>", "▁<2de>", "[PAD]", "__de__", "[a]", "<", "▁<", ">>"])
    assert sorted(names.special) == [1, 3, 4, 5, 6]


def test_ids_with_holes_and_beyond_the_length(monkeypatch):
    class Sparse:
        all_special_ids = (0,)
        added_tokens_decoder = MappingProxyType({9: "x"})

        def get_vocab(self):
            return {"<s>": 0, "a": 2, "b": 3, "c": 7}

        def __len__(self):
            return 4

    words = so.Words.from_tokenizer(Sparse())
    assert words.size == 10
    assert words.drawable().tolist() == [2, 3, 7]


def test_sentencepiece_symbols_of_the_user_are_no_words():
    pytest.importorskip("sentencepiece")
    german, _ = toys.text()
    symbols = ["TAGDE", "<2en>"]  # the first has no name that would tell
    for kind in ("unigram", "bpe"):
        model = toys.sentencepiece_model(
            german, 400, user_defined_symbols=symbols, byte_fallback=True, model_type=kind,
            control_symbols=["<ctl>"],
        )  # fmt: skip
        words = so.Words.from_tokenizer(model)
        names = {model.id_to_piece(int(i)) for i in words.drawable()}
        assert not names & {*symbols, "<ctl>", "<unk>", "<s>", "</s>", "<0x00>", "<0xFF>"}
        assert len(words) == words.size - 3 - 1 - 2 - 256
        assert "▁der" in names


def test_tokenizers_library(tokenizers):
    tokenizer = toys.bpe(["<s>", "<unk>"])
    tokenizer.add_tokens(["TAG"])
    words = so.Words.from_tokenizer(tokenizer)
    no_words = [tokenizer.token_to_id(name) for name in ("<s>", "<unk>", "TAG")]
    assert words.special_ids == tuple(sorted(no_words))
    assert words.size == tokenizer.get_vocab_size(with_added_tokens=True)


def test_rows_limit_what_is_drawn_not_what_is_replaced(tokenizers):
    tokenizer = tokenizers["marian"]
    german, _ = toys.text()
    rows = tokenizer(list(german[:100]))["input_ids"]
    words = so.Words.from_tokenizer(tokenizer, rows)
    whole = so.Words.from_tokenizer(tokenizer)
    seen = {i for row in rows for i in row} - set(whole.special_ids)
    assert set(words.drawable().tolist()) == seen
    assert len(words) < len(whole)
    assert words.special_ids == whole.special_ids


@pytest.mark.parametrize(
    ("tokenizer", "rows", "error", "message"),
    [
        ("bert-base", None, TypeError, "expected a tokenizer of transformers"),
        (object(), None, TypeError, "got object"),
        ("words", [[1], [99]], ValueError, "id 99 is not below the vocabulary's size"),
        ("words", [[], [-100]], ValueError, "at least two words, got 0"),
        ("empty", None, ValueError, "the tokenizer has 1 words"),
    ],
)
def test_what_is_no_tokenizer_or_has_no_words(tokenizer, rows, error, message):
    models = pytest.importorskip("tokenizers").models
    made = pytest.importorskip("tokenizers").Tokenizer
    if tokenizer == "words":
        tokenizer = made(models.WordLevel({"<unk>": 0, "a": 1, "b": 2}, unk_token="<unk>"))
    elif tokenizer == "empty":
        tokenizer = made(models.WordLevel({"<unk>": 0, "a": 1}, unk_token="<unk>"))
    with pytest.raises(error, match=message):
        so.Words.from_tokenizer(tokenizer, rows)
