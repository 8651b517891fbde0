"""From finished runs to analyses and a page: the right comparisons, honestly told."""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import replace
from html.parser import HTMLParser
from statistics import variance
from types import SimpleNamespace

import pytest
from made_runs import finish_row, make_config, make_experiment, write_corpus

from switchout.cli import run
from switchout.errors import SwitchOutError
from switchout.evaluation.trend import Trend
from switchout.experiments.analysis import analyse
from switchout.experiments.contrasts import Scores, contrast, contrasts
from switchout.experiments.experiment import (
    FORMAT,
    CorpusRows,
    Experiment,
    Question,
    Row,
    load,
    records,
    save,
)
from switchout.experiments.paper import TABLE1_ROWS, table1_rows, tau_name, tuned_name, with_taus
from switchout.experiments.reproduce import corpus_title
from switchout.experiments.tuning import regularised
from switchout.report.answers import _name
from switchout.report.answers import answers as answers_of
from switchout.report.asked import asked_section
from switchout.report.details import cost_table, tuning_table
from switchout.report.headline import _is_by_the_paper, headline_table, main_table
from switchout.report.tables import Column
from switchout.report.write import write_report

ASKED = (Question(("a",)),)
# share of wrong words on test, on dev, and on test at the last checkpoint
SHARES = {
    "Transformer": (0.20, 0.20, 0.05),
    "+WordDropout": (0.16, 0.25, 0.05),  # better on test, worse on dev
    "+SwitchOut": (0.10, 0.10, 0.20),  # better than row 1, at the last checkpoint worse
    "+RAML": (0.12, 0.12, 0.12),
    "+RAML +WordDropout": (0.12, 0.14, 0.12),
    "+RAML +SwitchOut": (0.12, 0.12, 0.12),  # no better than RAML
}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    folder = tmp_path_factory.mktemp("table")
    config = make_config(write_corpus(folder / "corpus"))
    rows = table1_rows(config, taus=(1.0, 1.1), n_seeds=4)
    for row in rows:
        test, dev, last = SHARES[row.name]
        finish_row(row, folder / "runs", test=test, dev=dev, last=last)
    make_experiment("table1", rows, folder / "runs", folder / "out")
    return folder / "out"


@pytest.fixture(scope="module")
def analysis(table):
    [analysis] = analyse([load(table)])[0]
    return analysis


def test_the_better_row_above_is_chosen_on_dev_never_on_test(analysis):
    first, second = analysis.contrasts
    assert first.against == "Transformer"
    assert second.against == "+RAML"


def test_a_real_gain_is_found_and_luck_is_not(analysis):
    first, second = analysis.contrasts
    assert first.test.delta > 5
    assert max(first.test.p_bootstrap, first.test.seeds.p) < 0.01
    assert min(second.test.p_bootstrap, second.test.seeds.p) > 0.05


def test_the_other_checkpoint_rule_may_say_the_opposite_and_is_shown(analysis):
    assert analysis.by_rule["last"][0].test.delta < -5
    assert analysis.by_rule["dev-bleu"][0].test.delta == analysis.contrasts[0].test.delta


@pytest.mark.parametrize(("last", "is_told"), [(0.1, True), (0.0, False)])
def test_a_gain_that_hangs_on_the_checkpoint_rule_is_told(tmp_path, last, is_told):
    """At the last step the row without noise has caught up, or not."""
    config = make_config(write_corpus(tmp_path / "corpus"))
    rows = table1_rows(config, taus=(1.0, 1.1), n_seeds=4)
    rows = [row for row in rows if row.name in ("Transformer", "+SwitchOut")]
    finish_row(rows[0], tmp_path / "runs", test=0.2, dev=0.2, last=0.1)
    finish_row(rows[1], tmp_path / "runs", test=0.1, dev=0.1, last=last)
    make_experiment("table1", rows, tmp_path / "runs", tmp_path / "out")
    answers = write_report(tmp_path / "out")["answers"]
    assert answers[0].startswith("+SwitchOut: helps.")
    told = [a for a in answers if "depends on how checkpoints are chosen" in a]
    assert len(told) == is_told
    assert all("by dev-perplexity" in a and "by last" in a for a in told)


