"""Readers: what is written is read back, and every fault names its file and line."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xopen import xopen

from switchout.corpora.text import COMPRESSIONS, FilePairs, TsvPairs, find_file, stream_lines
from switchout.errors import SwitchOutError

# Many NUL bytes are UTF-16, and a file that begins with a byte-order mark is refused.
ODD = "\n\0\ufeff"
LINES = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters=ODD))


def write(path: Path, content: bytes) -> Path:
    with xopen(path, "wb", threads=0) as handle:
        handle.write(content)
    return path


def encode(lines: list[str]) -> bytes:
    return "".join(line + "\n" for line in lines).encode()


@settings(deadline=None, max_examples=50)
@given(lines=st.lists(LINES, min_size=1), suffix=st.sampled_from(COMPRESSIONS))
def test_lines_written_are_lines_read(lines: list[str], suffix: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder) / f"a{suffix}", encode(lines))
        assert list(stream_lines(path)) == lines


@settings(deadline=None, max_examples=50)
@given(lines=st.lists(LINES, min_size=1))
def test_a_last_line_without_newline_is_a_line(lines: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder) / "a", encode(lines).removesuffix(b"\n"))
        expected = lines if lines[-1] else lines[:-1]
        assert list(stream_lines(path)) == expected


@settings(deadline=None, max_examples=50)
@given(pairs=st.lists(st.tuples(LINES, LINES)))
def test_file_pairs_can_be_read_twice(pairs: list[tuple[str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        src = write(Path(folder) / "a", encode([src for src, _ in pairs]))
        tgt = write(Path(folder) / "b", encode([tgt for _, tgt in pairs]))
        read = FilePairs(src, tgt)
        assert list(read) == pairs == list(read)


CELLS = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters=ODD + "\t"))


@settings(deadline=None, max_examples=50)
@given(pairs=st.lists(st.tuples(CELLS, CELLS)), src_column=st.integers(0, 1))
def test_tsv_pairs_read_either_direction(pairs: list[tuple[str, str]], src_column: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder) / "a.tsv", encode(["\t".join(pair) for pair in pairs]))
        expected = [(pair[src_column], pair[1 - src_column]) for pair in pairs]
        assert list(TsvPairs(path, src_column)) == expected


@settings(deadline=None, max_examples=50)
@given(good=st.lists(LINES, min_size=1), bad=st.binary(min_size=1).filter(lambda b: b"\n" not in b))
def test_invalid_utf8_names_its_line(good: list[str], bad: bytes) -> None:
    try:
        bad.decode()
    except UnicodeDecodeError:
        with tempfile.TemporaryDirectory() as folder:
            path = write(Path(folder) / "a", encode(good) + bad + b"\nok\n")
            with pytest.raises(SwitchOutError, match=rf"a:{len(good) + 1}: not valid UTF-8"):
                list(stream_lines(path))


@pytest.mark.parametrize(("n_src", "n_tgt"), [(3, 2), (2, 3), (1, 0), (0, 1)])
def test_unequal_files_name_both_counts(tmp_path: Path, n_src: int, n_tgt: int) -> None:
    src, tgt = write(tmp_path / "a", b"x\n" * n_src), write(tmp_path / "b", b"y\n" * n_tgt)
    with pytest.raises(SwitchOutError, match=rf"a has {n_src} lines but .*b has {n_tgt}"):
        list(FilePairs(src, tgt))


@pytest.mark.parametrize(("line", "n"), [("a", 1), ("a\tb\tc", 3), ("", 1)])
def test_a_tsv_line_without_two_columns_names_its_line(tmp_path: Path, line: str, n: int) -> None:
    path = write(tmp_path / "a.tsv", f"a\tb\nc\td\n{line}\n".encode())
    with pytest.raises(SwitchOutError, match=rf"a.tsv:3: expected 2 .* found {n}"):
        list(TsvPairs(path))


@pytest.mark.parametrize("suffix", COMPRESSIONS[1:])
@pytest.mark.parametrize("share", [0.5, 0.99])
def test_a_truncated_archive_is_refused(tmp_path: Path, suffix: str, share: float) -> None:
    path = write(tmp_path / f"a{suffix}", encode([str(i**7) for i in range(20_000)]))
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(SwitchOutError, match="damaged or truncated archive"):
        list(stream_lines(path))


@pytest.mark.parametrize("suffix", COMPRESSIONS[1:])
def test_a_file_that_is_no_archive_is_refused(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_bytes(b"plain text\n" * 100)
    with pytest.raises(SwitchOutError, match=f"a{suffix}: damaged"):
        list(stream_lines(path))


def test_two_candidates_for_one_file_are_refused(tmp_path: Path) -> None:
    assert find_file(tmp_path, "a") is None
    (tmp_path / "a.xz").touch()
    assert find_file(tmp_path, "a") == tmp_path / "a.xz"
    (tmp_path / "a").touch()
    with pytest.raises(SwitchOutError, match=r"both a and a\.xz"):
        find_file(tmp_path, "a")
