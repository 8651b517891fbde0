"""Subword vocabularies: sentencepiece models and tokenizer.json, split already or by us."""

from __future__ import annotations

import io
import json
import re

import numpy as np
import pytest

from switchout.errors import SwitchOutError
from switchout.text import LineAugmenter, augment_files, augment_lines
from switchout.text.lexicon import SPECIAL_WORDS, make_lexicon
from switchout.text.preview import preview
from switchout.text.vocabulary_files import read_vocabulary

TEXT = [
    "the cat sat on the mat and the dog sat on the log",
    "a dog and a cat ran to the log",
    "the mat and the log are on the floor",
    "cats and dogs ran and sat and ran again",
] * 5


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    sentencepiece = pytest.importorskip("sentencepiece")
    tokenizers = pytest.importorskip("tokenizers")
    folder = tmp_path_factory.mktemp("models")
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXT), model_writer=model, vocab_size=60, minloglevel=2,
        user_defined_symbols=["<2de>"], hard_vocab_limit=False,
    )  # fmt: skip
    (folder / "spm.model").write_bytes(model.getvalue())
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=80, special_tokens=["[UNK]", "<tag>"], show_progress=False
    )
    tokenizer.train_from_iterator(TEXT, trainer)
    tokenizer.save(str(folder / "tokenizer.json"))
    spm = sentencepiece.SentencePieceProcessor(model_file=str(folder / "spm.model"))
    return folder, {
        "spm.model": lambda line: spm.encode(line, out_type=str),
        "tokenizer.json": lambda line: tokenizer.encode(line, add_special_tokens=False).tokens,
    }


@pytest.mark.parametrize("name", ["spm.model", "tokenizer.json"])
def test_encode_equals_pieces_given_split(models, tmp_path, name):
    folder, encode = models
    pieces = [" ".join(encode[name](line)) for line in TEXT]
    (tmp_path / "raw").write_text("\n".join(TEXT) + "\n")
    (tmp_path / "split").write_text("\n".join(pieces) + "\n")
    how = {"vocab_source": folder / name, "tau_x": 3.0, "seed": 1}
    augment_files(tmp_path / "raw", out_source=tmp_path / "a", encode=True, **how)
    augment_files(tmp_path / "split", out_source=tmp_path / "b", **how)
    assert (tmp_path / "a").read_text() == (tmp_path / "b").read_text() != "\n".join(pieces) + "\n"
    assert (
        list(augment_lines(TEXT, **how, encode=True))
        == (tmp_path / "a").read_text().split("\n")[:-1]
    )


@pytest.mark.parametrize("name", ["spm.model", "tokenizer.json"])
def test_special_pieces_are_never_drawn(models, name):
    folder, encode = models
    pieces = [" ".join(encode[name](line)) for line in TEXT]
    how = {"vocab_source": folder / name, "tau_x": np.inf, "seed": 1, "copies": 50}
    drawn = set(" ".join(augment_lines(pieces, **how)).split())
    entries, special = read_vocabulary(folder / name)
    assert special > {"<2de>" if name == "spm.model" else "<tag>"}
    assert drawn == {word.decode() for word in entries} - special


def test_a_tokenizer_neither_cuts_nor_fills_lines_and_its_bytes_are_no_words(models, tmp_path):
    """What it was trained with stands in its file; a byte piece would become a newline."""
    from tokenizers import Tokenizer

    folder, encode = models
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_truncation(2)
    tokenizer.enable_padding(length=30)
    described = json.loads(tokenizer.to_str())
    described["model"]["vocab"]["<0x0A>"] = len(described["model"]["vocab"])
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(described))
    assert "<0x0A>" in read_vocabulary(path)[1]
    pieces = [" ".join(encode["tokenizer.json"](line)) for line in TEXT]
    how = {"vocab_source": path, "tau_x": 0.0, "seed": 1, "encode": True}
    assert list(augment_lines(TEXT, **how)) == pieces


