"""The tables in results/: nothing is lost on the way in, and the page says what they say."""

from __future__ import annotations

import importlib
import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made_runs import finish_row, make_config, make_experiment, write_corpus

from switchout.errors import SwitchOutError
from switchout.experiments.contrasts import Scores, contrast
from switchout.experiments.experiment import Question, Row, load, records
from switchout.experiments.paper import with_taus
from switchout.report.colours import colours_of
from switchout.report.write import write_pages

DATA = Path(os.environ.get("SWITCHOUT_DATA", Path(__file__).parents[3] / "shared" / "data"))
RESULTS = Path(__file__).parents[2] / "results"
sys.path.insert(0, str(RESULTS))
collect, declared, doses, effects, figures, go_on = map(
    importlib.import_module, ["collect", "declared", "doses", "effects", "figures", "go_on"]
)
make, power, progress, report, studies, table, tables, verdicts = map(
    importlib.import_module,
    ["make", "power", "progress", "report", "studies", "table", "tables", "verdicts"],
)
sys.path.remove(str(RESULTS))


@pytest.fixture
def experiment(tmp_path):
    config = make_config(write_corpus(tmp_path / "corpus"))
    asked = (Question(("a",), "C1", is_paired=True),)
    rows = [Row("a", config, (1, 2, 3)), Row("b", with_taus(config, 1.0, 0.0), (1, 2, 3), asked)]
    finish_row(rows[0], tmp_path / "runs", test=0.3, dev=0.3, last=0.2)
    finish_row(replace(rows[1], seeds=(1, 2)), tmp_path / "runs", test=0.2, dev=0.25, last=0.3)
    make_experiment("sweep", rows, tmp_path / "runs", tmp_path / "out")
    return load(tmp_path / "out")


@pytest.fixture
def study(experiment, tmp_path, monkeypatch):
    monkeypatch.setattr(table, "HERE", tmp_path)
    monkeypatch.setattr(collect, "HERE", tmp_path)
    table.write(collect.collect(experiment, "toy"))
    return table.read("toy")


@pytest.mark.parametrize("rule", ["dev-perplexity", "last"])
@pytest.mark.parametrize("split", ["dev", "test"])
def test_stored_statistics_are_those_of_the_outputs(experiment, study, split, rule):
    rows = records(experiment, experiment.corpora[0].rows)
    scores = Scores(experiment_corpus(experiment))
    for row in rows:
        stored = study.statistics(row.name, split, rule)
        for ours, theirs in zip(stored, scores.scored(row, split, rule).statistics, strict=True):
            assert np.array_equal(ours, theirs)


def experiment_corpus(experiment):
    from switchout.runs.job import corpus_of

    return corpus_of(experiment.corpora[0].base)


@pytest.mark.parametrize("is_paired", [False, True])
def test_a_test_repeated_from_the_table_is_the_test_of_the_runs(experiment, study, is_paired):
    rows = [
        replace(row, runs=row.runs[:2]) for row in records(experiment, experiment.corpora[0].rows)
    ]
    study.runs = {key: run for key, run in study.runs.items() if run["seed"] < 3}
    question = Question(("a",), is_paired=is_paired)
    known = contrast(*rows, Scores(experiment_corpus(experiment)), question=question)
    for split, theirs in (("test", known.test), ("dev", known.dev)):
        ours = effects.effect(study, "b", "a", split=split, is_paired=is_paired)
        assert ours.counts_sentences
        assert ours.delta == pytest.approx(theirs.delta)
        assert ours.test.p == pytest.approx(theirs.seeds.p)


def test_a_report_from_the_table_says_what_the_report_of_the_runs_says(experiment, study, tmp_path):
    made = {}
    for name, source in (
        ("runs", experiment),
        ("table", replace(experiment, find=study.kept, root=tmp_path / "no runs")),
    ):
        (tmp_path / name).mkdir(exist_ok=True)
        [made[name]] = write_pages({tmp_path / name: source})
    of_runs, of_table = ({**one["columns"][0]} for one in (made["runs"], made["table"]))
    for name in ("comparisons", "comparisons_by_rule", "against_first", "buckets"):
        assert of_table[name] == of_runs[name], name
    assert of_table["comparisons_by_rule"]["last"] != []
    assert made["table"]["answers"] == made["runs"]["answers"]
    for ours, theirs in zip(of_table["rows"], of_runs["rows"], strict=True):
        assert ours["median_test_bleu"] == theirs["median_test_bleu"]
        assert [r["key"] for r in ours["runs"]] == keys_of(theirs)
    page = (tmp_path / "table" / "report.html").read_text(encoding="utf-8")
    assert "undecided" in page
    assert "Examples" not in page  # their texts are gone


