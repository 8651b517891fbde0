"""tf.data: the recipes of docs/recipes/tensorflow.md, at their addresses."""

from __future__ import annotations

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import pytest
import tensorflow as tf

import switchout as so
from examples import run_example

WORDS = so.Words(1000)
PAIR = so.Pair(so.SwitchOut(WORDS, tau=1.0), so.RAML(WORDS, tau=1.1))
N = 100


def rows():
    rng = np.random.default_rng(0)
    return [rng.integers(4, 1000, k) for k in rng.integers(3, 20, N)]


def numbered():
    kind = tf.TensorSpec([None], tf.int64)
    return tf.data.Dataset.from_generator(lambda: iter(rows()), output_signature=kind).enumerate()


def batched(data, size=16):
    return data.padded_batch(size, padded_shapes=((), (None,)), padding_values=(np.int64(0),) * 2)


def one_epoch(epoch, *, size=16, parallel=None):
    data = batched(numbered().shuffle(64, seed=int(epoch)), size)
    return data.map(
        lambda i, x: (i, *PAIR.sample(x, x, seed=7, example_ids=i, epoch=epoch)),
        num_parallel_calls=parallel,
    )


def at_address(policy, epoch):
    return policy.sample_lists(rows(), seed=7, example_ids=range(N), epoch=epoch)


@pytest.mark.parametrize("settings", [{}, {"size": 5}, {"parallel": tf.data.AUTOTUNE}], ids=str)
def test_a_pipeline_for_each_epoch(settings):
    for epoch in range(2):
        want = at_address(PAIR.source, epoch), at_address(PAIR.target, epoch)
        count = 0
        for batch in one_epoch(epoch, **settings):
            for i, x, y in zip(*(part.numpy() for part in batch), strict=True):
                n = len(want[0][i])
                assert np.array_equal(x[:n], want[0][i])
                assert np.array_equal(y[:n], want[1][i])
                assert not x[n:].any()
                count += 1
        assert count == N


def test_one_pipeline_for_all_epochs():
    data = tf.data.Dataset.range(3).flat_map(
        lambda epoch: batched(numbered()).map(
            lambda i, x: (epoch, i, PAIR.source.sample(x, seed=7, example_ids=i, epoch=epoch))
        )
    )
    count = 0
    for epoch, ids, x in data:
        want = at_address(PAIR.source, int(epoch))
        for i, row in zip(ids.numpy(), x.numpy(), strict=True):
            assert np.array_equal(row[: len(want[i])], want[i])
            count += 1
    assert count == 3 * N


def test_an_epoch_for_each_row_is_refused_clearly():
    def sample(i, x):
        return PAIR.source.sample(x, seed=7, example_ids=i, epoch=tf.zeros_like(i))

    with pytest.raises(ValueError, match="epoch must be one number for the whole batch"):
        batched(numbered()).map(sample)


def test_the_example_runs(tmp_path):
    assert "400 rows in two epochs" in run_example("tfdata_pipeline.py", tmp_path)
