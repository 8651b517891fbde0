"""Same bytes whoever does the work, and whoever is killed while doing it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from switchout.cli import run
from switchout.text import augment_files, lexicon
from switchout.text.part_workers import ATTEMPTS

WORDS = [f"w{i}" for i in range(300)]
NOISE = {"tau_x": 1.0, "tau_y": 3.0, "vocab_source": WORDS, "vocab_target": WORDS, "seed": 9}


def write_corpus(folder: Path, n_lines: int) -> None:
    rng = np.random.default_rng(3)
    for name in ("src", "tgt"):
        lines = [" ".join(rng.choice(WORDS, rng.integers(0, 20))) for _ in range(n_lines)]
        (folder / name).write_text("\n".join(lines))  # no newline at the end
    (folder / "vocab").write_text("\n".join(WORDS))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """A corpus and what an undisturbed run of one worker makes of it."""
    folder = tmp_path_factory.mktemp("corpus")
    write_corpus(folder, 4000)
    expected = augmented(folder, folder / "one")
    assert expected[0] != (folder / "src").read_bytes()
    return folder, expected


def augmented(corpus: Path, out: Path, **how) -> tuple[bytes, bytes]:
    out.mkdir(exist_ok=True)
    augment_files(
        corpus / "src", corpus / "tgt", out_source=out / "x", out_target=out / "y", **NOISE, **how
    )
    assert {path.name for path in out.iterdir()} == {"x", "y"}
    return (out / "x").read_bytes(), (out / "y").read_bytes()


@pytest.mark.parametrize(
    "how",
    [
        {"workers": 4, "chunk_bytes": 1 << 10},
        {"workers": 4, "chunk_bytes": 64 << 20},
        {"workers": 1, "chunk_bytes": 1 << 10},
        {"workers": 1, "chunk_bytes": 64 << 20},
        {"workers": 4, "parts": "parts", "part_bytes": 20_000},
        {"workers": 1, "parts": "parts", "part_bytes": 1 << 30, "chunk_bytes": 1 << 10},
    ],
    ids=str,
)
def test_workers_chunks_and_parts_change_nothing(corpus, tmp_path, how):
    folder, expected = corpus
    if "parts" in how:
        how = how | {"parts": tmp_path / how["parts"]}
    assert augmented(folder, tmp_path / "out", **how) == expected


def test_ray_changes_nothing_and_survives_a_killed_worker(corpus, tmp_path):
    pytest.importorskip("ray")
    folder, expected = corpus
    killer = Killer(tmp_path / "parts", b"ray::do_part")
    before = signal.getsignal(signal.SIGTERM)
    with killer:
        got = augmented(
            folder, tmp_path / "out", engine="ray", workers=2, parts=tmp_path / "parts",
            part_bytes=8_000, chunk_bytes=1 << 10,
        )  # fmt: skip
    assert killer.killed
    assert got == expected
    assert signal.getsignal(signal.SIGTERM) is before
    from ray._common.usage import usage_lib

    assert not usage_lib.usage_stats_enabled()


class Killer:
    """Kills, from another process, a process of ours once some parts are done."""

    CODE = """
import os, signal, sys, time
from pathlib import Path
folder, title, driver = Path(sys.argv[1]), sys.argv[2].encode(), int(sys.argv[3])
def ancestors(pid):
    while pid > 1:
        pid = int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
        yield pid
while True:
    time.sleep(0.002)
    if len(list(folder.glob("0*.json"))) < 3:
        continue
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if (entry / "cmdline").read_bytes().startswith(title):
                if driver in ancestors(int(entry.name)):
                    os.kill(int(entry.name), signal.SIGKILL)
                    print(entry.name, flush=True)
                    sys.exit()
        except (OSError, ValueError):
            pass
