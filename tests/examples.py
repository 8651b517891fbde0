"""Runs an example as a person would, in an empty folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "examples"
MOST_LINES = 60


def run_example(name: str, folder: Path) -> str:
    """Return what it printed; examples are short, and end without an error."""
    path = FOLDER / name
    assert len(path.read_text("utf-8").splitlines()) < MOST_LINES
    done = subprocess.run(
        [sys.executable, str(path)], cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "TF_CPP_MIN_LOG_LEVEL": "3"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout
