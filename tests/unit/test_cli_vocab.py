"""``switchout vocab``: one file of words for augmenting a stream and for training."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from switchout.cli import run
from switchout.corpora.vocabulary import Vocabulary


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").write_text("b a b\n\nc\tb ä\n")
    return tmp_path


def test_words_are_counted_most_frequent_first(folder, capsys):
    assert run(["vocab", "text", "--out", "words"]) == 0
    assert (folder / "words").read_text() == "b 3\na 1\nc 1\nä 1\n"
    assert capsys.readouterr().out == "words: 4 words, 100.0% of the text\n"


def test_rare_words_can_be_left_out(folder, capsys):
    assert run(["vocab", "text", "--out", "words", "--min-count", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "out": "words",
        "words": 1,
        "kept": 3,
        "running": 6,
    }
    assert run(["vocab", "text", "--out", "words", "--max-words", "2"]) == 0
    assert (folder / "words").read_text() == "b 3\na 1\n"


def test_augment_and_training_read_it_alike(folder, capsys):
    assert run(["vocab", "text", "--out", "words"]) == 0
    assert Vocabulary.load("words").tokens[4:] == ["b", "a", "c", "ä"]
    noise = ["--tau-x", "3", "--seed", "1"]
    counted = ["augment", "--src", "text", "--out-src", "counted", *noise]
    given = ["augment", "--src", "text", "--out-src", "given", "--vocab-src", "words", *noise]
    assert run(counted) == run(given) == 0
    assert (folder / "given").read_bytes() == (folder / "counted").read_bytes()
    assert (folder / "counted.vocab").read_bytes() == (folder / "words").read_bytes()
    assert "counted.vocab (give it as --vocab-src)" in capsys.readouterr().out


def test_standard_input_is_counted_too(folder):
    command = [sys.executable, "-m", "switchout", "vocab", "-", "--out", "words"]
    subprocess.run(command, input=(folder / "text").read_bytes(), check=True)
    assert (folder / "words").read_text().startswith("b 3\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("absent --out words", "absent: no such file"),
        ("text --out text", "--out text: is also the input file text; name another file"),
        ("text --out notes", "--out notes: a file that is no counted vocabulary is there"),
        ("empty --out words", "empty: no word in it; is the file empty?"),
        ("text --out words --min-count 9", "text: no word in it occurs 9 times"),
        ("text --out words --min-count 0", "--min-count must be a whole number from 1"),
        ("text --out -", "--out -: a vocabulary is a file"),
    ],
)
def test_a_mistake_is_one_line(words, message, folder, capsys):
    (folder / "notes").write_text("my own notes\n")
    (folder / "empty").touch()
    before = (folder / "text").read_bytes()
    assert run(["vocab", *words.split()]) == 2
    assert message in capsys.readouterr().err
    assert (folder / "text").read_bytes() == before
    assert (folder / "notes").read_text() == "my own notes\n"
    assert not (folder / "words").exists()


def test_raw_text_is_warned_of(folder, caplog):
    (folder / "raw").write_text("Well, the cat sat on the mat.\n" * 20)
    assert run(["vocab", "raw", "--out", "words"]) == 0
    assert "warning: raw: 100% of 40 punctuation marks stick to a word" in caplog.text


@pytest.mark.parametrize("name", ["text", "-"])
def test_words_that_are_no_utf8_are_told_and_left_out(folder, name):
    (folder / "text").write_bytes("und blau\ngrün und\n".encode("latin-1"))
    done = subprocess.run(
        [sys.executable, "-m", "switchout", "vocab", name, "--out", "words"],
        stdin=(folder / "text").open("rb"), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    where = "text:2" if name == "text" else "standard input"
    assert f"warning: {where}: not valid UTF-8" in done.stderr
    assert done.stdout == "words: 2 words, 75.0% of the text\n"
    assert (folder / "words").read_text() == "und 2\nblau 1\n"