def test_dev_stands_beside_test_and_a_disagreement_is_told(tmp_path):
    config = make_config(write_corpus(tmp_path / "corpus"))
    rows = table1_rows(config, taus=(1.0, 1.1), n_seeds=4)
    rows = [row for row in rows if row.name in ("Transformer", "+SwitchOut")]
    finish_row(rows[0], tmp_path / "runs", test=0.2, dev=0.1)
    finish_row(rows[1], tmp_path / "runs", test=0.1, dev=0.2)
    make_experiment("table1", rows, tmp_path / "runs", tmp_path / "out")
    answer = write_report(tmp_path / "out")["answers"][0]
    [analysis] = analyse([load(tmp_path / "out")])[0]
    [contrast] = analysis.contrasts
    assert contrast.test.p_holm < 0.01
    assert (contrast.test.delta > 5, contrast.dev.delta < -5) == (True, True)
    assert contrast.verdict == "undecided"
    assert answer.startswith("+SwitchOut: undecided.")
    assert "Dev and test disagree: +" in answer


def test_a_trend_declared_with_the_contrasts_counts_in_their_correction(table):
    experiment = load(table)
    alone, with_trend = (
        analyse([replace(experiment, other_p=p)])[0][0].contrasts for p in ((), (1.0,))
    )
    assert [(one.n_family, two.n_family) for one, two in zip(alone, with_trend, strict=True)] == [
        (2, 3)
    ] * 2
    least = min(range(2), key=lambda i: alone[i].test.p)
    p = alone[least].test.p
    assert alone[least].test.p_holm == pytest.approx(2 * p)
    assert with_trend[least].test.p_holm == pytest.approx(min(3 * p, 1))


def test_reports_made_together_say_so_and_share_their_correction(table, tmp_path, capsys):
    other = tmp_path / "other"
    shutil.copytree(table, other)
    alone = json.loads(json.dumps(write_report(table)))["columns"][0]["comparisons"]
    assert run(["report", "--json", str(table), str(other)]) == 0
    both = json.loads(capsys.readouterr().out)
    for result in both:
        first = result["columns"][0]["comparisons"][0]
        assert (first["n_family"], alone[0]["n_family"]) == (4, 2)
        assert first["p_holm"] == pytest.approx(2 * alone[0]["p_holm"])
        assert any("over the 4 contrasts of 2 experiments" in a for a in result["answers"])
    assert "over the 4 contrasts" in (other / "report.html").read_text()
    assert run(["report", str(table), str(table / ".")]) == 2
    assert "twice" in capsys.readouterr().err


def test_rows_are_paired_by_seed_only_if_declared_and_possible(table, analysis):
    scores = Scores(analysis.corpus)
    base, row = analysis.row("+RAML"), analysis.row("+RAML +SwitchOut")
    declared = Question(("+RAML",), "C2", is_paired=True)
    assert not contrast(base, row, scores).is_paired
    paired = contrast(base, row, scores, question=declared)
    assert (paired.is_paired, paired.question, paired.remark) == (True, "C2", "")
    gains = [b - a for a, b in zip(*(r.numbers("test_bleu") for r in (base, row)), strict=True)]
    spread = paired.test.seeds.variance - paired.test.seeds.sentence_variance
    assert spread == pytest.approx(variance(gains) / 4, rel=0.05)  # up to the jackknife's bias
    fewer = contrast(base, replace(row, runs=row.runs[1:]), scores, question=declared)
    assert not fewer.is_paired
    assert "other seeds" in fewer.remark


def test_a_verdict_waits_for_the_runs_that_are_missing(analysis):
    first = analysis.contrasts[0]
    assert first.verdict == "helps"
    assert replace(first, n_missing=1).verdict == "undecided"


@pytest.mark.parametrize("left", [0, 3])
def test_a_verdict_waits_for_every_row_it_was_asked_against(analysis, left):
    """+WordDropout may turn out to be the better one, also if none of its runs is there yet."""
    at = TABLE1_ROWS.index("+WordDropout")
    rows = [*analysis.rows]
    rows[at] = replace(rows[at], runs=rows[at].runs[:left], n_missing=4 - left)
    first, second = contrasts(rows, Scores(analysis.corpus))
    assert (first.against, first.n_missing, first.verdict) == ("Transformer", 4 - left, "undecided")
    assert second.n_missing == 0


