"""Codecs: ids and back again, unknown words, and what a run stores."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from switchout.corpora import BleuSpec, Corpus, open_corpus
from switchout.corpora.codec import Codec, CodecPlan, build_codecs
from switchout.corpora.text import JOINER, join_punctuation, split_punctuation, split_words
from switchout.corpora.vocabulary import BOS, EOS, PAD, UNK
from switchout.errors import SwitchOutError

ENGLISH = [f"The {a} {b} saw the {a} ." for a in ("old", "small", "red") for b in ("dog", "cat")]
GERMAN = [f"Der {a} {b} sah den {a}en ." for a in ("alte", "rote") for b in ("Hund", "Kater")]
TEXT = st.text(st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters=JOINER))


@pytest.mark.parametrize("empty", ["de", "en"])
@pytest.mark.parametrize("content", ["", "\n \n"], ids=["0 bytes", "no word"])
def test_a_text_without_a_word_is_named(tmp_path: Path, empty: str, content: str) -> None:
    for language in ("de", "en"):
        is_named = language == empty or not content
        (tmp_path / f"train.{language}").write_text(content if is_named else "a b\nc\n")
    corpus = open_corpus(tmp_path, source="de", target="en")
    named = empty if content else "de"
    with pytest.raises(SwitchOutError, match=rf"train\.{named}: no word in it"):
        build_codecs(corpus)


@settings(deadline=None, max_examples=50)
@given(lines=st.lists(TEXT, min_size=1).filter(lambda lines: any(map(split_words, lines))))
def test_known_words_come_back(lines: list[str]) -> None:
    codec = Codec.word([line.replace("<", "") for line in lines] + ["a"])
    for line in (line.replace("<", "") for line in lines):  # no word spells a special
        assert codec.decode(codec.encode(line)) == " ".join(split_words(line))


@settings(deadline=None, max_examples=50)
@given(line=TEXT.filter(lambda line: bool(split_punctuation(line))))
def test_punctuation_is_split_reversibly(line: str) -> None:
    codec = Codec.word([line], tokenizer="punctuation")
    assert codec.decode(codec.encode(line)) == " ".join(split_words(line))


def test_a_sentence_may_begin_with_a_joined_mark() -> None:
    assert join_punctuation([JOINER + "!", "a", JOINER + "."]) == "! a."


@settings(deadline=None, max_examples=50)
@given(line=TEXT)
def test_no_text_becomes_a_boundary(line: str) -> None:
    codec = Codec.word(["a b <s> </s> <pad>"])
    for text in (line, f"{line} </s> a", "<pad>", "<s>"):
        assert not {PAD, BOS, EOS} & set(codec.encode(text))


def test_decoding_ends_at_the_first_eos() -> None:
    codec = Codec.word(["a b c"])
    a, b, c = codec.encode("a b c")
    assert codec.decode([BOS, a, PAD, b, EOS, c]) == "a b"


@pytest.mark.parametrize(
    ("unk", "expected"), [("keep", "a <unk> b"), ("drop", "a b"), ("copy", "a Xaver b")]
)
def test_unknown_words_are_kept_dropped_or_copied(unk: str, expected: str) -> None:
    codec = Codec.word(["a b"])
    ids = codec.encode("a unseen b")
    aligned = ["p", "Xaver", "q"]
    assert codec.decode(ids, unk=unk, aligned=aligned) == expected  # type: ignore[arg-type]


def test_a_copied_piece_or_mark_loses_its_sign() -> None:
    codec = Codec.word(["a"])
    assert codec.decode([UNK, UNK], unk="copy", aligned=["▁Ada", JOINER + "!"]) == "Ada !"


def test_copy_without_alignment_is_a_programming_error() -> None:
    with pytest.raises(ValueError, match="aligned"):
        Codec.word(["a"]).decode([UNK], unk="copy")


def test_lower_case_is_applied_on_the_way_in() -> None:
    codec = Codec.word(["The DOG"], case="lower")
    assert codec.tokens("THE dog") == ["the", "dog"]
    assert codec.decode(codec.encode("tHe Dog")) == "the dog"


@pytest.mark.parametrize("model", ["bpe", "unigram"])
def test_sentencepiece_inverts_itself(model: str) -> None:
    pytest.importorskip("sentencepiece")
    codec = Codec.sentencepiece(ENGLISH * 5, size=28, model=model)  # type: ignore[arg-type]
    assert len(codec.vocabulary) == 28
    assert codec.vocabulary.tokens[:4] == ["<pad>", "<s>", "</s>", "<unk>"]
    for line in [*ENGLISH, "the dog saw a small cat"]:
        assert codec.decode(codec.encode(line)) == line
        assert codec.vocabulary.ids(codec.tokens(line)) == codec.encode(line)


def test_sentencepiece_handles_unknown_signs_and_spelled_specials() -> None:
    pytest.importorskip("sentencepiece")
    codec = Codec.sentencepiece(ENGLISH * 5, size=40)
    ids = codec.encode("The 漢 dog")
    assert UNK in ids
    assert codec.decode(ids) == "The <unk> dog"
    assert codec.decode(ids, unk="drop") == "The dog"
    assert codec.decode(ids, unk="copy", aligned=["▁Ada"] * len(ids)) == "The Ada dog"
    assert not {PAD, BOS, EOS} & set(codec.encode("<s> </s> <pad>"))


def test_sentencepiece_says_when_too_many_pieces_are_asked_for() -> None:
    pytest.importorskip("sentencepiece")
    with pytest.raises(SwitchOutError, match="could not learn 5000 pieces") as caught:
        Codec.sentencepiece(ENGLISH, size=5000)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["word", "lower", "punctuation", "sentencepiece"])
def test_a_saved_codec_does_the_same(tmp_path: Path, kind: str) -> None:
    if kind == "sentencepiece":
        pytest.importorskip("sentencepiece")
        codec = Codec.sentencepiece(ENGLISH * 5, size=40, case="lower")
    elif kind == "lower":
        codec = Codec.word(ENGLISH, case="lower")
    else:
        codec = Codec.word(ENGLISH, tokenizer="space" if kind == "word" else "punctuation")
    codec.save(tmp_path, "tgt")
    loaded = Codec.load(tmp_path, "tgt")
    for line in [*ENGLISH, "The unseen, DOG!"]:
        assert loaded.encode(line) == codec.encode(line)
        assert loaded.decode(loaded.encode(line)) == codec.decode(codec.encode(line))


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"kind": "word"}'], ids=str)
def test_a_damaged_codec_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "codec.src.json").write_bytes(content)
    with pytest.raises(SwitchOutError, match=r"codec\.src\.json: (not a codec|damaged|expected)"):
        Codec.load(tmp_path, "src")


def corpus(folder: Path | None = None) -> Corpus:
    pairs = list(zip(GERMAN, ENGLISH, strict=False))
    return Corpus("toy", "de", "en", {"train": pairs}, BleuSpec(), folder=folder)


def test_separate_vocabularies_have_the_words_of_their_side() -> None:
    src, tgt = build_codecs(corpus())
    assert set(src.vocabulary.tokens[4:]) == {word for line in GERMAN for word in line.split()}
    assert "the" in tgt.vocabulary.tokens
    assert "the" not in src.vocabulary.tokens


@pytest.mark.parametrize("kind", ["word", "sentencepiece"])
def test_a_shared_vocabulary_is_one(kind: str) -> None:
    if kind == "sentencepiece":
        pytest.importorskip("sentencepiece")
    size = 50 if kind == "sentencepiece" else None
    src, tgt = build_codecs(corpus(), CodecPlan(kind=kind, max_size=size, shared=True))  # type: ignore[arg-type]
    assert src.vocabulary == tgt.vocabulary
    assert UNK not in src.encode(GERMAN[0]) + tgt.encode(ENGLISH[0])


def test_files_of_the_corpus_are_used_unless_limits_are_asked_for(tmp_path: Path) -> None:
    for language in ("de", "en"):
        (tmp_path / f"vocab.{language}").write_text("<unk>\n<s>\n</s>\nDer\nThe\n")
    src, _ = build_codecs(corpus(tmp_path))
    assert src.vocabulary.tokens[4:] == ["Der", "The"]
    src, _ = build_codecs(corpus(tmp_path), CodecPlan(min_count=2))
    assert "Hund" in src.vocabulary.tokens
    with pytest.raises(SwitchOutError, match=r"no vocabulary files vocab\.de and"):
        build_codecs(corpus(), CodecPlan(kind="file"))


@pytest.mark.parametrize("change", [lambda t: t[:-2], lambda t: t + "more\n", lambda t: t[::-1]])
def test_a_vocabulary_that_is_not_the_saved_one_is_named(tmp_path: Path, change) -> None:  # type: ignore[no-untyped-def]
    Codec.word(["a b c d e"]).save(tmp_path, "src")
    path = tmp_path / "vocab.src"
    path.write_text(change(path.read_text()))
    with pytest.raises(SwitchOutError, match=r"vocab\.src"):
        Codec.load(tmp_path, "src")