def test_encode_needs_a_tokenizer(tmp_path):
    (tmp_path / "words").write_text("a\nb\n")
    with pytest.raises(SwitchOutError, match=r"sentencepiece .model or a tokenizer.json"):
        list(
            augment_lines(["a b"], vocab_source=tmp_path / "words", tau_x=1.0, seed=1, encode=True)
        )
    with pytest.raises(SwitchOutError, match="encode= needs vocab_source=FILE"):
        augment_lines(["a b"], vocab_source=["a", "b"], tau_x=1.0, seed=1, encode=True)


@pytest.mark.parametrize("name", ["x.model", "tokenizer.json"])
def test_files_that_are_no_models_are_refused(tmp_path, name):
    pytest.importorskip("sentencepiece")
    (tmp_path / name).write_text('{"version": 1}')
    with pytest.raises(SwitchOutError, match=name):
        read_vocabulary(tmp_path / name)


def test_raw_text_that_is_no_utf8_is_named_by_line(models, tmp_path):
    (tmp_path / "in").write_bytes(b"the cat\nthe \xff\n")
    with pytest.raises(SwitchOutError, match=r"source: line 2: not valid UTF-8"):
        augment_files(
            tmp_path / "in", out_source=tmp_path / "out", vocab_source=models[0] / "spm.model",
            tau_x=1.0, seed=1, encode=True,
        )  # fmt: skip
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_word_lists_with_counts_scores_and_crlf(tmp_path):
    (tmp_path / "v").write_bytes(b"a 10\r\nb\t-3.5\r\n<s> 0\r\nc\r\n")
    entries, special = read_vocabulary(tmp_path / "v")
    assert (entries, special) == ([b"a", b"b", b"<s>", b"c"], set())
    lexicon = make_lexicon(entries, special_words=SPECIAL_WORDS, special_pattern="c+")
    assert lexicon.known == (b"a", b"b")
    assert lexicon.n_special == 2


def test_raw_text_with_a_vocabulary_of_pieces_is_refused(models, tmp_path):
    folder, _ = models
    (tmp_path / "raw").write_text("\n".join(TEXT) + "\n")
    for name in ("spm.model", "tokenizer.json"):
        with pytest.raises(SwitchOutError, match=r"is not split into the pieces of .*; encode="):
            augment_files(
                tmp_path / "raw", out_source=tmp_path / "out", vocab_source=folder / name,
                tau_x=1.0, seed=1,
            )  # fmt: skip
    assert {path.name for path in tmp_path.iterdir()} == {"raw"}


RAW = "Well, the cat sat on the mat. Did the dog sit? No!\n" * 20
SPLIT = "Well , the cat of Mr. Smith sat on the mat . Did the dog sit ? No !\n" * 20


@pytest.mark.parametrize(("text", "warned"), [(RAW, True), (SPLIT, False)], ids=["raw", "split"])
def test_untokenised_text_with_a_word_vocabulary_is_warned_of(tmp_path, caplog, text, warned):
    (tmp_path / "in").write_text(text)
    augment_files(tmp_path / "in", out_source=tmp_path / "out", tau_x=1.0, seed=1)
    said = [record.getMessage() for record in caplog.records]
    assert said == (
        [
            "warning: source: 100% of 80 punctuation marks stick to a word, such as 'Well,': the"
            " text looks untokenised, and 'word' and 'word.' count as two words; tokenise it first"
            " (for example by sacremoses), or let a subword model split it (augment --encode)"
        ]
        if warned
        else []
    )


@pytest.mark.parametrize("mark", ["።", "؟", "။", "।", "。", "."])
def test_marks_of_all_scripts_count_and_preview_warns_too(tmp_path, caplog, mark):
    (tmp_path / "in").write_text(f"a bb ccc{mark}\n" * 30)
    preview(tmp_path / "in", tau_x=1.0, seed=1)
    assert f"such as 'ccc{mark}'" in caplog.text


@pytest.mark.parametrize("look", [augment_files, preview], ids=["augment", "preview"])
def test_pairs_that_are_given_as_one_side_are_warned_of(tmp_path, caplog, look):
    (tmp_path / "in").write_text("ein Hund\ta dog\n" * 6 + "ein Haus a house\n" * 5)
    out = {} if look is preview else {"out_source": tmp_path / "out"}
    look(tmp_path / "in", tau_x=1.0, seed=1, **out)
    (said,) = (record.getMessage() for record in caplog.records)
    assert said.startswith("warning: source: most of the first lines hold a tab, as source<tab>")
    assert "--pairs FILE reads pairs, --out-pairs FILE writes them" in said


