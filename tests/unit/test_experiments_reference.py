"""The shipped reference: shown beside the same rows only, marked as ours, never half."""

from __future__ import annotations

from dataclasses import replace
from statistics import median

import pytest
from made_runs import finish_row, make_config, make_experiment, write_corpus

from switchout import demo
from switchout.errors import SwitchOutError
from switchout.experiments import reference as module
from switchout.experiments.experiment import Column, load
from switchout.experiments.reference import read_reference, reference_for, write_reference
from switchout.experiments.reproduce import Wish, base_config
from switchout.experiments.rows import table1_rows
from switchout.report.write import write_report

TAUS = (1.0, 1.1)


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    """A table of three seeds written as the shipped reference; returns its configuration."""
    config = make_config(write_corpus(tmp_path / "corpus"))
    rows = table1_rows(config, taus=TAUS, n_seeds=3)
    for row in rows:
        finish_row(row, tmp_path / "runs", test=0.2, dev=0.2)
    make_experiment("table1", rows, tmp_path / "runs", tmp_path / "full")
    monkeypatch.setattr(module, "SHIPPED", tmp_path / "reference.json")
    write_reference(tmp_path / "full", ["+SwitchOut: undecided."])
    return config


def test_reference_holds_every_run_of_the_table(shipped, tmp_path):
    reference = read_reference(module.SHIPPED)
    results = write_report(tmp_path / "full")["columns"][0]
    assert [row.name for row in reference.rows] == [row["name"] for row in results["rows"]]
    for row, known in zip(reference.rows, results["rows"], strict=True):
        assert [run.test_bleu for run in row.runs] == [r["test_bleu"] for r in known["runs"]]
        assert row.median == median(run.test_bleu for run in row.runs)
    assert reference.data_hash == results["data_hash"]


def test_reference_stands_beside_a_table_with_fewer_seeds_and_is_marked(shipped, tmp_path):
    rows = table1_rows(shipped, taus=TAUS, n_seeds=2)
    make_experiment("table1", rows, tmp_path / "runs", tmp_path / "few")
    results = write_report(tmp_path / "few")
    assert results["columns"][0]["shipped_reference"]["rows"][0]["runs"][2]["seed"] == 3
    page, text = ((tmp_path / "few" / name).read_text() for name in ("report.html", "table.txt"))
    for shown in (page, text):
        assert "reference, shipped" in shown
        assert "Shipped with switchout, not trained here: 3 seeds a row" in shown
    assert "12 of your 12 runs reached exactly the test BLEU" in page


def test_reference_is_found_whatever_its_first_seed_and_promises_its_fewest(tmp_path):
    config = make_config(write_corpus(tmp_path / "corpus"))
    rows = table1_rows(config, taus=TAUS, n_seeds=2)
    later = [replace(row, seeds=(4, 5, 6)[: 2 + i % 2]) for i, row in enumerate(rows)]
    for row in later:
        finish_row(row, tmp_path / "runs", test=0.2, dev=0.2)
    make_experiment("table1", later, tmp_path / "runs", tmp_path / "full")
    path = write_reference(tmp_path / "full", [], tmp_path / "reference.json")
    reference = reference_for(Column("toy", tuple(rows)), path)
    assert reference is not None
    assert reference.n_seeds == 2  # not the three that some rows have


@pytest.mark.parametrize(
    "other",
    [
        {"taus": (0.9, 1.1)},
        {"train": {"steps": 30}},
        {"lines": "another text\n"},
    ],
    ids=["temperature", "steps", "text"],
)
def test_reference_of_anything_else_is_not_shown(shipped, tmp_path, other):
    config = shipped
    if "train" in other:
        train = config.train.model_copy(update=other["train"])
        config = config.model_copy(update={"train": train})
    if "lines" in other:
        corpus = write_corpus(tmp_path / "other" / "corpus")
        for language in ("xx", "yy"):
            with (corpus / f"train.{language}").open("a") as file:
                file.write(other["lines"])
        config = make_config(corpus)
    rows = table1_rows(config, taus=other.get("taus", TAUS), n_seeds=2)
    assert reference_for(Column("toy", tuple(rows))) is None


def test_unfinished_table_is_no_reference(shipped, tmp_path):
    rows = table1_rows(shipped, taus=TAUS, n_seeds=4)
    make_experiment("table1", rows, tmp_path / "runs", tmp_path / "more")
    with pytest.raises(SwitchOutError, match="6 are not finished"):
        write_reference(tmp_path / "more", [], tmp_path / "half.json")
    assert not (tmp_path / "half.json").exists()


def test_no_reference_is_no_error(tmp_path):
    assert read_reference(tmp_path / "absent.json") is None


def test_the_reference_in_the_package_is_of_the_present_demo():
    """Whoever changes the demo's settings or the phrasebook must make the reference again."""
    reference = read_reference(module.SHIPPED)
    if reference is None:
        pytest.skip("no reference shipped yet: python -m switchout.demo --write-reference")
    base = base_config("phrasebook", Wish(["phrasebook"], overrides=demo.SETTINGS))
    rows = table1_rows(base, taus=demo.OTHER_TAUS, n_seeds=2)
    assert reference_for(Column("demo", tuple(rows))) == reference
    assert reference.n_seeds >= demo.REFERENCE_SEEDS


def test_demo_tells_what_its_runs_cannot(shipped, tmp_path):
    rows = table1_rows(shipped, taus=TAUS, n_seeds=2)
    make_experiment("table1", rows, tmp_path / "runs", tmp_path / "few")
    results = write_report(tmp_path / "few")
    said = " ".join(demo._remarks(results, 2, is_quick=False))
    assert "2 seeds a row settle little" in said
    assert "Shipped reference, +SwitchOut: undecided." in said
    results["columns"][0]["shipped_reference"] = None
    said = " ".join(demo._remarks(results, 9, is_quick=False))
    assert "another configuration, or absent" in said
    assert "settle little" not in said


@pytest.mark.parametrize(
    ("environment", "arguments", "says"),
    [
        ({"SEEDS": "0"}, [], "SEEDS=0"),
        ({"SEEDS": "two"}, [], "SEEDS=two"),
        ({}, ["--wat"], "--wat"),
    ],
)
def test_demo_refuses_bad_input_in_one_line(monkeypatch, capsys, environment, arguments, says):
    monkeypatch.delenv("SEEDS", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert demo.main(arguments) == 2
    printed = capsys.readouterr()
    assert says in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""


def test_demo_writes_the_reference_of_a_whole_table_only(shipped, tmp_path, monkeypatch, capsys):
    module.SHIPPED.unlink()
    monkeypatch.setattr(demo, "OUT", tmp_path / "full")
    monkeypatch.setenv("SEEDS", "3")
    results = {"answers": ["+SwitchOut: helps."]}
    monkeypatch.setattr(demo, "_table", lambda n_seeds, settings: (n_seeds != 3, results))
    assert demo.main(["--write-reference"]) == 0
    assert f"reference: {module.SHIPPED}" in capsys.readouterr().out
    assert read_reference(module.SHIPPED).answers == ("+SwitchOut: helps.",)
    module.SHIPPED.unlink()
    monkeypatch.setenv("SEEDS", "4")  # as if a run had failed
    assert demo.main(["--write-reference"]) == 1
    assert not module.SHIPPED.exists()


def test_reference_is_about_what_was_asked(shipped, tmp_path):
    assert read_reference(module.SHIPPED).command == load(tmp_path / "full").command