def test_questions_without_runs_yet_count_in_the_correction(analysis):
    rows = [
        replace(row, runs=(), n_missing=4) if row.name == "+RAML +SwitchOut" else row
        for row in analysis.rows
    ]
    [first] = contrasts(rows, Scores(analysis.corpus))
    assert first.n_family == 2
    assert first.test.p_holm == pytest.approx(2 * first.test.seeds.p)


def test_a_row_with_several_questions_has_a_sign_only_if_all_deserve_it(table):
    experiment = load(table)
    [column] = experiment.corpora
    against = ("Transformer", "+RAML +WordDropout")  # much worse; no worse
    for names, sign in ((against[:1], "†‡"), (against, "")):
        asked = tuple(Question((name,)) for name in names)
        rows = tuple(
            replace(row, questions=asked if row.name == "+RAML" else ()) for row in column.rows
        )
        changed = replace(experiment, corpora=(replace(column, rows=rows),))
        shown = main_table("table1", analyse([changed])[0])
        [line] = [cells for cells in shown.rows if cells[0] == "+RAML"]
        assert line[2] == sign


@pytest.mark.parametrize(
    ("of_median_runs", "p", "has_sign"),
    [(0.4, 0.01, True), (0.4, 0.06, False), (-0.4, 0.01, False)],
)
def test_the_papers_sign_is_of_the_difference_that_the_table_shows(of_median_runs, p, has_sign):
    """Its test compares the median runs: worse ones say nothing for a mean that is better."""
    test = SimpleNamespace(delta=0.5, tested_delta=of_median_runs, p_bootstrap=p)
    assert _is_by_the_paper(test) == has_sign


def test_rows_that_differ_in_rescaling_or_in_the_end_of_noise_are_told_apart(tmp_path):
    from switchout.report.asked import _noise
    from switchout.runs.config import Augment, Side

    config = make_config(write_corpus(tmp_path / "corpus"))
    side = Side(policy="hamming", tau=0.9, rescaled=True)
    other = config.model_copy(update={"augment": Augment(source=side, until=0.67)})
    assert _noise(other) == ("hamming, tau 0.9, rescaled, in the first 67% of the steps", "–")


@pytest.mark.parametrize(
    ("base", "row", "word"),
    [(0.98, 0.98, "nothing was learned"), (0.98, 0.1, "nothing was learned"), (0.1, 0.98, "hurts")],
)
def test_a_run_that_learned_nothing_is_no_evidence(tmp_path, base, row, word):
    config = make_config(write_corpus(tmp_path / "corpus"))
    rows = [Row("a", config, (1, 2, 3)), Row("b", with_taus(config, 1, 0), (1, 2, 3), ASKED)]
    finish_row(rows[0], tmp_path / "runs", test=base, dev=base)
    finish_row(rows[1], tmp_path / "runs", test=row, dev=row)
    make_experiment("sweep", rows, tmp_path / "runs", tmp_path / "out")
    [analysis] = analyse([load(tmp_path / "out")])[0]
    assert analysis.contrasts[0].verdict == word
    failed = {name for name, share in (("a", base), ("b", row)) if share > 0.9}
    assert {run.row for run in analysis.unlearned} == failed


def test_signs_are_explained_where_they_stand(analysis):
    """The fixture's real gain has both signs; without it nothing is left to explain."""
    note = main_table("table1", [analysis]).note
    assert note.startswith("† better than")
    assert "‡ better than it by the test over seeds" in note
    none = main_table("table1", [replace(analysis, contrasts=analysis.contrasts[1:])]).note
    assert "†" not in none
    assert "‡" not in none


def test_the_first_screen_explains_the_sign_of_the_paper(analysis, monkeypatch):
    assert "†" not in headline_table("table1", analysis).note
    paper = [(Column("", "paper_significant"), ["†" for _ in analysis.rows])]
    monkeypatch.setattr("switchout.report.headline._by_the_paper", lambda *_: paper)
    assert headline_table("table1", analysis).note.startswith("† better than")


def test_a_question_is_not_said_twice_where_its_row_says_it(analysis):
    named = [replace(analysis.contrasts[0], question=asked) for asked in ("C1", "SwitchOut", "")]
    assert [_name(one) for one in named] == ["C1, +SwitchOut", "+SwitchOut", "+SwitchOut"]


