"""Files appear whole or not at all, and lines end at a newline only."""

from __future__ import annotations

import bz2
import errno
import gzip
import os
import stat
import subprocess
import sys
import threading

import pytest

from switchout.corpora.text import stream_lines
from switchout.errors import SwitchOutError
from switchout.files import (
    Draft,
    atomic,
    atomic_folder,
    is_stream,
    read_json,
    read_lines,
    read_toml,
    spooled,
    write_json,
    write_text,
    write_texts,
)


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


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xef\xbb\xbfa b\n", "begins with a byte-order mark.*tail -c .4"),
        ("a b\n".encode("utf-16"), "looks like UTF-16: convert it to UTF-8 first"),
        ("a\nb\nc\nd\ne\nf\n".encode("utf-16-le"), "looks like UTF-16LE"),
        (gzip.compress(gzip.compress(b"a b\n")), "compressed by gzip, not text"),
        (gzip.compress(bz2.compress(b"a b\n", 1)), "compressed by bzip2, not text"),
        (b"PAR1\x15\x04\x15\n", "a Parquet file, not text: .*--pairs FILE.parquet"),
        (b"PK\x03\x04\x14\n", "a zip archive, as .docx, .xlsx and .npz are, not text"),
        (b"%PDF-1.7\na b\n", "a PDF, not text"),
    ],
    # Named: gzip's bytes hold the time, and two processes have to agree on the names of the tests.
    ids=["byte-order mark", "UTF-16", "UTF-16LE", "gzip", "bzip2", "Parquet", "zip", "PDF"],
)
@pytest.mark.parametrize("read", [read_lines, lambda path: list(stream_lines(path))])
def test_what_is_no_plain_text_is_refused_by_its_first_bytes(tmp_path, content, message, read):
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    with pytest.raises(SwitchOutError, match=rf"a\.txt: {message}"):
        read(path)


@pytest.mark.parametrize("read", [read_lines, lambda path: list(stream_lines(path))])
def test_a_text_may_begin_with_the_name_of_a_gene(tmp_path, read):
    path = tmp_path / "a.txt"
    path.write_text("PAR1 is a receptor\n")
    assert read(path) == ["PAR1 is a receptor"]


