"""Progress keeps what matters at 80 columns, and is a plain line where there is no terminal."""

from __future__ import annotations

import io
import re
import sys

import pytest

from switchout import progress
from switchout.progress import Meter

NOTE = "loss 5.757, perplexity 316.46, 3,212 tokens/s, dev perplexity 298.11"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_bar_count_and_loss_fit_the_terminal(columns, monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    with Meter("training", total=300, unit="steps") as meter:
        meter.advance(115, note=NOTE)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.getvalue())
    lines = [line.rstrip() for line in re.split(r"[\r\n]+", text) if "115/300 steps" in line]
    assert lines
    assert max(map(len, lines)) <= columns
    assert not any("…" in line for line in lines)
    if columns >= 80:
        assert any("loss 5.757" in line for line in lines)


def test_a_note_stays_until_the_next_one(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("COLUMNS", "80")
    with Meter("training", total=3, unit="steps") as meter:
        meter.advance(1, note="loss 5.757")
        meter.advance(1)
    assert "loss 5.757" in screen.getvalue().rpartition("2/3 steps")[2]


def test_few_megabytes_have_decimals(capsys, monkeypatch):
    monkeypatch.setattr(progress, "WORTH_A_LINE", 0)
    with Meter("augment", total=0.0867, unit="MB") as meter:
        meter.advance(0.0867)
    assert "0.09/0.09 MB" in capsys.readouterr().err


def test_no_terminal_gets_a_plain_line(capsys, monkeypatch):
    monkeypatch.setattr(progress, "WORTH_A_LINE", 0)
    with Meter("reading", total=2, unit="lines") as meter:
        meter.advance(2)
    assert re.fullmatch(r"reading: 2/2 lines \S+/s done\n", capsys.readouterr().err)
    with Meter("augment", total=1, unit="MB") as meter:
        meter.advance(1)
    assert re.fullmatch(r"augment: 1/1 MB \S+ MB/s done\n", capsys.readouterr().err)


def test_work_that_was_lost_does_not_slow_what_is_done_here(capsys, monkeypatch):
    monkeypatch.setattr(progress, "WORTH_A_LINE", 0)
    with Meter("training", total=900, unit="steps", done=700) as meter:
        meter.advance(-100)  # a run goes on from its last state
        assert meter.rate == 0
        meter.advance(50)
        assert meter.rate > 0
    assert "650/900 steps" in capsys.readouterr().err


def test_what_took_no_time_is_no_line_in_a_file(capsys):
    with Meter("augment", total=1, unit="MB") as meter:
        meter.advance(1)
    assert capsys.readouterr().err == ""
