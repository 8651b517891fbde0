"""The array path for arrays whose values are at hand; users' go through the compiled core."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from switchout.sampling.arrays import corrupt_arrays
from switchout.sampling.checks import check_example_ids, check_range


def through_arrays(
    backend: Any,
    tokens: Any,
    rule: Any,
    *,
    words: Any,
    address: Any,
    example_ids: Any,
    frozen: Any,
    lengths: Any,
    out: Any,
) -> Any:
    """Take the place of `corrupt_on_host`."""
    if lengths is not None or out is not None:
        raise TypeError("the array path knows neither out= nor lengths=")
    ids = check_example_ids(example_ids, tokens.shape[0])
    check_range(backend.to_numpy(tokens), words)
    return corrupt_arrays(backend, tokens, rule, words, address, ids, frozen)


@contextmanager
def array_path() -> Iterator[None]:
    """Inside, every array goes through array operations, as a device's do."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("switchout.sampling.corrupt.corrupt_on_host", through_arrays)
        yield
