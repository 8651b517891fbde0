"""Files appear whole or not at all, and lines end at a newline only."""

from __future__ import annotations

import errno
import gzip
import os
import stat
import threading

import pytest

from switchout.errors import SwitchOutError
from switchout.files import atomic, atomic_folder, read_lines


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fail():
        with atomic(path) as partial:
            partial.write_text("new")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_text()))
    reader.start()
    with atomic(pipe) as partial:
        partial.write_text("through")
    reader.join(timeout=10)
    assert received == ["through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_lines_end_at_newlines_only(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("a\u2028b\r\nc\x85d\n\ne".encode())
    assert read_lines(path) == ["a\u2028b\r", "c\x85d", "", "e"]


def test_bad_utf8_is_named_by_its_line(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"fine\nfine\nb\xffd\n")
    with pytest.raises(SwitchOutError, match=r"a\.txt:3: not valid UTF-8"):
        read_lines(path)


def test_a_truncated_archive_is_an_error(tmp_path):
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"line\n" * 1000)[:-20])
    with pytest.raises(SwitchOutError, match="damaged or truncated"):
        read_lines(path)


def test_a_missing_file_is_one_clear_line(tmp_path):
    with pytest.raises(SwitchOutError, match="no such file"):
        read_lines(tmp_path / "absent")


def test_a_failed_folder_leaves_the_old_one_and_nothing_else(tmp_path):
    with atomic_folder(tmp_path / "made", marker="facts.json") as partial:
        (partial / "facts.json").write_text("old")

    def fail():
        with atomic_folder(tmp_path / "made", marker="facts.json") as partial:
            (partial / "facts.json").write_text("new")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert (tmp_path / "made" / "facts.json").read_text() == "old"
    assert list(tmp_path.iterdir()) == [tmp_path / "made"]


def test_an_earlier_result_is_replaced_but_no_other_folder(tmp_path):
    for text in ("old", "new"):
        with atomic_folder(tmp_path / "made", marker="facts.json") as partial:
            (partial / "facts.json").write_text(text)
            (partial / text).touch()
    assert sorted(path.name for path in (tmp_path / "made").iterdir()) == ["facts.json", "new"]
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "thesis.tex").write_text("dear reader")
    with (
        pytest.raises(SwitchOutError, match=r"has no facts\.json"),
        atomic_folder(tmp_path / "thesis", marker="facts.json"),
    ):
        pass
    assert (tmp_path / "thesis" / "thesis.tex").read_text() == "dear reader"


def test_what_the_system_refuses_is_not_called_a_damaged_archive(tmp_path, monkeypatch):
    def broken(path, mode, threads):
        raise OSError(errno.EIO, "Input/output error", str(path))

    monkeypatch.setattr("xopen.xopen", broken)
    with pytest.raises(OSError, match="Input/output error"):
        read_lines(tmp_path / "a.gz")
