"""The file of a sweep: rows it makes, mistakes it names."""

from __future__ import annotations

import os

import pytest

from switchout.errors import SwitchOutError
from switchout.experiments.experiment import Question, check_corpora, command_line
from switchout.experiments.sweep import read_sweep
from switchout.runs.config_file import load_config


def rows_of(tmp_path, text):
    path = tmp_path / "sweep.toml"
    path.write_text(text)
    return read_sweep(path)


def test_grid_makes_every_combination_with_every_seed(tmp_path):
    rows = rows_of(
        tmp_path,
        'base = "phrasebook"\nseeds = [0, 5]\n[set]\n"train.steps" = 7\n'
        '[grid]\n"augment.source.tau" = [0.5, inf]\n"model.dropout" = [0.1, 0.3]\n',
    )
    cells = [(r.config.augment.source.tau, r.config.model.dropout) for r in rows]
    assert cells == [(0.5, 0.1), (0.5, 0.3), (float("inf"), 0.1), (float("inf"), 0.3)]
    assert all(r.config.train.steps == 7 for r in rows)
    assert [c.seed for c in rows[0].configs()] == [0, 5]
    assert rows[0].name == "source.tau 0.5, model.dropout 0.1"


def test_single_rows_come_first_and_the_first_is_the_baseline(tmp_path):
    rows = rows_of(
        tmp_path,
        'base = "phrasebook"\n[grid]\n"model.dropout" = [0.3]\n[[config]]\nname = "none"\n'
        'set = {"augment.source" = {policy = "none"}, "augment.target.policy" = "none"}\n',
    )
    assert [row.name for row in rows] == ["none", "model.dropout 0.3"]
    assert [row.questions for row in rows] == [(), (Question(("none",)),)]
    assert rows[0].config.augment.source.policy == "none"


def test_declared_contrasts_replace_the_comparison_with_the_first_row(tmp_path):
    rows = rows_of(
        tmp_path,
        'base = "phrasebook"\n[[config]]\nname = "a"\n[[config]]\nname = "b"\n[[config]]\n'
        'name = "c"\n[[contrast]]\nrow = "c"\nagainst = "b"\npaired = true\n'
        '[[contrast]]\nquestion = "C1"\nrow = "c"\nagainst = "a"\n',
    )
    assert [row.questions for row in rows] == [
        (),
        (),
        (Question(("b",), is_paired=True), Question(("a",), "C1")),
    ]


def test_base_may_be_a_file_beside_the_sweep(tmp_path):
    (tmp_path / "mine.toml").write_text('[data]\ncorpus = "phrasebook"\n[train]\nsteps = 3\n')
    [row] = rows_of(tmp_path, 'base = "mine.toml"\n[grid]\n"model.layers" = [1]\n')
    assert (row.config.train.steps, row.config.model.layers) == (3, 1)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('base = "phrasebook"\n', "nothing varies"),
        ('base = "phrasebook"\ngird = 1\n', "did you mean 'grid'"),
        ("seeds = [1]\n", "'base' is missing"),
        ('base = "phrasebook"\nseeds = []\n', "seeds"),
        ('base = "phrasebook"\nseeds = [1, 2, 1]\n[grid]\n"model.layers" = [1]\n', "twice"),
        ('base = "phrasebok"\n[grid]\n"seed" = [1]\n', "phrasebok"),
        ('base = "phrasebook"\n[grid]\n"model.dropuot" = [0.1]\n', "did you mean 'dropout'"),
        ('base = "phrasebook"\n[grid]\n"model.dropout" = [1.5]\n', "model.dropout"),
        ('base = "phrasebook"\n[[config]]\nname = "a"\n[[config]]\nname = "a"\n', "same name"),
        ("base = \n", "not valid TOML"),
        (
            'base = "phrasebook"\n[[config]]\nname = "plain"\n[[contrast]]\nrow = "plian"\n'
            'against = "plain"\n',
            "did you mean 'plain'",
        ),
    ],
)
def test_mistakes_are_one_line_that_names_them(tmp_path, text, says):
    with pytest.raises(SwitchOutError, match=r"sweep\.toml") as caught:
        rows_of(tmp_path, text)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_corpus_without_training_pairs_is_refused_before_any_run(tmp_path):
    corpus = tmp_path / "toy-xx-yy"
    corpus.mkdir()
    for split, line in (("train", ""), ("dev", "a\tb\n"), ("test", "a\tb\n")):
        (corpus / f"{split}.tsv").write_text(line)
    config = load_config("phrasebook", corpus=str(corpus), languages=("xx", "yy"))
    with pytest.raises(SwitchOutError, match="toy-xx-yy: split 'train' is empty"):
        check_corpora([config])
    (corpus / "train.tsv").write_text("a\tb\n")
    check_corpora([config])


def test_a_command_with_bytes_that_are_no_text_can_be_stored():
    told = command_line(["sweep", os.fsdecode(b"\xff.toml"), "ü b"])
    assert told.encode().decode() == "switchout sweep '\\xff.toml' 'ü b'"
