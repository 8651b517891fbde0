"""The report of an experiment: one page that answers, and shows why one may believe it."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from statistics import median

from switchout.evaluation.comparison import Comparison
from switchout.evaluation.verdict import verdict
from switchout.experiments.contrasts import Contrast
from switchout.experiments.experiment import Experiment, RowRecord
from switchout.experiments.findings import Finding
from switchout.experiments.reference import Reference
from switchout.report.charts import Difference, ForestPlot, Line, LineChart
from switchout.report.compare import (
    HOW_TO_READ,
    HOW_TO_READ_EXAMPLES,
    bucket_sections,
    differences_table,
    find_examples,
)
from switchout.report.experiment_asked import asked_section
from switchout.report.experiment_tables import (
    cost_table,
    detail_table,
    has_runs,
    main_table,
    power_table,
    reference_table,
    rule_contrasts_table,
    rules_table,
    runs_table,
    signatures,
)
from switchout.report.experiment_tau import tau_answers, tau_section, tau_table
from switchout.report.experiment_tuning import tuning_sections
from switchout.report.experiment_wer import wer_answers
from switchout.report.page import Section, render_page
from switchout.report.tables import Column, Table

TITLES = {
    "table1": "Table 1: does SwitchOut help?",
    "table2": "Table 2: SwitchOut and back-translation",
    "tau": "Figure 1: which temperatures?",
    "wer": "Figure 2: where does SwitchOut help?",
    "sweep": "Sweep",
}
N_EXAMPLES = 4


def experiment_page(experiment: Experiment, findings: Sequence[Finding]) -> str:
    """Return the whole page."""
    shown = [finding for finding in findings if not finding.is_empty]
    is_tau = experiment.kind == "tau"
    sections = [asked_section(experiment)]
    if is_tau:
        for finding in shown:
            sections += [tau_section(finding), *tuning_sections(finding, "")]
    if shown:
        sections.append(Section("The table", tables=[headline_table(experiment, findings)]))
    if not is_tau:
        for finding in shown:
            sections += _column_sections(finding, name_it=len(findings) > 1)
    sections += [Section("Cost", tables=[cost_table(shown)]), _repeat(experiment, shown)]
    return render_page(
        TITLES[experiment.kind],
        sections,
        lead=lead(experiment, findings),
        made_by=f"switchout {version('switchout')} · {signatures(shown)}".replace("\n", " · "),
    )


def headline_table(experiment: Experiment, findings: Sequence[Finding]) -> Table:
    """The table that the experiment is about."""
    if experiment.kind == "tau":
        return tau_table(findings)
    return main_table(experiment.kind, findings)


def lead(experiment: Experiment, findings: Sequence[Finding]) -> list[str]:
    """The answers in words: a paragraph per claim, and what is still missing."""
    paragraphs = []
    for finding in findings:
        where = f"{finding.column.name}: " if len(findings) > 1 else ""
        paragraphs += [f"{where}{claim(result)}" for result in finding.contrasts]
        if experiment.kind == "tau" and not finding.is_empty:
            paragraphs += [f"{where}{answer}" for answer in tau_answers(finding)]
        if experiment.kind == "wer":
            paragraphs += [f"{where}{answer}" for answer in wer_answers(finding)]
        if experiment.kind != "tau" and finding.n_last:
            paragraphs.append(f"{where}{_about_rules(finding)}")
        n_missing = sum(row.n_missing for row in finding.rows)
        if n_missing:
            paragraphs.append(f"{where}{n_missing} runs are not finished; this is what is there.")
    return paragraphs or ["No comparison is finished yet."]


def claim(contrast: Contrast) -> str:
    """One contrast as a claim: helps, hurts, undecided or nothing learned, with the evidence."""
    parts = [f"{contrast.row}: {contrast.verdict}.", verdict(contrast.test), contrast.disagreement]
    return " ".join(part for part in (*parts, contrast.remark) if part)


def _column_sections(finding: Finding, *, name_it: bool) -> list[Section]:
    where = f"{finding.column.name}: " if name_it else ""
    power = power_table(finding)
    results = [contrast.test for contrast in finding.contrasts]
    sections = [
        Section(
            f"{where}All seeds",
            tables=[detail_table(finding)],
            charts=[_dots(finding)],
            remarks=_side_claims(finding),
        ),
        Section(
            f"{where}Significance",
            text=[HOW_TO_READ],
            tables=[
                *([differences_table(results)] if results else []),
                *([power] if power else []),
            ],
            remarks=[*_without_seeds(results), *_about_luck(finding)],
        ),
        Section(
            f"{where}Checkpoint rules",
            text=[_about_rules(finding)],
            tables=[rules_table(finding), *([rule_contrasts_table(finding)] if results else [])],
        ),
        *tuning_sections(finding, where),
        Section(f"{where}Learning curves", charts=_curves(finding)),
        *bucket_sections(finding.breakdowns),
        _data(finding, where),
    ]
    if finding.reference:
        sections.insert(1, _shipped(finding, finding.reference))
    if results:
        sources, references = finding.corpus.pairs("test")
        chosen = find_examples(results[-1], references, sources, n_examples=N_EXAMPLES)
        title = f"{where}Examples: {results[-1].system.system.name}"
        sections.append(Section(title, text=[HOW_TO_READ_EXAMPLES], examples=chosen))
    return sections


def _shipped(finding: Finding, reference: Reference) -> Section:
    """Our numbers of the same rows, marked as ours."""
    n_equal, n_both = reference.n_equal(finding.rows)
    return Section(
        "Shipped reference: not your runs",
        text=[
            f"The same rows, configuration and text, trained by us with {reference.n_seeds} seeds "
            "a row, as a measure for what fewer seeds can tell.",
            f"{n_equal} of your {n_both} runs reached exactly the test BLEU of our run of the same "
            "seed. Runs are repeatable bit by bit on the same processor type and torch version; "
            "elsewhere they differ as another seed would.",
        ],
        tables=[reference_table(reference)],
        remarks=[f"Reference, {answer}" for answer in reference.answers],
    )


def _dots(finding: Finding) -> ForestPlot:
    """Every run as a dot, relative to the median of the first row with runs."""
    rows = has_runs(finding.rows)
    zero = median(rows[0].numbers("test_bleu"))
    dots = {row.name: [score - zero for score in row.numbers("test_bleu")] for row in rows}
    return ForestPlot(
        f"Every run: test BLEU above the median of {rows[0].name}",
        [Difference(name, rows[0].name, None, dots=runs) for name, runs in dots.items()],
        x_label="Δ BLEU",
    )


def _curves(finding: Finding) -> list[LineChart]:
    rows = has_runs(finding.rows)
    charts = []
    for key, label, is_log in (
        ("dev_perplexity", "dev perplexity", True),
        ("dev_bleu", "dev BLEU (greedy search)", False),
    ):
        lines = [Line(row.name, _median_curve(row, key)) for row in rows]
        if all(line.points for line in lines):
            title = f"{label}, medians over seeds"
            charts.append(LineChart(title, lines, "step", label, is_log))
    return charts


def _median_curve(row: RowRecord, key: str) -> list[tuple[float, float]]:
    by_step: dict[float, list[float]] = {}
    for run in row.runs:
        for validation in run.result["validations"]:
            if key in validation:
                by_step.setdefault(validation["step"], []).append(validation[key])
    return [(step, median(values)) for step, values in sorted(by_step.items())]


def _side_claims(finding: Finding) -> list[str]:
    remarks = []
    if spread := finding.spread:
        finding_word = "is shown" if spread.p <= 0.05 else "is not shown by these runs"
        remarks.append(
            "The paper's side claim that SwitchOut varies more over seeds "
            f"{finding_word}: standard deviation {spread.with_switchout:.2f} with it, "
            f"{spread.without:.2f} without (means over rows; deviations shuffled, "
            f"p = {spread.p:.3f})."
        )
    if result := finding.switchout_and_raml:
        remarks.append(
            "The paper's side claim that SwitchOut on the source is about as good as RAML on the "
            f"target: {verdict(result)}"
        )
    return remarks


def _without_seeds(results: Sequence[Comparison]) -> list[str]:
    """Comparisons that the tables show without a test over seeds, and why."""
    return [
        f"{r.system.system.name} against {r.baseline.system.name} has no p seeds and no smallest "
        f"gap: {' and '.join(single)} {'has' if len(single) == 1 else 'have'} one run."
        for r in results
        if (single := [s.system.name for s in (r.system, r.baseline) if len(s.scores) == 1])
    ]


def _about_luck(finding: Finding) -> list[str]:
    if finding.same is None:
        return ["An A/A comparison (baseline against itself) needs at least 4 baseline runs."]
    low, high = finding.same.ci95 or (0.0, 0.0)
    return [
        f"A/A: half of the baseline's runs against the other half differ by "
        f"{finding.same.delta:+.2f} BLEU (95% interval {low:+.2f} to {high:+.2f}): "
        "differences of this size are luck."
    ]


def _about_rules(finding: Finding) -> str:
    rule = finding.column.base.train.select
    text = f"{finding.n_last} of {finding.n_runs} runs selected their last checkpoint by {rule}"
    if finding.is_cut_short:
        return f"{text}: most had not passed their best point; longer training may change this."
    return f"{text}."


def _data(finding: Finding, where: str) -> Section:
    facts = finding.data
    if facts is None:
        return Section(f"{where}Data")
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


def _repeat(experiment: Experiment, findings: Sequence[Finding]) -> Section:
    text = [f"The same command extends or repeats it: {experiment.command}"]
    return Section("To repeat it", text=text, tables=[runs_table(findings)])
