"""Inside compiled graphs: new values need no new graph, and unknown shapes work."""

from __future__ import annotations

import math

import numpy as np
import pytest

import switchout as so

WORDS = so.Words(1000)
X = np.random.default_rng(0).integers(0, 1000, (4, 12)).astype(np.int32)
IDS = np.arange(4, dtype=np.int32)


def expected(x=X, ids=IDS, **settings):
    return so.switch_out(x, words=WORDS, example_ids=ids, **settings)


ADDRESSES = [(1.0, 3, 0), (2.0, 4, 7), (0.5, (1 << 31) - 1, 3), (40.0, 0, 1)]


def test_jax_traces_once_for_all_temperatures_seeds_and_epochs():
    jax = pytest.importorskip("jax")
    traces = []

    @jax.jit
    def run(x, ids, tau, seed, epoch):
        traces.append(1)
        return so.switch_out(x, tau=tau, words=WORDS, seed=seed, example_ids=ids, epoch=epoch)

    for tau, seed, epoch in [*ADDRESSES, (math.inf, 1, 1), (0.0, 1, 1)]:
        y = run(X, IDS, tau, seed, epoch)
        np.testing.assert_array_equal(np.asarray(y), expected(tau=tau, seed=seed, epoch=epoch))
    assert len(traces) == 1


def test_jax_vmap_over_sentences():
    jax = pytest.importorskip("jax")

    def one(row, number):
        return so.switch_out(row[None], tau=2.0, words=WORDS, seed=5, example_ids=number[None])[0]

    y = jax.vmap(one)(jax.numpy.asarray(X), jax.numpy.asarray(IDS))
    np.testing.assert_array_equal(np.asarray(y), expected(tau=2.0, seed=5))


def test_jax_splits_64_bit_example_ids_on_the_host():
    jax = pytest.importorskip("jax")
    ids = np.array([1, 1 << 32, 1 << 45, (1 << 64) - 1], np.uint64)
    run = jax.jit(lambda x: so.switch_out(x, tau=2.0, words=WORDS, seed=5, example_ids=ids))
    np.testing.assert_array_equal(np.asarray(run(X)), expected(ids=ids, tau=2.0, seed=5))


def test_tensorflow_traces_once_for_tensors_of_all_values():
    tf = pytest.importorskip("tensorflow")
    traces = []

    @tf.function
    def run(x, ids, tau, seed, epoch):
        traces.append(1)
        return so.switch_out(x, tau=tau, words=WORDS, seed=seed, example_ids=ids, epoch=epoch)

    for tau, seed, epoch in [*ADDRESSES, (1.5, 1 << 40, 5)]:
        values = tf.constant(tau, tf.float64), tf.constant(seed, tf.int64), tf.constant(epoch)
        y = run(tf.constant(X), tf.constant(IDS), *values)
        np.testing.assert_array_equal(y.numpy(), expected(tau=tau, seed=seed, epoch=epoch))
    assert len(traces) == 1


@pytest.mark.parametrize("tau", [0.7, math.inf])
def test_tf_data_with_batches_of_unknown_shape(tau):
    tf = pytest.importorskip("tensorflow")
    lengths = [3, 9, 12, 1]
    rows = tf.data.Dataset.from_generator(
        lambda: ((X[i, :n], i) for i, n in enumerate(lengths)),
        output_signature=(tf.TensorSpec([None], tf.int32), tf.TensorSpec([], tf.int64)),
    )
    batches = rows.padded_batch(2).map(
        lambda x, ids: (x, so.switch_out(x, tau=tau, words=WORDS, seed=5, example_ids=ids))
    )
    first = 0
    for x, y in batches:
        ids = np.arange(first, first + len(x))
        np.testing.assert_array_equal(y.numpy(), expected(x.numpy(), ids, tau=tau, seed=5))
        first += len(x)
    assert first == 4


def test_torch_compiles_once_more_for_dynamic_values_and_never_again():
    torch = pytest.importorskip("torch")
    from torch._dynamo.utils import counters

    def run(x, ids, tau, seed, epoch):
        y = so.switch_out(x + 0, tau=tau, words=WORDS, seed=seed, example_ids=ids, epoch=epoch)
        return y * 1

    torch._dynamo.reset()
    counters.clear()
    compiled = torch.compile(run, fullgraph=True, backend="aot_eager")
    x, ids = torch.from_numpy(X), torch.from_numpy(IDS)
    for tau, seed, epoch in [*ADDRESSES, (1.5, (1 << 64) - 1, 5)]:
        y = compiled(x, ids, tau, seed, epoch)
        np.testing.assert_array_equal(y.numpy(), expected(tau=tau, seed=seed, epoch=epoch))
    # Dynamo takes scalars for constants the first time it sees them, and for variables after that.
    assert counters["stats"]["unique_graphs"] == 2


def test_cuda_tensors_return_the_ids_of_the_kernel():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    y = so.switch_out(
        torch.from_numpy(X).cuda(), tau=2.0, words=WORDS, seed=5, example_ids=torch.from_numpy(IDS)
    )
    assert y.is_cuda
    np.testing.assert_array_equal(y.cpu().numpy(), expected(tau=2.0, seed=5))


def test_rate_refuses_a_graph_wider_than_its_table():
    jax = pytest.importorskip("jax")
    policy = so.SwitchOut(WORDS, rate=0.1)
    run = jax.jit(lambda x: policy.sample(x, seed=5, example_ids=np.arange(1)))
    with pytest.raises(ValueError, match="4096"):
        run(np.full((1, 4097), 7, np.int32))
