"""Temperatures, back-translation and tuning, trained for real on a toy."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from train_toys import write_config, write_corpus

from switchout.cli import run
from switchout.corpora import open_corpus
from switchout.engines import Engine
from switchout.errors import SwitchOutError
from switchout.experiments import backtranslate, tuning
from switchout.experiments.reproduce import Request, base_config, reproduce
from switchout.runs.job import job_of


@pytest.fixture
def toy(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SWITCHOUT_RUNS", "runs")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    write_config(tmp_path / "toy.toml", write_corpus(tmp_path / "toy-xx-yy", n_train=90))
    return tmp_path


OPTIONS = ("--corpus", "toy-xx-yy", "--preset", "toy.toml", "--set", "train.steps=10")
BASE = Request(["toy-xx-yy"], preset="toy.toml", overrides=["train.steps=8"])


def results_of(capsys, *arguments: str):
    capsys.readouterr()
    assert run([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_table2_makes_pairs_from_the_rest_of_the_training_targets(toy, capsys):
    limit = ("--set", "data.train_pairs=60")
    results = results_of(
        capsys, "reproduce", "table2", *OPTIONS, *limit, "--seeds", "1", "--ratio", "0.4"
    )
    rows = results["columns"][0]["rows"]
    assert [len(row["runs"]) for row in rows] == [1] * 6
    [folder] = (toy / "runs" / "corpora").iterdir()
    made, real = open_corpus(folder), open_corpus("toy-xx-yy", source="xx", target="yy")
    assert made.pairs("test") == real.pairs("test")
    assert made.pairs("train")[0] == real.pairs("train")[0][:60]
    targets = made.pairs("synthetic")[1]
    assert len(targets) <= 24
    assert set(targets) <= set(real.pairs("train")[1][60:])  # never a target that has its source


def test_rows_without_synthetic_pairs_are_trained_beside_the_reverse_model(toy, monkeypatch):
    done = []

    def look(*args, **kwargs):
        done.extend(p.parent.name for p in (toy / "runs").glob("*/result.json"))
        raise SwitchOutError("seen enough")

    monkeypatch.setattr(backtranslate, "backtranslate", look)
    request = replace(BASE, overrides=["train.steps=8", "data.train_pairs=60"], n_seeds=1)
    with pytest.raises(SwitchOutError, match="seen enough"):
        reproduce("table2", request, toy / "table2")
    assert len(done) == 3  # the reverse model, the row without noise, and +SwitchOut


def test_a_reverse_model_that_fails_says_why(toy):
    diverging = ["train.steps=8", "train.learning_rate=1e30", "train.warmup=0"]
    config = base_config("toy-xx-yy", replace(BASE, overrides=diverging))
    with pytest.raises(SwitchOutError, match=r"reverse model: .*loss"):
        backtranslate.train_reverse(config, Engine(workers=1))


def test_backtranslate_tags_and_takes_a_run_of_the_right_direction_only(toy, capsys, caplog):
    config = base_config("toy-xx-yy", BASE)
    (toy / "mono.yy").write_text("b1 b2 b3\n\nb4 b5\n")
    common = ("backtranslate", *OPTIONS, "--mono", "mono.yy", "--out", "bt")
    facts = results_of(capsys, *common, "--tag", "<BT>", "--ratio", "1")
    made = open_corpus("bt")
    assert all(line.startswith("<BT> ") for line in made.pairs("synthetic")[0])
    assert facts["pairs"]["synthetic"] + facts["dropped"] == 2  # the empty line is no sentence
    assert "is trained on" not in caplog.text
    known = made.pairs("test")[1][0]
    (toy / "mono.yy").write_text(f"{known}\nb4 b5\n{known}\n")
    assert run([*common]) == 0
    assert "2 of 3 monolingual lines are sentences of test: it is trained on" in caplog.text
    forward = job_of(config, label="")
    assert run(["train", "toy.toml", "--out", str(forward.folder), "--set", "train.steps=8"]) == 0
    capsys.readouterr()
    assert run([*common, "--run", str(forward.folder)]) == 2
    assert "needs yy to xx" in capsys.readouterr().err


def test_tau_grid_has_zero_on_both_axes_and_gives_the_best_more_seeds(toy, capsys):
    results = results_of(
        capsys, "reproduce", "tau", *OPTIONS, "--tau-x", "1", "--tau-y", "0.9", "--seeds", "2"
    )
    rows = {row["name"]: len(row["runs"]) for row in results["columns"][0]["rows"]}
    assert len(rows) == 4
    assert rows["tau_x 0, tau_y 0"] == 2
    assert sorted(rows.values()) in ([1, 2, 2, 2], [2, 2, 2, 2])  # three best, and no noise
    assert results["answers"][0].startswith("Best on dev")


def test_tuning_takes_the_best_on_dev_with_a_seed_of_its_own(toy, monkeypatch):
    monkeypatch.setattr(tuning, "DROPOUTS", (0.9, 0.0))  # the better one last
    monkeypatch.setattr(tuning, "SMOOTHINGS", (0.0,))
    request = Request(["toy-xx-yy"], preset="toy.toml", overrides=["train.steps=150"])
    base = base_config("toy-xx-yy", request)
    tuned, tried = tuning.tune(base, Engine(workers=2))
    assert [row.name for row in tried] == [
        "dropout 0.9, label smoothing 0",
        "dropout 0, label smoothing 0",
    ]
    assert tuned.model.dropout == 0.0  # nothing is learned at 0.9
    assert tuned.seed == base.seed
    seeds = {json.loads(p.read_text())["seed"] for p in (toy / "runs").glob("*/result.json")}
    assert seeds == {tuning.TUNING_SEED}


def test_tuned_temperatures_are_rows_beside_the_papers_with_their_trials(toy, capsys):
    grid = ("--tau-x", "0.5,30", "--tau-y", "0.5")
    results = results_of(
        capsys, "reproduce", "table1", *OPTIONS, "--seeds", "1", "--tune-taus", *grid
    )
    rows = {row["name"]: row for row in results["columns"][0]["rows"]}
    assert {name: row["n_trials"] for name, row in rows.items() if row["n_trials"]} == {
        "+SwitchOut, tuned": 2,
        "+RAML, tuned": 1,
        "+RAML +SwitchOut, tuned": 2,
    }
    assert len(rows) == 9
    assert rows["+SwitchOut"]["runs"][0]["tau_x"] == 1.0
    assert rows["+RAML, tuned"]["runs"][0]["tau_y"] == 0.5
    trials = [json.loads(p.read_text()) for p in (toy / "runs").glob("*/result.json")]
    trials = [t for t in trials if t["seed"] == tuning.TUNING_SEED]
    assert len(trials) == 5
    both = [t for t in trials if t["tau_x"] and t["tau_y"]]
    best = max(both, key=lambda trial: trial["dev_bleu"])["dev_bleu"]
    chosen = rows["+RAML +SwitchOut, tuned"]["runs"][0]["tau_x"]
    assert best == next(t["dev_bleu"] for t in both if t["tau_x"] == chosen)
    assert {run["seed"] for row in rows.values() for run in row["runs"]} == {1}
    assert "tuning runs" in (toy / "table1" / "table.txt").read_text()


@pytest.mark.parametrize(
    ("kind", "more", "says"),
    [
        ("wer", (), "only table1"),
        ("table1", ("--tau-x", "0,1"), "above 0"),
    ],
)
def test_tuning_of_something_else_is_refused(toy, capsys, kind, more, says):
    assert run(["reproduce", kind, *OPTIONS, "--tune-taus", *more]) == 2
    assert says in capsys.readouterr().err