def test_an_experiment_of_the_format_before_is_read(table, tmp_path):
    content = json.loads((table / "experiment.json").read_text())
    for plain in content["columns"][0]["rows"]:
        asked = plain.pop("questions")
        plain["against"] = asked[0]["against"] if asked else []
    old = tmp_path / "old"
    old.mkdir()
    (old / "experiment.json").write_text(json.dumps({**content, "format": 2}))
    assert load(old) == load(table)


def test_a_tuned_row_that_has_the_runs_of_another_is_compared_once(table, analysis):
    experiment = load(table)
    [column] = experiment.corpora
    twins = [replace(row, name=tuned_name(row.name)) for row in column.rows if row.questions]
    rows = records(experiment, (*column.rows, *twins))
    again = contrasts(rows, Scores(analysis.corpus))
    assert [r.row for r in again] == ["+SwitchOut", "+RAML +SwitchOut"]
    assert [r.test.p_holm for r in again] == [r.test.p_holm for r in analysis.contrasts]
    with_twins = replace(analysis, rows=rows)
    assert cost_table([with_twins]).rows == cost_table([analysis]).rows
    note = main_table("table1", [with_twins]).note
    assert "+SwitchOut, tuned: the same runs as +SwitchOut, compared once." in note
    assert note.count("compared once") == 2


@pytest.mark.parametrize(
    ("slope", "p", "word"),
    [(3.0, 0.01, "grows"), (-3.0, 0.01, "shrinks"), (3.0, 0.3, "is not shown to change")],
)
def test_figure_2_is_answered_in_words(table, analysis, slope, p, word):
    [by_distance] = [b for b in analysis.breakdowns if b.feature.name == "wer"]
    trends = [Trend(slope, (slope - 1, slope + 1), p)] * len(by_distance.systems)
    told = replace(analysis, breakdowns=[replace(by_distance, trends=trends)])
    answers = answers_of(replace(load(table), kind="wer"), [told])
    [answer] = [sentence for sentence in answers.sentences if "nearest" in sentence]
    assert f"+RAML +SwitchOut {word} with the distance" in answer
    assert f"{slope:+.2f} BLEU per 1.0 of WER" in answer


def test_baseline_against_itself_splits_its_runs(analysis):
    assert [len(s.scores) for s in (analysis.same.baseline, analysis.same.system)] == [2, 2]
    assert analysis.same.p > 0.05


def test_smallest_gap_would_be_found_four_times_in_five(analysis):
    """Simulate the t test at exactly that gap, with the degrees of freedom taken as known."""
    import numpy as np

    from switchout.evaluation.significance import student_quantile

    test = analysis.contrasts[0].test.seeds
    rng = np.random.default_rng(0)
    sd = test.variance**0.5
    noise = rng.standard_normal(20_000)
    scale = np.sqrt(rng.chisquare(test.df, 20_000) / test.df)
    found = np.abs((test.smallest_gap / sd + noise) / scale) > student_quantile(0.975, test.df)
    assert found.mean() == pytest.approx(0.8, abs=0.05)


class Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.text, self.open, self.outside = "", [], []

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta",):
            self.open.append(tag)
        self.outside += [v for k, v in attrs if k in ("src", "href") and not v.startswith("#")]

    def handle_endtag(self, tag):
        if tag in self.open:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def written(table):
    return write_report(table), (table / "report.html").read_text()


def test_page_is_whole_escaped_and_needs_no_network(written):
    page = Page()
    page.feed(written[1])
    assert page.open == []
    assert page.outside == []
    assert "<unk>" in page.text
    assert "R&D <b>" in page.text
    assert "http" not in re.sub(r"http://www.w3.org/\S+", "", written[1])


def test_page_tells_helps_and_undecided_in_words(written):
    answers = written[0]["answers"]
    assert answers[0].startswith("+SwitchOut: helps.")
    assert answers[1].startswith("+RAML +SwitchOut: undecided.")


