"""``switchout explore`` as a command: where it listens, and what it says when it cannot."""

from __future__ import annotations

import socket
import subprocess
import sys
from urllib.request import urlopen

import pytest

from switchout.cli import run as command


def test_it_listens_on_this_machine_only_and_ends_when_asked(tmp_path):
    (tmp_path / "a.txt").write_text("mine own line\n")
    arguments = ["--runs", str(tmp_path), "--port", "0", "--src", str(tmp_path / "a.txt")]
    server = subprocess.Popen(
        [sys.executable, "-m", "switchout", "explore", *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert server.stdout is not None
        address = server.stdout.readline().split()[0]
        assert address.startswith("http://127.0.0.1:")
        port = int(address.rstrip("/").rpartition(":")[2])
        with urlopen(address) as page:
            assert b"mine own line" in page.read()
        # Another address of the same machine is not listened on.
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", port), timeout=5)
    finally:
        server.terminate()
        _, errors = server.communicate(timeout=20)
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--runs", "nowhere"], "nowhere"),
        (["--port", "70000"], "port"),
        (["--src", "nowhere.txt"], "nowhere.txt"),
    ],
)
def test_a_mistake_is_one_line(arguments, word, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert command(["explore", *arguments]) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert word in errors


@pytest.mark.parametrize("flags", [["--src"], ["--tgt"], ["--src", "--tgt"]], ids=" ".join)
def test_an_empty_file_is_not_taken_for_none(flags, capsys, tmp_path, monkeypatch):
    """Else the pages would show the embedded corpus in its place."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("switchout.explore.server.serve", lambda *args, **kwargs: None)
    for flag in flags:
        (tmp_path / flag).touch()
    assert command(["explore", *(f"{flag}=./{flag}" for flag in flags)]) == 2
    empty = " and ".join(flags)
    assert capsys.readouterr().err == f"switchout: {empty}: is empty, nothing to explore\n"


def test_files_of_different_lengths_are_refused_as_preview_refuses_them(
    capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "long.de").write_text("ein Hund\n" * 60_000)  # more than a page reads
    (tmp_path / "short.en").write_text("a dog\n" * 59_999)
    files = ["--src", "long.de", "--tgt", "short.en"]
    assert command(["preview", *files, "--tau-x", "1", "--seed", "1"]) == 2
    expected = capsys.readouterr().err
    assert "long.de: 60,000 lines, short.en: 59,999 lines; both sides must have" in expected
    monkeypatch.setattr("switchout.explore.server.serve", lambda *args, **kwargs: None)
    assert command(["explore", *files]) == 2
    assert capsys.readouterr().err == expected


def test_a_port_in_use_is_named(capsys, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert command(["explore", "--runs", str(tmp_path), "--port", str(port)]) == 2
    errors = capsys.readouterr().err
    assert f"port {port}" in errors
    assert "--port" in errors
