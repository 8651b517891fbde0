"""How fast is `switch_out`, next to the paper's listings, eole's transform and a plain copy?

Everything in one run, one thread, process CPU time, a fresh seed per call (a repeated one trains
the branch predictor), medians of interleaved repeats, five times as many for small batches, whose
turns are short; a repeat makes enough calls in a row to see 20,000 sentences. Sentence lengths as
in a corpus (gamma, at most 60 words, mean 25), eos, right padded; 32,000 ids, tau = 1. The ports of
the listings are in peers_sampling.py.

    python benchmarks/sampling.py --repeats 9
"""

from __future__ import annotations

import os

# One thread each, before the frameworks start their own.
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import numpy as np

import peers_sampling as peers
import switchout as so
from switchout.sampling.address import Address
from switchout.sampling.arrays import corrupt_arrays
from switchout.sampling.backends import backend_of
from switchout.sampling.rule import Rule

PAD, BOS, EOS, SIZE = 0, 1, 2, 32_000
WORDS = so.Words(SIZE)
SIZES = (512, 4_096, 100_000)
EOLE_SENTENCES = 200  # its time per sentence does not depend on their number
# (ours, peer, sentences) -> how many times faster it must be
WANTED = {
    ("torch", "paper PyTorch", 512): 25,
    ("torch", "paper PyTorch", 4_096): 25,
    ("torch", "paper PyTorch", 100_000): 20,
    ("torch in place", "paper PyTorch", 100_000): 80,
    ("numpy", "eole", 100_000): 1000,
}

Call = Callable[[int], object]