def test_first_screen_answers(written):
    first, _, rest = written[1].partition("<main>")
    assert "<h1>Does SwitchOut help?" in first
    assert first.count('<strong class="badge good">helps</strong>') == 1
    assert first.count('<strong class="badge quiet">undecided</strong>') == 1
    assert 'aria-label="+RAML +SwitchOut against Transformer: ' in first
    assert 'aria-label="+RAML +SwitchOut against +RAML: ' in first
    assert first.count('class="run"') == 4 * (6 + 1)  # every run, twice where asked against +RAML
    assert "What would settle it" in first
    assert "<details" not in first
    assert "<h2>" not in re.sub(r"<details>.*?</details>", "", rest, flags=re.DOTALL)


def test_a_fact_stands_once(written, analysis):
    page = re.sub(r"<style>.*?</style>", "", written[1], flags=re.DOTALL)
    assert page.count(analysis.rows[0].runs[0].result["bleu_signature"]) == 1
    assert page.count(analysis.corpus.data_hash[:12]) == 1
    for text in ("Temperatures are tau as in the text", "10,000 resamples", "not paired</td>"):
        assert page.count(text) <= len(analysis.contrasts), text


def test_intervals_of_buckets_count_seeds_as_the_headline_does(written, analysis):
    assert "Intervals and p-values count seeds and sentences, as on the first screen." in written[1]
    [whole] = [c for c in analysis.contrasts if c.row == "+RAML +SwitchOut"]
    widest = max(high - low for low, high in [whole.test.ci95])
    for breakdown in analysis.breakdowns:
        for gain in breakdown.gains[0]:
            assert gain.ci95[1] - gain.ci95[0] > widest / 2


def test_nothing_is_computed_while_a_page_is_rendered(table, analysis, monkeypatch):
    """Neither a bootstrap nor a test nor a score, and no file of a run is read."""
    from switchout.evaluation import comparison, metrics, resampling, significance
    from switchout.report.experiment import experiment_page
    from switchout.runs import finished

    answers = answers_of(load(table), [analysis])

    def refuse(*_args, **_named):
        raise AssertionError("computed while rendering")

    for module, name in (
        (resampling, "_weighted_sums"),
        (significance, "student_quantile"),
        (comparison, "seeds_test"),
        (comparison, "compare_scored"),
        (metrics.Metric, "statistics"),
        (finished, "read_lines"),
        (finished.Finished, "lines"),
    ):
        monkeypatch.setattr(module, name, refuse)
    assert "Does SwitchOut help?" in experiment_page(load(table), [analysis], answers)


def test_page_has_every_part(written):
    for part in (
        *("What was asked", "All seeds", "Significance", "Checkpoint rules", "Learning curves"),
        *("Data and noise", "Examples", "Cost", "To repeat it", "A/A", "WER"),
        *TABLE1_ROWS,
    ):
        assert part in written[1], part


def test_results_hold_every_run_with_its_signature(written, table):
    results = json.loads((table / "results.json").read_text())
    assert results == json.loads(json.dumps(written[0]))
    rows = results["columns"][0]["rows"]
    assert [row["name"] for row in rows] == list(TABLE1_ROWS)
    for row in rows:
        assert len({r["signature"] for r in row["runs"]}) == 4
        scores = sorted(r["test_bleu"] for r in row["runs"])
        assert row["median_test_bleu"] == (scores[1] + scores[2]) / 2


def test_table_comes_as_csv_and_latex(written, table):
    lines = (table / "table.csv").read_text().splitlines()
    assert len(lines) == 7
    assert lines[0].startswith("row,test_bleu")
    assert r"\toprule" in (table / "table.tex").read_text()


def test_unfinished_runs_are_counted_and_the_rest_is_told(tmp_path):
    config = make_config(write_corpus(tmp_path / "corpus"))
    rows = table1_rows(config, taus=(1.0, 1.1), n_seeds=2)
    finish_row(rows[0], tmp_path / "runs", test=0.2, dev=0.2)
    experiment = make_experiment("table1", rows, tmp_path / "runs", tmp_path / "out")
    [column] = experiment.corpora
    assert [r.n_missing for r in records(experiment, column.rows)] == [0, 2, 2, 2, 2, 2]
    assert "10 runs are not finished" in write_report(tmp_path / "out")["answers"][0]


