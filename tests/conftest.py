"""Frameworks under test. SWITCHOUT_BACKENDS=numpy,torch makes a missing one of these an error."""

from __future__ import annotations

import importlib
import os

import pytest

from frameworks import FRAMEWORKS, Framework
from through_arrays import through_arrays

WANTED = os.environ.get("SWITCHOUT_BACKENDS")
NAMES = WANTED.split(",") if WANTED else list(FRAMEWORKS)


@pytest.fixture(params=NAMES)
def framework(request: pytest.FixtureRequest) -> Framework:
    """NumPy, PyTorch, TensorFlow and JAX, one after another."""
    try:
        importlib.import_module(request.param)
    except ImportError:
        if WANTED:
            raise
        pytest.skip(f"{request.param} is not installed")
    return FRAMEWORKS[request.param]()


@pytest.fixture
def array_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Send arrays whose values are at hand through array operations, as a device's are."""
    monkeypatch.setattr("switchout.sampling.corrupt.corrupt_on_host", through_arrays)