@pytest.mark.skipif(not (DATA / "multi30k_de_en").is_dir(), reason="no corpus: set SWITCHOUT_DATA")
def test_a_declared_study_finds_its_runs_in_its_table(monkeypatch):
    """Other keys than those it was trained under, and a report would say that nothing is there."""
    monkeypatch.setenv("SWITCHOUT_DATA", str(DATA))
    study = table.read("multi30k-5k")
    experiment = declared.experiment_of("multi30k-5k", find=study.kept)
    rows = records(experiment, experiment.corpora[0].rows)
    assert {row.name: len(row.runs) for row in rows} == {
        name: len(study.of(name)) for name in study.rows
    }


@pytest.mark.skipif(not (DATA / "multi30k_de_en").is_dir(), reason="no corpus: set SWITCHOUT_DATA")
def test_the_report_of_a_screening_says_that_it_decides_nothing(monkeypatch):
    """Its page answers every contrast by "helps" or "hurts", as for any sweep."""
    monkeypatch.setenv("SWITCHOUT_DATA", str(DATA))
    assert any("decides nothing" in note for note in declared.experiment_of("dose").notes)


def keys_of(row):
    return [run["signature"].partition("key:")[2].partition("|")[0] for run in row["runs"]]


def test_runs_that_finish_later_are_added_and_counted(experiment, study, tmp_path):
    assert study.missing("b") == [3]
    assert not study.is_complete
    before = dict(study.runs)
    row = experiment.corpora[0].rows[1]
    finish_row(replace(row, seeds=(3,)), tmp_path / "runs", test=0.2, dev=0.2)
    later = collect.collect(experiment, "toy")
    assert later.is_complete
    assert {key: later.runs[key] for key in before} == before
    assert len(later.runs) == 6


def test_part_of_a_declared_study_leaves_its_plan_and_the_rest_is_trained_later(
    experiment, study, tmp_path, monkeypatch
):
    """A table that forgot what is missing would call the study complete."""
    monkeypatch.setattr(collect, "is_declared", lambda name: True)
    monkeypatch.setattr(go_on, "HERE", tmp_path)
    for module in (collect, go_on):
        monkeypatch.setattr(
            module, "experiment_of", lambda name, **others: replace(experiment, **others)
        )
    [column] = experiment.corpora
    rows = tuple(replace(row, seeds=(1,)) for row in column.rows)
    part = replace(experiment, corpora=(replace(column, rows=rows),))
    later = collect.collect(part, "toy")
    assert later.shared["planned"] == {"a": [1, 2, 3], "b": [1, 2, 3]}
    assert not later.is_complete
    jobs = go_on.missing_jobs("toy", tmp_path / "elsewhere")
    assert [job.label for job in jobs] == ["b seed 3"]
    assert jobs[0].folder.parent == tmp_path / "elsewhere"


def test_runs_of_another_study_are_not_put_into_a_table(experiment, study, tmp_path, monkeypatch):
    """Both parts of study 4 have rows of the same names: their seeds would count as one row's."""
    [column] = experiment.corpora
    rows = tuple(replace(row, seeds=(11, 12)) for row in column.rows)
    other = replace(experiment, corpora=(replace(column, rows=rows),))
    monkeypatch.setattr(collect, "is_declared", lambda name: name == "other")
    monkeypatch.setattr(collect, "experiment_of", lambda name: other)
    with pytest.raises(SwitchOutError, match="other: a seed 1 is no run of this study"):
        collect.collect(experiment, "other")
    with pytest.raises(SwitchOutError, match="a table is of one corpus"):
        collect.collect(replace(experiment, corpora=(column, column)), "toy")


def test_a_seed_in_another_precision_is_a_run_of_its_row_and_says_so(experiment, tmp_path):
    """By the key of the declared precision it would be looked for in vain, and trained again."""
    [column] = experiment.corpora
    config = column.base
    train = config.train.model_copy(update={"precision": "bfloat16"})
    row = Row("a", config.model_copy(update={"train": train}), (2, 3))
    finish_row(replace(row, seeds=(2,)), tmp_path / "runs", test=0.2, dev=0.2)
    amended = declared.Declared(**vars(experiment), in_float32=(3,))
    amended = replace(amended, corpora=(replace(column, rows=(row,)),))
    assert [job.config.train.precision for job in amended.of(row)] == ["bfloat16", "float32"]
    study = collect.collect(amended, "amended")
    assert study.is_complete
    assert [run["set"] for run in study.of("a")] == [{}, {"train.precision": "float32"}]
    assert [study.kept(job.folder).seed for job in amended.of(row)] == [2, 3]


def test_a_path_of_this_machine_is_not_kept(study, tmp_path):
    text = (tmp_path / "toy.jsonl").read_text(encoding="utf-8")
    assert str(tmp_path) not in text
    assert study.shared["config"]["data.corpus"] == "corpus"