@pytest.mark.parametrize("look", [augment_files, preview], ids=["augment", "preview"])
def test_a_side_of_pairs_is_looked_at_alone(tmp_path, caplog, look):
    """No tab, no tags and no punctuation of the other side are seen there."""
    (tmp_path / "in").write_text("ein Hund\tdogs run, run. ein\n" * 40)
    out = {} if look is preview else {"out_pairs": tmp_path / "out"}
    look(pairs=tmp_path / "in", tau_x=1.0, seed=1, **out)
    assert caplog.text == ""


GERMAN = "der Hund und die Katze sehen das Haus von " + " ".join(f"Wort{i}" for i in range(10))
ENGLISH = "the dog and the cat look at that house in " + " ".join(f"word{i}" for i in range(10))


@pytest.mark.parametrize("look", [augment_files, preview], ids=["augment", "preview"])
@pytest.mark.parametrize(
    ("words", "n_lines", "warning"),
    [
        (
            f"{ENGLISH} Hund und Katze",  # names and numbers are shared by all languages
            6,
            "15%, does the vocabulary belong to the other side, or to another language?",
        ),
        (GERMAN, 6, ""),
        (
            "und Hund",
            6,
            "10%, the others are never changed. Is it the vocabulary of the whole corpus?",
        ),
        (ENGLISH, 5, ""),  # 95 words are too few to say anything
    ],
    ids=["foreign", "right", "small", "short"],
)
def test_a_vocabulary_that_lacks_most_words_is_warned_of(
    tmp_path, caplog, look, words, n_lines, warning
):
    (tmp_path / "in").write_text(f"{GERMAN}\n" * n_lines)
    (tmp_path / "words").write_text(words.replace(" ", "\n").replace("the\ncat", "cat"))
    out = {} if look is preview else {"out_source": tmp_path / "out"}
    look(tmp_path / "in", vocab_source=tmp_path / "words", tau_x=1.0, seed=1, **out)
    said = [record.getMessage() for record in caplog.records]
    share, _, question = warning.partition(", ")
    expected = (
        f"warning: source: only {share} of the words of the first lines are in {tmp_path}/words"
        f" ('der' is not): {question}"
    )
    assert said == ([expected] if warning else [])


@pytest.mark.parametrize("tag", [">>en<<", "<2en>", "__en__"])
@pytest.mark.parametrize("place", [0, -1])
def test_tags_that_are_words_are_warned_of_and_the_cure_that_is_named_helps(
    tmp_path, caplog, tag, place
):
    def tags_left():
        return sum(line.split()[place] == tag for line in (tmp_path / "out").open())

    (tmp_path / "in").write_text((f"{tag} a b\n" if place == 0 else f"a b {tag}\n") * 50)
    files = {"source": tmp_path / "in", "out_source": tmp_path / "out"}
    augment_files(**files, tau_x=1.0, seed=1)
    assert f"warning: source: {tag!r} looks like a tag" in caplog.text
    assert tags_left() < 50
    pattern = re.search(r"--special-regex '(.*)' leaves", caplog.text)[1]
    caplog.clear()
    (tmp_path / "out.vocab").unlink()
    augment_files(**files, tau_x=1.0, seed=1, special_pattern=pattern)
    assert not caplog.text
    assert tags_left() == 50


def test_a_few_tags_or_specials_are_not_warned_of(tmp_path, caplog):
    (tmp_path / "in").write_text("a b c\n" * 95 + "<br> a b\n" * 5 + "a b <unk>\n" * 50)
    augment_files(tmp_path / "in", out_source=tmp_path / "out", tau_x=1.0, seed=1)
    assert "looks like a tag" not in caplog.text


def test_tags_in_calls_are_warned_of(caplog):
    augmenter = LineAugmenter(source_words=["<2en>", "a", "b"], tau_x=1.0, seed=1)
    for i in range(40):
        augmenter(["<2en> a b"], first_line=i)
    assert caplog.text.count("looks like a tag") == 1
