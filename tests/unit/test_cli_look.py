"""The help of every verb has one look: -h, an example, defaults, 80 columns."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from switchout.cli import _available, run

COMMANDS = [[verb] for verb in _available() if verb != "data"]
COMMANDS += [["data", part] for part in ("list", "get", "prepare")]


def shown(capsys, *words: str) -> str:
    assert run(list(words)) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_fits_a_terminal_and_has_an_example(words, capsys):
    text = shown(capsys, *words, "--help")
    assert [line for line in text.splitlines() if len(line) > 80] == []
    assert f"switchout {' '.join(words)}" in text.partition("xample")[2]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_values_have_names_that_people_use(words, capsys):
    text = shown(capsys, *words, "--help")
    assert not any(odd in text for odd in ("<path>", "<int", "<float", "<str>", "<list"))


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_three_ways_to_ask_say_the_same(words, capsys):
    text = shown(capsys, *words, "--help")
    assert shown(capsys, *words, "-h") == text
    assert shown(capsys, "help", *words) == text


def test_help_alone_lists_the_verbs(capsys):
    text = shown(capsys, "help")
    assert all(f"\n  {verb}" in text for verb in _available())
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("switchout comp", "compare"),
        ("switchout data ge", "get"),
        ("switchout train --rest", "--restart"),
    ],
)
def test_a_shell_gets_completions(line, expected):
    words = line.split()
    asked = {
        "_SWITCHOUT_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }
    done = subprocess.run(
        [sys.executable, "-m", "switchout"], env=os.environ | asked, capture_output=True, text=True
    )
    assert expected in done.stdout.split()


def test_completion_script_is_shell(tmp_path, capsys):
    (tmp_path / "script").write_text(shown(capsys, "completion", "bash"), encoding="utf-8")
    assert subprocess.run(["bash", "-n", tmp_path / "script"]).returncode == 0
    assert run(["completion", "tcsh"]) == 2


def test_a_reader_that_goes_away_is_no_traceback():
    for _ in range(5):
        done = subprocess.run(
            ["bash", "-c", f"{sys.executable} -m switchout --help | true"], capture_output=True
        )
        assert done.stderr == b""


@pytest.mark.parametrize("verb", [["reproduce", "table1"], ["backtranslate"]], ids=" ".join)
def test_a_corpus_that_does_not_say_its_direction_can_be_told(verb, tmp_path, capsys):
    for name in ("train", "dev", "test"):
        for language in ("aa", "bb"):
            (tmp_path / f"{name}.{language}").write_text("a b\nc d\n")
    asked = [*verb, "--corpus", str(tmp_path), "--out", str(tmp_path / "out")]
    assert run(asked) == 2
    assert "which way?" in capsys.readouterr().err
    assert run([*asked, "--source", "xx", "--target", "bb"]) == 2
    assert "no text in 'xx'" in capsys.readouterr().err