def test_small_numbers_are_packed_and_others_refused():
    for numbers in ([[0, 1, 255]], [[0, 65535], [1, 2]], [[]]):
        assert np.array_equal(table.unpack(table.pack(np.array(numbers))), numbers)
    for numbers in ([[-1]], [[0.5]], [[65536]]):
        with pytest.raises(ValueError, match="whole numbers"):
            table.pack(np.array(numbers))


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.jsonl")), ids=lambda path: path.stem)
def test_scores_of_a_table_follow_from_its_statistics(path):
    study = table.read(path.stem)
    assert len(study.runs) >= len({run["seed"] for run in study.runs.values()}) >= 1
    for row in study.rows:
        statistics = study.statistics(row, "test")
        if statistics is not None:
            scores = [study.measure.score(s) for s in statistics]
            assert scores == pytest.approx(study.scores(row, "test_bleu"), abs=1e-9)


def test_the_page_says_what_the_tables_say():
    """Figures need only be there: their looks change with the report's style."""
    made = make.made()
    assert all(path.is_file() for path in made)
    texts = {path: text for path, text in made.items() if path.suffix != ".svg"}
    assert len(texts) == 4
    stale = [path.name for path, text in texts.items() if path.read_text("utf-8") != text]
    assert stale == [], "run python results/make.py"


@pytest.mark.parametrize(
    ("study", "question", "test_delta", "dev_delta", "spread", "p_holm", "verdict"),
    [
        ("multi30k-5k", "C1", 0.8, 0.3, 0.2, 0.01, "confirmed"),
        ("multi30k-5k", "C1", 0.8, -0.3, 0.2, 0.01, "open"),  # dev disagrees
        ("multi30k-5k", "C1", 0.8, 0.3, 0.2, 0.06, "open"),
        ("multi30k-5k", "C1", -0.8, 0.3, 0.2, 0.01, "refuted"),
        (
            "multi30k-5k",
            "C1",
            0.1,
            0.1,
            0.05,
            0.5,
            "refuted",
        ),  # the interval ends below half a point
        ("multi30k-5k", "C1", 0.1, 0.7, 0.05, 0.5, "open"),
        ("en-vi", "C1", 0.1, 0.1, 0.05, 0.5, "refuted"),
        ("en-vi", "C2", 0.1, 0.1, 0.05, 0.5, "open"),  # the paper's own gain is as small
        ("en-vi", "C2", -0.8, -0.1, 0.2, 0.01, "refuted"),
        ("data-size", "gain at 2,000 pairs", 0.8, 0.3, 0.2, 0.01, "gain"),
        ("data-size", "gain at 2,000 pairs", -0.8, -0.3, 0.2, 0.01, "loss"),
        ("data-size", "gain at 2,000 pairs", -0.8, 0.3, 0.2, 0.01, "open"),
        ("data-size", "gain at 2,000 pairs", 0.1, 0.1, 0.05, 0.5, "open"),
        ("dose", "tau 1", 0.8, 0.3, 0.2, 0.01, "screening"),
    ],
)
def test_verdicts_follow_the_rule_that_each_study_fixed(
    study, question, test_delta, dev_delta, spread, p_holm, verdict
):
    from switchout.evaluation.significance import SeedsTest

    test, dev = (
        effects.Effect(d, SeedsTest(d, spread**2, 20, 1, 0, 100), (), True)
        for d in (test_delta, dev_delta)
    )
    claim = effects.Claim(question, "b", "a", False, test, dev, p_holm, "")
    assert effects.verdict_of_claim(study, claim) == verdict


def made_effect(delta, *, spread=0.1):
    from switchout.evaluation.significance import SeedsTest

    return effects.Effect(delta, SeedsTest(delta, spread**2, 20, 1, 0, 100), (), True)


def test_seeds_that_settle_a_question_follow_the_textbook(study, monkeypatch):
    """n = v (1.96 + 0.84)² / gap² a side, and one more for t instead of normal quantiles."""
    from switchout.evaluation.significance import SeedsTest

    run_variance = 1.2  # of both rows together
    spread = SeedsTest(9.0, 0.1, 20, run_variance, 0.0, 1000)
    kept_rules = []

    def spread_of(*rows, rule, is_paired):
        kept_rules.append(rule)
        return effects.Effect(9.0, spread, (), True)

    monkeypatch.setattr(power, "effect", spread_of)
    monkeypatch.setattr(power, "set_ups", lambda: [("toy", study, ("b", "a"), False)])
    line = power.seeds_table().splitlines()[-1]
    name, known, *numbers, hours = [cell.strip() for cell in line.strip("|").split("|")]
    assert (name, known, kept_rules) == ("toy", "2", ["dev-bleu"])
    numbers[1] = of_half = numbers[1].partition(" ")[0]
    for n_seeds, gap in zip(map(int, numbers), power.GAPS, strict=True):
        by_normal = run_variance * (1.96 + 0.8416) ** 2 / gap**2
        assert by_normal < n_seeds <= by_normal + 2
    of_nine = power._in_words(int(of_half), 0.5, effects.Effect(9.0, spread, (), True), 9)
    assert of_nine.startswith(f"{of_half} (")
    ends = map(int, of_nine.partition("(")[2].strip(")").split(" to "))
    for end, quantile in zip(ends, (28.8454, 6.9077), strict=True):  # χ² of 2 × 8 degrees
        by_normal = run_variance * 16 / quantile * (1.96 + 0.8416) ** 2 / 0.5**2
        assert by_normal < end <= by_normal + 3
    assert hours == f"{int(of_half) * 2 * 0.5 / 2:.1f}"  # a run takes half an hour of one core
    too_small = replace(spread, run_variance=0.0, sentence_variance=4.0)
    monkeypatch.setattr(power, "effect", lambda *a, **k: effects.Effect(9.0, too_small, (), True))
    assert "| too few sentences |" in power.seeds_table().splitlines()[-1]


