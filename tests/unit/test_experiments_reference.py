"""The shipped reference: shown beside the same rows only, marked as ours, never half."""

from __future__ import annotations

import re
from dataclasses import replace
from statistics import median

import pytest
from made_runs import finish_row, make_config, make_experiment, write_corpus

from switchout.cli import run
from switchout.cli.demo import _real_data, _show
from switchout.errors import SwitchOutError
from switchout.experiments import demo
from switchout.experiments import reference as module
from switchout.experiments.experiment import CorpusRows, Experiment, load, save
from switchout.experiments.paper import table1_rows
from switchout.experiments.reference import (
    StudyResult,
    read_reference,
    reference_for,
    reference_of,
    write_reference,
)
from switchout.experiments.reproduce import Request, base_config
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
    answers = ["+SwitchOut: undecided.", "+RAML +SwitchOut: undecided."]
    write_reference(reference_of(tmp_path / "full", answers), module.SHIPPED)
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
    path = tmp_path / "reference.json"
    write_reference(reference_of(tmp_path / "full", []), path)
    reference = reference_for(CorpusRows("toy", tuple(rows)), path)
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
    assert reference_for(CorpusRows("toy", tuple(rows))) is None


def test_unfinished_table_is_no_reference(shipped, tmp_path):
    rows = table1_rows(shipped, taus=TAUS, n_seeds=4)
    make_experiment("table1", rows, tmp_path / "runs", tmp_path / "more")
    with pytest.raises(SwitchOutError, match="6 are not finished"):
        reference_of(tmp_path / "more", [])


def test_no_reference_is_no_error(tmp_path):
    assert read_reference(tmp_path / "absent.json") is None


def test_the_reference_in_the_package_is_of_the_present_demo():
    """Whoever changes the demo's settings or the phrasebook must make the reference again."""
    reference = read_reference(module.SHIPPED)
    base = base_config("phrasebook", Request(["phrasebook"], overrides=demo.SETTINGS))
    rows = table1_rows(base, taus=demo.OTHER_TAUS, n_seeds=2)
    assert reference_for(CorpusRows("demo", tuple(rows))) == reference
    assert reference.n_seeds >= 9


def test_demo_shows_the_reference_of_the_rows_it_has(shipped):
    table1 = table1_rows(shipped, taus=TAUS, n_seeds=2)
    reference = reference_for(CorpusRows("toy", tuple(demo._few_rows(table1))))
    assert [row.name for row in reference.rows] == ["Transformer", "+SwitchOut"]
    assert reference.answers == ("+SwitchOut: undecided.",)


def test_the_terminal_names_what_studies_decided_on_real_data(tmp_path, monkeypatch):
    reference = read_reference(module.SHIPPED)
    assert reference is not None
    study = reference.studies[0]
    for verdicts, n_told, n_open in (
        ((), 0, None),
        (("open", "screening"), 0, "2 questions open"),
        (("screening",), 0, None),
        (("confirmed", "open"), 1, "1 question open"),
        (("confirmed", "refuted"), 2, None),
    ):
        studies = tuple(replace(study, verdict=verdict) for verdict in verdicts)
        write_reference(replace(reference, studies=studies), tmp_path / "shipped.json")
        monkeypatch.setattr(module, "SHIPPED", tmp_path / "shipped.json")
        told = _real_data()
        assert any("decides nothing" in line for line in told) == (verdicts == ("screening",))
        assert sum(line.endswith((": confirmed", ": refuted")) for line in told) == n_told
        assert [line.split(":")[0].strip() for line in told if "open" in line] == [n_open] * bool(
            n_open
        )
        assert sum("by dev BLEU +0.64, dev -0.11" in line for line in told) == n_told
        assert max(map(len, told), default=0) <= 80
        assert bool(told) == bool(verdicts)


@pytest.mark.parametrize(
    ("intervals", "said"),
    [
        ([(-0.1, 0.7), (-0.7, 0.1)], ["2 questions open: every interval on test includes 0"]),
        (
            [(0.1, 0.7), (-0.7, 0.1)],
            ["2 questions open: test and dev", "1 of them has an interval"],
        ),
        (
            [(0.1, 0.7), (-0.7, -0.1)],
            ["2 questions open: test and dev", "2 of them have an interv"],
        ),
        ([(0.1, 0.7)], ["1 question open: test and dev", "1 of them has an interval on test"]),
    ],
)
def test_an_open_question_with_a_difference_on_test_is_told(tmp_path, monkeypatch, intervals, said):
    """It may be open because dev does not agree: nothing is said that its interval denies."""
    reference = read_reference(module.SHIPPED)
    assert reference is not None
    study = replace(reference.studies[0], verdict="open")
    studies = tuple(replace(study, low=low, high=high) for low, high in intervals)
    write_reference(replace(reference, studies=studies), tmp_path / "shipped.json")
    monkeypatch.setattr(module, "SHIPPED", tmp_path / "shipped.json")
    told = _real_data()[3:-1]
    assert [line.strip()[: len(words)] for line, words in zip(told, said, strict=True)] == said
    assert max(map(len, told)) <= 80