def test_a_gain_of_single_runs_is_never_called_help(tmp_path):
    config = make_config(write_corpus(tmp_path / "corpus"))
    rows = table1_rows(config, taus=(1.0, 1.1), n_seeds=1)[:3]
    for row in rows:
        test, dev, last = SHARES[row.name]
        finish_row(row, tmp_path / "runs", test=test, dev=dev, last=last)
    make_experiment("table1", rows, tmp_path / "runs", tmp_path / "out")
    assert write_report(tmp_path / "out")["answers"][0].startswith("+SwitchOut: undecided.")


def test_unequal_runs_are_told_where_one_side_has_one(tmp_path):
    config = make_config(write_corpus(tmp_path / "corpus"))
    rows = table1_rows(config, taus=(1.0, 1.1), n_seeds=3)
    finish_row(replace(rows[0], seeds=(1,)), tmp_path / "runs", test=0.2, dev=0.2)
    finish_row(rows[2], tmp_path / "runs", test=0.1, dev=0.1)
    make_experiment("table1", rows, tmp_path / "runs", tmp_path / "out")
    answers = write_report(tmp_path / "out")["answers"]
    assert answers[0].startswith("+SwitchOut: undecided.")
    assert "What would settle it: the runs that are not finished (5)." in answers[0]
    page = (tmp_path / "out" / "report.html").read_text()
    assert "has no p seeds and no smallest gap: Transformer has one run." in page


def test_training_that_ends_too_early_is_said_at_the_top(table, tmp_path, analysis):
    answers = [a for a in write_report(table)["answers"] if "last checkpoint" in a]
    assert answers == []
    runs = tuple(
        replace(run, result={**run.result, "selected_step": 20}) for run in analysis.rows[0].runs
    )
    row = replace(analysis.rows[0], runs=runs)
    late = replace(analysis, rows=[row, row])  # a tuned row may have the same runs
    answers = answers_of(load(table), [late])
    assert "4 of 4 runs selected their last checkpoint" in " ".join(answers.warnings)


def test_heat_map_shows_the_grid_and_its_best_cell(tmp_path):
    config = make_config(write_corpus(tmp_path / "corpus"))
    cells = [(x, y) for x in (0.0, 1.0) for y in (0.0, 0.9)]
    rows = [Row(tau_name(*cell), with_taus(config, *cell), (1, 2)) for cell in cells]
    for (x, y), row in zip(cells, rows, strict=True):
        finish_row(row, tmp_path / "runs", test=0.2, dev=0.3 - 0.1 * x - 0.1 * y)
    make_experiment("tau", rows, tmp_path / "runs", tmp_path / "out")
    answers = write_report(tmp_path / "out")["answers"]
    assert answers[0].startswith("Best on dev: undecided. tau_x = 1, tau_y = 0.9 (2 runs).")
    assert "for 2 of 2 values" in answers[1]
    page = Page()
    page.feed((tmp_path / "out" / "report.html").read_text())
    assert page.open == []


def test_a_cell_seen_once_does_not_beat_one_that_was_tried_again(tmp_path):
    config = make_config(write_corpus(tmp_path / "corpus"))
    plan = {(0.0, 0.0): ((1, 2), 0.3), (1.0, 0.0): ((1, 2), 0.2), (1.0, 0.9): ((1,), 0.1)}
    rows = [Row(tau_name(*cell), with_taus(config, *cell), plan[cell][0]) for cell in plan]
    for row, (_, dev) in zip(rows, plan.values(), strict=True):
        finish_row(row, tmp_path / "runs", test=0.2, dev=dev)
    make_experiment("tau", rows, tmp_path / "runs", tmp_path / "out")
    answers = write_report(tmp_path / "out")["answers"]
    assert answers[0].startswith("Best on dev: undecided. tau_x = 1, tau_y = 0 (2 runs).")
    page = (tmp_path / "out" / "report.html").read_text()
    assert (page.count(">2 runs</text>"), page.count(">1 run</text>")) == (2, 1)