@pytest.mark.parametrize(
    ("df", "low", "high"), [(6, 1.2373, 14.4494), (16, 6.9077, 28.8454), (24, 12.4012, 39.3641)]
)
def test_the_ends_of_a_variance_are_those_of_chi_square(df, low, high):
    """Quantiles at 2.5% and 97.5% from a printed table."""
    assert power.variance_ends(df) == pytest.approx((df / high, df / low), rel=0.03)


@pytest.mark.skipif(not (DATA / "iwslt15_en_vi").is_dir(), reason="no corpus: set SWITCHOUT_DATA")
def test_no_report_of_a_study_is_made_with_another_corpus(monkeypatch):
    """shared/data has a small corpus of the same name as study 2's."""
    monkeypatch.setenv("SWITCHOUT_DATA", str(DATA))
    with pytest.raises(SwitchOutError, match="en-vi: the corpus that was found"):
        report._from_its_table("en-vi")


def test_the_curve_of_study_3_has_a_bar_per_size_and_none_that_is_missing(monkeypatch):
    def claim(size, against, test, dev):
        sets = made_effect(test), made_effect(dev)
        rows = f"{size} pairs, SwitchOut", f"{size} pairs, {against}"
        what = "gain" if against == "none" else "more than word dropout"
        return effects.Claim(f"{what} at {size} pairs", *rows, False, *sets, 1.0, "open")

    found = [claim("2,000", "none", 1.25, 0.75), claim("2,000", "word dropout", 0.5, 0.25)]
    found.append(claim("5,000", "none", -0.375, 0.125))
    monkeypatch.setattr(studies, "drawn_claims", lambda n: found if n == "data-size" else [])
    drawn = figures.sizes_figure()
    test, dev = drawn.split("on dev", maxsplit=1)
    assert "SwitchOut − none; 2,000: 1.25 (" in test
    assert "5,000: −0.375 (" in test
    assert "SwitchOut − word dropout; 2,000: 0.5 (" in test
    assert "SwitchOut − none; 2,000: 0.75 (" in dev
    assert "SwitchOut − word dropout, 5,000" not in drawn
    lowest, highest = ('y="222" text-anchor="end">−', 'y="14" text-anchor="end">')
    for end in (lowest, highest):  # side by side, so of one height
        assert test.partition(end)[2][:3] == dev.partition(end)[2][:3] != ""
    assert figures.SIZES in figures.sizes_link()
    first, second = tables.sizes_table().splitlines()[2:4]
    assert first.startswith("| 2,000 | ")
    assert "| +1.25 (" in first
    assert ", dev +0.25: **open** |" in first
    assert second.startswith("| 5,000 | ")
    assert second.endswith(", dev +0.12: **open** |  |")
    monkeypatch.setattr(verdicts, "drawn_claims", studies.drawn_claims)
    one, other, _ = verdicts.study_results()
    dose = replace(found[0], row="SwitchOut, rate 0.05", against="word dropout, rate 0.05")
    assert verdicts.in_short(dose) == "rate 0.05 vs word dropout"
    paper = replace(found[0], row="+RAML +SwitchOut", against="+RAML")
    assert verdicts.in_short(paper) == "vs +RAML"
    assert (one.question, other.question) == ("2,000 vs none", "2,000 vs word dropout")
    monkeypatch.setattr(studies, "drawn_claims", lambda name: [])
    assert figures.sizes_figure() == figures.sizes_link() == ""


def test_the_5000_pairs_of_study_3_are_added_to_study_1():
    first, third, both = table.read("multi30k-5k"), table.read("data-size"), studies.with_study_3()
    may_differ = {"train.checkpoint_every", "train.save_every", "train.select"}
    for noise, row in studies.IN_BOTH.items():
        sides = (first, row), (third, f"5,000 pairs, {noise}")
        scores = [study.scores(name, "test_bleu", "last") for study, name in sides]
        assert both.scores(row, "test_bleu", "last") == scores[0] + scores[1]
        one, other = (
            {**study.shared["config"], **study.of(name)[0]["set"]} for study, name in sides
        )
        assert {key for key in one | other if one.get(key) != other.get(key)} == may_differ
    for split in ("dev", "test"):  # of other sentences the statistics could not be added
        for name in ("reference", "words"):
            assert np.array_equal(first.sentences(split, name), third.sentences(split, name))
    first, third, both = tables.pooled_table().splitlines()[2:]
    assert first.startswith("| study 1 | 9 | +0.64 ")
    assert third.startswith("| study 3 | ")
    assert both.startswith("| both | ")


