"""How far the paper's listings and their descendants are from Algorithm 1.

For each, the law of the number of replaced words follows from what its code does: a count n from a
range, then each of the L words with probability n / (what it takes for the length). The ports in
benchmarks/peers_sampling.py must follow that law, and docs/algorithm.md quotes its distance.
"""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from goodness import LIMIT, p_value
from scipy.stats import binom

PEERS = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "peers_sampling.py"))
BOS, EOS, PAD, SIZE = 1, 2, 0, 1000
L, TAU = 10, 1 / 0.8
N = 50_000


def mixture(counts: range, rate: Callable[[int], float], tau: float = TAU) -> np.ndarray:
    """Return P(h words replaced), h = 0..L, for p(n) ∝ exp(-n / tau) on ``counts``."""
    p = np.exp(-np.array(counts) / tau)
    laws = np.array([binom.pmf(np.arange(L + 1), L, min(1.0, rate(n))) for n in counts])
    return p / p.sum() @ laws


def exactly(counts: range) -> np.ndarray:
    p = np.exp(-np.array(counts) / TAU)
    return np.pad(p / p.sum(), (counts[0], L - counts[-1]))


def distance(p: np.ndarray, q: np.ndarray) -> float:
    """Return the total variation."""
    return float(abs(p - q).sum() / 2)


ALGORITHM_1 = mixture(range(L + 1), lambda n: n / L)
NEVER_ZERO = range(1, L + 1)
# law, P(nothing replaced), mean share replaced, total variation to Algorithm 1
LAWS = {
    "Algorithm 1": (ALGORITHM_1, 0.651, 0.081, 0.00),
    "TensorFlow listing, bos and eos": (mixture(NEVER_ZERO, lambda n: n / L), 0.222, 0.181, 0.43),
    "TensorFlow listing, eos only": (mixture(range(L), lambda n: n / L), 0.651, 0.081, 0.00),
    "PyTorch listing, bos and eos": (mixture(NEVER_ZERO, lambda n: n / 2), 0.001, 0.725, 0.85),
    "OpenNMT-py, eole, mammoth": (exactly(range(L)), 0.551, 0.081, 0.13),
    "fairseq fork, nine left pads": (mixture(range(9, 19), lambda n: n / L), 0.0, 0.945, 0.985),
    "MaFAND script": (mixture(NEVER_ZERO, lambda n: (n + 2) / L), 0.017, 0.381, 0.69),
}  # fmt: skip


@pytest.mark.parametrize("name", LAWS)
def test_laws_of_the_table_in_the_docs(name):
    law, unchanged, share, variation = LAWS[name]
    assert law.sum() == pytest.approx(1)
    assert law[0] == pytest.approx(unchanged, abs=6e-4)
    assert law @ np.arange(L + 1) / L == pytest.approx(share, abs=6e-4)
    assert distance(law, ALGORITHM_1) == pytest.approx(variation, abs=6e-3)


def batch(with_bos: bool) -> np.ndarray:
    row = [BOS] * with_bos + list(range(100, 100 + L)) + [EOS]
    return np.tile(np.array(row), (N, 1))


def torch_listing(name: str, x: np.ndarray) -> np.ndarray:
    torch = pytest.importorskip("torch")
    torch.manual_seed(1)
    return PEERS[name](torch.from_numpy(x), 1 / TAU, BOS, EOS, PAD, SIZE).numpy()


def tensorflow_listing(x: np.ndarray) -> np.ndarray:
    tf = pytest.importorskip("tensorflow")
    tf.random.set_seed(1)
    return PEERS["paper_tensorflow"](tf.constant(x), 1 / TAU, BOS, EOS, PAD, SIZE).numpy()


def jax_listing(x: np.ndarray) -> np.ndarray:
    jax = pytest.importorskip("jax")
    key, ids = jax.random.key(1), x.astype(np.int32)
    return np.asarray(PEERS["paper_jax"](key, ids, 1 / TAU, BOS, EOS, PAD, SIZE))


PORTS = {
    "PyTorch as printed": (
        lambda x: torch_listing("paper_pytorch_as_printed", x),
        True,
        "PyTorch listing, bos and eos",
    ),
    "PyTorch, length fixed": (
        lambda x: torch_listing("paper_pytorch", x),
        True,
        "TensorFlow listing, bos and eos",
    ),
    "TensorFlow": (tensorflow_listing, True, "TensorFlow listing, bos and eos"),
    "TensorFlow without bos": (tensorflow_listing, False, "TensorFlow listing, eos only"),
    "JAX": (jax_listing, True, "TensorFlow listing, bos and eos"),
}


@pytest.mark.parametrize("name", PORTS)
def test_ports_follow_their_law_and_not_algorithm_1(name):
    listing, with_bos, law = PORTS[name]
    x = batch(with_bos)
    x_hat = listing(x)
    replaced = (x_hat != x).sum(axis=1).tolist()
    assert p_value(replaced, range(L + 1), LAWS[law][0]) > LIMIT
    if with_bos:
        assert p_value(replaced, range(L + 1), ALGORITHM_1) < LIMIT
    drawn = x_hat[x_hat != x]
    share = np.isin(drawn, [BOS, EOS, PAD]).mean()  # the listings draw special tokens
    assert share == pytest.approx(3 / (SIZE - 1), abs=5 * (3 / SIZE / drawn.size) ** 0.5)


def test_eole_never_changes_one_word_and_never_reaches_all():
    import random

    random.seed(1)
    np.random.seed(1)  # noqa: NPY002 (the port draws from the global states, as eole does)
    vocabulary = [str(i) for i in range(SIZE)]
    switch = PEERS["eole_switchout"]
    assert all(switch(["5"], 1e-3, lambda: vocabulary) == ["5"] for _ in range(100))
    tokens = [str(i) for i in range(L)]
    changed = [
        sum(
            a != b for a, b in zip(switch(tokens, 1 / TAU, lambda: vocabulary), tokens, strict=True)
        )
        for _ in range(20_000)
    ]
    assert p_value(changed, range(L + 1), LAWS["OpenNMT-py, eole, mammoth"][0]) > LIMIT
    assert p_value(changed, range(L + 1), ALGORITHM_1) < LIMIT
