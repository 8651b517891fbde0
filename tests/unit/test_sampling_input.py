"""Input of every shape and kind: sampled alike, or refused before anything is sampled."""

from __future__ import annotations

import math

import numpy as np
import pytest

import switchout as so

WORDS = so.Words(50)
X = np.random.default_rng(0).integers(0, 50, (6, 11))
IDS = np.arange(6)


def sample(x=X, **settings):
    settings = {"tau": 3.0, "words": WORDS, "seed": 1, "example_ids": IDS, **settings}
    return so.switch_out(x, **settings)


BAD = {
    "negative tau": ({"tau": -0.1}, ValueError, "tau"),
    "nan tau": ({"tau": math.nan}, ValueError, "tau"),
    "text tau": ({"tau": "1"}, TypeError, "tau"),
    "id out of range": ({"x": X + 50}, ValueError, "not below size 50"),
    "no room in int8": (
        {"x": X.astype(np.int8), "words": so.Words(129)},
        ValueError,
        "up to 128: use int32",
    ),
    "no room in uint16": (
        {"x": X.astype(np.uint16), "words": so.Words(65_537)},
        ValueError,
        "uint16 cannot hold",
    ),
    "rank 1": ({"x": X[0]}, ValueError, r"\[batch, time\].*: one sentence is x\[None\]"),
    "lists": ({"x": X.tolist()}, TypeError, r"got list: np.array\(…\), or policy.sample_lists"),
    "rank 3": ({"x": X[None]}, ValueError, r"\[batch, time\]"),
    "float ids": ({"x": X.astype(float)}, TypeError, "integers"),
    "bool ids": ({"x": X > 3}, TypeError, "integers"),
    "no example_ids": ({"example_ids": None}, ValueError, "example_ids is required"),
    "too few example_ids": ({"example_ids": IDS[:5]}, ValueError, "example_ids"),
    "2-d example_ids": ({"example_ids": IDS[None]}, ValueError, "example_ids"),
    "float example_ids": ({"example_ids": IDS / 2}, TypeError, "example_ids"),
    "negative example_ids": ({"example_ids": IDS - 1}, ValueError, "example_ids"),
    "huge example_ids": ({"example_ids": [1 << 64] * 6}, ValueError, "example_ids"),
    "frozen shape": ({"frozen": np.zeros((6, 10), bool)}, ValueError, "frozen"),
    "frozen dtype": ({"frozen": np.zeros((6, 11), int)}, TypeError, "frozen"),
    "frozen list": ({"frozen": [[False] * 11] * 6}, TypeError, "frozen"),
    "side": ({"side": "src"}, ValueError, "side"),
    "seed too large": ({"seed": 1 << 64}, ValueError, "seed"),
    "negative seed": ({"seed": -1}, ValueError, "seed"),
    "epoch too large": ({"epoch": 1 << 32}, ValueError, "epoch"),
    "float seed": ({"seed": 1.5}, TypeError, "seed"),
    "lengths shape": ({"lengths": [1, 2]}, ValueError, "lengths"),
    "lengths too large": ({"lengths": [12] * 6}, ValueError, "lengths"),
    "out shape": ({"out": np.zeros((6, 10), np.int64)}, ValueError, "out"),
    "out dtype": ({"out": np.zeros((6, 11), np.int32)}, ValueError, "out"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_and_nothing_is_sampled(name):
    settings, error, message = BAD[name]
    before = X.copy()
    with pytest.raises(error, match=message):
        sample(**settings)
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("name", ["id out of range", "float ids", "rank 1"])
def test_bad_arrays_are_refused_on_every_framework(name, framework):
    settings, error, message = BAD[name]
    with pytest.raises(error, match=message):
        sample(framework.array(settings["x"]))


def test_example_ids_have_no_default():
    with pytest.raises(TypeError):
        so.switch_out(X, tau=1.0, words=WORDS, seed=1)


def test_seed_zero_works_and_differs_from_seed_one():
    assert (sample(seed=0) != sample(seed=1)).any()


@pytest.mark.parametrize(
    "x",
    [
        np.asfortranarray(X),
        np.repeat(X, 2, axis=1)[:, ::2],
        np.ascontiguousarray(X[::-1])[::-1],
        X.astype(np.int32),
        X.astype(np.uint8),
        X.astype(">i8"),
        np.broadcast_to(X, X.shape),
    ],
    ids=["fortran", "strided", "reversed", "int32", "uint8", "big-endian", "read-only"],
)
def test_layout_and_integer_type_do_not_matter(x):
    y = sample(x)
    np.testing.assert_array_equal(y, sample())
    assert y.dtype == x.dtype


@pytest.mark.parametrize("shape", [(0, 5), (3, 0), (0, 0)], ids=str)
def test_empty_batches_come_back(shape, framework):
    y = sample(framework.array(np.zeros(shape, np.int64)), example_ids=np.arange(shape[0]))
    assert tuple(y.shape) == shape


def test_sentences_without_words_stay():
    x = np.array([[1, 2, 0, 0], [-100, -1, 3, 0]])
    np.testing.assert_array_equal(sample(x, tau=math.inf, example_ids=[0, 1]), x)


def test_one_word_sentences_change():
    x = np.full((1000, 1), 7)
    y = sample(x, tau=math.inf, example_ids=np.arange(1000))
    assert 400 < (y != x).sum() < 600  # n is 0 or 1, each with probability 1/2


def test_out_and_lengths_give_the_same_ids():
    expected, lengths = sample(), (X >= 4).sum(axis=1)
    np.testing.assert_array_equal(sample(lengths=lengths), expected)
    out = np.empty_like(X)
    assert sample(out=out) is out
    np.testing.assert_array_equal(out, expected)
    strided = np.zeros((6, 22), np.int64)[:, ::2]
    np.testing.assert_array_equal(sample(out=strided), expected)
    work = X.copy()
    assert sample(work, out=work, lengths=lengths) is work
    np.testing.assert_array_equal(work, expected)
    fortran = np.asfortranarray(X)
    sample(fortran, out=fortran)
    np.testing.assert_array_equal(fortran, expected)


def test_out_that_overlaps_or_cannot_be_written_is_refused():
    buffer = np.zeros((7, 11), np.int64)
    with pytest.raises(ValueError, match="overlaps"):
        sample(buffer[:6], out=buffer[1:])
    locked = X.copy()
    locked.setflags(write=False)
    with pytest.raises(ValueError, match="written"):
        sample(locked, out=locked)


def test_a_bad_id_leaves_an_array_worked_on_in_place_as_it_was():
    work = X.copy()
    work[5, 10] = 50
    before = work.copy()
    with pytest.raises(ValueError, match=r"id 50 at \[5, 10\]"):
        sample(work, out=work)
    np.testing.assert_array_equal(work, before)


def test_lengths_that_claim_too_many_words_are_noticed():
    x = np.zeros((200, 11), np.int64)
    with pytest.raises(ValueError, match=r"lengths\[\d+\] = 11"):
        sample(x, lengths=np.full(200, 11), tau=math.inf, example_ids=np.arange(200))


def test_long_sentences_need_no_table_of_length_squared():
    import tracemalloc

    x = np.random.default_rng(0).integers(4, 50, (3, 10_000))
    ids = np.arange(3)
    expected = sample(x, tau=50.0, example_ids=ids)
    assert 0 < (expected != x).sum() < 1_000
    tracemalloc.start()
    sample(x, tau=1e9, example_ids=ids)
    sample(x, tau=math.inf, example_ids=ids)
    assert tracemalloc.get_traced_memory()[1] < 10e6
    tracemalloc.stop()


def test_rate_serves_every_length_of_a_batch():
    x = np.zeros((5000, 400), np.int64)
    lengths = np.random.default_rng(0).integers(1, 400, 5000)
    for row, length in enumerate(lengths):
        x[row, :length] = 7
    y = so.SwitchOut(WORDS, rate=0.2).sample(x, seed=1, example_ids=np.arange(5000))
    share = (y != x).sum() / lengths.sum()
    assert share == pytest.approx(0.2, abs=0.01)


@pytest.mark.parametrize("ids", [[0, 1 << 32], [5, 5 + (1 << 63)]], ids=["33 bits", "64 bits"])
def test_example_ids_above_32_bits_are_told_apart(ids):
    x = np.tile(np.arange(4, 44), (2, 1))
    y = sample(x, tau=math.inf, example_ids=np.array(ids, np.uint64))
    assert (y[0] != y[1]).any()


@pytest.mark.parametrize(("dtype", "size"), [(np.int8, 128), (np.uint8, 256), (np.int16, 1 << 15)])
def test_small_types_are_used_to_their_last_id(dtype, size):
    words = so.Words(size, draw_ids=[size - 1, 7])
    new = sample(X.astype(dtype), words=words, tau=math.inf)
    assert new.dtype == dtype
    assert new.max() == size - 1


def test_types_too_small_are_refused_by_every_framework(framework):
    x = framework.array(X.astype(np.int16))
    with pytest.raises(ValueError, match="cannot hold ids up to 32,768"):
        sample(x, words=so.Words((1 << 15) + 1))
    assert framework.numpy(sample(x, words=so.Words(1 << 15))).shape == X.shape