def test_many_verdicts_that_are_alike_are_one_in_the_summary(monkeypatch):
    found = [made_claim(f"q{i}", 0.1, 0.1, "open") for i in range(8)]
    monkeypatch.setattr(tables, "claims_of", lambda n: found if n == "data-size" else ())
    assert "| all 8 contrasts: open |" in tables.summary()
    found[3] = made_claim("q3", 0.9, 0.9, "gain")
    assert "q2: open; q3: gain; q4: open" in tables.summary()


def test_the_rule_that_counts_is_the_first_of_a_table(study, monkeypatch):
    monkeypatch.setattr(tables, "study_of", lambda name: study)
    for rule, name in (("dev-perplexity", "lowest dev perplexity"), ("last", "last step")):
        study.shared["config"]["train.select"] = rule
        head = tables.rows_table("toy").splitlines()[0]
        assert head.startswith(f"| row | seeds | test, {name} | dev |"), rule


def test_progress_is_drawn_against_the_row_without_noise_of_the_same_size(study, monkeypatch):
    names = {"a": "5 pairs, none", "b": "5 pairs, SwitchOut"}
    plain, noisy = names.values()
    for run in study.runs.values():
        run["rows"] = [names[row] for row in run["rows"]]
    study.shared["planned"] = {names[row]: s for row, s in study.shared["planned"].items()}
    for row, gain in ((plain, 0.0), (noisy, -1.5)):
        for run in study.of(row):
            run["validations"] = [{"step": s, "dev_bleu": s + gain + run["seed"]} for s in (10, 20)]
    # Row b has no seed 3: that of the other row does not count.
    study.of(plain)[2]["validations"] = [{"step": s, "dev_bleu": 99.0} for s in (10, 20)]
    monkeypatch.setattr(progress, "study_of", lambda name: study if name == "data-size" else None)
    drawn = progress.progress_figure()
    assert drawn.count(", 5 pairs, 2 seeds</text>") == 1
    assert "+SwitchOut, 10: −1.5" in drawn
    assert "Transformer, 20: 0" in drawn
    assert f'class="marks {colours_of(["+SwitchOut"])["+SwitchOut"]}"' in drawn
    runs = dict(study.runs)
    for row, seeds in ((noisy, {2}), (noisy, {1, 2})):  # one seed in common, then one row alone
        study.runs = {k: r for k, r in runs.items() if r not in study.of(row)} | {
            r["key"]: r for r in runs.values() if row in r["rows"] and r["seed"] not in seeds
        }
        assert "5 pairs" not in progress.progress_figure()


def test_a_dose_has_one_colour_in_both_parts(study, monkeypatch):
    rows = ["none", "SwitchOut, tau 0.5", "SwitchOut, rate 0.1"]
    first = replace(study, shared={"planned": {row: [1, 2] for row in rows}}, runs={})
    second = replace(study, shared={"planned": {rows[0]: [3], rows[2]: [3]}}, runs={})
    parts = {"dose": first, "dose-second": second}
    monkeypatch.setattr(progress, "study_of", parts.get)
    colour = colours_of(rows)[rows[2]]
    assert colour != colours_of(second.rows)[rows[2]]
    for name, part in parts.items():
        assert progress._colours(name, part.rows)[rows[2]] == colour
    known = progress._colours("data-size", ["9 pairs, none", "9 pairs, SwitchOut"])
    assert known["+SwitchOut"] == colours_of(["+SwitchOut"])["+SwitchOut"]


def test_the_way_is_told_in_quarters_and_the_end_by_beam_search_too(study, monkeypatch):
    study.shared["planned"] = {"a": [1, 2], "b": [1, 2]}
    study.runs = {key: run for key, run in study.runs.items() if run["seed"] < 3}
    behind = {30: -2.0, 50: -1.0, 100: 0.25, 75: -0.5}
    for row in ("a", "b"):
        for run in study.of(row):
            run["validations"] = [
                {"step": s, "dev_bleu": 20 + s + (gain if row == "b" else 0)}
                for s, gain in behind.items()
            ]
            run["rules"]["last"] |= {"dev_bleu": 30 + (row == "b"), "test_bleu": 40 - (row == "b")}
    monkeypatch.setattr(progress, "study_of", lambda name: study if name == "en-vi" else None)
    monkeypatch.setattr(progress, "EPOCHS", {"en-vi": {"": 7}})
    line = progress.progress_table().splitlines()[-1]
    assert line == "| Study 2 | 7 | b | −2.00 | −1.00 | +0.25 | +1.00 | −1.00 |"
    law = "SwitchOut, rate 0.05"  # word dropout has that rate, too
    for run in study.of("b"):
        run["rows"] = [law]
    study.shared["planned"] = {"a": [1, 2], law: [1, 2]}
    assert f"| {law} |" in progress.progress_table().splitlines()[-1]
    study.shared["planned"][law] = [1, 2, 9]  # an unfinished study is not told
    assert "Study 2" not in progress.progress_table()


