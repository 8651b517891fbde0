"""Inputs that once gave wrong ids or numbers without a word (issue: no silent damage)."""

from __future__ import annotations

import math

import numpy as np
import pytest

import switchout as so
from switchout.core import compiled

WORDS = so.Words(20)
POLICY = so.SwitchOut(WORDS, tau=math.inf)


@pytest.mark.parametrize("bad", [1 << 63, (1 << 64) - 1, (1 << 63) + 7, 20])
def test_large_unsigned_ids_are_refused_not_taken_as_specials(bad):
    x = np.full((2, 5), 7, np.uint64)
    x[1, 3] = bad
    before = x.copy()
    with pytest.raises(ValueError, match=r"\[1, 3\] is not below size 20"):
        POLICY.sample(x, seed=1, example_ids=[0, 1])
    with pytest.raises(ValueError, match="not below size"):
        POLICY.sample(x, seed=1, example_ids=[0, 1], out=x)
    np.testing.assert_array_equal(x, before)


def test_unsigned_ids_get_the_ids_of_signed_ones():
    x = np.random.default_rng(0).integers(0, 20, (50, 9))
    ours = POLICY.sample(x.astype(np.uint64), seed=1, example_ids=np.arange(50))
    assert ours.dtype == np.uint64
    np.testing.assert_array_equal(ours, POLICY.sample(x, seed=1, example_ids=np.arange(50)))


def test_a_bad_id_in_the_last_row_leaves_an_array_in_place_untouched():
    x = np.random.default_rng(0).integers(4, 20, (700, 9))
    x[-1, -1] = 20
    before = x.copy()
    with pytest.raises(ValueError, match=r"\[699, 8\]"):
        POLICY.sample(x, seed=1, example_ids=np.arange(700), out=x)
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("bad", [20, 1 << 40])
def test_log_prob_refuses_ids_that_the_vocabulary_does_not_have(bad):
    x = np.full((1, 5), 7)
    other = x.copy()
    other[0, 2] = bad
    for pair in ((x, other), (other, x)):
        with pytest.raises(ValueError, match="not below size"):
            POLICY.log_prob(*pair)


def test_log_prob_with_an_empty_table():
    policy = so.Similar(WORDS, so.SimilarityTable.from_dictionary({}, WORDS), tau=1.0)
    x = np.array([[5, 6, 2], [7, 8, 2]])
    other = np.array([[5, 6, 2], [7, 9, 2]])
    assert policy.log_prob(other, x).tolist() == [0.0, -math.inf]
    np.testing.assert_array_equal(policy.sample(x, seed=0, example_ids=[0, 1]), x)


def test_a_stream_does_not_begin_again_at_its_end():
    noise = POLICY.stream(seed=1, rank=2, world_size=3)
    last = ((1 << 64) - 1 - 2) // 3  # the number of the last example of this rank
    state = noise.state() | {"seen": last - 1}
    noise.restore(state)
    x = np.full((2, 5), 7)
    ids = np.array([(last - 1) * 3 + 2, last * 3 + 2], np.uint64)
    np.testing.assert_array_equal(noise(x), POLICY.sample(x, seed=1, example_ids=ids))
    with pytest.raises(ValueError, match="come to its end"):
        noise(x[:1])
    with pytest.raises(ValueError, match="come to its end"):
        noise.restore(state | {"seen": 1 << 64})
    with pytest.raises(ValueError, match="a count"):
        noise.restore(state | {"seen": True})


class StreamedSet:
    """A data set that calls a stream where it must not."""

    def __init__(self):
        self.noise = POLICY.stream(seed=1)

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return self.noise(np.full((1, 5), 7))[0]


@pytest.mark.parametrize("is_persistent", [False, True])
def test_a_stream_in_workers_of_a_dataloader_is_refused(is_persistent):
    data = pytest.importorskip("torch.utils.data")
    assert len(list(data.DataLoader(StreamedSet()))) == 8  # in this process it works
    loader = data.DataLoader(StreamedSet(), num_workers=2, persistent_workers=is_persistent)
    with pytest.raises(RuntimeError, match="noise would repeat"):
        list(loader)


