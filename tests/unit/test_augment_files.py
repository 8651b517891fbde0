"""Corpora on disk: formats, drops, odd bytes, and every kind of bad input."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import resource
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import zstandard

from switchout.cli import run
from switchout.errors import SwitchOutError
from switchout.text import augment_files
from switchout.text.preview import preview

WORDS = [f"w{i}" for i in range(50)]
COMPRESS = {".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress}
COMPRESS[".zst"] = zstandard.ZstdCompressor().compress
EXPAND = {".gz": gzip.decompress, ".xz": lzma.decompress, ".bz2": bz2.decompress}
EXPAND[".zst"] = lambda data: zstandard.ZstdDecompressor().stream_reader(data).read()


def corpus(n_lines: int, seed: int = 0) -> str:
    rng = np.random.default_rng(seed)
    return "".join(" ".join(rng.choice(WORDS, rng.integers(1, 15))) + "\n" for _ in range(n_lines))


def augmented(folder, content: bytes, **how) -> bytes:
    """Return what becomes of one side."""
    (folder / "in").write_bytes(content)
    how = {"tau_x": 2.0, "vocab_source": WORDS, "seed": 1} | how
    augment_files(folder / "in", out_source=folder / "out", **how)
    return (folder / "out").read_bytes()


def complaint(capfd, *arguments) -> str:
    """Run a command that must fail with one line and exit code 2, and return the line."""
    assert run(["augment", *map(str, arguments)]) == 2
    out, err = capfd.readouterr()
    lines = [line for line in err.splitlines() if line.startswith("switchout: ")]
    assert len(lines) == 1
    assert "Traceback" not in err
    assert out == ""
    return lines[0]


@pytest.fixture
def files(tmp_path):
    (tmp_path / "src").write_text(corpus(100, 1))
    (tmp_path / "tgt").write_text(corpus(100, 2))
    (tmp_path / "vocab").write_text("\n".join(WORDS) + "\n")
    return tmp_path


def one_side(folder, **changes) -> list:
    flags = {
        "--src": folder / "src",
        "--out-src": folder / "out",
        "--tau-x": 1.0,
        "--seed": 1,
        "--vocab-src": folder / "vocab",
    } | {f"--{key.replace('_', '-')}": value for key, value in changes.items()}
    return [item for pair in flags.items() for item in pair if pair[1] is not None]


def left_over(folder) -> set[str]:
    return {path.name for path in folder.iterdir()} - {"src", "tgt", "vocab"}


# ---- what stays


@pytest.mark.parametrize(
    "content",
    [
        b"w1 w2 w3",
        b"w1 w2\nw3",
        b"w1 w2\r\nw3 w4\r\n",
        b"w1 w2\xe2\x80\xa8w3 w4 \xe2\x80\xa8 w5\n",
        b"\n\nw1 w2\n\n",
        b"w1\0w2 w3 \0 w4\n",
        b"\n",
        b"  w1\t\tw2   w3 \x0b w4\x0c\n",
        b"w0 \xff\xfe w1 \x80 w2\n",
    ],
    ids=[
        "no newline", "no final newline", "crlf", "U+2028", "empty lines", "NUL",
        "one empty line", "odd white space", "no UTF-8",
    ],
)  # fmt: skip
def test_all_bytes_but_the_changed_words_stay(tmp_path, content):
    out = augmented(tmp_path, content, tau_x=float("inf"), seed=5)
    keep = lambda data: b"".join(  # noqa: E731
        b"#" if word in map(str.encode, WORDS) else word for word in _pieces(data)
    )
    assert keep(out) == keep(content)
    assert out.count(b"\n") == content.count(b"\n")
    changed = augmented(tmp_path, content, policy_x="hamming", tau_x=50.0, seed=5)
    known = sum(word in map(str.encode, WORDS) for word in _pieces(content))
    assert (changed != content) == (known > 0)


@pytest.mark.parametrize("n_before", [2, 1500], ids=["first lines", "later"])
@pytest.mark.parametrize("look", [augment_files, preview], ids=["augment", "preview"])
def test_words_that_are_no_utf8_are_told_once_and_stay_out_of_the_vocabulary(
    tmp_path, caplog, look, n_before
):
    """What is written can be given back, and gives the same."""
    text = b"ein Hund\n" * n_before + "grün grün und blau\n".encode("latin-1") * 40
    (tmp_path / "in").write_bytes(text)
    how = {"source": tmp_path / "in", "tau_x": 2.0, "seed": 1}
    out = {} if look is preview else {"out_source": tmp_path / "out"}
    look(**how, **out)
    assert caplog.text.count("not valid UTF-8") == 1
    assert f"warning: source: line {n_before + 1}: not valid UTF-8" in caplog.text
    if look is augment_files:
        written = (tmp_path / "out").read_bytes()
        assert written.count(b"gr\xfcn") == 80
        words = tmp_path / "out.vocab"
        assert sorted(line.split()[0] for line in words.read_text().splitlines()) == [
            "Hund", "blau", "ein", "und",
        ]  # fmt: skip
        augment_files(**how, **out, vocab_source=words)
        assert (tmp_path / "out").read_bytes() == written


def _pieces(data: bytes) -> list[bytes]:
    import re

    return re.split(rb"([ \t\n\v\f\r]+)", data)


def test_an_empty_corpus_is_refused_and_nothing_written(files, capfd):
    (files / "src").write_bytes(b"")
    for more in ([], ["--parts", files / "parts"]):
        assert f"{files / 'src'}: is empty" in complaint(capfd, *one_side(files), *more)
    done = subprocess.run(
        [sys.executable, "-m", "switchout", "augment", *map(str, one_side(files, src="-"))],
        stdin=subprocess.DEVNULL, capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, b"standard input: is empty" in done.stderr) == (2, True)
    assert left_over(files) == set()


def test_the_last_word_before_a_carriage_return_is_a_word(tmp_path):
    out = augmented(tmp_path, b"w1\r\n" * 50, tau_x=float("inf"))
    assert out.count(b"\r\n") == 50
    assert 10 < sum(line != b"w1\r" for line in out.split(b"\n")[:-1]) < 40


def test_one_line_is_one_and_a_closed_output_has_a_name(files):
    (files / "src").write_text("w1 w2\n")
    command = [sys.executable, "-m", "switchout", "augment", *map(str, one_side(files))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("1 line read, 1 written (")
    assert done.stderr == ""
    closed = " ".join(command).replace(f"--out-src {files / 'out'}", "--out-src -") + " >&-"
    told = subprocess.run(["bash", "-c", closed], capture_output=True, text=True).stderr
    assert told == "switchout: standard output: cannot be written (Bad file descriptor)\n"


def test_a_file_that_is_replaced_is_named(files, capfd):
    """Nothing is said of what was not there, was empty, is a pipe, or stays as it was."""
    said = f"replaced what was there before: {files / 'out'}"
    (files / "out").touch()
    for times in range(3):
        assert run(["augment", *map(str, one_side(files))]) == 0
        assert (said in capfd.readouterr().out) == (times > 0)
    assert run(["augment", *map(str, one_side(files)), "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["replaced"] == [str(files / "out")]
    for other in (
        one_side(files, out_src="/dev/null"),
        [*one_side(files, parts=files / "parts"), "--no-join"],
    ):
        assert run(["augment", *map(str, other)]) == 0
        assert "replaced" not in capfd.readouterr().out


@pytest.mark.parametrize("n_words", [10, 50])
@pytest.mark.parametrize("in_parts", [False, True], ids=["one pass", "parts"])
def test_the_summary_tells_how_many_words_are_known_if_many_are_not(
    files, capfd, n_words, in_parts
):
    (files / "vocab").write_text("\n".join(WORDS[:n_words]) + "\n")
    more = ["--parts", str(files / "parts")] if in_parts else []
    text = (files / "src").read_text().split()
    share = sum(word in WORDS[:n_words] for word in text) / len(text)
    assert run(["augment", *map(str, one_side(files)), *more]) == 0
    said = f", {100 * share:.0f}% of the first lines' words known"
    assert (said in capfd.readouterr().out) == (n_words < 50)
    assert run(["augment", *map(str, one_side(files)), *more, "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["source"]["known"] == share


def test_pairs_with_an_empty_side_are_dropped_and_counted(tmp_path):
    (tmp_path / "a").write_text("w1 w2\n\nw3\n \t\nw4 w5 w6\n")
    (tmp_path / "b").write_text("w5\nw6\n\n\nw7\n")
    how = {"vocab_source": WORDS, "vocab_target": WORDS, "tau_x": 2.0, "tau_y": 3.0, "seed": 4}
    report = augment_files(
        tmp_path / "a", tmp_path / "b", out_source=tmp_path / "x", out_target=tmp_path / "y", **how
    )
    assert report["dropped"] == {"empty source": 1, "empty target": 1, "both sides empty": 1}
    assert (report["pairs"], report["written"]) == (5, 2)
    alone = {}
    for name, out, side in (("a", "x", "source"), ("b", "y", "target")):
        only = {k: v for k, v in how.items() if k not in _other(side)}
        files = {side: tmp_path / name, f"out_{side}": tmp_path / "alone"}
        augment_files(**files, **only)
        lines = (tmp_path / "alone").read_text().split("\n")
        alone[out] = [lines[0], lines[4], ""]  # ids are counted before drops
        assert len(lines) == 6  # one side keeps its empty lines
        assert (tmp_path / out).read_text().split("\n") == alone[out]


def _other(side: str) -> tuple[str, str]:
    return ("vocab_target", "tau_y") if side == "source" else ("vocab_source", "tau_x")


def test_a_side_without_policy_is_copied_with_the_same_drops(tmp_path):
    (tmp_path / "a").write_text("w1 w2\n\nw3")
    (tmp_path / "b").write_text("x\ny\nz z\n")
    augment_files(
        tmp_path / "a", tmp_path / "b", out_source=tmp_path / "x", out_target=tmp_path / "y",
        tau_x=1.0, vocab_source=WORDS, seed=1, copies=2,
    )  # fmt: skip
    assert (tmp_path / "y").read_text() == "x\nx\nz z\nz z\n"
    assert not (tmp_path / "x").read_text().endswith("\n")


def test_an_empty_last_pair_leaves_a_final_newline(tmp_path):
    (tmp_path / "a").write_text("w1 w2\n ")
    (tmp_path / "b").write_text("w1 w2\nw3")
    augment_files(
        tmp_path / "a", tmp_path / "b", out_source=tmp_path / "x", out_target=tmp_path / "y",
        tau_x=0.0, vocab_source=WORDS, seed=1,
    )  # fmt: skip
    assert (tmp_path / "x").read_text() == (tmp_path / "y").read_text() == "w1 w2\n"


# ---- formats


@pytest.mark.parametrize("suffix", COMPRESS)
def test_compression_in_and_out_changes_nothing(tmp_path, suffix):
    content = corpus(500).encode()
    plain = augmented(tmp_path, content)
    (tmp_path / f"in{suffix}").write_bytes(COMPRESS[suffix](content))
    out = tmp_path / f"out{suffix}"
    for _ in range(2):
        augment_files(
            tmp_path / f"in{suffix}", out_source=out, tau_x=2.0, vocab_source=WORDS, seed=1
        )
        first = out.read_bytes()
    assert EXPAND[suffix](first) == plain
    assert out.read_bytes() == first  # no time stamp inside


def test_tab_separated_pairs_equal_two_files(files):
    how = {"tau_x": 2.0, "tau_y": 1.0, "vocab_source": WORDS, "vocab_target": WORDS, "seed": 1}
    how |= {"copies": 2, "keep_original": True}
    augment_files(
        files / "src", files / "tgt", out_source=files / "x", out_target=files / "y", **how
    )
    lines = zip(*((files / f).read_text().splitlines() for f in ("src", "tgt")), strict=True)
    (files / "in.tsv").write_text("".join(f"{a}\t{b}\tw1\t{i}\n" for i, (a, b) in enumerate(lines)))
    augment_files(pairs=files / "in.tsv", out_pairs=files / "out.tsv", **how, chunk_bytes=1024)
    rows = [line.split("\t") for line in (files / "out.tsv").read_text().splitlines()]
    assert [row[0] for row in rows] == (files / "x").read_text().splitlines()
    assert [row[1] for row in rows] == (files / "y").read_text().splitlines()
    assert [row[2:] for row in rows] == [["w1", str(i)] for i in range(100) for _ in range(3)]


def test_two_columns_without_final_newline(tmp_path):
    (tmp_path / "in.tsv").write_bytes(b"w1\tw2 w3\n\tw4\nw5 \t w6")
    report = augment_files(
        pairs=tmp_path / "in.tsv", out_pairs=tmp_path / "o", tau_x=0.0, vocab_source=WORDS, seed=1
    )
    assert (tmp_path / "o").read_bytes() == b"w1\tw2 w3\nw5 \t w6"
    assert report["dropped"]["empty source"] == 1


def test_parquet_equals_two_files_and_keeps_columns(files):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    sides = [(files / f).read_text().splitlines() for f in ("src", "tgt")]
    sides[0][3], sides[1][5] = "", None
    table = pyarrow.table({"id": range(100), "de": sides[0], "en": sides[1]})
    parquet.write_table(table, files / "in.parquet", row_group_size=30)
    (files / "src").write_text("".join(f"{line}\n" for line in sides[0]))
    (files / "tgt").write_text("".join(f"{line or ''}\n" for line in sides[1]))
    how = {"tau_x": 2.0, "tau_y": 1.0, "vocab_source": WORDS, "vocab_target": WORDS, "seed": 1}
    augment_files(
        files / "src", files / "tgt", out_source=files / "x", out_target=files / "y", **how
    )
    for more in ({}, {"parts": files / "parts", "part_bytes": 1024}):
        augment_files(
            pairs=files / "in.parquet", out_pairs=files / "out.parquet", source_column="de",
            target_column="en", **how, **more,
        )  # fmt: skip
        out = parquet.read_table(files / "out.parquet")
        assert out.schema == table.schema
        assert out["de"].to_pylist() == (files / "x").read_text().splitlines()
        assert out["en"].to_pylist() == (files / "y").read_text().splitlines()
        assert out["id"].to_pylist() == [i for i in range(100) if i not in (3, 5)]


def test_a_damaged_parquet_file_is_named_and_leaves_nothing(files):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    lines = (files / "src").read_text().splitlines()
    parquet.write_table(
        pyarrow.table({"de": lines, "en": lines}), files / "in.parquet", use_dictionary=False
    )
    content = bytearray((files / "in.parquet").read_bytes())
    content[4:400] = bytes(396)  # the first page; the description at the end is whole
    (files / "in.parquet").write_bytes(content)
    with pytest.raises(SwitchOutError, match=r"in\.parquet: damaged Parquet file"):
        augment_files(
            pairs=files / "in.parquet", out_pairs=files / "out.parquet", source_column="de",
            target_column="en", tau_x=1.0, vocab_source=WORDS, seed=1,
        )  # fmt: skip
    assert not (files / "out.parquet").exists()


def test_another_column_in_the_same_parts_is_refused(files):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table({"de": ["w1 w2"] * 9, "fr": ["w3 w4"] * 9, "en": ["w5"] * 9})
    parquet.write_table(table, files / "in.parquet")
    how = {"pairs": files / "in.parquet", "out_pairs": files / "out.parquet", "tau_x": 1.0}
    how |= {
        "vocab_source": WORDS,
        "seed": 1,
        "target_column": "en",
        "parts": files / "parts",
        "join": False,
    }
    augment_files(source_column="de", **how)
    for more, key in (
        ({"source_column": "fr"}, "columns"),
        ({"source_column": "de", "stats": files / "stats.json"}, "known words counted"),
    ):
        with pytest.raises(SwitchOutError, match=rf"another run \(different: {key}\)"):
            augment_files(**how, **more)


@pytest.mark.parametrize("name", ["-", "/dev/stdout", "/dev/fd/1"])
def test_a_summary_never_stands_in_the_corpus(files, name, capfd):
    flags = ["augment", *map(str, one_side(files, src=files / "src", out_src=name))]
    assert run([*flags, "--json"]) == 2
    assert "cannot share it" in capfd.readouterr().err
    assert run(flags) == 0
    told = capfd.readouterr()
    assert told.out.count("\n") == (files / "src").read_bytes().count(b"\n")
    assert "lines read" in told.err


def test_a_pipe_that_does_not_block_is_read_to_its_end(files):
    """As some programs leave it; nothing there yet is not the end."""
    script = "import os, sys; os.set_blocking(0, False)\n"
    script += "from switchout.cli import run; sys.exit(run(sys.argv[1:]))"
    flags = map(str, one_side(files, src="-", out_src=files / "out"))
    worker = subprocess.Popen(
        [sys.executable, "-c", script, "augment", *flags], stdin=subprocess.PIPE
    )
    for line in (b"w1 w2\n", b"w3 w4\n"):
        time.sleep(1.0)
        worker.stdin.write(line)
        worker.stdin.flush()
    worker.stdin.close()
    assert worker.wait(60) == 0
    assert (files / "out").read_text().count("\n") == 2


def test_standard_input_to_standard_output_is_the_same(files):
    content = (files / "src").read_bytes()
    expected = augmented(files, content, tau_x=1.0)
    (files / "in").unlink()
    flags = one_side(files, src="-", out_src="-")
    done = subprocess.run(
        [sys.executable, "-m", "switchout", "augment", *map(str, flags)],
        input=content, capture_output=True, check=True,
    )  # fmt: skip
    assert done.stdout == expected


def test_a_pipe_is_written_to_and_not_replaced(files):
    # Not /dev/null: a mistake here, made as root, would take it away from the whole machine.
    expected = augmented(files, (files / "src").read_bytes(), tau_x=1.0)
    pipe, got = files / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    assert run(["augment", *map(str, one_side(files, out_src=pipe))]) == 0
    assert pipe.is_fifo()
    reader.join(timeout=10)
    assert got == [expected]


# ---- numbers


def test_stats_add_up(files, capfd):
    flags = [*one_side(files, tgt=files / "tgt", out_tgt=files / "y"), "--json"]
    flags += ["--stats", files / "stats.json", "--copies", 2, "--special-regex", "w[0-9]"]
    assert run(["augment", *map(str, flags)]) == 0
    printed = json.loads(capfd.readouterr().out)
    stats = json.loads((files / "stats.json").read_text())
    assert printed == stats
    before, after = ((files / f).read_text().split("\n")[:-1] for f in ("src", "out"))
    changes = [
        sum(a != b for a, b in zip(before[i // 2].split(), line.split(), strict=True))
        for i, line in enumerate(after)
    ]
    assert stats["source"]["histogram"] == np.bincount(changes).tolist()
    assert stats["source"]["changes"] == stats["changes"] == sum(changes) > 0
    words = " ".join(before).split()
    assert stats["source"]["words"] == len(words) < stats["words"]
    assert stats["source"]["known_words"] == sum(len(word) > 2 for word in words) < len(words)
    assert stats["target"]["histogram"] == [200]
    assert stats["signature"].endswith(f"|data:{stats['data_hash']}")
    assert "switchout(tau=1)" in stats["signature"]


def test_the_data_hash_is_that_of_the_content(files):
    hashes = set()
    content = (files / "src").read_bytes()
    (files / "in.gz").write_bytes(gzip.compress(content))
    for name, more in (("src", {}), ("in.gz", {}), ("src", {"parts": files / "parts"})):
        report = augment_files(
            files / name, out_source=files / "o", tau_x=1.0, vocab_source=WORDS, seed=1,
            stats=True, chunk_bytes=1024, **more,
        )  # fmt: skip
        hashes.add(report["data_hash"])
    assert len(hashes) == 1
    (files / "src").write_bytes(content + b"w1\n")
    report = augment_files(
        files / "src", out_source=files / "o", tau_x=1.0, vocab_source=WORDS, seed=1, stats=True
    )
    assert report["data_hash"] not in hashes


def test_a_counted_vocabulary_is_saved_and_gives_the_same_when_given_back(tmp_path):
    content = b"b b b a a c c <unk> rare\n" * 3 + b"once a b\n"
    (tmp_path / "in").write_bytes(content)
    how = {"tau_x": 3.0, "seed": 2, "min_count": 3}
    augment_files(tmp_path / "in", out_source=tmp_path / "out", **how)
    first = (tmp_path / "out").read_bytes()
    assert b"once" in first
    saved = (tmp_path / "out.vocab").read_bytes()
    assert saved == b"b 10\na 7\nc 6\n<unk> 3\nrare 3\n"
    augment_files(
        tmp_path / "in", out_source=tmp_path / "again", vocab_source=tmp_path / "out.vocab", **how
    )
    assert (tmp_path / "again").read_bytes() == first
    assert first.count(b"<unk>") == 3


# ---- bad input


def test_unequal_line_counts_are_refused_with_both_counts(files, capfd):
    with (files / "tgt").open("a") as handle:
        handle.write("w1\nw2\n")
    flags = one_side(files, tgt=files / "tgt", out_tgt=files / "y", chunk_kb=1)
    for more in ([], ["--parts", files / "parts"]):
        text = complaint(capfd, *flags, *more)
        assert f"{files / 'src'}: 100 lines" in text
        assert f"{files / 'tgt'}: 102 lines" in text
        assert left_over(files) <= {"parts"}


@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize("in_parts", [False, True], ids=["one pass", "parts"])
def test_truncated_archives_are_refused(files, capfd, suffix, in_parts):
    whole = COMPRESS[suffix](corpus(5000).encode())
    (files / f"src{suffix}").write_bytes(whole[: len(whole) // 2])
    more = ["--parts", files / "parts"] if in_parts else []
    text = complaint(capfd, *one_side(files, src=files / f"src{suffix}"), *more)
    assert f"src{suffix}: damaged or truncated archive" in text
    assert left_over(files) - {"parts"} == {f"src{suffix}"}


def test_an_empty_archive_is_a_truncated_one(files, capfd):
    (files / "src.gz").touch()
    assert "truncated archive" in complaint(capfd, *one_side(files, src=files / "src.gz"))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"a\nb\xff\nc\n", "vocab:2: not valid UTF-8"),
        (b"a\n\nb\n", "vocab:2: expected one word"),
        (b"a\nb c d\n", "vocab:2: expected one word"),
        (b"a 3\nb 2\na 1\n", "vocab:3: 'a' stands already in line 1"),
        (b"only\n", "holds 1 word(s)"),
        (b"only\n<s>\n</s>\n", "holds 1 word(s) that may be drawn (2 special)"),
        (b"", "vocab: no word in it"),
    ],
)
def test_bad_vocabularies_are_refused(files, capfd, content, problem):
    (files / "vocab").write_bytes(content)
    assert problem in complaint(capfd, *one_side(files))
    assert left_over(files) == set()


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"tau_x": -1}, "--tau-x must be"),
        ({"tau_x": "nan"}, "--tau-x must be"),
        ({"tau_x": None}, "nothing to do"),
        ({"tau_x": None, "rate_x": 0.7}, "--rate-x must lie between 0 and 0.5, a share"),
        ({"rate_x": 0.1}, "either --tau-x or --rate-x"),
        ({"policy_x": "switchot"}, "did you mean 'switchout'?"),
        ({"policy_x": "hamming", "tau_x": None, "rate_x": 0.6}, "rate"),
        ({"policy_y": "raml"}, "--policy-y raml needs --tau-y or --rate-y"),
        ({"seed": -1}, "--seed must be a whole number from 0"),
        ({"seed": 2**64}, "--seed must be"),
        ({"epoch": 2**31, "copies": 2}, "--epoch must be at most 2,147,483,647"),
        ({"copies": 0}, "--copies must be a whole number from 1"),
        ({"workers": 0}, "--workers must be a whole number from 1"),
        ({"copies": 10**9}, "--copies must be"),
        ({"workers": 100_000}, "--workers must be"),
        ({"chunk_kb": 0}, "--chunk-kb must be"),
        ({"chunk_kb": 0.5}, "--chunk-kb must be a number from 1 to 1e+06, got 0.5"),
        ({"chunk_kb": "nan"}, "--chunk-kb must be"),
        ({"chunk_kb": 1e12}, "--chunk-kb must be"),
        ({"part_mb": -1}, "--part-mb must be"),
        ({"part_mb": "inf"}, "--part-mb must be"),
        ({"part_mb": 1e12}, "--part-mb must be"),
        ({"part_mb": 0.0005}, "--part-mb must be a number from 0.001 to 1e+06, got 0.0005"),
        ({"max_words": -1, "vocab_src": None}, "--max-words must be"),
        ({"max_words": -1}, "--max-words must be"),
        ({"min_count": 0}, "--min-count must be"),
        ({"seed": "9" * 5000}, "--seed"),
        ({"engine": "spark"}, "--engine must be local or ray"),
        ({"src": "nowhere"}, "nowhere: no such file"),
        ({"vocab_src": "nowhere"}, "nowhere: no such file"),
        ({"out_src": None}, "--src and --out-src go together"),
        ({"out_src": "no/such/folder/out"}, "the folder no/such/folder does not exist"),
        ({"out_src": "/"}, "/: is a folder"),
        ({"src": "-", "vocab_src": None}, "standard input cannot be read twice: give --vocab-src"),
        ({"special_regex": "["}, "no regular expression"),
        ({"pairs": "x", "out_pairs": "y"}, "give --src and/or --tgt, or --pairs"),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, dict) else "",
)  # fmt: skip
def test_wrong_settings_are_refused_in_one_line(files, capfd, monkeypatch, changes, problem):
    monkeypatch.chdir(files)
    assert problem in complaint(capfd, *one_side(files, **changes))
    assert left_over(files) == set()


@pytest.mark.parametrize(
    ("encoding", "name"),
    [
        ("utf-16", "UTF-16"),
        ("utf-16-le", "UTF-16LE"),
        ("utf-16-be", "UTF-16BE"),
        ("utf-32", "UTF-32"),
        ("utf-32-be", "UTF-32"),
    ],
)
@pytest.mark.parametrize("text", ["w1 w2 w3 w4\n", "кот и собака , да .\n" * 100], ids=["a", "ru"])
def test_wide_characters_are_refused(files, capfd, encoding, name, text):
    (files / "src").write_bytes(text.encode(encoding))
    expected = f"{files}/src: looks like {name}: convert it to UTF-8 first (iconv -f"
    for verb in (one_side(files), one_side(files, preview=2), one_side(files, vocab_src=None)):
        assert expected in complaint(capfd, *verb)
    assert run(["vocab", str(files / "src"), "--out", str(files / "words")]) == 2
    assert expected in capfd.readouterr().err
    assert left_over(files) == set()


@pytest.mark.parametrize(
    ("suffix", "kind"), [(".gz", "gzip"), (".xz", "xz"), (".bz2", "bzip2"), (".zst", "zstd")]
)
def test_compressed_bytes_without_the_suffix_are_refused(files, capfd, suffix, kind):
    (files / "src").write_bytes(COMPRESS[suffix]((files / "src").read_bytes()))
    expected = f"{files}/src: compressed by {kind}, not text: let its name end in {suffix}, or"
    for verb in (one_side(files), one_side(files, preview=2), one_side(files, vocab_src=None)):
        assert expected in complaint(capfd, *verb)
    with (files / "src").open("rb") as stdin:
        flags = [str(flag) for flag in one_side(files, src="-")]
        done = subprocess.run(
            [sys.executable, "-m", "switchout", "augment", *flags],
            stdin=stdin, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert f"standard input: compressed by {kind}, not text:" in done.stderr
    assert f"unpack it first ({kind} -dc)" in done.stderr
    assert left_over(files) == set()


@pytest.mark.parametrize("flag", ["--src-column", "--tgt-column"])
def test_a_column_is_of_a_parquet_file_only(flag, files, capfd):
    """Else the option would do nothing, and a file of pairs be read by its order all the same."""
    (files / "in.tsv").write_text("a b\tc d\n")
    of_pairs = "--pairs", files / "in.tsv", "--out-pairs", files / "out.tsv"
    for verb in (one_side(files), (*of_pairs, "--tau-x", "1", "--seed", "1")):
        for name in ("de", ""):
            said = complaint(capfd, *verb, flag, name)
            assert f"{flag} is for a Parquet file: --pairs FILE.parquet" in said
    assert left_over(files) == {"in.tsv"}


def test_a_byte_order_mark_is_refused(files, capfd):
    (files / "src").write_bytes(b"\xef\xbb\xbf" + (files / "src").read_bytes())
    expected = f"{files}/src: begins with a byte-order mark, which would be part of the first word:"
    for verb in (one_side(files), one_side(files, preview=2), one_side(files, vocab_src=None)):
        assert expected in complaint(capfd, *verb)
    (files / "src.gz").write_bytes(gzip.compress((files / "src").read_bytes()))
    in_parts = *one_side(files, src=files / "src.gz"), "--parts", files / "parts"
    assert f"{files}/src.gz: begins with a byte-order mark" in complaint(capfd, *in_parts)
    assert left_over(files) == {"src.gz"}


def test_numbers_are_not_written_over_somebodys_file(files, capfd):
    (files / "tgt").write_text("precious\n")
    told = complaint(capfd, *one_side(files, stats=files / "tgt"))
    assert f"--stats {files / 'tgt'}: a file that does not begin with" in told
    assert (files / "tgt").read_text() == "precious\n"
    assert left_over(files) == set()
    for _ in range(2):  # an earlier result is replaced
        assert run(["augment", *map(str, one_side(files, stats=files / "o.json"))]) == 0


def test_a_pipe_that_must_be_read_twice_is_refused_whatever_its_name(files, capfd):
    os.mkfifo(files / "pipe")  # nobody writes to it: opening it would hang
    text = complaint(capfd, *one_side(files, src=files / "pipe", vocab_src=None))
    assert "cannot be read twice" in text
    assert "--vocab-src" in text
    text = complaint(capfd, *one_side(files, src=files / "pipe"), "--parts", files / "parts")
    assert "write it to a file first" in text
    assert left_over(files) == {"pipe"}


@pytest.mark.parametrize("name", ["/dev/stdin", "/dev/fd/0", "-"])
def test_standard_input_by_any_name_is_never_an_empty_corpus(files, name):
    content = (files / "src").read_bytes()
    for more, code in (({"vocab_src": None}, 2), ({"vocab_src": name}, 2), ({}, 0)):
        flags = one_side(files, src=name, **more)
        done = subprocess.run(
            [sys.executable, "-m", "switchout", "augment", *map(str, flags)],
            input=content, capture_output=True, check=False, timeout=60,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        assert (files / "out").exists() == (code == 0)
    assert (files / "out").read_bytes() == augmented(files, content, tau_x=1.0)


def test_a_compressed_pipe_is_read(files):
    content = (files / "src").read_bytes()
    pipe = files / "pipe.gz"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(gzip.compress(content)), daemon=True)
    writer.start()
    assert run(["augment", *map(str, one_side(files, src=pipe))]) == 0
    assert (files / "out").read_bytes() == augmented(files, content, tau_x=1.0)


@pytest.mark.parametrize("piece", ["a\nb", "a\tb", "a b", "\r", "", "\udcff"])
def test_words_that_would_misalign_the_corpus_are_refused(files, piece):
    how = {"out_source": files / "out", "tau_x": 1.0, "seed": 1}
    with pytest.raises(SwitchOutError, match="vocabulary of the source: entry 3"):
        augment_files(files / "src", **how, vocab_source=["w1", "w2", piece])
    with pytest.raises(SwitchOutError, match="null_word"):
        augment_files(
            files / "src", **how, vocab_source=WORDS, policy_x="word_dropout", null_word=piece
        )
    assert left_over(files) == set()


def test_pieces_with_white_space_can_be_declared_special(files):
    for vocabulary in (WORDS, [*WORDS, "a\nb"]):
        augment_files(
            files / "src", out_source=files / f"out{len(vocabulary)}", tau_x=1.0, seed=1,
            vocab_source=vocabulary, special_pattern=r"(?s).*\s.*",
        )  # fmt: skip
    assert (files / "out50").read_bytes() == (files / "out51").read_bytes()


@pytest.mark.parametrize("how", ["same", "spelling", "link", "hard link", "stats", "vocabulary"])
def test_an_input_is_never_overwritten(files, capfd, how):
    before = (files / "src").read_bytes(), (files / "vocab").read_bytes()
    out, more = files / "other", {}
    if how in ("same", "spelling"):
        out = files / "src" if how == "same" else f"{files}/../{files.name}//src"
    elif how == "link":
        out.symlink_to(files / "src")
    elif how == "hard link":
        out.hardlink_to(files / "src")
    elif how == "stats":
        more = {"stats": files / "vocab"}
    else:  # the counted vocabulary goes to src.vocab: here that is an input
        out, more = files / "out", {"vocab_src": None, "tgt": files / "out.vocab", "out_tgt": "-"}
        (files / "out.vocab").write_bytes(before[0])
    text = complaint(capfd, *one_side(files, out_src=out, **more))
    assert "is also the input" in text
    assert ((files / "src").read_bytes(), (files / "vocab").read_bytes()) == before
    assert left_over(files) <= {"other", "out.vocab"}


def test_two_outputs_cannot_be_one_file(files, capfd):
    flags = one_side(files, tgt=files / "tgt", out_tgt=f"{files}/./out")
    assert "--out-src and --out-tgt are one file" in complaint(capfd, *flags)
    assert left_over(files) == set()


def test_a_line_without_tab_is_named(files, capfd):
    (files / "in.tsv").write_text("w1\tw2\nw1 w2\n")
    flags = one_side(files, src=None, out_src=None, pairs=files / "in.tsv", out_pairs=files / "o")
    assert "in.tsv:2: no tab" in complaint(capfd, *flags)


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_a_full_disk_leaves_nothing_under_the_final_name(files, suffix):
    rng = np.random.default_rng(1)
    words = ["".join(rng.choice(list("abcdefgh"), 12)) for _ in range(20_000)]
    (files / "src").write_text("\n".join(words) + "\n")
    flags = one_side(files, out_src=files / f"out{suffix}", vocab_src=None)
    limit = 50_000  # bytes that a file may have: what a full disk looks like from inside
    done = subprocess.run(
        [sys.executable, "-m", "switchout", "augment", *map(str, flags)],
        capture_output=True, text=True, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )  # fmt: skip
    assert done.returncode == 2
    assert f"out{suffix}: cannot be written" in done.stderr
    assert "Traceback" not in done.stderr
    assert left_over(files) == set()


def test_api_errors_are_ours(tmp_path):
    with pytest.raises(SwitchOutError, match="go together"):
        augment_files(tmp_path / "x", tau_x=1.0, seed=1)


def test_a_file_that_stands_where_the_vocabulary_goes_is_not_replaced(tmp_path):
    (tmp_path / "in").write_text("a b c\n")
    (tmp_path / "out.vocab").write_text("my own notes\n")
    with pytest.raises(SwitchOutError, match=r"out.vocab: the words of the source .* move it"):
        augment_files(tmp_path / "in", out_source=tmp_path / "out", tau_x=1.0, seed=1)
    assert (tmp_path / "out.vocab").read_text() == "my own notes\n"
    assert not (tmp_path / "out").exists()
    (tmp_path / "out.vocab").write_text("a 3\n")  # of an earlier run: replaced
    augment_files(tmp_path / "in", out_source=tmp_path / "out", tau_x=1.0, seed=1)
    assert (tmp_path / "out.vocab").read_text().splitlines() == ["a 1", "b 1", "c 1"]
