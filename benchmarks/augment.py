"""How fast is `switchout augment`, next to ``wc -w`` and to a loop over sentences as peers have it?

Everything in one run on one generated corpus (ASCII, Zipf words of 32,000, 25 a line, about 140
bytes), in a temporary folder; runs interleaved, medians, wall and CPU seconds (on a busy machine
only the latter mean much). Every run writes a new file: to replace one of 590 MB, ext4 first
flushes the new one, 0.2 s here. The defaults need about 2 GB of disk and three minutes:

    python benchmarks/augment.py --lines 4000000 --repeats 3
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

N_WORDS = 32_000
BLOCK = 50_000
LOOP_LINES = 20_000
SWITCHOUT = [sys.executable, "-m", "switchout", "augment"]
# Our time without start-up: imports and compiled code loaded, vocabulary read inside.
WARM = """
import sys, time
from switchout.text import augment_files
source, vocabulary, out, tiny, workers = sys.argv[1:]
how = dict(tau_x=1.0, vocab_source=vocabulary, seed=1, workers=int(workers))
augment_files(tiny, out_source=out + ".tiny", **how)
wall, cpu = time.perf_counter(), time.process_time()
augment_files(source, out_source=out, **how)
print(time.perf_counter() - wall, time.process_time() - cpu)
"""

Seconds = tuple[float, float]  # wall, CPU


def words(*, are_short: bool = False) -> list[bytes]:
    """Return distinct words, the frequent ones short, as in a language; or all short."""
    rng = np.random.default_rng(1)
    letters = np.frombuffer(b"etaoinshrdlcumwfgypbvkjxqz", np.uint8)
    found: dict[bytes, None] = {}
    while len(found) < N_WORDS:
        length = 1 + int(np.log2(len(found) + 2) / 3) + int(rng.gamma(2.0, 1.2))
        if are_short:
            length = 2 + int(np.searchsorted([26, 400, 8_000], len(found), "right"))
        found[bytes(rng.choice(letters, length))] = None
    return list(found)


def write_corpus(path: Path, vocabulary: list[bytes], n_lines: int) -> None:
    rng = np.random.default_rng(2)
    weights = 1 / np.arange(1, N_WORDS + 1)
    cumulative = np.cumsum(weights / weights.sum())
    sizes = np.array([len(word) + 1 for word in vocabulary])
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    blob = np.frombuffer(b"".join(word + b" " for word in vocabulary), np.uint8)
    with path.open("wb") as handle:
        for start in range(0, n_lines, BLOCK):
            lengths = rng.integers(5, 46, min(BLOCK, n_lines - start))
            ids = np.searchsorted(cumulative, rng.random(lengths.sum())).clip(max=N_WORDS - 1)
            ends = np.cumsum(sizes[ids])
            shift = np.repeat(offsets[ids] - (ends - sizes[ids]), sizes[ids])
            text = blob[np.arange(ends[-1]) + shift]
            text[ends[np.cumsum(lengths) - 1] - 1] = 0x0A
            handle.write(text.tobytes())


def timed(command: list[str], **how: object) -> Seconds:
    """Run a command; return its wall and CPU seconds."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **how)  # type: ignore[call-overload]
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def without_startup(folder: Path, workers: int) -> Seconds:
    arguments = [folder / "text", folder / "vocab", folder / "out", folder / "tiny", workers]
    done = subprocess.run(
        [sys.executable, "-c", WARM, *map(str, arguments)],
        check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    wall, cpu = map(float, done.stdout.split())
    return wall, cpu


def loop_over_sentences(folder: Path) -> Seconds:
    """Sample as toolkits do: numpy for the count, `random` for the places and words."""
    vocabulary = (folder / "vocab").read_text().split()
    wall, cpu = time.perf_counter(), time.process_time()
    rng = np.random.default_rng(1)
    random.seed(1)
    with (folder / "text").open() as lines, (folder / "loop").open("w") as out:
        for _, line in zip(range(LOOP_LINES), lines, strict=False):
            tokens = line.split()
            logits = -np.arange(len(tokens))
            weights = np.exp(logits - logits.max())
            n = rng.choice(len(tokens), p=weights / weights.sum())
            for place in random.sample(range(len(tokens)), k=n):
                word = tokens[place]
                while word == tokens[place]:
                    word = random.choice(vocabulary)
                tokens[place] = word
            out.write(" ".join(tokens) + "\n")
    return time.perf_counter() - wall, time.process_time() - cpu


def stream(folder: Path, n_lines: int, lines_here: int) -> tuple[float, float, float]:
    """Return wall and CPU seconds and peak memory in MB of a stream from stdin to stdout."""
    command = [*SWITCHOUT, "--src", "-", "--out-src", "-", "--tau-x", "1.0", "--seed", "1"]
    command += ["--vocab-src", str(folder / "vocab")]
    code = (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)"
    )
    again = " ".join([str(folder / "text")] * -(-n_lines // lines_here))
    start = time.perf_counter()
    with subprocess.Popen(
        ["/bin/sh", "-c", f"cat {again} | head -n {n_lines}"], stdout=subprocess.PIPE
    ) as source:
        done = subprocess.run(
            [sys.executable, "-c", code, *command], stdin=source.stdout, check=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
    cpu, memory = map(float, done.stdout.split())
    return time.perf_counter() - start, cpu, memory


def measure(folder: Path, n_lines: int, repeats: int) -> dict[str, list[Seconds]]:
    """Interleave all runs that are compared with each other."""
    text, vocabulary = str(folder / "text"), str(folder / "vocab")
    command = [*SWITCHOUT, "--src", text, "--out-src", str(folder / "out"), "--vocab-src"]
    command += [vocabulary, "--tau-x", "1.0", "--seed", "1"]
    utf8 = {**os.environ, "LC_ALL": "C.UTF-8"}
    runs: dict[str, Callable[[], Seconds]] = {
        "wc -w": lambda: timed(["wc", "-w", text], env=utf8),
        "augment, end to end": lambda: timed(command),
        "augment, 2 workers, end to end": lambda: timed([*command, "--workers", "2"]),
        "augment, without start-up": lambda: without_startup(folder, 1),
        "augment, 2 workers, without start-up": lambda: without_startup(folder, 2),
    }
    without_startup(folder, 1)  # compile once
    times: dict[str, list[Seconds]] = {name: [] for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            (folder / "out").unlink(missing_ok=True)
            times[name].append(run())
    scale = n_lines / LOOP_LINES
    loops = [loop_over_sentences(folder) for _ in range(repeats)]
    times["loop over sentences (scaled)"] = [(wall * scale, cpu * scale) for wall, cpu in loops]
    return times


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--lines", type=int, default=4_000_000)
    parser.add_argument(
        "--stream-lines", type=int, nargs="*", default=[100_000, 1_000_000, 10_000_000]
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--short-words", action="store_true", help="about four bytes a word")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        vocabulary = words(are_short=arguments.short_words)
        (folder / "vocab").write_bytes(b"\n".join(vocabulary) + b"\n")
        write_corpus(folder / "text", vocabulary, arguments.lines)
        (folder / "tiny").write_bytes(b" ".join(vocabulary[:20]) + b"\n")
        megabytes = (folder / "text").stat().st_size / 1e6
        times = measure(folder, arguments.lines, arguments.repeats)
        streams = {n: stream(folder, n, arguments.lines) for n in arguments.stream_lines}
    medians = {
        name: tuple(statistics.median(t[i] for t in runs) for i in (0, 1))
        for name, runs in times.items()
    }
    if arguments.json:
        print(json.dumps({"MB": megabytes, "seconds": medians, "streams": streams}))
        return
    wall, cpu = medians["wc -w"]
    print(f"{arguments.lines:,} lines, {megabytes:.0f} MB; medians of {arguments.repeats} runs")
    print(f"{'':38} {'wall s':>8} {'MB/s':>7} {'x wc':>6} {'CPU s':>8} {'x wc':>6}")
    for name, (w, c) in medians.items():
        print(f"{name:38} {w:8.2f} {megabytes / w:7.1f} {wall / w:6.2f} {c:8.2f} {cpu / c:6.2f}")
    for how in ("end to end", "without start-up"):
        one, two = medians[f"augment, {how}"], medians[f"augment, 2 workers, {how}"]
        print(f"two workers, {how}: {one[0] / two[0]:.2f} times one")
    loop = medians["loop over sentences (scaled)"][1]
    for how in ("end to end", "without start-up"):
        times_ours = loop / medians[f"augment, {how}"][1]
        print(f"the loop over sentences takes {times_ours:.0f} times as long (CPU, {how})")
    for n, (w, c, memory) in streams.items():
        print(f"{n:>11,} lines from stdin: {w:6.2f} s, CPU {c:6.2f} s, peak memory {memory:.0f} MB")


if __name__ == "__main__":
    main()
