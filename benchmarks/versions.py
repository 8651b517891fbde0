"""How fast is this version next to another one, in every case that the compiled core serves?

Two processes, one per version, take turns case by case in a shuffled order; medians of CPU time,
a fresh seed for every call. Above 1: this version is slower. The other version has a Python of its
own, in whose environment it is installed, or a folder that goes before it:

    python benchmarks/versions.py ../old/.venv/bin/python --source ../old/src --only torch
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

SIZE, PAD, EOS = 32_000, 0, 2
N_IN_A_ROW = 20_000  # sentences between two looks at the clock, as in sampling.py
SERVE = "--serve"

Call = Callable[[int], object]


def batch(n: int, width: int = 61, mean: float = 25.0) -> tuple[np.ndarray, np.ndarray]:
    """Return ids [n, width], right padded, and the number of words of each sentence [n]."""
    rng = np.random.default_rng(0)
    lengths = np.clip(rng.gamma(3.5, mean / 3.5, n).round().astype(int), 1, width - 1)
    x = rng.integers(4, SIZE, (n, width))
    x[np.arange(width) >= lengths[:, None]] = PAD
    x[np.arange(n), lengths] = EOS
    return x, lengths


def sampling_cases() -> Iterator[tuple[str, int, Callable[[], Call]]]:
    """Yield name, number of sentences, and what makes the call (only if the case is wanted)."""
    import torch

    import switchout as so

    torch.set_num_threads(1)
    plain = so.Words(SIZE)

    def switch_out(x: Any, words: so.Words = plain, **more: Any) -> Call:
        ids = np.arange(len(x))
        return lambda seed: so.switch_out(
            x, tau=1.0, words=words, seed=seed, example_ids=ids, **more
        )

    def new_tensor(n: int) -> Call:
        return switch_out(torch.from_numpy(batch(n)[0]))

    def in_place(n: int) -> Call:
        x, lengths = batch(n)
        tensor = torch.from_numpy(x)
        return switch_out(tensor, out=tensor, lengths=lengths)

    def policy(chosen: Any, n: int = 4_096) -> Call:
        x, ids = batch(n)[0], np.arange(n)
        return lambda seed: chosen.sample(x, seed=seed, example_ids=ids)

    def similar() -> Call:
        counts = np.random.default_rng(3).zipf(1.3, SIZE) % 1_000
        return policy(
            so.Similar(plain, so.SimilarityTable.from_frequencies(counts, plain), tau=1.0)
        )

    def new(n: int, kind: Any = np.int64) -> Call:
        return switch_out(batch(n)[0].astype(kind))

    for n in (2, 512, 4_096, 100_000):
        yield f"numpy int64, {n:,}", n, partial(new, n)
        yield f"numpy int32, {n:,}", n, partial(new, n, np.int32)
        yield f"torch, {n:,}", n, partial(new_tensor, n)
        yield f"torch in place, lengths, {n:,}", n, partial(in_place, n)
    n = 4_096
    half = so.Words(SIZE, draw_ids=range(4, SIZE, 2))
    ranges = so.Words(SIZE, special_ids=(0, 1, 2, 3, 100, 101, 5_000))
    frozen = np.random.default_rng(1).random((n, 61)) < 0.1
    yield "words in 3 ranges", n, lambda: switch_out(batch(n)[0], ranges)
    yield "draws restricted", n, lambda: switch_out(batch(n)[0], half)
    yield "frozen", n, lambda: switch_out(batch(n)[0], frozen=frozen)
    yield "width 20", n, lambda: switch_out(batch(n, 20, 10)[0])
    yield "width 301, mean 150", 1_000, lambda: switch_out(batch(1_000, 301, 150)[0])
    yield "SwitchOut, rate 0.1", n, lambda: policy(so.SwitchOut(plain, rate=0.1))
    yield "Hamming", n, lambda: policy(so.Hamming(plain, tau=0.1))
    yield "WordDropout", n, lambda: policy(so.WordDropout(plain, rate=0.1, null_id=3))
    yield "Similar", n, similar


def text_case(folder: Path) -> Call:
    """`augment_files` on 500,000 lines."""
    import augment
    from switchout.text import augment_files

    vocabulary = augment.words()
    (folder / "vocab").write_bytes(b"\n".join(vocabulary) + b"\n")
    augment.write_corpus(folder / "text", vocabulary, 500_000)

    def call(seed: int) -> None:
        out = folder / "out"
        out.unlink(missing_ok=True)
        augment_files(
            folder / "text", out_source=out, vocab_source=folder / "vocab", tau_x=1.0, seed=seed
        )

    return call


def neighbors_case() -> Call:
    """500 sentences among 20,000."""
    from switchout.evaluation.neighbors import find_neighbors

    x, lengths = batch(20_500)
    ids = np.random.default_rng(2).zipf(1.3, x.shape) % SIZE
    lines = [
        " ".join(f"w{i}" for i in row[:n]) for row, n in zip(ids.tolist(), lengths, strict=True)
    ]
    return lambda seed: find_neighbors(lines[500:], lines[:500])


def dropout_case() -> Call:
    """The trainer's dropout, 1,024 words of 512 channels."""
    import torch

    from switchout.nmt.dropout import Dropout, dropout_keys

    torch.set_num_threads(1)
    x, ids = torch.randn(32, 32, 512), np.arange(32)
    return lambda seed: Dropout(0.1, dropout_keys(seed, step=1, example_ids=ids))(x, x)


