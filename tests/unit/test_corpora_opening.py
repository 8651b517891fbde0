"""Finding a corpus: folders, languages, direction, and every way to get it wrong."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path

import pytest

from switchout.corpora import BleuSpec, open_corpus
from switchout.errors import SwitchOutError


def folder(root: Path, files: dict[str, str]) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        content = text.encode()
        (root / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return root


def toy(root: Path) -> Path:
    return folder(root, {"train.de": "a\nb\nc\n", "train.en.gz": "x\ny\nz\n", "test.de": "d\n"})


def test_a_folder_gives_its_lines_as_they_are(tmp_path: Path) -> None:
    path = folder(tmp_path / "x", {"train.de": " a  b\r\n\n", "train.en": "x\u2028\ny\n"})
    corpus = open_corpus(path, source="de", target="en")
    assert corpus.pairs("train") == ([" a  b\r", ""], ["x\u2028", "y"])
    assert list(corpus.lines("train", "target")) == ["x\u2028", "y"]
    assert corpus.bleu == BleuSpec("13a", lowercase=False)


@pytest.mark.parametrize(
    ("name", "asked", "direction"),
    [
        ("x", ("de", "en"), ("de", "en")),
        ("x", ("en", None), ("en", "de")),
        ("x", (None, "de"), ("en", "de")),
        ("news-de-en", (None, None), ("de", "en")),
        ("news_en_de", (None, None), ("en", "de")),
        ("news_en_de", ("de", "en"), ("de", "en")),
    ],
)
def test_direction_is_what_was_asked_or_stated(
    tmp_path: Path, name: str, asked: tuple[str | None, str | None], direction: tuple[str, str]
) -> None:
    path = folder(tmp_path / name, {"train.de": "a\n", "train.en": "x\n"})
    corpus = open_corpus(path, source=asked[0], target=asked[1])
    assert (corpus.source, corpus.target) == direction
    assert corpus.pairs("train") == ((["a"], ["x"]) if direction[0] == "de" else (["x"], ["a"]))


FAULTS = [
    ({"train.de": "a\n", "train.en": "x\n"}, (None, None), "which way.* de, en"),
    ({"train.de": "", "train.en": "", "train.fr": ""}, ("de", None), "which way.* de, en, fr"),
    ({"train.de": "a\n", "train.en": "x\n"}, ("de", "fr"), "no text in 'fr', only in de, en"),
    ({"train.de": "a\n", "train.en": "x\n"}, ("de", "de"), "both 'de'"),
    ({"train.de": "a\n"}, ("de", "en"), "no text in 'en'"),
    ({"train.de": "", "train.en": "", "dev.de": ""}, ("de", "en"), "no dev.en beside dev.de"),
    ({"readme": ""}, ("de", "en"), "no corpus here"),
    ({"readme": ""}, (None, None), "says no languages"),
    ({"train.tsv": "a\tb\n"}, (None, None), "says no languages"),
    ({"train.de": "", "train.de.gz": "", "train.en": ""}, ("de", "en"), "both train.de and"),
    ({"train.de": "", "train.en": "", "corpus.json": "{}"}, (None, None), "corpus.json: not"),
]


@pytest.mark.parametrize(("files", "asked", "message"), FAULTS, ids=[f[2] for f in FAULTS])
def test_a_faulty_folder_is_one_clear_line(
    tmp_path: Path, files: dict[str, str], asked: tuple[str | None, str | None], message: str
) -> None:
    path = folder(tmp_path / "x", files)
    with pytest.raises(SwitchOutError, match=message) as caught:
        open_corpus(path, source=asked[0], target=asked[1])
    assert "\n" not in str(caught.value)


def test_a_tsv_without_languages_goes_left_to_right(tmp_path: Path) -> None:
    path = folder(tmp_path / "x", {"train.tsv": "a\tx\n"})
    assert open_corpus(path, source="de", target="en").pairs("train") == (["a"], ["x"])


@pytest.mark.parametrize("source", ["de", "en"])
def test_a_tsv_with_languages_goes_either_way(tmp_path: Path, source: str) -> None:
    path = folder(tmp_path / "x", {"train.de-en.tsv.gz": "a\tx\nb\ty\n"})
    src, tgt = open_corpus(path, source=source).pairs("train")
    assert (src, tgt) == ((["a", "b"], ["x", "y"]) if source == "de" else (["x", "y"], ["a", "b"]))


def test_missing_and_empty_splits_are_named(tmp_path: Path) -> None:
    path = folder(tmp_path / "x", {"train.de": "", "train.en": ""})
    corpus = open_corpus(path, source="de", target="en")
    with pytest.raises(SwitchOutError, match=r"no split 'dev': expected dev.de and dev.en"):
        corpus.pairs("dev")
    with pytest.raises(SwitchOutError, match="split 'train' is empty"):
        corpus.pairs("train")


@pytest.mark.parametrize("split", ["dev", "test"])
def test_references_with_unk_are_refused(tmp_path: Path, split: str) -> None:
    path = folder(tmp_path / "x", {f"{split}.de": "<unk> a\nb\n", f"{split}.en": "x\ny <unk>\n"})
    with pytest.raises(SwitchOutError, match=f"line 2 of the {split} references has <unk>"):
        open_corpus(path, source="de", target="en").pairs(split)


def test_unk_files_beside_the_real_ones_are_left_alone(tmp_path: Path) -> None:
    files = {"dev.de": "a\n", "dev.en": "x\n", "dev_unk.de": "<unk>\n", "dev_unk.en": "<unk>\n"}
    corpus = open_corpus(folder(tmp_path / "x", files), source="de", target="en")
    assert list(corpus.splits) == ["dev"]
    assert corpus.pairs("dev") == (["a"], ["x"])


def test_train_pairs_takes_the_first_and_refuses_too_many(tmp_path: Path) -> None:
    path = folder(tmp_path / "a-de-en", {"train.de": "a\nb\nc\n", "train.en": "x\ny\nz\n"})
    assert open_corpus(path, train_pairs=2).pairs("train") == (["a", "b"], ["x", "y"])
    assert open_corpus(path, train_pairs=3).pairs("train")[0] == ["a", "b", "c"]
    with pytest.raises(SwitchOutError, match=r"train_pairs = 4, but train has only 3 pairs"):
        open_corpus(path, train_pairs=4).pairs("train")
    with pytest.raises(SwitchOutError, match="train_pairs = 0"):
        open_corpus(path, train_pairs=0)


def test_a_fault_behind_train_pairs_is_noticed(tmp_path: Path) -> None:
    path = folder(tmp_path / "a-de-en", {"train.de": "a\nb\nc\n", "train.en": "x\ny\n"})
    with pytest.raises(SwitchOutError, match="3 lines but"):
        open_corpus(path, train_pairs=1).pairs("train")


def test_data_hash_follows_the_text_and_nothing_else(tmp_path: Path) -> None:
    texts = {"train.de": "a\nb\n", "train.en": "x\ny\n", "test.de": "c\n", "test.en": "z\n"}
    plain = open_corpus(folder(tmp_path / "1", texts), source="de", target="en")
    zipped = {f"{name}.gz": text for name, text in texts.items()}
    same = open_corpus(folder(tmp_path / "2", zipped), source="de", target="en")
    expected = hashlib.sha256(b"de en\ntrain\na\nx\nb\ny\ntest\nc\nz\n").hexdigest()
    assert plain.data_hash == same.data_hash == expected
    first = open_corpus(tmp_path / "1", source="de", target="en", train_pairs=1)
    turned = open_corpus(tmp_path / "1", source="en", target="de")
    other = open_corpus(
        folder(tmp_path / "3", texts | {"test.en": "Z\n"}), source="de", target="en"
    )
    assert len({expected, first.data_hash, turned.data_hash, other.data_hash}) == 4


def test_unknown_names_are_met_with_a_suggestion(tmp_path: Path) -> None:
    with pytest.raises(SwitchOutError, match="did you mean 'iwslt15-en-vi'"):
        open_corpus("iwslt15-en-v")
    with pytest.raises(SwitchOutError, match="no such folder"):
        open_corpus(tmp_path / "nothing")


def test_registry_names_are_found_under_switchout_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SWITCHOUT_DATA", str(tmp_path))
    with pytest.raises(SwitchOutError, match="switchout data get iwslt14-de-en"):
        open_corpus("iwslt16-de-en")
    folder(tmp_path / "iwslt14_de_en", {"train.de": "a\n", "train.en": "x\n"})
    for name in ("iwslt16-de-en", "iwslt14-de-en", "iwslt14_de_en"):
        corpus = open_corpus(name)
        assert (corpus.name, corpus.source, corpus.target) == ("iwslt14-de-en", "de", "en")
        assert corpus.bleu == BleuSpec("none")


@pytest.mark.parametrize("source", ["de", "en"])
def test_the_phrasebook_is_there_offline(source: str) -> None:
    corpus = open_corpus("phrasebook", source=source, train_pairs=50)
    assert {corpus.source, corpus.target} == {"de", "en"}
    assert corpus.source == source
    src, tgt = corpus.pairs("train")
    assert len(src) == len(tgt) == 50
    assert corpus.bleu == BleuSpec("none")
    english = tgt if source == "de" else src
    assert sum(" the " in f" {line.lower()} " for line in english) > 5


def test_the_phrasebook_has_more_training_pairs_for_those_who_ask() -> None:
    some, more = (open_corpus("phrasebook", train_pairs=n).pairs("train")[0] for n in (50, 3_100))
    assert (len(more), more[:50]) == (3_100, some)
    assert len(open_corpus("phrasebook").pairs("train")[0]) == 3_000
    with pytest.raises(SwitchOutError, match="at most 20,000"):
        open_corpus("phrasebook", train_pairs=20_001)


@pytest.mark.parametrize(
    "change",
    [
        {"bleu": {"tokenize": "spm", "lowercase": False}},
        {"bleu": {"tokenize": "13a", "lowercase": "no"}},
        {"bleu": {"tokenize": "13a"}},
        {"bleu": ["13a", False]},
        {"tokenizer": "moses"},
        {"tokenizer": ["space"]},
        {"source": 3},
        {"name": None},
    ],
)
def test_a_foreign_description_is_not_believed(tmp_path, change) -> None:  # type: ignore[no-untyped-def]
    for language in ("de", "en"):
        for split in ("train", "dev", "test"):
            (tmp_path / f"{split}.{language}").write_text("a\n")
    good = {
        "name": "x", "title": "", "source": "de", "target": "en", "tokenizer": "space",
        "bleu": {"tokenize": "none", "lowercase": False},
    }  # fmt: skip
    (tmp_path / "corpus.json").write_text(json.dumps(good))
    assert open_corpus(tmp_path).bleu.tokenize == "none"
    (tmp_path / "corpus.json").write_text(json.dumps(good | change))
    with pytest.raises(SwitchOutError, match=r"corpus\.json: not written by"):
        open_corpus(tmp_path)


@pytest.mark.parametrize(
    ("line", "tokenize"),
    [("Yes , he came .", "none"), ("Yes, he came.", "13a"), ("yes he came", "13a")],
)
def test_references_of_a_silent_folder_are_scored_as_they_look(
    tmp_path: Path, line: str, tokenize: str
) -> None:
    files = {
        "train.de": "a\n",
        "train.en": "x\n",
        "test.de": "a\n" * 30,
        "test.en": f"{line}\n" * 30,
    }
    assert open_corpus(folder(tmp_path / "x-de-en", files)).bleu == BleuSpec(tokenize)


def test_a_faulty_test_set_is_told_when_it_is_read(tmp_path: Path) -> None:
    path = folder(tmp_path / "x-de-en", {"train.de": "a\n", "train.en": "x\n", "test.de": "a\n"})
    (path / "test.en").write_bytes(b"\xff\n")
    corpus = open_corpus(path)
    with pytest.raises(SwitchOutError, match=r"test\.en:1: not valid UTF-8"):
        corpus.pairs("test")
