"""Our commands for toolkits that are not installed say so in one line."""

from __future__ import annotations

import subprocess
import sys

import pytest

AS_A_COMMAND = """
import runpy, sys
sys.modules[sys.argv[1]] = None  # as if it were not installed
runpy.run_module(f"switchout.integrations.{sys.argv[1]}", run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize("toolkit", ["eole", "opustrainer"])
def test_a_missing_toolkit_is_one_line(toolkit):
    done = subprocess.run(
        [sys.executable, "-c", AS_A_COMMAND, toolkit], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("switchout: ")
    assert done.stderr.endswith(f"pip install 'switchout[{toolkit}]'\n")
