"""Time and memory of preparing and reading a large corpus.

Writes a synthetic corpus (Zipf-like words, 25 a side), prepares it in a process of its own, reads
every pair back in another, and prints seconds and peak memory of each:

    python benchmarks/corpora.py 100000 1000000 4500000
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

WORDS = 200_000
LENGTH = 25
CHUNK = 50_000

PREPARE = """
import sys
from pathlib import Path
from switchout.corpora.cleaning import Cleaning
from switchout.corpora import open_corpus
from switchout.corpora.codec import CodecPlan
from switchout.corpora.prepare import prepare_corpus
prepare_corpus(open_corpus(sys.argv[1], source="aa", target="bb"), Path(sys.argv[2]),
    plan=CodecPlan(max_size=50_000),
    cleaning=Cleaning(max_length=80, max_ratio=9.0, drop_duplicates=True))
"""
ITERATE = """
import sys
import numpy as np
from switchout.corpora.encoded import EncodedPairs
from switchout.corpora import open_corpus
from switchout.corpora.codec import build_codecs
corpus = open_corpus(sys.argv[2])
examples = enumerate(corpus.stream("train"))
pairs = EncodedPairs.build(sys.argv[2] + "-ids", examples, build_codecs(corpus), max_length=256)
order = np.random.default_rng(0).permutation(len(pairs))
total = sum(len(pairs.src(i)) + len(pairs.tgt(i)) for i in order)
assert total == len(pairs.src_ids) + len(pairs.tgt_ids)
assert sum(int(pairs.src(i)[0]) for i in order) > 0  # touches every page
"""
# The kernel's own record of this process; ru_maxrss would begin with the size of its parent.
PEAK = """
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
"""


def write_corpus(folder: Path, n_pairs: int) -> None:
    """Write ``n_pairs`` training pairs of random words, and a little dev and test text."""
    rng = np.random.default_rng(n_pairs)
    chance = 1.0 / np.arange(10, WORDS + 10)
    steps = np.cumsum(chance / chance.sum())
    for split, n in (("train", n_pairs), ("dev", 1000), ("test", 1000)):
        for language in ("aa", "bb"):
            words = np.array([f"{language}{i:x}" for i in range(WORDS)], dtype=object)
            with (folder / f"{split}.{language}").open("w", encoding="utf-8") as handle:
                for start in range(0, n, CHUNK):
                    size = min(CHUNK, n - start)
                    ids = np.searchsorted(steps, rng.random((size, LENGTH)))
                    lengths = rng.integers(LENGTH // 2, LENGTH + 1, size)
                    handle.writelines(
                        " ".join(words[row[:length]]) + "\n"
                        for row, length in zip(ids, lengths, strict=True)
                    )


def measure(code: str, *arguments: str) -> tuple[float, float, float]:
    """Run Python code in its own process; return wall seconds, CPU seconds and peak megabytes."""
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-c", code + PEAK, *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return wall, cpu, int(done.stdout) / 1024


def run(n_pairs: int, scratch: Path) -> dict[str, tuple[float, float, float]]:
    """Measure one size; the folder ``scratch`` must be empty."""
    corpus, out = scratch / "corpus", scratch / "prepared"
    corpus.mkdir()
    write_corpus(corpus, n_pairs)
    return {
        "prepare": measure(PREPARE, str(corpus), str(out)),
        "iterate": measure(ITERATE, str(corpus), str(out)),
    }


def main() -> None:
    sizes = [int(size) for size in sys.argv[1:]] or [100_000, 1_000_000]
    print(f"{'pairs':>10} {'what':>8} {'wall s':>8} {'CPU s':>8} {'us/pair':>8} {'peak MB':>8}")
    for size in sizes:
        with tempfile.TemporaryDirectory() as scratch:
            for what, (wall, cpu, peak) in run(size, Path(scratch)).items():
                per_pair = cpu / size * 1e6
                print(
                    f"{size:>10,} {what:>8} {wall:>8.1f} {cpu:>8.1f} {per_pair:>8.1f} {peak:>8.0f}"
                )


if __name__ == "__main__":
    main()
