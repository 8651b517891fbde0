"""grain: the transform before shuffle and repeat, in threads, and after a checkpoint."""

from __future__ import annotations

import grain
import numpy as np
import pytest

import switchout as so
from examples import run_example
from switchout.errors import SwitchOutError
from switchout.integrations.grain import SwitchOut

WORDS = so.Words(1000)
POLICIES = so.SwitchOut(WORDS, tau=1.0), so.RAML(WORDS, tau=1.1)
N = 120


def rows():
    rng = np.random.default_rng(0)
    return [{"input_ids": rng.integers(4, 1000, k), "labels": rng.integers(4, 1000, k), "id": i}
            for i, k in enumerate(rng.integers(3, 20, N))]  # fmt: skip


def at_address(epoch):
    data = rows()
    return [
        policy.sample_lists([row[key] for row in data], seed=7, example_ids=range(N), epoch=epoch)
        for policy, key in zip(POLICIES, ("input_ids", "labels"), strict=True)
    ]


def switched(epochs=2):
    source = grain.MapDataset.source(rows())
    return source.map_with_index(SwitchOut(N, *POLICIES, seed=7)).seed(3).shuffle().repeat(epochs)


def check(stream, n_epochs=2):
    want = [at_address(epoch) for epoch in range(n_epochs)]
    count = 0
    for k, row in enumerate(stream):
        x, y = want[k // N]
        assert np.array_equal(row["input_ids"], x[row["id"]])
        assert np.array_equal(row["labels"], y[row["id"]])
        count += 1
    assert count == n_epochs * N


def test_rows_are_at_their_address_and_shuffled():
    data = switched()
    check(data)
    order = [row["id"] for row in data]
    assert order[:N] != order[N:]
    assert sorted(order[:N]) == list(range(N))


def test_in_threads():
    check(switched().to_iter_dataset(grain.ReadOptions(num_threads=2)))


def test_after_a_checkpoint():
    data = switched().to_iter_dataset()
    stream = iter(data)
    for _ in range(150):
        next(stream)
    state = stream.get_state()
    rest = [next(stream) for _ in range(60)]
    other = iter(data)
    other.set_state(state)
    for row in rest:
        again = next(other)
        assert np.array_equal(row["input_ids"], again["input_ids"])
        assert np.array_equal(row["labels"], again["labels"])


def test_behind_a_shuffle_rows_get_the_noise_of_others():
    """Why the place matters: what the documentation warns of is so."""
    source = grain.MapDataset.source(rows()).shuffle(seed=1)
    data = source.map_with_index(SwitchOut(N, *POLICIES, seed=7))
    x, _ = at_address(0)
    wrong = sum(not np.array_equal(row["input_ids"], x[row["id"]]) for row in data)
    assert wrong > N / 4


def test_mistakes():
    with pytest.raises(SwitchOutError, match="number of rows, got 0"):
        SwitchOut(0, *POLICIES, seed=7)
    with pytest.raises(SwitchOutError, match="nothing to switch"):
        SwitchOut(N, seed=7)


def test_the_example_runs(tmp_path):
    assert "400 rows in two epochs" in run_example("grain_pipeline.py", tmp_path)
