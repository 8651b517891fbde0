"""What is not installed is said in one line, with the command that installs it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from switchout import cli

WITHOUT = """
import sys
sys.modules.update(dict.fromkeys(sys.argv[1].split(","), None))  # as if they were not installed
"""
AS_A_COMMAND = "import runpy; runpy.run_module(sys.argv[2], run_name='__main__', alter_sys=True)"
AS_A_MODULE = """
try:
    __import__(sys.argv[2])
except ImportError as error:
    print(error)
"""


def said(code: str, missing: str, module: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WITHOUT + code, missing, f"switchout.integrations.{module}"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("toolkit", ["eole", "opustrainer"])
def test_a_missing_toolkit_is_one_line(toolkit):
    done = said(AS_A_COMMAND, toolkit, toolkit)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("switchout: ")
    assert done.stderr.endswith(f": pip install '.[{toolkit}]' in your clone of switchout\n")


@pytest.mark.parametrize(
    ("module", "missing", "message"),
    [
        ("torch", "torch", "torch is not installed: pip install '.[train]' in your clone of"),
        ("huggingface", "transformers", "pip install '.[huggingface]' in your clone of switchout"),
        ("lightning", "lightning", "lightning is not installed: pip install lightning\n"),
        ("grain", "grain", "grain is not installed: pip install grain\n"),
    ],
)
def test_a_drop_in_without_its_framework_is_an_import_error_with_advice(module, missing, message):
    done = said(AS_A_MODULE, missing, module)
    assert message in done.stdout, done.stderr
    assert done.stdout.count("\n") == 1


@pytest.mark.parametrize("missing", [["safetensors"], ["torch", "safetensors"]], ids="+".join)
def test_training_says_what_it_needs_before_it_makes_a_folder(missing, tmp_path):
    command = ["train", "phrasebook", "--steps", "1", "--out", "run"]
    code = f"{WITHOUT}\nfrom switchout.cli import run\nsys.exit(run({command}))"
    done = subprocess.run(
        [sys.executable, "-c", code, ",".join(missing)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    are = "is" if len(missing) == 1 else "are"
    advice = "pip install '.[train]' in your clone of switchout"
    assert done.stderr == f"switchout: {' and '.join(missing)} {are} not installed: {advice}\n"
    assert done.returncode == 2
    assert list(tmp_path.iterdir()) == []


def test_a_verb_without_its_extra_says_how_to_install_it(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "switchout.explore.server", raising=False)
    assert cli.run(["explore", "--port", "0"]) == 2
    assert capsys.readouterr().err == (
        "switchout: uvicorn is not installed: pip install '.[web]' in your clone of switchout\n"
    )
