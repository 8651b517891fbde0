"""The paper's dataset table on the real corpora, where they are at hand."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from switchout.cli import run
from switchout.corpora import open_corpus
from switchout.corpora.registry import entries, find_entry
from switchout.corpora.text import find_file, stream_lines

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("SWITCHOUT_DATA", ROOT.parent / "shared" / "data"))
pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason="no real corpora: set SWITCHOUT_DATA to the folder that has them"
)


@pytest.fixture(autouse=True)
def data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWITCHOUT_DATA", str(DATA))


def thousands(value: int) -> str:
    """A number as the paper prints it."""
    return f"{value / 1e6:.1f}M" if value >= 1e6 else f"{value / 1e3:.1f}K"


@pytest.mark.parametrize(
    ("name", "sizes", "n_dev", "n_test"),
    [
        ("iwslt15-en-vi", (17_191, 7_709), 1_553, 1_268),
        ("iwslt16-de-en", (32_011, 22_824), 6_969, 6_750),
    ],
)
def test_the_papers_table_is_reproduced(
    name: str,
    sizes: tuple[int, int],
    n_dev: int,
    n_test: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["data", "prepare", name, "--out", str(tmp_path / "out"), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    paper = facts["paper"]
    assert tuple(facts["vocabulary"].values()) == sizes
    assert [thousands(size) for size in sizes] == paper["vocabulary"]
    assert (facts["pairs"]["dev"], facts["pairs"]["test"]) == (n_dev, n_test)
    assert (thousands(n_dev), thousands(n_test)) == (paper["dev"], paper["test"])
    assert thousands(facts["declared"]["pairs"]["train"]) == paper["train"]
    for split, rates in facts["unknown"].items():
        assert all(0 < rate < 0.05 for rate in rates), split


def test_a_smaller_training_set_is_said_not_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["data", "prepare", "iwslt15-en-vi", "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    assert "train: declared 133,317, found 4,544" in printed
    rows = {line.split()[0]: line.split()[1:] for line in printed.splitlines() if line}
    assert rows["paper"] == ["17.2K", "7.7K", "133.3K", "1.6K", "1.3K"]
    assert rows["declared"] == ["17,191", "7,709", "133,317", "1,553", "1,268"]
    assert rows["here"] == ["17,191", "7,709", "4,544", "1,553", "1,268"]


@pytest.mark.parametrize("entry", [e for e in entries() if e.downloads], ids=lambda e: e.name)
def test_declared_checksums_and_counts_are_those_of_the_real_files(entry) -> None:  # type: ignore[no-untyped-def]
    folder = DATA / entry.name.replace("-", "_")
    if not folder.is_dir():
        pytest.skip(f"{entry.name} is not here")
    for name, file in entry.downloads.items():
        path = find_file(folder, name)
        if path is None or file.sha256 is None:
            continue
        text = "".join(line + "\n" for line in stream_lines(path))
        is_short = name.startswith("train") and entry.name == "iwslt15-en-vi"
        assert (hashlib.sha256(text.encode()).hexdigest() == file.sha256) != is_short, name


@pytest.mark.parametrize("split", ["dev", "test"])
def test_references_are_the_real_text(split: str) -> None:
    _, references = open_corpus("iwslt14-de-en").pairs(split)
    assert not any("<unk>" in line for line in references)
    folder = DATA / "iwslt14_de_en"
    masked = find_file(folder, f"{split}_unk.en")
    if masked is None:
        pytest.skip(f"no {split}_unk file here")
    assert any("<unk>" in line for line in stream_lines(masked))


def test_import_from_a_folder_says_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = DATA / "iwslt15_en_vi"
    arguments = ["iwslt15-en-vi", "--out", str(tmp_path), "--from", str(source)]
    assert run(["data", "get", *arguments]) == 0
    assert "train: declared 133,317, found 4,544" in capsys.readouterr().out
    copied = open_corpus(tmp_path / "iwslt15-en-vi")
    assert copied.data_hash == open_corpus(source).data_hash
    assert copied.vocabulary_files() is not None


def test_list_tells_where_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["data", "list", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert set(rows) == {entry.name for entry in entries()}
    assert rows["multi30k-de-en"]["where"] == str(DATA / "multi30k_de_en")
    assert rows["phrasebook"]["where"] == "embedded"
    assert find_entry("iwslt16-de-en") is find_entry("iwslt14_de_en")