def test_a_packed_file_is_read_whatever_its_name(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(gzip.compress(b"a b\n"))
    assert read_lines(path) == list(stream_lines(path)) == ["a b"]


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


@pytest.mark.parametrize("facts", ['{"a": 1}', '{"mine": 1}', "[]", "no JSON"])
@pytest.mark.parametrize("added", [[], ["notes.txt"], ["runs/1/model"]])
def test_a_folder_with_more_in_it_is_set_aside_and_said(tmp_path, caplog, facts, added):
    """Our earlier folder may hold somebody's files, and a file of that name may not be ours."""
    for name in ("facts.json", *added):
        (tmp_path / "made" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "made" / name).write_text(facts if name == "facts.json" else "dear reader")
    with atomic_folder(tmp_path / "made", marker="facts.json") as partial:
        (partial / "facts.json").write_text('{"a": 2}')
    assert (tmp_path / "made" / "facts.json").read_text() == '{"a": 2}'
    if facts == '{"a": 1}' and not added:
        assert list(tmp_path.iterdir()) == [tmp_path / "made"]
        return
    old = tmp_path / "made.old-1"
    assert (old / "facts.json").read_text() == facts
    assert all((old / name).read_text() == "dear reader" for name in added)
    assert f"the whole earlier folder is now {old}" in caplog.text


def test_an_earlier_result_is_replaced_but_no_other_folder(tmp_path):
    for text in ("old", "new"):
        with atomic_folder(tmp_path / "made", marker="facts.json") as partial:
            (partial / "facts.json").write_text("{}")
            (partial / "text").write_text(text)
    assert (tmp_path / "made" / "text").read_text() == "new"
    assert list(tmp_path.iterdir()) == [tmp_path / "made"]
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


def test_a_draft_has_a_name_nobody_can_foresee_and_follows_no_planted_link(tmp_path, monkeypatch):
    names = [Draft(tmp_path / "a.txt.gz").path.name for _ in range(3)]
    assert len(set(names)) == 3
    assert all(name.endswith(".txt.gz") for name in names)
    victim = tmp_path / "victim"
    victim.write_text("precious")
    tokens = iter(["0" * 16, "1" * 16])
    monkeypatch.setattr("secrets.token_hex", lambda n: next(tokens))
    (tmp_path / f".switchout-{'0' * 16}.partial.b").symlink_to(victim)
    with pytest.raises(SwitchOutError, match="cannot be written"):
        write_text(tmp_path / "b", "new")
    assert victim.read_text() == "precious"


def test_a_replaced_file_keeps_its_permissions_and_a_new_one_gets_the_usual(tmp_path):
    usual = tmp_path / "usual"
    for mode in (0o600, 0o666, 0o640):  # more and less than the usual ones
        old = tmp_path / f"{mode:o}"
        old.touch()
        old.chmod(mode)
        with atomic(old) as partial:
            seen = stat.S_IMODE(partial.stat().st_mode)
            assert seen & ~mode == 0  # never seen by more people
            partial.write_text("new")
        assert stat.S_IMODE(old.stat().st_mode) == mode
    (tmp_path / "plain").touch()
    write_text(usual, "new")
    assert usual.stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_is_followed_and_stays(tmp_path, exists):
    real, link = tmp_path / "far" / "real", tmp_path / "link"
    real.parent.mkdir()
    if exists:
        real.write_text("old")
    link.symlink_to("far/real")
    write_text(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert [p.name for p in real.parent.iterdir()] == ["real"]


def test_a_folder_behind_a_link_is_replaced_and_the_link_stays(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with atomic_folder(tmp_path / "link", marker="facts.json") as partial:
        (partial / "facts.json").write_text("{}")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "facts.json").read_text() == "{}"


def start_writing(code, tmp_path):
    """Start a writer and wait until it has begun."""
    child = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"begun\n"
    return child


HALF = """
import sys, time
from pathlib import Path
from switchout.files import atomic, atomic_folder
out = Path(sys.argv[1])
with atomic(out / "a.txt") as a, atomic_folder(out / "made", marker="facts.json") as b:
    a.write_text("half"); (b / "half").write_text("half")
    print("begun", flush=True); time.sleep(60)
"""


def test_the_next_writer_removes_what_a_killed_one_left_but_nothing_of_a_living_one(tmp_path):
    (tmp_path / ".switchout-is-my-diary").write_text("mine")
    child = start_writing(HALF, tmp_path)
    code = "import sys; from switchout.files import write_text; write_text(sys.argv[1] + '/b', 'x')"
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    assert sum(".partial." in p.name for p in tmp_path.iterdir()) == 2  # the living one's
    child.kill()
    child.wait()
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    assert sorted(p.name for p in tmp_path.iterdir()) == [".switchout-is-my-diary", "b"]


def test_a_folder_set_aside_by_a_killed_writer_gets_its_name_back(tmp_path):
    old = tmp_path / f".switchout-{'a' * 16}.old.made"
    old.mkdir()
    (old / "facts.json").write_text("old")
    write_text(tmp_path / "b", "x")
    assert (tmp_path / "made" / "facts.json").read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["b", "made"]


def test_a_refused_folder_leaves_no_parents_behind(tmp_path):
    def fail():
        with atomic_folder(tmp_path / "new" / "er" / "made", marker="facts.json"):
            raise SwitchOutError("refused")

    with pytest.raises(SwitchOutError, match="refused"):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_named(tmp_path):
    with pytest.raises(SwitchOutError, match=r"/dev/full: cannot be written \(No space"):
        write_text("/dev/full", "x")

    def fill():
        with atomic(tmp_path / "a"):
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(SwitchOutError, match=r"a: cannot be written \(No space"):
        fill()


def test_what_is_appended_to_through_a_descriptor_is_not_cut(tmp_path):
    log = tmp_path / "log"
    log.write_text("old\n")
    code = "from switchout.files import write_text; write_text('/dev/stdout', 'new\\n')"
    with log.open("ab") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True)
    assert log.read_text() == "old\nnew\n"


def test_streams_are_known_by_any_name(tmp_path):
    (tmp_path / "plain").touch()
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("fifo")
    (tmp_path / "in").symlink_to("/dev/stdin")
    (tmp_path / "proc").symlink_to("/proc/self/fd/0")
    assert not any(is_stream(p) for p in (tmp_path, tmp_path / "plain", tmp_path / "absent", ""))
    streams = ["-", "/dev/stdin", "/dev//fd/0", "/dev/null", *map(tmp_path.joinpath, STREAMS)]
    assert all(is_stream(p) for p in streams)


STREAMS = ["fifo", "link", "in", "proc"]


def test_a_stream_is_spooled_and_the_copy_goes_away(tmp_path):
    fifo = tmp_path / "text.gz"
    os.mkfifo(fifo)
    writer = threading.Thread(target=lambda: fifo.write_bytes(gzip.compress(b"a\nb\n")))
    writer.start()
    with spooled(fifo) as copy:
        assert read_lines(copy) == read_lines(copy) == ["a", "b"]
    writer.join()
    assert not copy.exists()
    with spooled(tmp_path / "plain") as same:
        assert same == tmp_path / "plain"


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"[]", "expected a JSON object, found a list"),
        (b"null", "found null"),
        (b"3", "found a number"),
        (b"", "not valid JSON"),
        (b'{"a": ', "not valid JSON"),
        (b'{"a": "\xff"}', "not valid JSON"),
        (b"[" * 200_000, "nested too deep"),
        (b'{"a": "\\ud800"}', "half a character"),
        (b'{"a": ' + b"9" * 5000 + b"}", "not valid JSON"),
    ],
)
def test_json_that_is_no_object_of_ours_is_one_line(tmp_path, content, complaint):
    path = tmp_path / "facts.json"
    path.write_bytes(content)
    with pytest.raises(SwitchOutError, match=complaint) as caught:
        read_json(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [b"a = " + b"[" * 100_000, b"a = 1\na = 2", b"\xff", b"#" * (2 << 20), b"a = " + b"9" * 5000],
)
def test_toml_that_is_none_is_one_line(tmp_path, content):
    path = tmp_path / "run.toml"
    path.write_bytes(content)
    with pytest.raises(SwitchOutError, match=r"run\.toml: (not valid TOML|more than 1 MB)"):
        read_toml(path)


