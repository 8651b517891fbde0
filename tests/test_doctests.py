"""The examples in docstrings are true."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import switchout

TOOLKITS = {
    "ray",
    "eole",
    "opustrainer",
    "grain",
    "tensorflow",
    "jax",
    "lightning",
}  # may be absent
MODULES = [
    module.name
    for module in pkgutil.walk_packages(switchout.__path__, "switchout.")
    if not module.name.endswith("__main__")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_a_module(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        missing = error.name or ""
        if missing.partition(".")[0] not in TOOLKITS:
            raise
        pytest.skip(f"{missing} is not installed")
    assert doctest.testmod(module).failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    module = importlib.import_module("switchout.policies.policy")
    assert any(test.examples for test in finder.find(module))