def test_epochs_and_gain_stand_side_by_side(study, monkeypatch):
    names = {"a": "Transformer", "b": "+SwitchOut"}
    for run in study.runs.values():
        run["rows"] = [names[row] for row in run["rows"]]
    monkeypatch.setattr(progress, "study_of", lambda name: study if name == "en-vi" else None)
    monkeypatch.setattr(progress, "by_size", dict)
    monkeypatch.setattr(progress, "with_study_3", lambda: None)
    monkeypatch.setattr(progress, "EPOCHS", {"en-vi": {"": 3.6}})
    rows = ("+SwitchOut", "Transformer")
    test, dev = (effects.effect(study, *rows, split=s, rule="dev-bleu") for s in ("test", "dev"))
    line = progress.epochs_table().splitlines()[-1]
    assert line.startswith("| 133,166 | 3.6 | 2 | ")
    assert f"{test.delta:+.2f} (" in line.replace("−", "-").split("|")[4]
    assert f"{dev.delta:+.2f} (" in line.replace("−", "-").split("|")[5]


def test_an_unfinished_study_is_corrected_for_all_that_it_declared(study, monkeypatch):
    """The first contrast with two seeds a side would otherwise look as if it were the only one."""
    contrasts = [{"question": "q", "row": "b", "against": "a"}]
    contrasts += [{"question": f"q{i}", "row": "c", "against": "a"} for i in range(3)]
    study.shared["planned"]["c"] = [1, 2, 3]
    monkeypatch.setattr(effects, "contrasts_of", lambda name: contrasts)
    [claim] = effects.claims(study, others=[1.0])
    assert claim.p_holm == pytest.approx(min(1, 5 * claim.on_test.test.p))
    assert claim.verdict == "open"


def made_claim(question, test, dev, verdict):
    sets = made_effect(test), made_effect(dev)
    return effects.Claim(question, "b", "a", False, *sets, 0.01, verdict)


def test_a_claim_that_dev_does_not_support_is_not_said_to_lack_seeds(study, monkeypatch):
    study.shared["planned"] = {row: [1, 2] for row in ("a", "b")}
    monkeypatch.setattr(tables, "study_of", lambda name: study)
    for p_holm, says in (
        (0.01, "| open; dev does not agree |"),
        (0.06, " could show a difference"),
    ):
        claim = replace(made_claim("q", 1.0, -0.1, "open"), p_holm=p_holm)
        monkeypatch.setattr(tables, "claims_of", lambda name, claim=claim: (claim,))
        assert says in tables.claims_table("dose-second").splitlines()[-1]


@pytest.mark.parametrize(
    ("second", "verdict", "is_said"),
    [
        ("refuted", "confirmed in study 1, refuted in study 2", "study 2 (refuted): -1.50"),
        ("open", "confirmed", "study 2 (open): -1.50"),
        ("confirmed", "confirmed", "study 2 (confirmed): -1.50"),
    ],
)
def test_two_studies_of_one_question(monkeypatch, study, second, verdict, is_said):
    found = {
        "multi30k-5k": [made_claim(q, 1.0, 1.0, "confirmed") for q in ("C1", "C2")],
        "en-vi": [made_claim(q, -1.5, -1.0, second) for q in ("C1", "C2")],
    }
    complete = replace(study, runs={})
    complete.shared = {**study.shared, "planned": {}}
    monkeypatch.setattr(verdicts, "claims_of", lambda name: found.get(name, []))
    monkeypatch.setattr(verdicts, "study_of", lambda name: complete)
    monkeypatch.setattr(verdicts, "distance_slope", lambda: None)
    said, why = verdicts.verdict_of("C1")
    assert said == verdict
    assert is_said in why
    said, why = verdicts.verdict_of("C3")
    assert said == "confirmed in study 1 for two tau_y"
    assert "in study 2 tau_x = 1 is below 0" in why
    doses_of_second = [replace(made_claim("q", 0.1, 0.1, "open"), row="SwitchOut, tau 0.5")]
    doses_of_second += [replace(made_claim("q", 0.1, 0.1, "refuted"), row="SwitchOut, rate 0.1")]
    found[complete.name] = doses_of_second
    _, why = verdicts.verdict_of("C3")
    assert why.endswith(
        "; study 4, against no noise and by best dev BLEU: tau 0.5 open, rate 0.1 refuted"
    )


@pytest.mark.parametrize("slope", [2.0, -2.0])
def test_a_slope_of_losses_is_not_called_a_gain(monkeypatch, slope):
    from switchout.evaluation.trend import Trend

    trend = Trend(slope=slope, ci95=(slope - 1, slope + 1), p=0.001)
    for loss, is_told in ((-1.0, True), (1.0, False)):
        claims = [made_claim("C2", loss, loss, "open")]
        for module in (verdicts, studies):
            monkeypatch.setattr(module, "claims_of", lambda name, found=claims: found)
            monkeypatch.setattr(module, "study_of", lambda name: None)
        monkeypatch.setattr(verdicts, "distance_slope", lambda: trend)
        said, why = verdicts.verdict_of("C4")
        assert said == "open"
        assert ("could only say where it loses most" in why) == is_told