def cases(folder: Path) -> Iterator[tuple[str, int, Callable[[], Call]]]:
    yield from sampling_cases()
    yield "text, 500,000 lines", N_IN_A_ROW, lambda: text_case(folder)
    yield "neighbours, 500 x 20,000", N_IN_A_ROW, neighbors_case
    yield "dropout, 524,288 values", N_IN_A_ROW // 20, dropout_case


def serve() -> None:
    """Do what stdin asks: a line is the name of a case; the answer is its CPU seconds a call."""
    answers = os.dup(1)
    os.dup2(2, 1)  # nothing else may get between the answers
    with tempfile.TemporaryDirectory() as name, os.fdopen(answers, "w", buffering=1) as out:
        known = {case: (n, make) for case, n, make in cases(Path(name))}
        print(";".join(known), file=out)
        made: dict[str, Call] = {}
        seeds = count()
        for line in sys.stdin:
            case = line.strip()
            n, make = known[case]
            if case not in made:
                made = {case: make()}  # one at a time, so that memory is that of one case
            call = made[case]
            call(next(seeds))  # the first one compiles; later ones fill the caches again
            in_a_row = max(1, N_IN_A_ROW // n)
            mine = [next(seeds) for _ in range(in_a_row)]
            start = time.process_time()
            for seed in mine:
                call(seed)
            print((time.process_time() - start) / in_a_row, file=out)


class Version:
    """A process that runs the cases with one version."""

    def __init__(self, python: str, source: str | None):
        folder = str(Path(__file__).resolve().parent)
        path = os.pathsep.join(filter(None, [source, folder]))
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": path}
        self.process = subprocess.Popen(
            [python, __file__, SERVE], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, env=environment,
        )  # fmt: skip
        self.cases = self._read().split(";")

    def seconds(self, case: str) -> float:
        assert self.process.stdin
        print(case, file=self.process.stdin, flush=True)
        return float(self._read())

    def _read(self) -> str:
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit("the process of a version ended; its message is above")
        return line.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("other", nargs="?", help="the Python that has the other version")
    parser.add_argument("--source", help="a folder for its PYTHONPATH")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--only", default="", help="cases whose name contains this")
    parser.add_argument(SERVE, action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve()
    if not options.other:
        print("nothing to compare with: give the Python of another version")
        return
    here = Version(sys.executable, os.environ.get("PYTHONPATH"))
    other = Version(options.other, options.source)
    wanted = [case for case in here.cases if options.only in case]
    print(f"{'CPU time a call':34}{'other':>12}{'this':>12}{'this / other':>14}   middle half")
    for case in wanted:
        pairs = []
        for turn in range(options.repeats + 1):
            versions = [here, other]
            random.shuffle(versions)
            times = {version: version.seconds(case) for version in versions}
            if turn:
                pairs.append((times[here], times[other]))
        mine, its = (statistics.median(values) for values in zip(*pairs, strict=True))
        ratios = sorted(a / b for a, b in pairs)
        middle = f"{ratios[len(ratios) // 4]:.2f} to {ratios[-1 - len(ratios) // 4]:.2f}"
        times_of = f"{its * 1e6:9,.1f} µs{mine * 1e6:9,.1f} µs"
        print(f"{case:34}{times_of}{mine / its:14.2f}   {middle}", flush=True)


if __name__ == "__main__":
    main()
