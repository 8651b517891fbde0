"""The compiled core under random calls: right ones against the array path, wrong ones refused.

`make test-sanitize` runs this file with more examples and the core built with ASan and UBSan.
"""

from __future__ import annotations

import contextlib
import inspect
import math
import os

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

import switchout as so
from switchout.core import compiled
from switchout.evaluation.neighbors import find_neighbors
from through_arrays import array_path

N_EXAMPLES = int(os.environ.get("SWITCHOUT_FUZZ", "100"))
FUZZ = settings(
    max_examples=N_EXAMPLES, deadline=None, derandomize=True, database=None,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip


@st.composite
def calls(draw):
    """A policy, a batch of any layout and an address."""
    size = draw(st.sampled_from([8, 30, 70]))
    specials = draw(st.sets(st.integers(0, size - 1), max_size=4))
    free = sorted(set(range(size)) - specials)
    few = draw(st.lists(st.sampled_from(free), min_size=2, max_size=6, unique=True))
    words = so.Words(size, specials, draw_ids=draw(st.sampled_from([None, few])))
    tau = draw(st.sampled_from([0.0, 0.3, 1.0, 20.0, math.inf]))
    rate = draw(st.floats(0, 1, allow_subnormal=False))  # TensorFlow switches them off
    plain = so.Words(size, specials)
    table = so.SimilarityTable.from_dictionary({i: few for i in free[::2]}, plain)
    policy = draw(st.sampled_from([
        so.SwitchOut(words, tau=tau), so.SwitchOut(words, rate=rate / 2),
        so.Hamming(words, tau=tau), so.WordDropout(words, rate=rate, null_id=few[0]),
        so.Similar(plain, table, tau=tau),
        so.Chain(so.WordDropout(words, rate=rate, null_id=0), so.SwitchOut(words, tau=tau)),
    ]))  # fmt: skip
    n_rows, width = draw(st.sampled_from([(1, 1), (3, 9), (2, 64), (5, 130), (300, 7), (0, 4)]))
    rng = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    x = rng.integers(-2, size, (n_rows, width))
    kind = draw(st.sampled_from([np.int8, np.int32, np.int64]))
    frozen = rng.random(x.shape) < 0.3 if draw(st.booleans()) else None
    address = {
        "seed": draw(st.integers(0, (1 << 64) - 1)), "epoch": draw(st.integers(0, (1 << 32) - 1)),
        "side": draw(st.sampled_from(["source", "target"])),
        "example_ids": rng.integers(0, 1 << 64, n_rows, dtype=np.uint64),
    }  # fmt: skip
    return policy, x.astype(kind), frozen, address


@FUZZ
@given(calls())
def test_any_call_gives_the_ids_of_the_array_path(call):
    policy, x, frozen, address = call
    ours = policy.sample(x, frozen=frozen, **address)
    in_place = x.copy()
    policy.sample(in_place, frozen=frozen, out=in_place, **address)
    with array_path():
        expected = policy.sample(x, frozen=frozen, **address)
    np.testing.assert_array_equal(ours, expected)
    np.testing.assert_array_equal(in_place, expected)


SENTENCES = st.lists(st.text("ab c", max_size=150), min_size=1, max_size=30)


@FUZZ
@given(SENTENCES, SENTENCES)
def test_any_sentences_get_their_nearest_neighbours(train, test):
    found = find_neighbors(train, test)
    split = [[w for w in line.split(" ") if w] for line in train]
    for line, distance, index in zip(test, found.distances, found.indices, strict=True):
        all_distances = [Levenshtein.distance([w for w in line.split(" ") if w], y) for y in split]
        assert distance == min(all_distances)
        assert index == all_distances.index(distance)


STRUCTS = [
    so.Words(30).compiled,
    so.Words(30, draw_ids=[5, 6]).compiled,
    compiled.make_constant_law(1 << 31, 1 << 31, -1),
    compiled.make_count_law(np.array([5, 9, 9, 9, 9], np.uint64), None, None, -1),
    compiled.make_similar(np.array([0, 1, 2]), np.array([1, 0]), np.array([9, 9], np.uint32)),
    compiled.make_index(np.array([0, 1, 1], np.int32), np.array([0, 2, 3]), 1, 2),
]
NUMBERS = st.one_of(st.integers(-3, 40), st.sampled_from([1 << 31, (1 << 63) - 1, -(1 << 63)]))
KINDS = [np.uint8, np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64]


@st.composite
def arrays(draw):
    kind = draw(st.sampled_from(KINDS))
    n = draw(st.sampled_from([0, 1, 2, 3, 4, 12, 70, 140]))
    rng = np.random.default_rng(draw(st.integers(0, 1 << 16)))
    values = rng.integers(0, draw(st.sampled_from([1, 3, 40, 200])), n)
    if draw(st.booleans()):
        values = np.sort(values)
    array = values.astype(kind)
    return array.reshape(-1, 2) if n % 2 == 0 and draw(st.booleans()) else array


ARGUMENTS = st.one_of(
    arrays(), arrays(), NUMBERS, st.none(), st.sampled_from(STRUCTS), st.binary(max_size=80)
)
WORDS, DRAWING, LAW, COUNTS, TABLE, INDEX = STRUCTS
IDS, STARTS = np.array([0, 1, 1], np.int32), np.array([0, 2, 3])


def good_calls() -> dict[str, list]:
    """Arguments that fit, for every function but those of text."""
    x, examples = np.arange(12).reshape(3, 4), np.arange(3, dtype=np.uint64)
    batch = [x, x.copy(), np.zeros(12, bool), np.array([0, 0, 4]), examples, 9]
    address = [7, 0, 1 << 31]
    y = np.array([5, 6])
    edits = [y, np.ones(2, bool), np.array([4, 5, 6]), 0.1]
    floats = np.ones((3, 4), np.float32)
    return {
        "sample": [*batch, *address, DRAWING, LAW],
        "sample_similar": [*batch[:2], None, None, *batch[4:], *address, WORDS, TABLE],
        "measure": [*batch[:3], None, *batch[4:], WORDS, np.zeros(3, np.int64)],
        "philox": [*address, 1, 2],
        "make_words": [30, 4, np.array([9]), np.array([12]), np.array([5, 6])],
        "make_count_law": [
            np.array([5, 9, 9, 9, 9], np.uint64), np.array([0, 0]), np.array([1, 2]), -1,
        ],
        "make_constant_law": [5, 6, -1],
        "make_similar": [np.array([0, 1, 2]), np.array([1, 0]), np.array([9, 9], np.uint32)],
        "number_words": [b"a b\nc\n", np.empty(4, np.int32), np.empty(3, np.int64)],
        "make_index": [IDS, STARTS, 1, 2],
        "search": [INDEX, IDS, STARTS, np.array([1]), np.empty(1, np.int64), np.empty(1, np.int64)],
        "draw_edited": [*edits, *address, 3, 0, False, np.empty(50, np.int64)],
        "script_weight": [*edits, y],
        "clipped_matches": [y, y],
        "add_dropped": [floats, examples, 1 << 31, 2.0, floats.copy()],
    }  # fmt: skip


NAMES = sorted(good_calls())
REFUSALS = (TypeError, ValueError, MemoryError, OverflowError, BufferError)


def test_the_calls_that_are_made_worse_are_good():
    for name, arguments in good_calls().items():
        if name != "sample_similar":  # its table is for two words, the batch has more
            getattr(compiled, name)(*arguments)
    assert compiled.sample_similar(*good_calls()["sample_similar"]) == (2, 1)  # a bad id in row 1


@settings(FUZZ, max_examples=20 * N_EXAMPLES)
@given(st.sampled_from(NAMES), st.lists(st.tuples(st.integers(0, 12), ARGUMENTS), max_size=3))
def test_no_arguments_crash_the_core(name, changes):
    arguments = good_calls()[name]
    for place, changed in changes:
        arguments[place % len(arguments)] = changed
    with contextlib.suppress(*REFUSALS):
        getattr(compiled, name)(*arguments)


@settings(FUZZ, max_examples=10 * N_EXAMPLES)
@given(st.lists(ARGUMENTS, max_size=14))
def test_no_arguments_at_all_crash_any_function(arguments):
    for name in dir(compiled):
        if inspect.isbuiltin(getattr(compiled, name)):
            with contextlib.suppress(*REFUSALS):
                getattr(compiled, name)(*arguments)
