"""Arrays of every kind through the Python API: equal to a plain reference, or refused by a line.

The reference is the sampler itself on the plainest input, one row at a time: whatever the dtype,
the memory layout, the batch or the thread, a sentence at an address becomes the same ids.
"""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import switchout as so

SIZE = 100
WORDS = so.Words(SIZE)
POLICIES = {
    "switchout": so.SwitchOut(WORDS, tau=2.0),
    "by rate": so.SwitchOut(WORDS, rate=0.3),
    "hamming": so.Hamming(WORDS, tau=0.4),
    "raml": so.RAML(WORDS, tau=1.5),
    "word dropout": so.WordDropout(WORDS, rate=0.2, null_id=0),
}
INTEGERS = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
LAYOUTS = ["plain", "fortran", "every second", "turned round", "inside", "read-only", "mapped"]
few = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def laid_out(x: np.ndarray, layout: str, folder: Any) -> np.ndarray:
    """Return the same values in memory of another order."""
    if layout == "fortran":
        return np.asfortranarray(x)
    if layout == "every second":
        wide = np.zeros((x.shape[0], 2 * x.shape[1]), x.dtype)
        wide[:, ::2] = x
        return wide[:, ::2]
    if layout == "turned round":
        return x[::-1, ::-1].copy()[::-1, ::-1]
    if layout == "inside":
        around = np.full((x.shape[0] + 2, x.shape[1] + 3), 7, x.dtype)
        around[1:-1, 2:-1] = x
        return around[1:-1, 2:-1]
    if layout == "mapped":
        path = folder / f"{x.dtype}-{x.shape}.bin"
        path.write_bytes(x.tobytes())
        return np.memmap(path, x.dtype, mode="r", shape=x.shape)
    x = x.copy()
    x.flags.writeable = layout != "read-only"
    return x


def row_by_row(policy: Any, x: np.ndarray, ids: np.ndarray, **address: int) -> np.ndarray:
    rows = [
        policy.sample(row[None].astype(np.int64), example_ids=[int(i)], **address)[0]
        for row, i in zip(x, ids, strict=True)
    ]
    return np.array(rows, np.int64).reshape(x.shape)


@few
@given(
    name=st.sampled_from(sorted(POLICIES)),
    dtype=st.sampled_from(INTEGERS),
    layout=st.sampled_from(LAYOUTS),
    shape=st.tuples(st.integers(0, 5), st.integers(0, 80)),
    first=st.sampled_from([0, 1, 2**31 - 2, 2**32 - 3, 2**63 - 2, 2**63, 2**64 - 6]),
    seed=st.sampled_from([0, 1, 2**63, 2**64 - 1]),
    epoch=st.sampled_from([0, 1, 2**32 - 1]),
)
def test_every_layout_and_dtype_gives_the_ids_of_its_rows(
    tmp_path_factory, name, dtype, layout, shape, first, seed, epoch
):
    if layout == "mapped" and 0 in shape:
        layout = "plain"  # an empty file cannot be mapped
    policy = POLICIES[name]
    x = np.random.default_rng(sum(shape)).integers(0, SIZE, shape).astype(dtype)
    ids = np.array([first + i for i in range(shape[0])], np.uint64)
    given_x = laid_out(x, layout, tmp_path_factory.mktemp("mapped"))
    found = policy.sample(given_x, seed=seed, example_ids=ids, epoch=epoch)
    assert (found.dtype, found.shape) == (x.dtype, x.shape)
    np.testing.assert_array_equal(given_x, x)  # the input is as before
    expected = row_by_row(policy, x, ids, seed=seed, epoch=epoch)
    np.testing.assert_array_equal(found.astype(np.int64), expected)


WRONG: dict[str, Any] = {
    "float": np.ones((2, 3)),
    "bool": np.ones((2, 3), bool),
    "complex": np.ones((2, 3), complex),
    "object": np.ones((2, 3), object),
    "text": np.full((2, 3), "a"),
    "time": np.zeros((2, 3), "datetime64[s]"),
    "structured": np.zeros((2, 3), [("a", int)]),
    "a number": np.int64(3),
    "rank 1": np.ones(3, int),
    "rank 3": np.ones((2, 3, 1), int),
    "a list": [[1, 2, 3]],
    "nothing": None,
    "beyond the vocabulary": np.full((2, 3), SIZE),
    "huge": np.full((2, 3), 2**62),
    "uint64 from 2^63": np.full((2, 3), 2**63, np.uint64),
    "uint64 at its end": np.full((2, 3), 2**64 - 1, np.uint64),
}


@pytest.mark.parametrize("name", sorted(POLICIES))
@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_no_batch_of_ids_is_refused(name, wrong):
    with pytest.raises((TypeError, ValueError)):
        POLICIES[name].sample(WRONG[wrong], seed=1, example_ids=[0, 1])


NUMBERS = st.floats(allow_subnormal=False)  # TensorFlow switches them off for its process


@few
@given(
    ids=st.one_of(
        st.none(), st.text(), NUMBERS, st.booleans(), st.integers(),
        st.lists(st.one_of(st.integers(-(2**70), 2**70), NUMBERS, st.text(), st.none())),
    ),
    seed=st.one_of(st.integers(-(2**70), 2**70), NUMBERS, st.text(), st.none(), st.booleans()),
)  # fmt: skip
def test_any_address_is_used_or_refused(ids, seed):
    x = np.arange(6).reshape(2, 3) + 4
    try:
        found = POLICIES["switchout"].sample(x, seed=seed, example_ids=ids)
    except (TypeError, ValueError):
        return
    assert found.shape == x.shape
    assert isinstance(seed, int)
    assert 0 <= seed < 2**64
    assert len(ids) == 2


def chunk(number: int) -> np.ndarray:
    x = np.random.default_rng(number).integers(0, SIZE, (200, 70))
    return POLICIES["switchout"].sample(x, seed=1, example_ids=np.arange(200) + 200 * number)


def test_sixteen_threads_equal_one():
    serial = [chunk(number) for number in range(64)]
    with ThreadPoolExecutor(16) as pool:
        for found, expected in zip(pool.map(chunk, range(64)), serial, strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.faults
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_equal_one(method):
    done = subprocess.run(
        [sys.executable, __file__, method], capture_output=True, text=True, timeout=120
    )
    assert done.stdout.strip() == "8 chunks equal", done.stderr


if __name__ == "__main__":
    serial = [chunk(number) for number in range(8)]  # run before the fork, too
    context = multiprocessing.get_context(sys.argv[1])
    with ProcessPoolExecutor(4, mp_context=context) as pool:
        equal = map(np.array_equal, pool.map(chunk, range(8)), serial)
        print(f"{sum(equal)} chunks equal")
