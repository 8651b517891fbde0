"""Samplers under threads, fork and spawn give the ids of a single thread."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

import switchout as so

POLICY = so.SwitchOut(so.Words(1000), tau=3.0)


def chunk(number):
    x = np.random.default_rng(number).integers(0, 1000, (300, 30))
    return POLICY.sample(x, seed=1, example_ids=np.arange(300) + 300 * number)


def test_threads_do_not_disturb_each_other():
    expected = [chunk(number) for number in range(16)]
    with ThreadPoolExecutor(4) as pool:
        for result, alone in zip(pool.map(chunk, range(16)), expected, strict=True):
            np.testing.assert_array_equal(result, alone)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_give_the_ids_of_their_parent(method):
    """In an interpreter of its own: frameworks loaded by other tests must not be forked."""
    result = subprocess.run(
        [sys.executable, __file__, method], capture_output=True, text=True, timeout=120
    )
    assert result.stdout.strip() == "4 chunks equal", result.stderr


if __name__ == "__main__":
    parent = [chunk(number) for number in range(4)]  # compiled and run before the fork
    context = multiprocessing.get_context(sys.argv[1])
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        equal = map(np.array_equal, pool.map(chunk, range(4)), parent)
        print(f"{sum(equal)} chunks equal")
