"""Tables trained for real, tiny: finished runs are kept, failures and kills lose nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from train_toys import write_config, write_corpus

from switchout.cli import run
from switchout.experiments.experiment import FORMAT

N_RUNS = 2  # of the figure: two rows, one seed


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A corpus and a configuration that trains in a second, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SWITCHOUT_RUNS", "runs")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    write_config(tmp_path / "toy.toml", write_corpus(tmp_path / "toy-xx-yy"), train="steps = 12")
    text = (tmp_path / "toy.toml").read_text().replace("steps = 24\n", "", 1)
    (tmp_path / "toy.toml").write_text(text)
    return tmp_path


def reproduce(kind: str, *more: str) -> list[str]:
    corpus = ["--corpus", "toy-xx-yy", "--preset", "toy.toml", "--workers", "2"]
    return ["reproduce", kind, *corpus, "--out", f"out-{kind}", *more]


def run_folders(root: Path) -> dict[str, int]:
    return {p.parent.name: p.stat().st_mtime_ns for p in root.glob("runs/*/result.json")}


def test_runs_are_shared_by_tables_extended_by_seeds_and_never_repeated(toy, capsys):
    assert run(reproduce("wer", "--seeds", "1")) == 0
    first = run_folders(toy)
    assert len(first) == 2
    assert run(reproduce("wer", "--seeds", "1")) == 0
    assert run_folders(toy) == first
    assert run(reproduce("wer", "--seeds", "2")) == 0
    assert len(run_folders(toy)) == 4
    capsys.readouterr()
    assert run(reproduce("table1", "--seeds", "1", "--json")) == 0
    results = json.loads(capsys.readouterr().out)
    assert [len(row["runs"]) for row in results["columns"][0]["rows"]] == [1] * 6
    after = run_folders(toy)
    assert len(after) == 2 + 6
    assert first.items() <= after.items()
    assert (toy / "out-table1" / "report.html").is_file()
    assert run(["report", "out-table1"]) == 0


def test_a_finished_run_tells_the_other_checkpoint_rules_and_where_it_was_made(toy):
    assert run(reproduce("wer", "--seeds", "1", "--set", "train.dev_bleu=true")) == 0
    for folder in (toy / "runs").glob("*/"):
        record = json.loads((folder / "record.json").read_text())
        result = json.loads((folder / "result.json").read_text())
        assert {*record["rules"]} == {"dev-perplexity", "dev-bleu", "last"}
        assert record["rules"]["last"]["step"] == result["steps"]
        assert record["rules"]["dev-perplexity"]["test_bleu"] == result["test_bleu"]
        assert record["machine"]["torch"]


def test_one_broken_run_is_listed_and_stops_no_other(toy, capfd):
    (toy / "sweep.toml").write_text(
        'base = "toy.toml"\n[[config]]\nname = "good"\n[[config]]\nname = "broken"\n'
        'set = {"train.learning_rate" = 1e30, "train.warmup" = 0}\n'
    )
    assert run(["sweep", "sweep.toml", "--workers", "1", "--out", "swept"]) == 1
    printed = capfd.readouterr()
    assert "1 runs failed" in printed.err
    assert "broken seed 1" in printed.err
    results = json.loads((toy / "swept" / "results.json").read_text())
    assert [len(row["runs"]) for row in results["columns"][0]["rows"]] == [1, 0]


def drive(folder: Path, root: str) -> subprocess.Popen[bytes]:
    environment = os.environ | {"SWITCHOUT_RUNS": root}
    command = [
        sys.executable,
        "-m",
        "switchout",
        *reproduce("wer", "--seeds", "1", "--set", "train.steps=60"),
    ]
    return subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.DEVNULL)


def numbers(folder: Path, root: str) -> dict[str, tuple[float, float, str]]:
    found = {}
    for path in (folder / root).glob("*/result.json"):
        result = json.loads(path.read_text())
        lines = (path.parent / "test.hyp").read_text()
        found[path.parent.name] = (result["dev_perplexity"], result["test_bleu"], lines)
    return found


def test_killed_driver_goes_on_and_ends_with_the_same_numbers(toy):
    driver = drive(toy, "killed")
    deadline = time.monotonic() + 300
    while not list((toy / "killed").glob("*/resume/step-*")):
        assert time.monotonic() < deadline
        assert driver.poll() is None
        time.sleep(0.02)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    assert len(numbers(toy, "killed")) < N_RUNS
    again = drive(toy, "killed")
    whole = drive(toy, "whole")
    assert (again.wait(300), whole.wait(300)) == (0, 0)
    assert len(numbers(toy, "whole")) == N_RUNS
    assert numbers(toy, "killed") == numbers(toy, "whole")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["reproduce", "table1", "--corpus", "phrasebok"], "did you mean 'phrasebook'"),
        (["reproduce", "tabel1"], "did you mean 'table1'"),
        (["reproduce", "table1", "--seeds", "0"], "--seeds"),
        (["reproduce", "table1", "--engine", "rya"], "did you mean 'ray'"),
        (["reproduce", "table1", "--preset", "broken.toml"], "did you mean 'dropout'"),
        (["reproduce", "table1", "--out", "full"], "full: is not empty"),
        (["reproduce", "table1", "--out", "other"], "format 7"),
        (["reproduce", "table1", "--out", "figure"], "figure: holds wer, not table1"),
        (["reproduce", "tau", "--tau-x", "-1"], "--tau-x -1"),
        (["reproduce", "table1", "--tau-x", "0.5,1"], "one --tau-x and one --tau-y"),
        (["reproduce", "wer", "--corpus", "no-dev", "--preset", "toy.toml"], "no-dev"),
        (
            ["backtranslate", "--corpus", "toy-xx-yy", "--preset", "toy.toml", "--out", "bt"],
            "--mono",
        ),
        (["sweep", "nowhere.toml"], "nowhere.toml: no such file"),
        (["report", "nowhere"], "nowhere: no such folder"),
    ],
)
def test_bad_input_is_one_line_and_trains_nothing(toy, arguments, says, capsys):
    write_corpus(toy / "no-dev")
    for language in ("xx", "yy"):
        (toy / "no-dev" / f"dev.{language}").write_text("")
    (toy / "broken.toml").write_text('[data]\ncorpus = "phrasebook"\n[model]\ndropuot = 0.1\n')
    (toy / "full").mkdir()
    (toy / "full" / "thesis.tex").write_text("years of work")
    (toy / "other").mkdir()
    (toy / "other" / "experiment.json").write_text('{"format": 7}')
    (toy / "figure").mkdir()
    (toy / "figure" / "experiment.json").write_text(json.dumps({"format": FORMAT, "kind": "wer"}))
    before = sorted(path.name for path in toy.iterdir())
    assert run(arguments) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert says in message
    assert sorted(path.name for path in toy.iterdir()) == before