def arguments(**changed):
    """The arguments of `compiled.sample` for a good batch, some of them replaced."""
    x = np.full((3, 4), 7)
    law = compiled.make_constant_law(1 << 31, 1 << 31, -1)
    good = {
        "source": x, "rows": np.empty_like(x), "frozen": None, "lengths": None,
        "examples": np.arange(3, dtype=np.uint64), "last_example": 100,
        "seed": 1, "epoch": 0, "stream": 0, "words": WORDS.compiled, "law": law,
    }  # fmt: skip
    return [*(good | changed).values()]


BAD_ARGUMENTS = {
    "items of two bytes": {"source": np.zeros((3, 4), np.int16)},
    "one dimension": {"source": np.zeros(12, np.int64)},
    "not contiguous": {"source": np.zeros((4, 3), np.int64).T},
    "rows of another type": {"rows": np.empty((3, 4), np.int32)},
    "rows of another shape": {"rows": np.empty((3, 5), np.int64)},
    "too few examples": {"examples": np.arange(2, dtype=np.uint64)},
    "a short mask": {"frozen": np.zeros((3, 3), bool)},
    "short lengths": {"lengths": np.zeros(2, np.int64)},
    "a long epoch": {"epoch": 1 << 32},
    "no struct": {"words": object()},
    "another struct": {"law": WORDS.compiled},
    "a list": {"source": [[7]]},
    "a negative seed": {"seed": -1},
}


@pytest.mark.parametrize("name", BAD_ARGUMENTS)
def test_the_core_refuses_what_does_not_fit(name):
    assert compiled.sample(*arguments()) == (0, 0)
    with pytest.raises((TypeError, ValueError)):
        compiled.sample(*arguments(**BAD_ARGUMENTS[name]))


def test_the_core_refuses_to_write_to_an_array_that_is_read_only():
    x = np.full((3, 4), 7)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="rows"):
        compiled.sample(*arguments(rows=x))
    with pytest.raises(ValueError, match="source"):
        compiled.sample(*arguments(source=x, rows=x))
    assert compiled.sample(*arguments(source=x)) == (0, 0)


INTS = np.array([0, 1, 2, 3], np.int64)


@pytest.mark.parametrize(
    "call",
    [
        lambda: compiled.make_words(10, 4, INTS[2:3], INTS[3:4], None),  # a range below lowest
        lambda: compiled.make_words(10, 4, INTS[:0], INTS[:0], np.array([9, 8])),
        lambda: compiled.make_words(10, 4, INTS[:0], INTS[:0], np.array([9, 10])),
        lambda: compiled.make_count_law(INTS[:3].view(np.uint64), None, None, -1),
        lambda: compiled.make_count_law(INTS[::-1].copy().view(np.uint64), None, None, -1),
        lambda: compiled.make_count_law(INTS.view(np.uint64), INTS[1:2], INTS[1:2], -1),
        lambda: compiled.make_constant_law(1 << 32, 0, -1),
        lambda: compiled.make_similar(INTS, INTS, np.zeros(4, np.uint32)),
        lambda: compiled.make_index(np.array([0, 5], np.int32), np.array([0, 2]), 1, 2),
        lambda: compiled.make_index(np.array([0, 1], np.int32), np.array([0, 3]), 1, 2),
        lambda: compiled.make_index(np.array([0, 1], np.int32), np.array([0, 2]), 2, 2),
        lambda: compiled.number_words(b"a\nb\n", np.empty(3, np.int32), np.empty(2, np.int64)),
        lambda: compiled.number_words(b"a\nb\n", np.empty(2, np.int32), np.empty(3, np.int64)),
        lambda: compiled.add_dropped(np.zeros(6, np.float32), INTS[:4], 0, 1.0, None),
    ],
)
def test_structs_of_the_core_are_checked_when_they_are_made(call):
    with pytest.raises(ValueError, match=r"expected|sizes|no |ranges|limits|small|shapes|another"):
        call()