def test_the_demo_says_that_a_grammar_is_no_test_and_shows_real_data(shipped, tmp_path):
    study = StudyResult(
        "Study 1: real", "vs T", "+SwitchOut", "T", 0.5, -0.1, 1.1, 0.4, 0.3, -0.2, 9, "open"
    )
    again = replace(study, question="vs W", delta=0.25, test_by_bleu=0.25)  # dev alone differs
    at_a_size = replace(study, study="Study 3: the largest of them", delta=-0.25)
    reference = replace(read_reference(module.SHIPPED), studies=(study, again, at_a_size))
    write_reference(reference, module.SHIPPED)
    assert read_reference(module.SHIPPED) == reference
    rows = tuple(demo._few_rows(table1_rows(shipped, taus=TAUS, n_seeds=2)))
    finish_row(rows[2], tmp_path / "runs", test=0.2, dev=0.2)
    column = CorpusRows("toy", rows)
    save(Experiment("demo", (column,), "", tmp_path / "runs", (demo.WHY,)), tmp_path / "few")
    answers = write_report(tmp_path / "few")["answers"]
    page = (tmp_path / "few" / "report.html").read_text()
    assert any("no test of the method" in answer for answer in answers)
    [plot] = re.findall(r"Study 1: real</text>.*?</svg>", page)
    assert re.findall(r"<text [^>]*>([^<]*\w[^<]*)</text>", plot)[:4] == [
        "vs T",
        "vs W",
        "Study 3: the largest of them",  # not cut
        "vs T",  # again, as in the other study
    ]
    [table] = re.findall(r">Study 1</th>.*?</table>", page)
    assert re.findall(r"Study \d", table) == ["Study 1", "Study 3"]  # each once
    assert "+0.50\N{NO-BREAK SPACE}[−0.10,\N{NO-BREAK SPACE}+1.10]" in table
    assert ">+0.30,\N{NO-BREAK SPACE}−0.20<" in table
    assert ">+0.25,\N{NO-BREAK SPACE}−0.20<" in table
    assert "not trained here" in page
    for dose in demo.doses():
        original, epochs = dose.examples[0]
        changed = next(epoch for epoch in epochs if any(is_new for _, is_new in epoch))
        words = (f'<mark class="new">{word}</mark>' if new else word for word, new in changed)
        assert f"<dd>{original}</dd>" in page
        assert f"<dd>{' '.join(words)} </dd>" in page


def test_doses_say_what_noise_does_and_the_lower_one_does_less():
    lower, paper = demo.doses()
    assert lower.tau < paper.tau
    assert 0 < lower.changed < paper.changed < 0.1
    assert 0.5 < paper.untouched < lower.untouched < 1
    for dose in (lower, paper):
        words = [word for _, epochs in dose.examples for line in epochs for word in line]
        assert any(is_new for _, is_new in words)
        for original, epochs in dose.examples:
            for line in epochs:
                kept = [word for word, is_new in line if not is_new]
                assert set(kept) <= {*original.split(), "<unk>"}


@pytest.mark.parametrize("width", [80, 40])
def test_sentences_are_shown_within_the_terminal(width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(width))
    for dose in demo.doses():
        _show(dose)
    lines = capsys.readouterr().out.splitlines()
    assert max(len(line) for line in lines if line.startswith("  ")) <= width
    assert max(map(len, lines)) <= 80
    assert any("[" in line for line in lines)


@pytest.mark.parametrize("arguments", [["--seeds", "0"], ["--seeds", "two"], ["--wat"]])
def test_demo_refuses_bad_input_in_one_line(capsys, arguments):
    assert run(["demo", *arguments]) == 2
    printed = capsys.readouterr()
    assert arguments[0] in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""


def test_demo_does_not_write_into_another_experiment(shipped, tmp_path):
    with pytest.raises(SwitchOutError, match="holds table1, not demo"):
        demo.demo(tmp_path / "full", n_seeds=1)


def test_reference_is_about_what_was_asked(shipped, tmp_path):
    assert read_reference(module.SHIPPED).command == load(tmp_path / "full").command