def test_what_was_tried_on_dev_is_shown_with_what_was_chosen_and_its_cost(tmp_path):
    config = make_config(write_corpus(tmp_path / "corpus"))
    row = Row("Transformer", config, (1, 2))
    tried = tuple(
        Row(f"dropout {d:g}", regularised(config, dropout=d, label_smoothing=0.1), (1001,))
        for d in (0.1, 0.3)
    )
    for trained in (row, *tried):
        finish_row(trained, tmp_path / "runs", test=0.2, dev=0.2)
    column = CorpusRows("toy", (row,), {row.name: tried})
    save(Experiment("table1", (column,), "", tmp_path / "runs"), tmp_path / "out")
    [analysis] = analyse([load(tmp_path / "out")])[0]
    lines = tuning_table(analysis).rows
    assert [line[:2] for line in lines] == [(row.name, trial.name) for trial in tried]
    assert [line[-1] for line in lines] == ["chosen", ""]  # the row has dropout 0.1
    lines = [(row.name, 2, 1.0), (f"tuning {row.name}", 2, 1.0)]
    assert [line[:3] for line in cost_table([analysis]).rows] == lines
    in_two = cost_table([analysis, analysis]).rows
    assert [line[:4] for line in in_two] == [("toy", *line) for line in lines] * 2
    [result] = write_report(tmp_path / "out")["columns"]
    assert [run["seed"] for run in result["tried"][row.name]] == [1001, 1001]
    assert ">chosen<" in (tmp_path / "out" / "report.html").read_text()


def test_page_says_in_what_rows_differ(tmp_path):
    plain = make_config(tmp_path)
    other_noise = with_taus(plain, 1.0, 0.0)
    other_corpus = with_data(plain, corpus="bt")
    other_steps = make_config(tmp_path, steps=30)

    def said(*configs, n_tried=0):
        rows = tuple(Row(f"row {i}", config, (1,)) for i, config in enumerate(configs))
        column = CorpusRows("toy", rows, {"row 0": rows[:1] * n_tried, "row 1": rows[:1] * n_tried})
        return " ".join(asked_section(Experiment("sweep", (column,), "", tmp_path)).text)

    assert "in their noise and in nothing else: 2+2 layers" in said(plain, other_noise)
    assert "in their noise and their training pairs," in said(plain, of_size(other_noise, 9))
    assert "and their training pairs," in said(plain, with_data(other_noise, synthetic=False))
    assert "and their corpus, whose dev and test" in said(plain, other_noise, other_corpus)
    assert "differ in data.max_length; the first" in said(plain, with_data(plain, max_length=9))
    assert "differ in train.steps; the first has: 2+2" in said(plain, other_steps)
    assert "chose settings" not in said(plain)
    assert "12 more runs chose settings by dev BLEU" in said(plain, n_tried=6)