"""

    def __init__(self, folder: Path, title: bytes) -> None:
        self.arguments = [str(folder), title.decode(), str(os.getpid())]
        self.killed = ""

    def __enter__(self) -> None:
        command = [sys.executable, "-c", self.CODE, *self.arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def __exit__(self, *_: object) -> None:
        self.process.terminate()  # on a busy machine the run may take minutes: no deadline
        self.killed = self.process.communicate()[0]


def test_a_killed_local_worker_is_replaced(corpus, tmp_path, monkeypatch):
    folder, expected = corpus
    from switchout.text import part_workers

    do_part, marks = part_workers.do_part, tmp_path / "marks"
    marks.mkdir()

    def dies_twice(job, place, index, part):
        attempt = len(list(marks.glob(f"{index}-*")))
        if index % 3 == 1 and attempt < ATTEMPTS - 1:
            (marks / f"{index}-{attempt}").touch()
            (place.path / f".{os.getpid()}.partial.000001.src").write_text("half")
            os.kill(os.getpid(), signal.SIGKILL)
        do_part(job, place, index, part)

    monkeypatch.setattr(part_workers, "do_part", dies_twice)
    got = augmented(
        folder, tmp_path / "out", parts=tmp_path / "parts", part_bytes=15_000, workers=2
    )
    assert got == expected
    assert len(list(marks.iterdir())) >= 2 * (ATTEMPTS - 1)


def test_forked_workers_share_the_hash_tables_of_their_driver(corpus, tmp_path, monkeypatch):
    folder, expected = corpus
    make, marks = lexicon.compiled.make_lexicon, tmp_path / "marks"
    marks.mkdir()

    def marked(*words):
        (marks / f"{os.getpid()}-{len(list(marks.iterdir()))}").touch()
        return make(*words)

    monkeypatch.setattr(lexicon.compiled, "make_lexicon", marked)
    how = {"parts": tmp_path / "parts", "part_bytes": 15_000, "workers": 2}
    assert augmented(folder, tmp_path / "out", **how) == expected
    assert len(list(marks.iterdir())) == 2  # one a side


def test_a_part_that_kills_every_worker_ends_the_run(corpus, tmp_path, monkeypatch, capfd):
    from switchout.text import part_workers

    monkeypatch.setattr(part_workers, "do_part", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    code = run([*command(corpus[0], tmp_path), "--parts", str(tmp_path / "parts")])
    assert code == 2
    assert f"its worker died {ATTEMPTS} times" in capfd.readouterr().err


def command(corpus: Path, out: Path) -> list[str]:
    flags = {
        "--src": corpus / "src",
        "--tgt": corpus / "tgt",
        "--out-src": out / "x",
        "--out-tgt": out / "y",
        "--vocab-src": corpus / "vocab",
        "--vocab-tgt": corpus / "vocab",
        "--tau-x": 1.0,
        "--tau-y": 3.0,
        "--seed": 9,
    }
    return ["augment", *(str(item) for pair in flags.items() for item in pair)]


def killed_after(process: subprocess.Popen, is_time) -> None:
    """Kill a driver at a moment of our choice."""
    stopped_after(process, is_time, process.kill)


def stopped_after(process: subprocess.Popen, is_time, stop) -> None:
    """Do something to a driver at a moment of our choice, and wait for its end."""
    end = time.monotonic() + 120
    while not is_time():
        assert process.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < end
        time.sleep(0.001)
    stop()
    process.wait()


def hidden_sizes(folder: Path) -> dict[Path, int]:
    """Sizes of unfinished files; one may get its final name while we look."""
    sizes = {}
    for path in folder.glob(".*"):
        with suppress(FileNotFoundError):
            sizes[path] = path.stat().st_size
    return sizes


@pytest.mark.parametrize("engine", ["local", "ray"])
def test_a_killed_driver_resumes_without_doing_parts_again(corpus, tmp_path, engine):
    if engine == "ray":
        pytest.importorskip("ray")
    folder, expected = corpus
    parts = tmp_path / "parts"
    flags = [*command(folder, tmp_path), "--parts", str(parts), "--part-mb", "0.002"]
    flags += ["--engine", engine, "--workers", "2"]
    process = subprocess.Popen(
        [sys.executable, "-m", "switchout", *flags], stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    killed_after(process, lambda: len(list(parts.glob("0*.json"))) >= 5)
    assert not (tmp_path / "x").exists()
    assert not (tmp_path / "y").exists()
    done = {path: path.stat().st_mtime_ns for path in parts.glob("0*.json")}
    n_parts = len(json.loads((parts / "manifest.json").read_text())["parts"])
    assert 5 <= len(done) < n_parts
    assert run([*flags, "--no-join"]) == 0
    assert all(path.stat().st_mtime_ns == when for path, when in done.items())
    assert len(list(parts.glob("0*.json"))) == n_parts
    assert run(flags) == 0
    assert ((tmp_path / "x").read_bytes(), (tmp_path / "y").read_bytes()) == expected
    assert not parts.exists()


def test_a_killed_driver_of_one_pass_leaves_no_half_file(tmp_path):
    write_corpus(tmp_path, 20_000)
    expected = augmented(tmp_path, tmp_path / "one")
    out = tmp_path / "out"
    out.mkdir()
    flags = [*command(tmp_path, out), "--chunk-kb", "1", "--workers", "2"]
    process = subprocess.Popen(
        [sys.executable, "-m", "switchout", *flags], stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    killed_after(process, lambda: max(hidden_sizes(out).values(), default=0) > 50_000)
    assert not (out / "x").exists()
    assert not (out / "y").exists()
    assert run(flags) == 0
    assert ((out / "x").read_bytes(), (out / "y").read_bytes()) == expected


@pytest.mark.parametrize("more", [[], ["--workers", "2"], ["--parts", "--workers", "2"]], ids=str)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_driver_that_is_asked_to_end_removes_what_is_half_written(tmp_path, number, more):
    write_corpus(tmp_path, 20_000)
    out = tmp_path / "out"
    out.mkdir()
    more = [word for m in more for word in ([m, str(out)] if m == "--parts" else [m])]
    process = subprocess.Popen(
        [sys.executable, "-m", "switchout", *command(tmp_path, out), "--chunk-kb", "1", *more],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    end = lambda: process.send_signal(number)  # noqa: E731
    stopped_after(process, lambda: max(hidden_sizes(out).values(), default=0) > 20_000, end)
    assert process.returncode == 128 + number
    assert process.stderr.read() == "switchout: interrupted\n"
    assert set(hidden_sizes(out)) == ({out / ".driver"} if "--parts" in more else set())
    assert not (out / "x").exists()


def test_a_terminal_that_closes_does_not_end_what_nohup_started(tmp_path):
    write_corpus(tmp_path, 20_000)
    process = subprocess.Popen(
        [sys.executable, "-m", "switchout", *command(tmp_path, tmp_path), "--chunk-kb", "1"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )  # fmt: skip
    end = lambda: process.send_signal(signal.SIGHUP)  # noqa: E731
    stopped_after(process, lambda: max(hidden_sizes(tmp_path).values(), default=0) > 20_000, end)
    assert process.returncode == 0
    assert (tmp_path / "x").exists()


def test_orphaned_workers_stop(tmp_path):
    write_corpus(tmp_path, 20_000)
    parts = tmp_path / "parts"
    flags = [*command(tmp_path, tmp_path), "--parts", str(parts), "--chunk-kb", "1"]
    process = subprocess.Popen(
        [sys.executable, "-m", "switchout", *flags], stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    killed_after(process, lambda: max(hidden_sizes(parts).values(), default=0) > 50_000)
    time.sleep(1.0)
    sizes = hidden_sizes(parts)
    time.sleep(0.5)
    assert sizes == hidden_sizes(parts)
    assert not list(parts.glob("0*"))


def test_another_run_in_the_same_folder_is_refused(corpus, tmp_path, capfd):
    folder, _ = corpus
    flags = [*command(folder, tmp_path), "--parts", str(tmp_path / "parts"), "--no-join"]
    assert run(flags) == 0
    assert run([*flags, "--epoch", "1"]) == 2
    assert "belongs to another run (different: signature)" in capfd.readouterr().err
    (tmp_path / "parts" / "manifest.json").unlink()
    assert run(flags) == 2
    assert "holds other files and no manifest.json" in capfd.readouterr().err


def test_a_damaged_part_is_done_again(corpus, tmp_path):
    folder, expected = corpus
    flags = [*command(folder, tmp_path), "--parts", str(tmp_path / "parts"), "--part-mb", "0.05"]
    assert run([*flags, "--no-join"]) == 0
    (tmp_path / "parts" / "000001.src").write_text("short")
    (tmp_path / "parts" / "000002.json").write_text("{")
    assert run(flags) == 0
    assert ((tmp_path / "x").read_bytes(), (tmp_path / "y").read_bytes()) == expected


def test_compressed_input_and_output_in_parts(corpus, tmp_path):
    import gzip

    folder, expected = corpus
    (tmp_path / "src.gz").write_bytes(gzip.compress((folder / "src").read_bytes()))
    flags = command(folder, tmp_path)
    flags[flags.index("--src") + 1] = str(tmp_path / "src.gz")
    flags[flags.index("--out-tgt") + 1] = str(tmp_path / "y.gz")
    flags += ["--parts", str(tmp_path / "parts"), "--part-mb", "0.05"]
    assert run(flags) == 0
    assert (tmp_path / "x").read_bytes() == expected[0]
    assert gzip.decompress((tmp_path / "y.gz").read_bytes()) == expected[1]


# ---- parts whose input or folder is not what it was


def in_parts(corpus: Path, out: Path, *more: str) -> list[str]:
    return [*command(corpus, out), "--parts", str(out / "parts"), "--part-mb", "0.02", *more]


def results(out: Path) -> tuple[bytes, bytes]:
    return (out / "x").read_bytes(), (out / "y").read_bytes()


def test_an_archive_that_changed_before_the_manifest_is_unpacked_again(corpus, tmp_path):
    import gzip

    folder, expected = corpus
    (tmp_path / "src.gz").write_bytes(gzip.compress((folder / "src").read_bytes()))
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "input.0").write_bytes((folder / "tgt").read_bytes())  # of a killed run
    flags = in_parts(folder, tmp_path)
    flags[flags.index("--src") + 1] = str(tmp_path / "src.gz")
    assert run(flags) == 0
    assert results(tmp_path) == expected


@pytest.mark.parametrize("name", ["src", "in.parquet"])
def test_an_input_that_changes_while_parts_are_made_is_noticed(
    corpus, tmp_path, monkeypatch, capfd, name
):
    from switchout.text import part_workers

    folder, _ = corpus
    for side in ("src", "tgt"):
        (tmp_path / side).write_bytes((folder / side).read_bytes())
    flags = in_parts(folder, tmp_path)
    flags[flags.index("--src") + 1] = str(tmp_path / "src")
    if name == "in.parquet":
        pyarrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        lines = [(tmp_path / side).read_text().split("\n") for side in ("src", "tgt")]
        table = pyarrow.table(dict(zip(("source", "target"), lines, strict=True)))
        parquet.write_table(table, tmp_path / name, row_group_size=500, compression="none")
        flags = [*flags[:1], "--pairs", str(tmp_path / name), "--out-pairs", str(tmp_path / "o"),
                 *flags[9:]]  # fmt: skip
    do_part, path = part_workers.do_part, tmp_path / name

    def change_one_byte(job, place, index, part):
        if index == 1:
            content, status = path.read_bytes(), path.stat()
            at = content.index(b" w1 ", len(content) * 6 // 10) + 1
            path.write_bytes(content[:at] + b"x" + content[at + 1 :])
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        do_part(job, place, index, part)

    monkeypatch.setattr(part_workers, "do_part", change_one_byte)
    assert run(flags) == 2
    assert f"{path}: has changed since the run in" in capfd.readouterr().err
    assert not (tmp_path / "x").exists()


def test_a_part_with_other_bytes_of_the_same_size_is_done_again(corpus, tmp_path):
    folder, expected = corpus
    assert run(in_parts(folder, tmp_path, "--no-join")) == 0
    part = tmp_path / "parts" / "000001.src"
    part.write_bytes(part.read_bytes().replace(b"w1", b"w2"))
    assert run(in_parts(folder, tmp_path)) == 0
    assert results(tmp_path) == expected


@pytest.mark.parametrize("damage", ["shorter", "half", "list", "no object"])
def test_a_damaged_manifest_is_refused(corpus, tmp_path, capfd, damage):
    folder, _ = corpus
    assert run(in_parts(folder, tmp_path, "--no-join")) == 0
    path = tmp_path / "parts" / "manifest.json"
    text = path.read_text()
    manifest = json.loads(text)
    manifest["parts"].pop()
    new = {"shorter": json.dumps(manifest), "half": text[: len(text) // 2], "list": "[]"}
    path.write_text(new.get(damage, '{"parts": 3}'))
    assert run(in_parts(folder, tmp_path)) == 2
    assert f"{path}: " in capfd.readouterr().err
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("removed", range(0, 12, 3))
def test_a_kill_during_the_final_clean_up_is_resumed(corpus, tmp_path, monkeypatch, removed):
    folder, expected = corpus
    left, unlink = [removed], Path.unlink

    def dying(self, missing_ok=False):
        if self.parent.name == "parts" and not self.name.startswith(".switchout"):
            if not left[0]:
                raise KeyboardInterrupt
            left[0] -= 1
        unlink(self, missing_ok=missing_ok)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", dying)
        assert run(in_parts(folder, tmp_path)) == 130
    assert (tmp_path / "parts").exists()
    assert run(in_parts(folder, tmp_path)) == 0
    assert results(tmp_path) == expected
    assert not (tmp_path / "parts").exists()


def test_two_drivers_on_one_folder_wait_for_each_other(corpus, tmp_path):
    folder, expected = corpus
    flags = [sys.executable, "-m", "switchout", *in_parts(folder, tmp_path, "--json")]
    drivers = [
        subprocess.Popen(flags, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(3)
    ]
    done = [driver.communicate(timeout=120) for driver in drivers]
    assert [driver.returncode for driver in drivers] == [0, 0, 0], done
    numbers = [json.loads(out) | {"seconds": 0} for out, _ in done]
    assert numbers[0] == numbers[1] == numbers[2]
    assert results(tmp_path) == expected
    assert not (tmp_path / "parts").exists()
