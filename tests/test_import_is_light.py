"""``import switchout`` loads no framework, and quickly."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ["torch", "tensorflow", "jax", "ray", "matplotlib", "sacrebleu", "pyarrow", "fastapi"]


def run(code: str) -> str:
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return result.stdout.strip()


def test_import_loads_no_framework():
    code = f"import sys, switchout; print([m for m in {HEAVY} if m in sys.modules])"
    assert run(code) == "[]"


def test_sampling_numpy_arrays_loads_no_framework():
    code = (
        "import sys, numpy as np, switchout as so;"
        "so.SwitchOut(so.Words(9), tau=1.0).sample(np.array([[5]]), seed=0, example_ids=[0]);"
        f"print([m for m in {HEAVY} if m in sys.modules])"
    )
    assert run(code) == "[]"


def test_import_takes_less_than_half_a_second():
    code = "import time; t = time.process_time(); import switchout; print(time.process_time() - t)"
    assert min(float(run(code)) for _ in range(3)) < 0.5


def test_every_public_name_exists():
    code = "import switchout as so; print([n for n in so.__all__ if getattr(so, n, None) is None])"
    assert run(code) == "[]"
