"""Closed, full and broken standard streams: a right exit code, one line, and no file damaged."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCORE = f"{sys.executable} -m switchout score hyp --ref ref --resamples 0 --metric bleu"


@pytest.fixture
def folder(tmp_path):
    for name in ("hyp", "ref"):
        (tmp_path / name).write_text("a b c d e\n" * 3)
    return tmp_path


def shell(command, folder):
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, capture_output=True, text=True, timeout=60
    )
    return done.returncode, done.stderr


def test_a_full_output_is_one_line(folder):
    assert shell(f"{SCORE} > /dev/full 2> err", folder)[0] == 2
    lines = (folder / "err").read_text().splitlines()
    assert lines[-1] == "switchout: standard output: No space left on device"
    assert not any("Traceback" in line for line in lines)


def test_a_closed_output_is_one_line(folder):
    assert shell(f"{SCORE} 2> err >&-", folder)[0] == 2
    assert "standard output: Bad file descriptor" in (folder / "err").read_text()


@pytest.mark.parametrize("where", ["2>&-", "2>/dev/full"])
def test_without_a_place_for_messages_the_work_is_done(folder, where):
    assert shell(f"{SCORE} --json > out {where}", folder) == (0, "")
    assert '"bleu": 100' in (folder / "out").read_text()
    assert shell(f"{SCORE} --json --ref absent > out {where}", folder)[0] == 2


def test_a_reader_that_goes_away_is_no_error_message(folder):
    code, err = shell(f"{SCORE} --json 2> err | true; echo ${{PIPESTATUS[0]}} >&2", folder)
    assert code == 0
    assert err.strip() in ("0", "141")  # it may have been quicker
    assert "Traceback" not in (folder / "err").read_text()


def test_all_closed_and_the_inputs_are_as_before(folder):
    assert shell(f"{SCORE} <&- >&- 2>&-", folder)[0] == 2
    assert (folder / "ref").read_text() == "a b c d e\n" * 3
    assert sorted(p.name for p in folder.iterdir()) == ["hyp", "ref"]


def test_the_command_line_is_utf8_whatever_the_locale_says(folder):
    (folder / "hýp").write_text("a b c d e\n" * 3)
    command = SCORE.replace(" hyp ", " hýp ") + " --json"
    assert shell(f"PYTHONIOENCODING=ascii {command} > out", folder)[0] == 0
    assert '"system": "hýp"' in (folder / "out").read_text(encoding="utf-8")