def test_rows_of_another_size_are_compared_only_where_it_was_asked(tmp_path):
    """Against the first row the other size would differ by so much that nothing else is seen."""
    config = make_config(write_corpus(tmp_path / "corpus"))
    sizes = {"120": config, "60": of_size(config, 60)}
    rows = []
    for size, plain in sizes.items():
        asked = (Question((f"{size}, none",), f"gain at {size}"),)
        noisy = with_taus(plain, 1.0, 0.0)
        rows += [Row(f"{size}, none", plain, (1, 2)), Row(f"{size}, noise", noisy, (1, 2), asked)]
    for row in rows:
        finish_row(row, tmp_path / "runs", test=0.2, dev=0.2)
    make_experiment("sweep", rows, tmp_path / "runs", tmp_path / "out")
    [analysis] = analyse([load(tmp_path / "out")])[0]
    assert [(c.row, c.against) for c in analysis.against_first] == [("120, noise", "120, none")]
    write_report(tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text()
    assert ">vs 60, none<" in page
    assert ">Δ BLEU, right of 0 is better<" in page
    assert "60, noise against 120, none" not in page
    assert corpus_title(*sizes.values()) == "corpus xx→yy"
    assert corpus_title(sizes["60"]) == "corpus xx→yy, 60 pairs"


def of_size(config, n):
    """The same with so many training pairs."""
    return with_data(config, train_pairs=n)


def with_data(config, **values):
    """The same with other values under ``[data]``."""
    return config.model_copy(update={"data": config.data.model_copy(update=values)})


def test_rows_of_another_test_set_are_not_scored_against_the_first(tmp_path):
    """A folder of before may hold such rows: their output was scored against other references."""
    config = make_config(write_corpus(tmp_path / "corpus"))
    other = with_data(config, corpus=str(write_corpus(tmp_path / "other", n=60)))
    rows = [Row("a", config, (1,)), Row("b", with_taus(other, 1.0, 0.0), (1,), ASKED)]
    for row in rows:
        finish_row(row, tmp_path / "runs", test=0.2, dev=0.2)
    make_experiment("sweep", rows, tmp_path / "runs", tmp_path / "out")
    with pytest.raises(SwitchOutError, match=r"row 'b': .*other dev pairs .*row 'a'"):
        analyse([load(tmp_path / "out")])


def test_a_size_that_is_all_of_the_corpus_is_no_other_size(tmp_path):
    config = make_config(write_corpus(tmp_path / "corpus"))  # of 120 pairs
    rows = [Row("all", config, (1, 2)), Row("120", with_taus(of_size(config, 120), 1.0, 0.0), (1,))]
    for row in rows:
        finish_row(row, tmp_path / "runs", test=0.2, dev=0.2)
    make_experiment("sweep", rows, tmp_path / "runs", tmp_path / "out")
    [analysis] = analyse([load(tmp_path / "out")])[0]
    assert [(c.row, c.against) for c in analysis.against_first] == [("120", "all")]


@pytest.mark.parametrize(
    ("n_seeds", "said"), [(2, "over seeds and sentences;"), (1, "one run over sentences alone;")]
)
def test_intervals_say_what_they_count_where_nothing_is_compared_with_the_first_row(
    n_seeds, said, tmp_path
):
    config = make_config(write_corpus(tmp_path / "corpus"))
    small, seeds = of_size(config, 60), tuple(range(1, 1 + n_seeds))
    rows = [
        Row("120", config, (1, 2)),
        Row("60", small, seeds),
        Row("60, noise", with_taus(small, 1.0, 0.0), seeds, (Question(("60",)),)),
    ]
    for row in rows:
        finish_row(row, tmp_path / "runs", test=0.2, dev=0.2)
    make_experiment("sweep", rows, tmp_path / "runs", tmp_path / "out")
    write_report(tmp_path / "out")
    assert f"{said} dots: runs." in (tmp_path / "out" / "report.html").read_text()


def test_no_chart_where_no_two_rows_are_finished(tmp_path):
    config = make_config(write_corpus(tmp_path / "corpus"))
    rows = table1_rows(config, taus=(1.0, 1.1), n_seeds=2)
    make_experiment("table1", rows, tmp_path / "runs", tmp_path / "out")
    for row, has_chart in ((rows[0], False), (rows[2], True)):
        finish_row(row, tmp_path / "runs", test=0.2, dev=0.2)
        write_report(tmp_path / "out")
        page = (tmp_path / "out" / "report.html").read_text()
        assert ("Δ to Transformer, right of 0 is better" in page) == has_chart
        assert ("dots: runs." in page) == has_chart


def test_rows_name_their_corpus_where_there_are_several(tmp_path):
    row = Row("Transformer", make_config(tmp_path), (1, 2))

    def listed(*corpora):
        columns = tuple(CorpusRows(name, (row,)) for name in corpora)
        [table] = asked_section(Experiment("table1", columns, "", tmp_path)).tables
        assert all(len(line) == len(table.columns) for line in table.rows)
        return [line[0] for line in table.rows]

    assert listed("toy") == ["Transformer"]
    assert listed("toy", "other") == ["toy", "other"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "runs: switchout compare --baseline RUN --system RUN --html page.html"),
        ("{", "not valid JSON"),
        ('{"format": 99}', "format 99"),
        (f'{{"format": {FORMAT}}}', "not written by switchout"),
    ],
)
def test_report_of_something_else_is_refused(tmp_path, content, says, capsys):
    if content is not None:
        (tmp_path / "experiment.json").write_text(content)
    with pytest.raises(SwitchOutError, match=re.escape(says)):
        load(tmp_path)
    assert run(["report", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(("before", "after"), [(None, "1"), ("3", "3")])
def test_command_line_keeps_numpy_to_one_thread_unless_told(monkeypatch, before, after):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", before or "")
    if before is None:
        monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    assert run(["report", "nowhere"]) == 2
    assert os.environ["OPENBLAS_NUM_THREADS"] == after
