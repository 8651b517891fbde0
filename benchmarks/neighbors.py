"""Nearest training sentences: `find_neighbors` against `rapidfuzz.process.cdist`, and growth.

Run: python benchmarks/neighbors.py            (SWITCHOUT_DATA: the folder of real corpora)

* Speed: 1,268 TED test sentences against 133,000 English training sentences, one thread each, CPU
  time of the process, the two interleaved. Both begin with lines of text in memory; both results
  are compared in full.
* Growth: the same test set against 10^4 to 10^6 training sentences; beyond the real ones they are
  made from them, by replacing each word with probability 0.3 by a word drawn at random.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from pathlib import Path

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from switchout.evaluation.neighbors import Neighbors, find_neighbors
from switchout.files import read_lines

DATA = Path(os.environ.get("SWITCHOUT_DATA", Path(__file__).parents[2] / "shared" / "data"))
TRAIN = ("iwslt15_en_vi", "iwslt14_de_en", "multi30k_de_en", "tatoeba_de_en")
N_TRAIN = 133_000


def sentences() -> tuple[list[str], list[str]]:
    """All English training sentences at hand, and the English side of tst2013."""
    train = [line for name in TRAIN for line in read_lines(DATA / name / "train.en.gz")]
    return train, read_lines(DATA / "iwslt15_en_vi" / "test.en.gz")


def by_cdist(train: list[str], test: list[str]) -> tuple[np.ndarray, np.ndarray]:
    split = [[line.split(" ") for line in lines] for lines in (test, train)]
    distances = cdist(*split, scorer=Levenshtein.distance, dtype=np.int32, workers=1)
    return distances.min(axis=1), distances.argmin(axis=1)


def compare_speed(train: list[str], test: list[str], repeats: int) -> None:
    seconds: dict[str, list[float]] = {"cdist": [], "ours": []}
    for _ in range(repeats):
        start = time.process_time()
        distances, indices = by_cdist(train, test)
        seconds["cdist"].append(time.process_time() - start)
        for _ in range(3):
            start = time.process_time()
            found = find_neighbors(train, test)
            seconds["ours"].append(time.process_time() - start)
        np.testing.assert_array_equal(found.distances, distances)
        np.testing.assert_array_equal(found.indices, indices)
    median = {name: statistics.median(values) for name, values in seconds.items()}
    print(f"{len(test):,} test x {len(train):,} training sentences, one core, CPU seconds")
    for name, values in seconds.items():
        print(f"  {name:<6} median {median[name]:7.3f}  ({min(values):.3f} to {max(values):.3f})")
    print(f"  equal results; ratio of medians {median['cdist'] / median['ours']:.1f}")


def more_sentences(real: list[str], n: int) -> list[str]:
    """Return ``n`` sentences: a random order of the real ones, then noisy copies of them."""
    rng = np.random.default_rng(0)
    words = np.array([word for line in real for word in line.split(" ")], dtype=object)
    picked = list(rng.permutation(len(real))[:n])
    lines = [real[i] for i in picked]
    for i in rng.integers(len(real), size=n - len(lines)):
        old = np.array(real[i].split(" "), dtype=object)
        noisy = np.where(rng.random(len(old)) < 0.3, rng.choice(words, len(old)), old)
        lines.append(" ".join(noisy))
    return lines


def show_growth(real: list[str], test: list[str], sizes: list[int]) -> None:
    print("growth, one core, CPU seconds of 1,268 test sentences")
    lines = more_sentences(real, max(sizes))
    for size in sizes:
        start = time.process_time()
        found: Neighbors = find_neighbors(lines[:size], test)
        seconds = time.process_time() - start
        micro = 1e6 * seconds / len(test)
        print(
            f"  {size:>9,} training sentences  {seconds:7.3f} s  {micro:8.0f} µs per test sentence"
            f"  mean WER {found.wer.mean():.3f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--skip-growth", action="store_true")
    arguments = parser.parse_args()
    if not DATA.exists():
        print(f"no corpora at {DATA}; set SWITCHOUT_DATA")
        return
    real, test = sentences()
    find_neighbors(real[:100], test[:100])  # compiles, or loads what was compiled
    compare_speed(real[:N_TRAIN], test, arguments.repeats)
    if not arguments.skip_growth:
        show_growth(real, test, [10_000, 30_000, 100_000, 300_000, 1_000_000])


if __name__ == "__main__":
    main()
