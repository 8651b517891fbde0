"""What is not installed is said in one line, with the command that installs it."""

from __future__ import annotations

import subprocess
import sys
import types

import pytest

from switchout import cli
from switchout.errors import NotInstalledError, needs

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


SWEEP = """
base = "phrasebook"
[[config]]
name = "one"
"""


@pytest.mark.parametrize(
    "verb",
    [
        ["train", "phrasebook", "--steps", "1"],
        ["demo", "--quick"],
        ["reproduce", "table1", "--seeds", "1"],
        ["reproduce", "table1", "--tune"],
        ["reproduce", "tau", "--tau-x", "1"],
        ["sweep", "../sweep.toml"],
        ["backtranslate", "--corpus", "phrasebook"],
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("missing", [["safetensors"], ["torch", "safetensors"]], ids="+".join)
def test_training_says_what_it_needs_before_it_makes_a_folder(verb, missing, tmp_path):
    (tmp_path / "sweep.toml").write_text(SWEEP)
    here = tmp_path / "here"
    here.mkdir()
    code = f"{WITHOUT}\nfrom switchout.cli import run\nsys.exit(run({[*verb, '--out', 'out']}))"
    done = subprocess.run(
        [sys.executable, "-c", code, ",".join(missing)],
        capture_output=True,
        text=True,
        cwd=here,
        timeout=60,  # it takes a second, unless it trains
    )
    are = "is" if len(missing) == 1 else "are"
    advice = "pip install '.[train]' in your clone of switchout"
    assert done.stderr == f"switchout: {' and '.join(missing)} {are} not installed: {advice}\n"
    assert done.returncode == 2
    assert list(here.iterdir()) == []


def test_a_worker_without_a_package_says_so(monkeypatch, tmp_path):
    """On a cluster: the node of a driver may have less, or more, than those that train."""
    from switchout.runs import job
    from switchout.runs.config_file import load_config

    monkeypatch.setitem(sys.modules, "torch", None)
    for module in ("train", "result"):
        monkeypatch.delitem(sys.modules, f"switchout.runs.{module}", raising=False)
    monkeypatch.setattr(job, "_talk_to", lambda path: None)
    visit = job.work(load_config("phrasebook"), tmp_path / "run")
    assert visit.state == "failed"
    assert visit.reason.startswith("torch is not installed: pip install")


@pytest.mark.parametrize(
    ("missing", "are"),
    [
        (["uvicorn"], "uvicorn is"),
        (["fastapi", "jinja2"], "fastapi and jinja2 are"),
        (
            ["fastapi", "uvicorn", "jinja2", "starlette"],
            "fastapi, uvicorn, jinja2 and starlette are",
        ),
    ],
)
def test_a_verb_without_its_extra_names_all_that_is_missing(missing, are, monkeypatch, capsys):
    for package in missing:
        monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, "switchout.explore.server", raising=False)
    assert cli.run(["explore", "--port", "0"]) == 2
    assert capsys.readouterr().err == (
        f"switchout: {are} not installed: pip install '.[web]' in your clone of switchout\n"
    )


@pytest.mark.parametrize(
    ("options", "package", "where"),
    [
        ("--src text --out-src o --vocab-src x.model --encode", "sentencepiece", "x.model"),
        ("--src text --out-src o --vocab-src x.json --encode", "tokenizers", "x.json"),
        ("--pairs x.parquet --out-pairs o.parquet", "pyarrow", "Parquet"),
    ],
)
def test_what_needs_a_missing_package_is_named(
    options, package, where, monkeypatch, tmp_path, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").write_text("ein Hund\n")
    (tmp_path / "x.json").write_text('{"model": {"vocab": {"ein": 0, "Hund": 1}}}')
    for name in ("x.model", "x.parquet"):
        (tmp_path / name).write_text("only looked at by the package")
    monkeypatch.setitem(sys.modules, package, None)
    assert cli.run(["augment", *options.split(), "--tau-x", "1", "--seed", "1"]) == 2
    assert f"switchout: {where}: {package} is not installed: pip" in capsys.readouterr().err


def test_a_stub_that_stands_in_for_a_package_counts(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", types.ModuleType("ray"))
    with needs("ray"):
        pass
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(NotInstalledError, match="ray is not installed"), needs("ray"):
        pass
