"""The tables of a report's folded sections: seeds, rules, dev beside test, tuning, cost, runs."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median, stdev

from switchout.experiments.analysis import Analysis
from switchout.experiments.experiment import RowRecord
from switchout.report.answers import TONES
from switchout.report.tables import P_VALUE, Cell, Column, Mark, Table, interval

CHOSEN = "chosen"


def detail_table(analysis: Analysis) -> Table:
    """Every row's scores over seeds, dev beside test."""
    is_tuned = analysis.planned.is_tuned
    numbers = ("std", "min", "max", "dev BLEU", "dev perplexity")
    columns = [
        Column("row"),
        Column("runs", format="d"),
        *(Column(name, format=".2f") for name in numbers),
        Column("chosen = last"),
        *([Column("tuning runs", "trials", "d")] if is_tuned else []),
    ]
    rows: list[tuple[Cell, ...]] = []
    for row in analysis.rows:
        scores = row.numbers("test_bleu")
        spread = stdev(scores) if len(scores) > 1 else None
        ends = (min(scores), max(scores)) if scores else (None, None)
        dev = (row.median("dev_bleu"), row.median("dev_perplexity"))
        tried = [analysis.planned.n_tried(row.name)] if is_tuned else []
        n_last = f"{row.n_last} of {len(scores)}"
        rows.append((row.name, len(scores), spread, *ends, *dev, n_last, *tried))
    note = "std, min and max of test BLEU over seeds; dev: medians."
    return Table("All rows", columns, rows, note=note)


def rules_table(analysis: Analysis) -> Table:
    """Medians had another rule chosen the checkpoints."""
    rules = [analysis.planned.base.train.select, *analysis.by_rule]
    columns = [Column("row"), *(Column(f"{rule}", rule, ".2f") for rule in rules)]
    rows = [(row.name, *(_by_rule(row, rule) for rule in rules)) for row in analysis.rows]
    note = "Test BLEU, medians; the first rule was fixed before the runs."
    return Table("By checkpoint rule", columns, rows, note=note)


def _by_rule(row: RowRecord, rule: str) -> float | None:
    """The median of a row; None where its runs did not note the rule, as without dev BLEU."""
    is_noted = all(rule in run.record["rules"] for run in row.runs)
    return row.median("test_bleu", rule=rule) if is_noted else None


def rule_contrasts_table(analysis: Analysis) -> Table:
    """What the comparisons say under each rule."""
    by_rule = {analysis.planned.base.train.select: analysis.contrasts, **analysis.by_rule}
    return Table.of(
        "Comparisons by checkpoint rule",
        [(rule, contrast.test) for rule, found in by_rule.items() for contrast in found],
        {
            Column("rule"): lambda one: one[0],
            Column("row"): lambda one: one[1].system.name,
            Column("against"): lambda one: one[1].baseline.name,
            Column("Δ", "delta", "+.2f"): lambda one: one[1].delta,
            Column("p bootstrap", "p_bootstrap", P_VALUE): lambda one: one[1].p_bootstrap,
            Column("p seeds", "p_seeds", P_VALUE): lambda one: one[1].p_seeds,
        },
    )


def dev_table(analysis: Analysis) -> Table:
    """Every question on dev beside test: a gain that only one of them shows is not believed."""
    n_family = max((c.n_family for c in analysis.contrasts), default=0)
    return Table.of(
        "Dev beside test",
        analysis.contrasts,
        {
            Column("row"): lambda c: c.row,
            Column("against"): lambda c: c.against,
            Column("Δ test", "delta_test", "+.2f"): lambda c: c.test.delta,
            Column("95% interval", "ci95_test"): lambda c: interval(c.test.ci95),
            Column("Δ dev", "delta_dev", "+.2f"): lambda c: c.dev.delta,
            Column("95% interval", "ci95_dev"): lambda c: interval(c.dev.ci95),
            Column("seeds"): lambda c: "paired" if c.is_paired else "not paired",
            Column("verdict"): lambda c: c.verdict,
        },
        note=f"p Holm corrects for {n_family} questions, all that are reported together.",
        marks={(i, 7): TONES[c.verdict] for i, c in enumerate(analysis.contrasts)},
    )


def power_table(analysis: Analysis) -> Table:
    """What these runs can show: the A/A comparison, and the smallest gap each test can see."""
    return Table.of(
        "What this set-up can detect",
        analysis.smallest_gaps,
        {
            Column("A"): lambda one: one[0].baseline.name,
            Column("B"): lambda one: one[0].system.name,
            Column("Δ", "delta", "+.2f"): lambda one: one[0].delta,
            Column("p seeds", "p_seeds", P_VALUE): lambda one: one[0].p_seeds,
            Column("smallest gap seen 4 times in 5", "smallest_gap", ".2f"): lambda one: one[1],
        },
    )


def tuning_table(analysis: Analysis) -> Table:
    """A line per run, for the row it was spent on."""
    columns = [
        Column("for the row", "row"),
        Column("tried"),
        Column("dev BLEU", "dev_bleu", ".2f"),
        Column("dev perplexity", "dev_perplexity", ".2f"),
        Column("", CHOSEN),
    ]
    configs = {row.name: row.config for row in analysis.planned.rows}
    rows: list[tuple[Cell, ...]] = []
    marks: dict[tuple[int, int], Mark] = {}
    for name, tried in analysis.tried.items():
        for record in tried:
            is_chosen = record.row.config == configs[name]
            if is_chosen:
                marks[len(rows), 2] = "good"
            scores = (record.median("dev_bleu"), record.median("dev_perplexity"))
            rows.append((name, record.name, *scores, CHOSEN if is_chosen else ""))
    return Table("Trials on dev", columns, rows, marks=marks)


def cost_table(analyses: Sequence[Analysis]) -> Table:
    """Processor hours and runs, by row, with what was spent on choosing before."""
    several = len(analyses) > 1
    columns = [
        *([Column("corpus")] if several else []),
        Column("row"),
        Column("runs", format="d"),
        Column("CPU hours", "cpu_hours", ".2f"),
        Column("hours", format=".2f"),
        Column("target tokens/s", "tokens_per_second", ",.0f"),
    ]
    rows: list[tuple[Cell, ...]] = []
    for analysis in analyses:
        spent = {row.name: row.runs for row in analysis.distinct_rows().values()}
        for name, tried in analysis.tried.items():
            if tried:
                spent[f"tuning {name}"] = tuple(run for row in tried for run in row.runs)
        for name, runs in spent.items():
            hours = [sum(run.number(k) for run in runs) / 3600 for k in ("cpu_seconds", "seconds")]
            speeds = [run.number("tokens_per_second") for run in runs]
            cells = (len(runs), *hours, median(speeds) if speeds else None)
            rows.append((*([analysis.name] if several else []), name, *cells))
    return Table("Cost of training", columns, rows)


def runs_table(analyses: Sequence[Analysis]) -> Table:
    """Every number's run: the line that identifies it."""
    runs = [(row.name, r) for analysis in analyses for row in analysis.rows for r in row.runs]
    return Table.of(
        "All runs",
        runs,
        {
            Column("row"): lambda one: one[0],
            Column("test BLEU", "test_bleu", ".2f"): lambda one: one[1].result["test_bleu"],
            Column("signature"): lambda one: one[1].result["signature"],
            Column("commit"): lambda one: one[1].record["machine"]["commit"],
            Column("torch"): lambda one: one[1].record["machine"]["torch"],
        },
    )