def test_the_slope_of_study_2_stands_among_its_contrasts(study, monkeypatch):
    """Holm's correction is over C1, C2 and it, so a reader must see all three."""
    from switchout.evaluation.trend import Trend

    claim = effects.Claim("C1", "b", "a", False, made_effect(1.0), made_effect(1.0), 0.1, "open")
    study.shared["planned"] |= {"+RAML": [1], "+RAML +SwitchOut": [1]}
    slope = Trend(slope=3.0, ci95=(1.0, 5.0), p=0.004)
    for module in (tables, studies):
        monkeypatch.setattr(module, "study_of", lambda name: study)
        monkeypatch.setattr(module, "claims_of", lambda name: (claim,))
    monkeypatch.setattr(tables, "distance_slope", lambda: slope)
    last = tables.claims_table("en-vi").splitlines()[-1]
    assert last.startswith("| C4 |")
    assert "+0.30 BLEU per 0.1 of WER (+0.10 to +0.50)" in last
    assert last.endswith("| open |")  # not all runs are there
    assert "C4" not in tables.claims_table("toy")


@pytest.mark.parametrize(
    ("sentence_variance", "says"), [(0.0, "14 seeds a side"), (9.0, "only a larger test set")]
)
def test_an_open_slope_says_what_would_settle_it(study, monkeypatch, sentence_variance, says):
    """By hand: (2.056 + 0.856) √(1.6 / 14) = 0.98, the t quantiles at 26 degrees; 13 give 1.02."""
    from switchout.evaluation.significance import SeedsTest
    from switchout.evaluation.trend import Trend

    test = SeedsTest(
        1.0, 2.0, 6.0, run_variance=1.6, sentence_variance=sentence_variance, n_sentences=900
    )
    slope = Trend(test.delta, test.ci95, test.p, test)
    study.shared["planned"] |= {"+RAML": [1], "+RAML +SwitchOut": [1]}
    for module in (tables, verdicts, studies):
        monkeypatch.setattr(module, "study_of", lambda name: study)
        monkeypatch.setattr(module, "claims_of", lambda name: (made_claim("C1", 1.0, 1.0, "open"),))
    for module in (tables, power):
        monkeypatch.setattr(module, "distance_slope", lambda: slope)
    assert f"{says} could show a slope of this size" in tables.claims_table("en-vi")
    monkeypatch.setattr(table, "HERE", RESULTS)  # where the runs with back-translation are
    [line] = [line for line in power.open_claims_table().splitlines() if "C4" in line]
    assert line.endswith(f" | {says} |")


def test_gains_by_distance_are_those_of_the_breakdown(experiment, study, tmp_path):
    from switchout.evaluation.buckets import break_down
    from switchout.evaluation.features import features_of

    rows = [replace(r, runs=r.runs[:2]) for r in records(experiment, experiment.corpora[0].rows)]
    study.runs = {key: run for key, run in study.runs.items() if run["seed"] < 3}
    corpus = experiment_corpus(experiment)
    scores = Scores(corpus)
    sources, references = corpus.pairs("test")
    features = features_of(references, sources=sources, train=list(corpus.lines("train", "source")))
    [wer] = [feature for feature in features if feature.name == "wer"]
    sides = [scores.scored(row, "test") for row in rows]
    [known] = break_down(references, sides[0], sides[1:], [wer], metric=scores.metric("test"))
    ours = effects.gains_by_distance(study, "b", "a")
    assert ours.trends[0].slope == pytest.approx(known.trends[0].slope)
    assert ours.trends[0].p == pytest.approx(known.trends[0].p)
    assert ours.gains == known.gains


def test_studies_can_be_read_and_no_seed_is_used_twice():
    from switchout.experiments.sweep import read_sweep

    used = {*range(1, 10), 1001}  # of the tables before the studies
    for path in sorted(declared.STUDIES.glob("*.toml")):
        rows = read_sweep(path)
        seeds = {seed for row in rows for seed in row.seeds}
        assert not seeds & used, path.name
        used |= seeds
        asked = [question.name for row in rows for question in row.questions]
        assert sorted(asked) == sorted(one["question"] for one in declared.contrasts_of(path.stem))
        assert path.with_suffix(".md").is_file()


@pytest.fixture
def screening(study, monkeypatch):
    """The toy runs as rows of study 4: all seeds without noise, one less with it."""
    names = {"a": "none", "b": "SwitchOut, rate 0.2"}
    for run in study.runs.values():
        run["rows"] = [names[row] for row in run["rows"]]
    study.shared["planned"] = {names[row]: s for row, s in study.shared["planned"].items()}
    for run in study.of(names["b"]):
        run["set"] = {"augment.source.policy": "switchout", "augment.source.rate": 0.2}
    for module in (doses, studies):
        monkeypatch.setattr(module, "study_of", lambda name: study if name == "dose" else None)
    declared_here = [{"question": "rate 0.2", "row": names["b"], "against": names["a"]}]
    monkeypatch.setattr(effects, "contrasts_of", lambda name: declared_here)
    studies.claims_of.cache_clear()
    yield study
    studies.claims_of.cache_clear()


