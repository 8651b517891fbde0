"""Files appear whole or not at all, and lines end at a newline only."""

from __future__ import annotations

import gzip
import os
import stat
import threading

import pytest

from switchout.errors import SwitchOutError
from switchout.files import atomic, read_lines


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
