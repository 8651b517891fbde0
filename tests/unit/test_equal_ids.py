"""The same ids everywhere: kernels, array operations, and compiled graphs of four frameworks."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import switchout as so
from frameworks import FRAMEWORKS
from through_arrays import array_path

GOLDEN = Path(__file__).parents[1] / "golden" / "ids.json"
N_CONFIGURATIONS = 1000


def configuration(number, shape=None):
    """A random vocabulary, policy, batch and address; some of everything."""
    rng = np.random.default_rng(number)
    size = int(rng.choice([8, 40, 3000, 1 << 24]))
    specials = rng.choice(min(size, 100), rng.integers(0, 5), replace=False).tolist()
    if rng.random() < 0.2:
        specials.append(size - 1)
    free = np.setdiff1d(np.arange(min(size, 60)), specials)
    draw = None
    if rng.random() < 0.3 and free.size >= 2:
        draw = rng.choice(free, rng.integers(2, free.size + 1), replace=False)
    words = so.Words(size, special_ids=specials, draw_ids=draw)
    shape = shape or (int(rng.integers(0, 6)), int(rng.integers(0, 40)))
    x = rng.integers(-2, size, shape).astype(rng.choice([np.int32, np.int64]))
    x = np.where(rng.random(shape) < 0.3, x % min(size, 60), x).astype(x.dtype)
    tau = float(rng.choice([0.0, 0.4, 1.0, 6.0, 300.0, math.inf]))
    dropout = so.WordDropout(words, rate=float(rng.random()), null_id=int(free[0]))
    policies = [
        so.SwitchOut(words, tau=tau),
        so.SwitchOut(words, rate=float(rng.random() / 2)),
        so.RAML(words, tau=tau),
        so.Hamming(words, tau=tau),
        dropout,
        so.Chain(so.SwitchOut(words, tau=tau), dropout),
    ]
    if size <= 3000 and draw is None:
        pairs = {int(i): rng.choice(free, 2, replace=False).tolist() for i in free[:20]}
        table = so.SimilarityTable.from_dictionary(pairs, words)
        policies.append(so.Similar(words, table, tau=tau))
    address = {
        "seed": int(rng.integers(0, 1 << 63)) * 2 + int(rng.integers(0, 2)),
        "epoch": int(rng.integers(0, 1 << 32)),
        "side": str(rng.choice(["source", "target"])),
        "example_ids": rng.integers(0, 1 << 63, shape[0], dtype=np.uint64) * np.uint64(2),
    }
    frozen = rng.random(shape) < 0.2 if rng.random() < 0.3 else None
    return policies[number % len(policies)], x, address, frozen


def frameworks():
    return [FRAMEWORKS[name]() for name in FRAMEWORKS]


def test_four_frameworks_return_the_same_ids_on_random_configurations():
    for number in range(N_CONFIGURATIONS):
        policy, x, address, frozen = configuration(number)
        x = x.astype(np.int32)  # JAX has no int64 by default
        expected = policy.sample(x, **address, frozen=frozen)
        for framework in frameworks():
            mask = None if frozen is None else framework.array(frozen)
            y = policy.sample(framework.array(x), **address, frozen=mask)
            np.testing.assert_array_equal(
                framework.numpy(y), expected, f"{framework.name} {number}"
            )


@pytest.mark.parametrize("name", ["numpy", "torch"])
def test_array_operations_return_the_ids_of_the_kernel_on_random_configurations(name):
    framework = FRAMEWORKS[name]()
    for number in range(N_CONFIGURATIONS):
        policy, x, address, frozen = configuration(number)
        expected = policy.sample(x, **address, frozen=frozen)
        mask = None if frozen is None else framework.array(frozen)
        with array_path():
            y = policy.sample(framework.array(x), **address, frozen=mask)
        np.testing.assert_array_equal(framework.numpy(y), expected, f"{name} {number}")


@pytest.mark.parametrize("shape", [(4, 12), (1, 33)], ids=str)
@pytest.mark.parametrize("kind", range(7))
def test_compiled_graphs_return_the_ids_of_the_kernel(framework, shape, kind):
    """Every kind of policy, a few values each, through tf.function, jax.jit and torch.compile."""
    number = next(
        n for n in range(kind, 1000, 7) if configuration(n, shape)[0].name != "similar" or kind == 6
    )
    policy, x, address, frozen = configuration(number, shape)
    ids = address.pop("example_ids") >> np.uint64(33)  # 31 bits: ids travel as int32 in JAX
    x, ids = x.astype(np.int32), ids.astype(np.int32)
    run = framework.compile(lambda t, i, f: policy.sample(t, example_ids=i, frozen=f, **address))
    for turn in range(3):
        tokens = np.where(x < 0, x, np.roll(x, turn, axis=1))
        mask = np.zeros(shape, bool) if frozen is None else frozen
        y = run(framework.array(tokens), framework.array(ids + turn), framework.array(mask))
        expected = policy.sample(tokens, example_ids=ids + turn, frozen=mask, **address)
        np.testing.assert_array_equal(framework.numpy(y), expected)


def test_golden_ids():
    """Notices change: ids written by this package's first version (tests/golden/ids.json)."""
    golden = json.loads(GOLDEN.read_text())
    for case in golden["cases"]:
        policy = so.policy_from_dict(case["policy"])
        y = policy.sample(
            np.array(case["tokens"]), example_ids=case["example_ids"], **case["address"]
        )
        assert y.tolist() == case["result"]
