"""Building the core: one clear line where it cannot be built, a wheel that works where it can."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_without_a_compiler_the_build_stops_with_one_line(tmp_path):
    build = ["setup.py", "--quiet", "build_ext", "--build-temp", tmp_path, "--build-lib", tmp_path]
    result = subprocess.run(
        [sys.executable, *build],
        cwd=ROOT,
        env=os.environ | {"CC": "no-such-compiler"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode != 0
    last = result.stderr.strip().splitlines()[-1]
    assert "needs gcc or clang and the headers of Python; there is no no-such-compiler" in last
    assert "Traceback" not in result.stderr


def test_without_a_built_core_the_import_says_what_to_do(tmp_path):
    package = tmp_path / "switchout" / "core"
    package.mkdir(parents=True)
    (tmp_path / "switchout" / "__init__.py").touch()
    source = ROOT / "src" / "switchout" / "core" / "__init__.py"
    (package / "__init__.py").write_text(source.read_text())
    result = subprocess.run(
        [sys.executable, "-c", "import switchout.core"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "run `make core`, or pip install" in result.stderr.strip().splitlines()[-1]


@pytest.mark.slow
@pytest.mark.parametrize("from_wheel", [False, True])
def test_pip_installs_a_package_that_samples(from_wheel, tmp_path):
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    alone = ["--no-deps", "--no-build-isolation"]
    what = [str(ROOT)]
    if from_wheel:
        subprocess.run([*pip, "wheel", *alone, "-w", tmp_path, ROOT], check=True)
        what = [str(path) for path in tmp_path.glob("*.whl")]
        assert "-cp311-abi3-" in what[0]
    site = tmp_path / "site"
    subprocess.run([*pip, "install", *alone, "--target", site, *what], check=True)
    code = (
        "import switchout as so, numpy as np; print(so.__file__);"
        "print(so.switch_out(np.array([[7]]), tau=0, words=so.Words(9), seed=0, example_ids=[0]))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.split() == [str(site / "switchout" / "__init__.py"), "[[7]]"]