def test_a_dose_is_shown_from_three_seeds_on(screening, monkeypatch):
    assert doses.doses_table() == "No dose has three seeds yet."
    assert doses.doses_figure() == doses.doses_link() == ""
    assert doses.doses_state() == "**Open**: 5 of 6 runs of the screening are finished."
    monkeypatch.setattr(studies, "FEWEST_DRAWN", 2)
    line, *_, so_far = doses.doses_table().splitlines()[2:]
    assert line.startswith("| SwitchOut, rate 0.2 | 20.0% | 2 | ")
    assert so_far == "5 of 6 runs so far."
    assert "rate 0.2, test" in doses.doses_figure()
    assert doses.PICTURE in doses.doses_link()


def test_the_second_part_is_of_the_doses_that_are_best_on_dev(screening, monkeypatch):
    from types import SimpleNamespace

    dev = {"none": 30.0, "SwitchOut, a": 26.5, "SwitchOut, b": 27.5, "SwitchOut, c": 27.0}
    scores = {name: [value - 1, value + 1] for name, value in dev.items()}
    known = SimpleNamespace(rows=[*scores], scores=lambda row, name: scores[row])
    assert doses.best_doses(known) == ["SwitchOut, b", "SwitchOut, c"]

    screening.shared["planned"] = {row: [1, 2] for row in screening.shared["planned"]}
    assert screening.is_complete
    says = doses.doses_state()
    assert says.startswith("**Open**: the screening is complete. ")
    assert "the highest dev BLEU, rate 0.2, are trained again" in says
    assert says.endswith("none of these runs is finished.")
    parts = {"dose": screening, "dose-second": screening}
    monkeypatch.setattr(doses, "study_of", parts.get)
    confirmed = [made_claim("rate 0.2", 1.0, 1.0, "confirmed")]
    monkeypatch.setattr(doses, "claims_of", lambda name: confirmed if "second" in name else [])
    assert doses.doses_state().startswith(f"{confirmed[0].row}: **confirmed**, by nine fresh seeds")
    planned = {"none": [1, 2, 9], "SwitchOut, rate 0.2": [1, 2, 9]}
    parts["dose-second"] = replace(screening, shared={**screening.shared, "planned": planned})
    assert doses.doses_state().endswith("nine fresh seeds: 5 of 6 runs so far.")


def test_what_the_second_part_says_stands_below_the_screening(screening, monkeypatch):
    """The numbers that decide: without them the page would show those that do not."""
    monkeypatch.setattr(studies, "FEWEST_DRAWN", 2)
    assert ", again |" not in doses.doses_table()
    assert "again, test" not in doses.doses_figure()
    again = replace(screening, name="dose-second", runs={**screening.runs})
    parts = {"dose": screening, "dose-second": again}
    for module in (doses, studies):
        monkeypatch.setattr(module, "study_of", parts.get)
    studies.claims_of.cache_clear()
    first, second, *_ = doses.doses_table().splitlines()[2:]
    changed_and_numbers = first.removeprefix("| SwitchOut, rate 0.2 | ")
    assert second == f"| SwitchOut, rate 0.2, again | {changed_and_numbers}"
    assert "rate 0.2 again, test" in doses.doses_figure()


@pytest.mark.parametrize(
    ("test", "dev", "p_holm", "verdict"),
    [
        (1.0, 0.5, 0.01, "confirmed"),
        (1.0, -0.1, 0.01, "open"),
        (1.0, 0.5, 0.06, "open"),
        (-1.0, 0.1, 0.01, "refuted"),
        (-1.0, 0.6, 0.01, "open"),  # study 1 would call it refuted
    ],
)
def test_the_second_part_is_judged_as_its_text_says(test, dev, p_holm, verdict):
    claim = replace(made_claim("rate 0.2", test, dev, "open"), p_holm=p_holm)
    assert effects.verdict_of_claim("dose-second", claim) == verdict


def test_the_share_of_changed_words_counts_every_length(screening):
    lengths = np.array([2, 9, 30])
    screening.shared["sentences"]["dev"]["source"] = table.pack(lengths)
    row = "SwitchOut, rate 0.2"
    for run in screening.of(row):
        run["set"] = {"augment.source.policy": "switchout", "augment.source.tau": 0.7}
    changed = 0.0
    for n_words in lengths:  # n words change on average where n was drawn
        weights = np.exp(-np.arange(n_words + 1) / 0.7)
        changed += (np.arange(n_words + 1) * weights).sum() / weights.sum()
    assert doses.share_changed(screening, row) == pytest.approx(changed / lengths.sum())
    assert doses.share_changed(screening, "none") == 0
