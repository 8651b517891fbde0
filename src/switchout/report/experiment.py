"""The report of an experiment: one page that answers, and shows why one may believe it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version

from switchout.evaluation.comparison import Comparison
from switchout.evaluation.verdict import difference_in_words
from switchout.experiments.analysis import Analysis
from switchout.experiments.contrasts import Contrast
from switchout.experiments.data_facts import DataFacts
from switchout.experiments.demo import Dose, doses
from switchout.experiments.experiment import Experiment
from switchout.report.answers import Answers
from switchout.report.asked import about, asked_section
from switchout.report.buckets import bucket_sections, gains_chart
from switchout.report.charts import BarChart, Difference, ForestPlot, Line, LineChart
from switchout.report.colours import colours_of
from switchout.report.compare import HOW_TO_READ, difference, differences_table, no_difference
from switchout.report.details import (
    cost_table,
    detail_table,
    dev_table,
    power_table,
    rule_contrasts_table,
    rules_table,
    runs_table,
    tuning_table,
)
from switchout.report.elements import Html
from switchout.report.examples import HOW_TO_READ_EXAMPLES
from switchout.report.headline import headline_table, tau_map, tau_table
from switchout.report.noise import noise_figure
from switchout.report.page import FirstScreen, Section, report_page
from switchout.report.shipped import beside_real_data, shipped_section, studies_table
from switchout.report.tables import Column, Table

QUESTIONS = {
    "table1": "Does SwitchOut help? (table 1 of the paper)",
    "table2": "Does SwitchOut help beside back-translation? (table 2 of the paper)",
    "tau": "Which temperatures are best? (figure 1 of the paper)",
    "wer": "Does SwitchOut help far from the training text? (figure 2 of the paper)",
    "sweep": "Which configuration is best?",
    "demo": "What does the noise do to a small grammar? (the demo)",
}
DECLARED = "Do the contrasts that were declared beforehand show a difference?"


def experiment_page(experiment: Experiment, analyses: Sequence[Analysis], answers: Answers) -> Html:
    """Return the whole page: what was asked, found and answered."""
    shown = [analysis for analysis in analyses if not analysis.is_empty]
    sections: list[Section] = []
    for analysis in shown:
        sections += _sections(analysis, f"{analysis.name}: " if len(analyses) > 1 else "")
    if any(analysis.taus for analysis in shown):
        sections.append(Section("The table", tables=[tau_table(shown)]))
    sections += [
        asked_section(experiment),
        Section("Cost", tables=[cost_table(shown)]),
        Section(
            "To repeat it",
            text=[f"The same command extends or repeats it: {experiment.command}"],
            tables=[runs_table(shown)],
        ),
    ]
    made_by = f"switchout {version('switchout')} · {signatures(shown)}"
    first = FirstScreen(
        question=DECLARED if _is_declared(experiment) else QUESTIONS[experiment.kind],
        about=about(experiment),
        claims=answers.claims,
        warnings=answers.warnings,
        figures=_first_figures(experiment.kind, analyses),
        settles=answers.settles,
    )
    return report_page(first, sections, made_by=made_by)


def _first_figures(kind: str, analyses: Sequence[Analysis]) -> list[Html]:
    """The charts and tables of the first screen."""
    figures = [_dose(dose) for dose in doses()] if kind == "demo" else []
    for analysis in analyses:
        if analysis.taus:
            figures.append(tau_map(analysis.taus).html())
        elif not analysis.is_empty:
            figures += [gains.html() for gains in _by_distance(analysis) if kind == "wer"]
            figures += [forest.html() for forest in _forest(analysis)]
            figures.append(headline_table(kind, analysis).html())
            if analysis.reference and analysis.reference.studies:
                beside = beside_real_data(analysis.contrasts, analysis.reference.studies)
                figures += [beside.html(), studies_table(analysis.reference.studies).html()]
    return figures


def _dose(dose: Dose) -> Html:
    """What a temperature of the demo does to two training sentences."""
    title = (
        f"Temperature {dose.tau:g} changes {dose.changed:.1%} of the words and leaves "
        f"{dose.untouched:.0%} of the sentences as they are"
    )
    return noise_figure(title, dose.examples)


def _is_declared(experiment: Experiment) -> bool:
    """Whether a sweep has questions with names."""
    rows = (row for corpus in experiment.corpora for row in corpus.rows)
    return experiment.kind == "sweep" and any(q.name for row in rows for q in row.questions)


def _by_distance(analysis: Analysis) -> list[BarChart]:
    by_distance = [b for b in analysis.breakdowns if b.feature.name == "wer"]
    return [gains_chart(breakdown, _colours(analysis)) for breakdown in by_distance]


def _colours(analysis: Analysis) -> dict[str, str]:
    """One colour a row, in all charts of the corpus."""
    return colours_of(row.name for row in analysis.rows)


def _forest(analysis: Analysis) -> list[ForestPlot]:
    """Every row against the first one and what else was asked of it; all runs as dots.

    No chart where no two rows can be compared yet.
    """
    compared = [*analysis.against_first, *analysis.contrasts]
    if not compared:
        return []
    lines: list[Difference] = []
    in_first = {c.row for c in analysis.against_first}
    for row in analysis.finished_rows:
        of_row = [c for c in compared if c.row == row.name]
        if of_row and row.name not in in_first:  # its name alone, then "vs …"
            lines.append(Difference(row.name, "", None))
        lines += {c.against: difference(c.test) for c in of_row}.values()
    if analysis.against_first:
        lines.insert(0, no_difference(analysis.against_first[0].test.baseline))
    are_to_first = all(line.against for line in lines)
    what = f"Δ to {analysis.finished_rows[0].name}" if are_to_first else "Δ BLEU"
    forest = ForestPlot(
        f"{analysis.name}: Δ test BLEU",
        lines,
        x_label=f"{what}, right of 0 is better",
        colours=_colours(analysis),
        note=f"Diamonds: means; lines: 95% intervals over {_counted(compared)}; dots: runs.",
    )
    return [forest]


def _counted(compared: Sequence[Contrast]) -> str:
    """What the intervals of the forest plot count."""
    if all(contrast.test.seeds for contrast in compared):
        return "seeds and sentences"
    return "seeds and sentences, where a row has one run over sentences alone"


def _sections(analysis: Analysis, where: str) -> list[Section]:
    """Everything about one corpus that the first screen leaves out."""
    tuning = [_tuning(analysis, where)] if analysis.planned.is_tuned else []
    if analysis.taus:
        return tuning
    results = [contrast.test for contrast in analysis.contrasts]
    return [
        Section(
            f"{where}All seeds", tables=[detail_table(analysis)], remarks=_side_claims(analysis)
        ),
        *([shipped_section(analysis, analysis.reference)] if analysis.reference else []),
        *([_significance(analysis, where)] if results else []),
        Section(
            f"{where}Checkpoint rules",
            text=[_about_rules(analysis)],
            tables=[rules_table(analysis), *([rule_contrasts_table(analysis)] if results else [])],
        ),
        *tuning,
        Section(f"{where}Learning curves", charts=_curves(analysis)),
        *bucket_sections(analysis.breakdowns, where, colours=_colours(analysis)),
        *([_data(analysis.data, where)] if analysis.data else []),
        *([_examples(analysis, where)] if analysis.examples else []),
    ]


def _significance(analysis: Analysis, where: str) -> Section:
    results = [contrast.test for contrast in analysis.contrasts]
    power = [power_table(analysis)] if analysis.smallest_gaps else []
    tests = replace(differences_table(results), note=f"{results[0].n_resamples:,} resamples")
    return Section(
        f"{where}Significance",
        text=[HOW_TO_READ],
        tables=[tests, dev_table(analysis), *power],
        remarks=[*_without_seeds(results), *_about_luck(analysis)],
    )


def _tuning(analysis: Analysis, where: str) -> Section:
    text = (
        "Runs with a seed or a length that is in no row. They chose by dev BLEU, at the checkpoint "
        "of the rule; test scores had no part in it."
    )
    return Section(f"{where}Tuning", text=[text], tables=[tuning_table(analysis)])


def _examples(analysis: Analysis, where: str) -> Section:
    result = analysis.contrasts[-1].test
    return Section(
        f"{where}Examples: {result.system.name} and {result.baseline.name}",
        text=[HOW_TO_READ_EXAMPLES],
        examples=analysis.examples,
    )


def _curves(analysis: Analysis) -> list[LineChart]:
    charts = []
    for key, label, is_log in (
        ("dev_perplexity", "dev perplexity", True),
        ("dev_bleu", "dev BLEU (greedy search)", False),
    ):
        lines = [Line(row.name, row.median_curve(key)) for row in analysis.finished_rows]
        if any(line.points for line in lines):
            title, axes = f"{label}, medians over seeds", {"x_label": "step", "y_label": label}
            charts.append(LineChart(title, lines, is_log, colours=_colours(analysis), **axes))
    return charts


def _side_claims(analysis: Analysis) -> list[str]:
    remarks = []
    if spread := analysis.spread:
        finding_word = "is shown" if spread.p <= 0.05 else "is not shown by these runs"
        remarks.append(
            "The paper's side claim that SwitchOut varies more over seeds "
            f"{finding_word}: standard deviation {spread.with_switchout:.2f} with it, "
            f"{spread.without:.2f} without (means over rows; deviations shuffled, "
            f"p = {spread.p:.3f})."
        )
    if result := analysis.switchout_and_raml:
        remarks.append(
            "The paper's side claim that SwitchOut on the source is about as good as RAML on the "
            f"target: {difference_in_words(result)}"
        )
    return remarks


def _without_seeds(results: Sequence[Comparison]) -> list[str]:
    """Comparisons that the tables show without a test over seeds, and why."""
    return [
        f"{r.system.name} against {r.baseline.name} has no p seeds and no smallest "
        f"gap: {' and '.join(single)} {'has' if len(single) == 1 else 'have'} one run."
        for r in results
        if (single := [s.name for s in (r.system, r.baseline) if len(s.scores) == 1])
    ]


def _about_luck(analysis: Analysis) -> list[str]:
    if analysis.same is None:
        return ["An A/A comparison (baseline against itself) needs at least 4 baseline runs."]
    low, high = analysis.same.ci95 or (0.0, 0.0)
    return [
        f"A/A: half of the baseline's runs against the other half differ by "
        f"{analysis.same.delta:+.2f} BLEU (95% interval {low:+.2f} to {high:+.2f}): "
        "differences of this size are luck."
    ]


def _about_rules(analysis: Analysis) -> str:
    rule = analysis.planned.base.train.select
    return f"{analysis.n_last} of {analysis.n_runs} runs selected their last checkpoint by {rule}."


def _data(facts: DataFacts, where: str) -> Section:
    columns = [
        Column("row"),
        Column("source sentences untouched", "source", ".1%"),
        Column("target sentences untouched", "target", ".1%"),
    ]
    rows = [(name, *shares) for name, shares in facts.untouched.items()]
    remarks = [
        f"{facts.n_train:,} training pairs; vocabulary {facts.vocabulary[0]:,} and "
        f"{facts.vocabulary[1]:,}.",
        f"Unknown words in the test set: {facts.unknown[0]:.1%} of the source, "
        f"{facts.unknown[1]:.1%} of the target.",
        f"{facts.overlap:.1%} of the test sentences have their source in the training set.",
    ]
    title = "How often noise leaves a sentence as it is"
    return Section(f"{where}Data and noise", tables=[Table(title, columns, rows)], remarks=remarks)


def signatures(analyses: Sequence[Analysis]) -> str:
    """The line that identifies the numbers: scorer, data, seeds, version."""
    lines = []
    for analysis in analyses:
        runs = [run for row in analysis.rows for run in row.runs]
        if runs:
            seeds = sorted({run.seed for run in runs})
            version = runs[0].result["signature"].rpartition("|")[2]
            lines.append(
                f"{analysis.name} · BLEU {runs[0].result['bleu_signature']} · data "
                f"{analysis.corpus.data_hash[:12]} · {_in_words(seeds)} · {version}"
            )
    return "\n".join(lines)


def _in_words(seeds: Sequence[int]) -> str:
    """Name seeds in order, neighbours as a range.

    Example:
        >>> _in_words([1]), _in_words([1, 2, 3, 7])
        ('seed 1', 'seeds 1–3, 7')
    """
    runs: list[list[int]] = []
    for seed in seeds:
        if runs and seed == runs[-1][-1] + 1:
            runs[-1].append(seed)
        else:
            runs.append([seed])
    named = (f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
    return f"seed{'s' if len(seeds) > 1 else ''} {', '.join(named)}"