def batch(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return ids [n, 61] and the number of words of each sentence [n]."""
    rng = np.random.default_rng(0)
    lengths = np.clip(rng.gamma(3.5, 7.3, n).round().astype(int), 1, 60)
    x = rng.integers(4, SIZE, (n, 61))
    x[np.arange(61) >= lengths[:, None]] = PAD
    x[np.arange(n), lengths] = EOS
    return x, lengths


def run(x: Any, seed: int, ids: np.ndarray, **more: Any) -> object:
    return so.switch_out(x, tau=1.0, words=WORDS, seed=seed, example_ids=ids, **more)


def array_path(x: np.ndarray, seed: int, ids: np.ndarray) -> object:
    """The same algorithm over array operations, as devices run it."""
    where = Address(seed), ids.astype(np.uint64), None
    return corrupt_arrays(backend_of(x), x, Rule(tau=1.0), WORDS, *where)


def torch_calls(x: np.ndarray, lengths: np.ndarray) -> Iterator[tuple[str, Call]]:
    """Yield our calls on NumPy arrays and torch tensors, and the paper's PyTorch listing."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    ids, tensor, scratch = np.arange(len(x)), torch.from_numpy(x), torch.from_numpy(x.copy())
    yield "numpy", lambda seed: run(x, seed, ids)
    yield "torch", lambda seed: run(tensor, seed, ids)
    yield "torch in place", lambda seed: run(scratch, seed, ids, out=scratch, lengths=lengths)
    yield "numpy array path", lambda seed: array_path(x, seed, ids)
    yield "copy", lambda seed: x.copy()
    yield "paper PyTorch", lambda seed: peers.paper_pytorch(tensor, 1.0, BOS, EOS, PAD, SIZE)


def tensorflow_calls(x: np.ndarray, lengths: np.ndarray) -> Iterator[tuple[str, Call]]:
    """Yield our call on TensorFlow tensors, and the paper's TensorFlow listing as a graph."""
    import tensorflow as tf

    ids, tensor = np.arange(len(x)), tf.constant(x)
    graph = tf.function(lambda s: peers.paper_tensorflow(s, 1.0, BOS, EOS, PAD, SIZE))
    yield "tensorflow", lambda seed: run(tensor, seed, ids)
    yield "paper TensorFlow", lambda seed: graph(tensor).numpy()


def jax_calls(x: np.ndarray, lengths: np.ndarray) -> Iterator[tuple[str, Call]]:
    """Yield our call on JAX arrays, and the listing in jitted JAX."""
    import jax

    ids, array = np.arange(len(x)), jax.device_put(x.astype(np.int32))
    compiled = jax.jit(lambda key, s: peers.paper_jax(key, s, 1.0, BOS, EOS, PAD, SIZE))
    yield "jax", lambda seed: run(array, seed, ids)
    yield "paper JAX, jit", lambda seed: compiled(jax.random.key(seed), array).block_until_ready()


def eole(x: np.ndarray) -> Iterator[tuple[str, Call]]:
    """Yield eole's transform of one side: its real vocabulary if pyonmttok is here, and a list."""
    tokens = [f"w{i}" for i in range(SIZE)]
    sentences = [[tokens[i] for i in row if i > 3] for row in x[:EOLE_SENTENCES].tolist()]

    def transform(vocabulary: Callable[[], Any]) -> Call:
        return lambda seed: [peers.eole_switchout(s, 1.0, vocabulary) for s in sentences]

    yield "eole, cached vocabulary", transform(lambda: tokens)
    try:
        import pyonmttok
    except ImportError:
        print("pyonmttok is not installed: eole with a plain list as its vocabulary only")
        return
    vocabulary = pyonmttok.build_vocab_from_tokens(tokens)
    yield "eole", transform(lambda: vocabulary.ids_to_tokens)


def measure(
    calls: dict[str, Call], repeats: int, in_a_row: int, seeds: Iterator[int]
) -> dict[str, float]:
    """Return the median CPU seconds of each call; the calls take turns."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(repeats + 1):
        for name, call in calls.items():
            mine = [next(seeds) for _ in range(in_a_row)]
            start = time.process_time()
            for seed in mine:
                call(seed)
            if turn:  # the first one compiles
                times[name].append((time.process_time() - start) / in_a_row)
    return {name: statistics.median(t) for name, t in times.items()}


def report(n: int, per_sentence: dict[str, float]) -> list[dict[str, Any]]:
    """Print a table of nanoseconds per sentence and return the ratios."""
    print(f"\n{n:,} sentences".ljust(30) + "ns/sentence   times numpy   times copy")
    for name, seconds in sorted(per_sentence.items(), key=lambda item: item[1]):
        to_ours, to_copy = seconds / per_sentence["numpy"], seconds / per_sentence["copy"]
        print(f"  {name:<27}{seconds * 1e9:11,.0f}   {to_ours:11,.2f}   {to_copy:10,.2f}")
    pairs = [("torch", "paper PyTorch"), ("tensorflow", "paper TensorFlow"),
             ("jax", "paper JAX, jit"), ("numpy", "eole"), ("numpy", "eole, cached vocabulary"),
             ("torch in place", "paper PyTorch"), ("copy", "numpy"), ("copy", "torch in place"),
             ("numpy", "numpy array path")]  # fmt: skip
    records = [
        {"sentences": n, "fast": fast, "slow": slow, "wanted": WANTED.get((fast, slow, n)),
         "ratio": round(per_sentence[slow] / per_sentence[fast], 2)}
        for fast, slow in pairs
        if slow in per_sentence
    ]  # fmt: skip
    for r in records:
        wanted = f"   (wanted: {r['wanted']})" if r["wanted"] else ""
        print(f"  {r['fast']} is {r['ratio']:,} times as fast as {r['slow']}{wanted}")
    return records


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--json", action="store_true", help="also print one JSON line per ratio")
    options = parser.parse_args()
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 (eole's transform uses the global states)
    seeds = count(1)
    per_sentence: dict[int, dict[str, float]] = {n: {} for n in options.sizes}
    # One framework after another: idle thread pools of a loaded one count as CPU time of all.
    for calls in (torch_calls, tensorflow_calls, jax_calls):
        for n in options.sizes:
            x, lengths = batch(n)
            repeats = options.repeats * (5 if n < 10_000 else 1)
            timed = measure(dict(calls(x, lengths)), repeats, max(1, 20_000 // n), seeds)
            per_sentence[n] |= {name: seconds / n for name, seconds in timed.items()}
            if calls is torch_calls:
                slow = measure(dict(eole(x)), min(3, options.repeats), 1, seeds)
                per_sentence[n] |= {k: s / min(n, EOLE_SENTENCES) for k, s in slow.items()}
    records = [record for n in options.sizes for record in report(n, per_sentence[n])]
    for record in records if options.json else ():
        print(json.dumps(record))


if __name__ == "__main__":
    main()
