"""The file of a sweep: rows it makes, mistakes it names."""

from __future__ import annotations

import os

import pytest
from train_toys import write_config, write_corpus

from switchout.cli import run
from switchout.errors import SwitchOutError
from switchout.experiments.experiment import Question, check_corpora, command_line
from switchout.experiments.same_text import check_same_text
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
        'base = "phrasebook"\n[[config]]\nname = "a"\n'
        '[[config]]\nname = "b"\nset = {"model.dropout" = 0.2}\n'
        '[[config]]\nname = "c"\nset = {"model.dropout" = 0.3}\n'
        '[[contrast]]\nrow = "c"\nagainst = "b"\npaired = true\n'
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
        ('base = "phrasebok"\n[grid]\n"model.layers" = [1]\n', "phrasebok"),
        ('base = "phrasebook"\n[grid]\n"model.dropuot" = [0.1]\n', "did you mean 'dropout'"),
        ('base = "phrasebook"\n[grid]\n"model.dropout" = [1.5]\n', "model.dropout"),
        ('base = "phrasebook"\n[[config]]\nname = "a"\n[[config]]\nname = "a"\n', "same name"),
        ("base = \n", "not valid TOML"),
        ('base = "phrasebook"\n[grid]\n"seed" = [11, 12]\n', '[grid]: "seed": seeds go into seeds'),
        (
            'base = "phrasebook"\n[set]\nseed = 7\n[grid]\n"model.layers" = [1]\n',
            '[set]: "seed": seeds go into seeds',
        ),
        (
            'base = "phrasebook"\n[[config]]\nname = "a"\nset = {seed = 7}\n',
            "row 'a': \"seed\": seeds go into seeds",
        ),
        (
            'base = "phrasebook"\n[grid]\n"train.threads" = [1, 2]\n',
            "rows 'train.threads 1' and 'train.threads 2' are the same runs",
        ),
        (
            'base = "phrasebook"\n[grid]\n"augment.source.policy" = ["none"]\n'
            '"augment.source.tau" = [1.0, 2.0]\n',
            "are the same runs",
        ),
        (
            'base = "phrasebook"\n[set]\n"train.steps" = 2020-01-01\n[[config]]\nname = "a"\n',
            "train.steps must be a whole number",
        ),
        (
            'base = "phrasebook"\n[[config]]\nname = "a"\n[[contrast]]\nrow = "a"\nagainst = "a"\n',
            "compares row 'a' with itself",
        ),
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


@pytest.fixture
def toys(tmp_path, monkeypatch):
    """Corpora ``one`` and ``two`` of other sentences, ``again`` with the text of ``one``."""
    monkeypatch.chdir(tmp_path)
    for name, seed in (("one", 0), ("two", 1), ("again", 0), ("elsewhere/one", 0)):
        write_corpus(tmp_path / name, seed=seed)
    write_config(tmp_path / "toy.toml", tmp_path / "one")
    return tmp_path


def write_rows(folder, *settings):
    rows = [f'[[config]]\nname = "row {i}"\nset = {{{s}}}\n' for i, s in enumerate(settings)]
    (folder / "sweep.toml").write_text('base = "toy.toml"\n' + "".join(rows))
    return folder / "sweep.toml"


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ('"data.corpus" = "two"', "other dev pairs (two xx→yy) than those of row 'row 0'"),
        ('"data.source" = "yy", "data.target" = "xx"', "one yy→xx"),
        ('"data.corpus" = "elsewhere/one"', "rows 'row 0' and 'row 1' are the same runs"),
    ],
    ids=["corpus", "direction", "copy"],
)
def test_rows_that_cannot_be_compared_are_refused_before_any_run(toys, capsys, other, says):
    """They were scored against the references of the first row, whatever they had translated."""
    write_rows(toys, "", other)
    before = sorted(toys.rglob("*"))
    assert run(["sweep", "sweep.toml", "--out", "swept"]) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert "sweep.toml" in message
    assert "row 1" in message
    assert says in message
    assert sorted(toys.rglob("*")) == before


def test_another_test_set_alone_is_refused_too(toys):
    for language in ("xx", "yy"):
        changed = (toys / "two" / f"test.{language}").read_text()
        (toys / "again" / f"test.{language}").write_text(changed)
    rows = read_sweep(write_rows(toys, "", '"data.corpus" = "again"'))
    with pytest.raises(SwitchOutError, match=r"here, row 'row 1': .*other test pairs"):
        check_same_text(rows, where="here")


def test_rows_may_be_trained_on_other_pairs(toys):
    rows = read_sweep(
        write_rows(
            toys,
            "",
            '"data.train_pairs" = 20',
            '"data.synthetic" = false',
            '"data.corpus" = "again"',
        )
    )
    check_same_text(rows, where="here")
    assert len(rows) == 4


def test_a_command_with_bytes_that_are_no_text_can_be_stored():
    told = command_line(["sweep", os.fsdecode(b"\xff.toml"), "ü b"])
    assert told.encode().decode() == "switchout sweep '\\xff.toml' 'ü b'"