def test_json_is_read_as_written(tmp_path):
    write_json(tmp_path / "a.json", {"ü": [1, "𝄞"]})
    assert read_json(tmp_path / "a.json") == {"ü": [1, "𝄞"]}


def test_an_endless_device_is_no_file():
    with pytest.raises(SwitchOutError, match="is a device"):
        read_lines("/dev/zero")
    assert read_lines("/dev/null") == []


def test_of_several_files_all_are_written_or_none(tmp_path):
    (tmp_path / "b").write_text("old")
    with pytest.raises(SwitchOutError, match="/dev/full"):
        write_texts({tmp_path / "a": "new", "/dev/full": "new", tmp_path / "b": "new"})
    assert [p.read_text() for p in tmp_path.iterdir()] == ["old"]
    write_texts({tmp_path / "a": "new", "/dev/null": "new", tmp_path / "b": "new"})
    assert [p.read_text() for p in tmp_path.iterdir()] == ["new", "new"]


def test_a_link_to_itself_is_not_written(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(SwitchOutError, match="link to itself"):
        write_text(tmp_path / "loop", "x")
    assert (tmp_path / "loop").is_symlink()


def test_what_cannot_be_read_is_named():
    with pytest.raises(SwitchOutError, match=r"/proc/self/mem: cannot be read \(Input/output"):
        read_lines("/proc/self/mem")
