"""`switchout data prepare` on toy folders: what it writes, what it refuses, nothing half-done."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from switchout.cli import run
from switchout.corpora import BleuSpec, open_corpus
from switchout.corpora.codec import build_codecs, load_pieces
from switchout.corpora.vocabulary import Vocabulary

TRAIN = [("a b", "x y"), ("a b", "x y"), ("", "z"), ("c", "x y z w"), ("a c", "y"), ("b", "\r")]


def write(folder: Path, splits: dict[str, list[tuple[str, str]]]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for split, pairs in splits.items():
        for column, language in enumerate(("de", "en")):
            text = "".join(pair[column] + "\n" for pair in pairs)
            (folder / f"{split}.{language}").write_bytes(text.encode())
    return folder


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    dev, test = [("a q", "x"), ("", "x")], [("a b", "x p p p")]
    return write(tmp_path / "toy-de-en", {"train": TRAIN, "dev": dev, "test": test})


def prepare(*arguments: object) -> int:
    return run(["data", "prepare", *map(str, arguments)])


def facts_of(out: Path) -> dict[str, object]:
    facts: dict[str, object] = json.loads((out / "corpus.json").read_text())
    return facts


def test_prepare_writes_a_corpus_ready_to_train(toy: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert prepare(toy, "--out", out, "--drop-duplicates", "--max-ratio", 3) == 0
    corpus = open_corpus(out)
    assert (corpus.source, corpus.target) == ("de", "en")
    assert corpus.pairs("train") == (["a b", "a c"], ["x y", "y"])
    assert corpus.pairs("dev") == (["a q", ""], ["x", "x"])
    src, tgt = build_codecs(corpus)  # of the vocabularies in the folder
    assert src.vocabulary == Vocabulary.load(out / "vocab.de")
    assert tgt.decode(tgt.encode("x y")) == "x y"


def test_the_description_counts_everything(toy: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    prepare(toy, "--out", out, "--drop-duplicates", "--max-ratio", 3)
    facts = facts_of(out)
    assert facts["found"] == {"train": 6, "dev": 2, "test": 1}
    assert facts["pairs"] == {"train": 2, "dev": 2, "test": 1}
    assert facts["drops"] == {"duplicate": 1, "empty side": 2, "length ratio": 1}
    assert facts["unknown"] == {"train": [0.0, 0.0], "dev": [0.5, 0.0], "test": [0.0, 0.75]}
    assert facts["sources also in train"] == {"dev": 0, "test": 1}
    assert facts["vocabulary"] == {"source": 7, "target": 6}
    assert facts["data_hash"] == open_corpus(out).data_hash
    hashes = facts["sha256"]
    assert isinstance(hashes, dict)
    assert set(hashes) == {
        f"{s}.{x}" for s in ("train", "dev", "test", "vocab") for x in ("de", "en")
    }
    for name, expected in hashes.items():
        assert hashlib.sha256((out / name).read_bytes()).hexdigest() == expected


def test_json_is_the_description(
    toy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert prepare(toy, "--out", tmp_path / "out", "--json") == 0
    assert json.loads(capsys.readouterr().out) == facts_of(tmp_path / "out")


def test_the_same_input_gives_the_same_bytes(toy: Path, tmp_path: Path) -> None:
    for out in ("1", "2"):
        prepare(toy, "--out", tmp_path / out)
    files = sorted(p.relative_to(tmp_path / "1") for p in (tmp_path / "1").rglob("*.*"))
    assert len(files) == 9
    for name in files:
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


def test_an_earlier_result_is_replaced_other_work_is_not(
    toy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    prepare(toy, "--out", out)
    assert prepare(toy, "--out", out, "--min-count", 2) == 0
    assert open_corpus(out).pairs("train")[0] == ["a b", "a b", "c", "a c"]
    assert prepare(toy, "--out", toy) == 2
    assert "holds the input corpus folder;" in capsys.readouterr().err
    assert (toy / "train.de").exists()


def test_a_result_that_a_text_is_a_link_into_is_not_replaced(
    toy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = toy / "made"  # the folder itself may be within the corpus's
    assert prepare(toy, "--out", out) == prepare(toy, "--out", out) == 0
    before = (out / "train.de").read_bytes()
    (toy / "train.de").unlink()
    (toy / "train.de").symlink_to(out / "train.de")
    assert prepare(toy, "--out", out) == 2
    assert "holds the input corpus file" in capsys.readouterr().err
    assert (out / "train.de").read_bytes() == before


def test_how_it_is_split_and_scored_travels_with_the_folder(toy: Path, tmp_path: Path) -> None:
    assert (
        prepare(toy, "--out", tmp_path / "out", "--tokenizer", "punctuation", "--bleu", "none") == 0
    )
    corpus = open_corpus(tmp_path / "out")
    assert (corpus.tokenizer, corpus.bleu) == ("punctuation", BleuSpec("none"))


def test_a_tsv_without_splits_is_held_out(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "train.tsv").write_text("".join(f"s{i}\tt{i}\n" for i in range(30)))
    out = tmp_path / "out"
    arguments = ["--source", "de", "--target", "en", "--dev", 3, "--test", 4]
    assert prepare(folder, "--out", out, *arguments) == 0
    assert facts_of(out)["pairs"] == {"train": 23, "dev": 3, "test": 4}


def test_given_vocabulary_files_are_taken(toy: Path, tmp_path: Path) -> None:
    for language in ("de", "en"):
        (tmp_path / f"v.{language}").write_text("<unk>\n<s>\n</s>\na\nx\n")
    files = ["--vocab-src", tmp_path / "v.de", "--vocab-tgt", tmp_path / "v.en"]
    assert prepare(toy, "--out", tmp_path / "out", *files) == 0
    assert facts_of(tmp_path / "out")["vocabulary"] == {"source": 5, "target": 5}
    assert (tmp_path / "out" / "vocab.de").read_text().split() == [
        "<pad>",
        "<s>",
        "</s>",
        "<unk>",
        "a",
        "x",
    ]


def test_a_shared_sentencepiece_vocabulary_is_stored(tmp_path: Path) -> None:
    pytest.importorskip("sentencepiece")
    pairs = [(f"der Hund {i} bellt", f"the dog {i} barks") for i in range(100)]
    folder = write(tmp_path / "x-de-en", {"train": pairs, "dev": pairs[:2], "test": pairs[:2]})
    options = ["--kind", "sentencepiece", "--max-size", 60, "--shared"]
    assert prepare(folder, "--out", tmp_path / "out", *options) == 0
    models = [tmp_path / "out" / f"pieces.{language}.model" for language in ("de", "en")]
    assert models[0].read_bytes() == models[1].read_bytes()
    pieces = load_pieces(models[0].read_bytes())
    assert pieces.get_piece_size() == 60
    assert pieces.decode(pieces.encode("the dog 7 barks")) == "the dog 7 barks"


BAD = {
    "unequal": ({"train.en": b"x\n"}, "train.de has 6 lines but .*train.en has 1"),
    "not utf-8": ({"train.de": b"a\nb\n\xff\nc\nd\ne\n"}, "train.de:3: not valid UTF-8"),
    "not utf-8 in test": ({"test.en": b"\xc3\n"}, "test.en:1: not valid UTF-8"),
    "empty corpus": ({"train.de": b"", "train.en": b""}, "no training pair left .the files"),
    "only empty sides": ({"train.de": b"\n", "train.en": b"x\n"}, "left .1 empty side"),
    "empty dev": ({"dev.de": b"", "dev.en": b""}, "split 'dev' is empty"),
    "language missing": ({"train.en": None}, "no train.en beside train.de"),
    "no test": ({"test.de": None, "test.en": None}, "no test pairs.*--dev and --test"),
    "unk reference": ({"test.en": b"x <unk>\n"}, "line 1 of the test references has <unk>"),
    "cut archive": ({"train.de": None, "train.de.gz": b"\x1f\x8b\x08"}, "train.de.gz: damaged"),
    "three columns": ({"train.de-en.tsv": b"a\tb\na\tb\tc\n"}, "train.de-en.tsv:2: expected 2"),
    "duplicate in vocabulary": (
        {"vocab.de": b"<unk>\n<s>\n</s>\na\na\n", "vocab.en": b"<unk>\n<s>\n</s>\nx\n"},
        "vocab.de:5: 'a' stands already in line 4",
    ),
    "text as vocabulary": (
        {"vocab.de": b"a b c\n", "vocab.en": b"x\n"},
        "vocab.de:1: expected one word",
    ),
}


@pytest.mark.parametrize(("files", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_one_line_and_leaves_nothing(
    toy: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    files: dict[str, bytes | None],
    message: str,
) -> None:
    for name, content in files.items():
        if content is None:
            (toy / name).unlink()
        else:
            (toy / name).write_bytes(content)
    out = tmp_path / "results" / "out"
    assert prepare(toy, "--out", out) == 2
    stdout, stderr = capsys.readouterr()
    assert stdout == ""
    [complaint] = [line for line in stderr.splitlines() if line.startswith("switchout: ")]
    assert re.search(message, complaint), complaint
    assert not out.parent.exists() or list(out.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--dev", 3], "--dev and --test go together"),
        (["--vocab-src", "v"], "--vocab-src and --vocab-tgt go together"),
        (["--vocab-src", "v", "--vocab-tgt", "v", "--min-count", "2"], "are taken as they are"),
        (["--vocab-src", "v", "--vocab-tgt", "v", "--kind", "word"], "are taken as they are"),
        (["--vocab-src", "v", "--vocab-tgt", "v", "--shared"], "are taken as they are"),
        (["--kind", "file", "--max-size", "9"], "leave out --min-count and --max-size"),
        (["--model", "unigram"], "--model is for --kind sentencepiece"),
        (["--model", "unigram", "--kind", "word"], "--model is for --kind sentencepiece"),
        (["--kind", "sentencepiece", "--min-count", 2], "pieces are not counted"),
        (["--dev", 1, "--test", 1], "has dev or test pairs already"),
        (["--min-count", 0], "--min-count"),
        (["--source", "fr"], "no text in 'fr'"),
        (["--min-count", 99], "vocabulary is empty: no word occurs 99 times"),
    ],
    ids=lambda value: str(value[0]) if isinstance(value, list) else None,
)
def test_bad_options_are_one_line(
    toy: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[object],
    message: str,
) -> None:
    assert prepare(toy, "--out", tmp_path / "out", *arguments) == 2
    assert message in capsys.readouterr().err.splitlines()[-1]
    assert not (tmp_path / "out").exists()


def test_a_killed_prepare_leaves_nothing_under_the_final_name(tmp_path: Path) -> None:
    pairs = [(f"s {i}", f"t {i}") for i in range(100_000)]
    folder = write(tmp_path / "x-de-en", {"train": pairs, "dev": pairs[:2], "test": pairs[:2]})
    out = tmp_path / "results" / "out"
    command = [sys.executable, "-m", "switchout", "data", "prepare", str(folder), "--out", str(out)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        while process.poll() is None and not any(out.parent.glob(".*partial*/train.de")):
            time.sleep(0.002)
    finally:
        process.kill()
        process.wait()
    assert not out.exists()
    assert prepare(folder, "--out", out) == 0
    assert open_corpus(out).bleu == BleuSpec("13a")
