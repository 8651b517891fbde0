"""A report that is made again: from another working directory, of runs that noted less."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest
from made_runs import finish_row, make_config, make_experiment, write_corpus

from switchout.cli import run
from switchout.experiments.experiment import NAME, Question, Row, load
from switchout.report.write import write_report


@pytest.fixture
def reported(tmp_path, monkeypatch):
    """A folder with runs and a report, made as the command line does: named from there."""
    monkeypatch.chdir(tmp_path)
    config = make_config(write_corpus(tmp_path / "corpus"))
    rows = [Row("a", config, (1, 2)), Row("b", _longer(config), (1, 2), (Question(("a",)),))]
    for row, share in zip(rows, (0.2, 0.1), strict=True):
        finish_row(row, tmp_path / "runs", test=share, dev=share)
    make_experiment("sweep", rows, tmp_path.relative_to(tmp_path) / "runs", tmp_path / "out")
    assert run(["report", "out"]) == 0
    return tmp_path


def _longer(config):
    train = config.train.model_copy(update={"learning_rate": 0.5})
    return config.model_copy(update={"train": train})


def test_a_report_from_another_directory_finds_its_runs(reported, monkeypatch):
    before = (reported / "out" / "table.csv").read_bytes()
    elsewhere = reported / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert run(["report", "../out"]) == 0
    assert (reported / "out" / "table.csv").read_bytes() == before
    assert b"," in before
    assert load(reported / "out").root == reported / "runs"


def test_a_report_is_not_replaced_by_one_without_runs(reported, capsys):
    """Also where an earlier version noted the runs from the working directory."""
    described = json.loads((reported / "out" / NAME).read_text())
    del described["runs_from_here"]
    described["runs"] = "absent"
    (reported / "out" / NAME).write_text(json.dumps(described))
    before = (reported / "out" / "report.html").read_bytes()
    assert run(["report", "out"]) == 2
    assert "its runs are not in absent; its report is left as it is" in capsys.readouterr().err
    assert (reported / "out" / "report.html").read_bytes() == before


def test_an_experiment_whose_runs_have_not_begun_has_a_report(reported):
    shutil.rmtree(reported / "runs")
    (reported / "out" / "report.html").unlink()
    assert run(["report", "out"]) == 0
    assert "4 runs are not finished" in (reported / "out" / "report.html").read_text()


def test_a_row_without_a_rule_has_a_dash_there(reported):
    """Runs with train.dev_bleu = false have no best dev BLEU."""
    experiment = load(reported / "out")
    [planned] = experiment.corpora
    select = planned.rows[0].config.train.model_copy(update={"select": "dev-bleu"})
    rows = (
        replace(
            planned.rows[0], config=planned.rows[0].config.model_copy(update={"train": select})
        ),
        planned.rows[1],
    )
    finish_row(rows[0], reported / "runs", test=0.2, dev=0.2)
    make_experiment("sweep", list(rows), reported / "runs", reported / "mixed")
    for job in experiment.of(rows[1]):
        path = job.folder / "record.json"
        record = json.loads(path.read_text())
        del record["rules"]["dev-bleu"]
        path.write_text(json.dumps(record))
    write_report(reported / "mixed")
    page = (reported / "mixed" / "report.html").read_text()
    [table] = [part for part in page.split("<figure>") if "By checkpoint rule" in part][:1]
    assert ">–<" in table.partition("</table>")[0]
