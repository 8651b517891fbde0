"""The tables of an experiment's report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median, stdev

from switchout.corpora.registry import find_entry
from switchout.evaluation.comparison import Comparison
from switchout.evaluation.verdict import LEVEL, is_better
from switchout.experiments.contrasts import smallest_gap
from switchout.experiments.experiment import RowRecord
from switchout.experiments.findings import Finding
from switchout.experiments.paper import DAGGERS, reported
from switchout.experiments.reference import Reference
from switchout.report.tables import P_VALUE, Cell, Column, Mark, Table

PAPER_MARK, SEEDS_MARK = "†", "‡"


def main_table(kind: str, findings: Sequence[Finding]) -> Table:
    """The table as the paper prints it: medians of test BLEU, and the paper's own beside them."""
    names = [row.name for row in findings[0].rows]
    columns = [Column("row")]
    cells: list[list[Cell]] = [[name] for name in names]
    marks: dict[tuple[int, int], Mark] = {}
    notes = [
        f"{PAPER_MARK} better than the best row without SwitchOut of its block by the paper's "
        f"test (paired bootstrap of the median runs, p ≤ {LEVEL}); {SEEDS_MARK} by the test over "
        "seeds, Holm-corrected."
    ]
    for finding in findings:
        title = f" {finding.column.name}" if len(findings) > 1 else ""
        for i, row in enumerate(finding.rows):
            if _signs(finding, row.name):
                marks[i, len(columns)] = "good"
        for column, values in (
            *_measured(finding, title),
            *_by_the_paper(kind, finding, title),
            *_of_the_reference(finding),
        ):
            columns.append(column)
            for line, value in zip(cells, values, strict=True):
                line.append(value)
        if finding.column.is_tuned:
            notes.append(
                "Tuning runs: spent on dev, with a seed that is in no row, before the row's runs; "
                f"those of {names[0]} chose what all rows share."
            )
        notes += _same_rows(finding)
        if finding.reference:
            notes.append(f"Reference: {finding.reference.origin}")
    note = "\n".join([*dict.fromkeys(notes), signatures(findings)])
    return Table("Test BLEU, medians over seeds", columns, cells, marks=marks, note=note)


def _same_rows(finding: Finding) -> list[str]:
    """Rows at tuned temperatures that turned out to be a row which the table has anyway."""
    first = _by_runs(finding.rows)
    return [
        f"{row.name}: the same runs as {first[row.addresses].name}, compared once."
        for row in has_runs(finding.rows)
        if first[row.addresses] is not row
    ]


def _measured(finding: Finding, title: str) -> Iterator[tuple[Column, list[Cell]]]:
    """What the runs say: the columns with their cells."""
    rows, column = finding.rows, finding.column
    yield (
        Column(f"test BLEU{title}", f"test_bleu{title}", ".2f"),
        [row.median("test_bleu") for row in rows],
    )
    yield Column("", f"significant{title}"), [_signs(finding, row.name) for row in rows]
    yield Column("runs", f"runs{title}", "d"), [len(row.runs) for row in rows]
    if column.is_tuned:
        yield (
            Column("tuning runs", f"trials{title}", "d"),
            [column.n_tried(row.name) for row in rows],
        )


def _by_the_paper(kind: str, finding: Finding, title: str) -> Iterator[tuple[Column, list[Cell]]]:
    paper, entry = reported(kind, finding.corpus.name), find_entry(finding.corpus.name)
    if paper and entry:
        yield (
            Column(f"paper{title}", f"paper{title}", ".2f"),
            [paper.get(row.name) for row in finding.rows],
        )
        yield (
            Column("", f"paper_significant{title}"),
            [PAPER_MARK if (entry.name, r.name) in DAGGERS else "" for r in finding.rows],
        )


def _of_the_reference(finding: Finding) -> Iterator[tuple[Column, list[Cell]]]:
    if finding.reference:
        known = [finding.reference.by_name.get(row.name) for row in finding.rows]
        yield (
            Column("reference, shipped", "reference_test_bleu", ".2f"),
            [row.median if row else None for row in known],
        )
        yield (
            Column("its runs", "reference_runs", "d"),
            [len(row.runs) if row else None for row in known],
        )


def reference_table(reference: Reference) -> Table:
    """Every run of the shipped reference."""
    columns = [
        Column("row"),
        Column("test BLEU median", "test_bleu", ".2f"),
        Column("std", format=".2f"),
        Column("all seeds", "seeds"),
        Column("chosen = last", "selected_is_last"),
    ]
    rows: list[tuple[Cell, ...]] = []
    for row in reference.rows:
        scores = [run.test_bleu for run in row.runs]
        n_last = sum(run.selected_step == run.steps for run in row.runs)
        shown = " ".join(f"{score:.1f}" for score in scores)
        spread = stdev(scores) if len(scores) > 1 else None
        rows.append((row.name, row.median, spread, shown, f"{n_last} of {len(scores)}"))
    return Table(f"Shipped reference: {reference.corpus}", columns, rows, note=reference.origin)


def detail_table(finding: Finding) -> Table:
    """Every row's scores over seeds, dev beside test."""
    columns = [
        Column("row"),
        Column("runs", format="d"),
        Column("test BLEU median", "test_bleu", ".2f"),
        Column("std", format=".2f"),
        Column("min", format=".2f"),
        Column("max", format=".2f"),
        Column("dev BLEU", "dev_bleu", ".2f"),
        Column("dev perplexity", "dev_perplexity", ".2f"),
        Column("chosen = last", "selected_is_last"),
        Column("tuning runs", "trials", "d"),
    ]
    rows: list[tuple[Cell, ...]] = []
    for row in finding.rows:
        scores = row.numbers("test_bleu")
        if not scores:
            rows.append((row.name, 0, *[None] * 8))
            continue
        rows.append(
            (
                row.name,
                len(scores),
                median(scores),
                stdev(scores) if len(scores) > 1 else None,
                min(scores),
                max(scores),
                row.median("dev_bleu"),
                row.median("dev_perplexity"),
                f"{row.n_last} of {len(scores)}",
                finding.column.n_tried(row.name),
            )
        )
    return Table(f"{finding.column.name}: all rows", columns, rows, note=signatures([finding]))


def rules_table(finding: Finding) -> Table:
    """Medians had another rule chosen the checkpoints."""
    rules = [finding.column.base.train.select, *finding.by_rule]
    columns = [Column("row"), *(Column(f"{rule}", rule, ".2f") for rule in rules)]
    rows = [
        (row.name, *(row.median("test_bleu", rule=rule) if row.runs else None for rule in rules))
        for row in finding.rows
    ]
    note = f"Test BLEU, medians; the first rule was fixed before the runs.\n{signatures([finding])}"
    return Table(f"{finding.column.name}: by checkpoint rule", columns, rows, note=note)


def rule_contrasts_table(finding: Finding) -> Table:
    """What the comparisons say under each rule."""
    columns = [
        Column("rule"),
        Column("row"),
        Column("against"),
        Column("Δ", "delta", "+.2f"),
        Column("p bootstrap", "p_bootstrap", P_VALUE),
        Column("p seeds", "p_seeds", P_VALUE),
    ]
    by_rule = {finding.column.base.train.select: finding.contrasts, **finding.by_rule}
    rows = [(rule, *_contrast_cells(r.test)) for rule, found in by_rule.items() for r in found]
    return Table(f"{finding.column.name}: comparisons by checkpoint rule", columns, rows)


def power_table(finding: Finding) -> Table | None:
    """What these runs can show: the A/A comparison, and the smallest gap each test can see."""
    tested = [*([finding.same] if finding.same else []), *(c.test for c in finding.contrasts)]
    rows: list[tuple[Cell, ...]] = [
        (r.baseline.system.name, r.system.system.name, r.delta, r.seeds.p, smallest_gap(r.seeds))
        for r in tested
        if r.seeds is not None
    ]
    if not rows:
        return None
    columns = [
        Column("A"),
        Column("B"),
        Column("Δ", "delta", "+.2f"),
        Column("p seeds", "p_seeds", P_VALUE),
        Column("smallest gap seen 4 times in 5", "smallest_gap", ".2f"),
    ]
    return Table(f"{finding.column.name}: what this set-up can detect", columns, rows)


def cost_table(findings: Sequence[Finding]) -> Table:
    """Processor hours and runs, by row, with what was spent on choosing before."""
    several = len(findings) > 1
    columns = [
        *([Column("corpus")] if several else []),
        Column("row"),
        Column("runs", format="d"),
        Column("CPU hours", "cpu_hours", ".2f"),
        Column("hours", format=".2f"),
        Column("target tokens/s", "tokens_per_second", ",.0f"),
    ]
    rows: list[tuple[Cell, ...]] = []
    for finding in findings:
        spent = {row.name: row.runs for row in _by_runs(finding.rows).values()}
        for name, tried in finding.tried.items():
            if tried:
                spent[f"tuning {name}"] = tuple(run for row in tried for run in row.runs)
        for name, runs in spent.items():
            hours = [sum(run.number(k) for run in runs) / 3600 for k in ("cpu_seconds", "seconds")]
            speeds = [run.number("tokens_per_second") for run in runs]
            cells = (len(runs), *hours, median(speeds) if speeds else None)
            rows.append((*([finding.column.name] if several else []), name, *cells))
    return Table("Cost of training", columns, rows)


def runs_table(findings: Sequence[Finding]) -> Table:
    """Every number's run: the line that identifies it."""
    columns = [
        Column("row"),
        Column("test BLEU", "test_bleu", ".2f"),
        Column("signature"),
        Column("commit"),
        Column("torch"),
    ]
    rows = [
        (
            row.name,
            run.result["test_bleu"],
            run.result["signature"],
            run.record["machine"]["commit"],
            run.record["machine"]["torch"],
        )
        for finding in findings
        for row in finding.rows
        for run in row.runs
    ]
    return Table("All runs", columns, rows)


def signatures(findings: Sequence[Finding]) -> str:
    """The line that identifies the numbers: scorer, data, seeds, version."""
    lines = []
    for finding in findings:
        runs = [run for row in finding.rows for run in row.runs]
        if runs:
            seeds = sorted({run.seed for run in runs})
            version = runs[0].result["signature"].rpartition("|")[2]
            lines.append(
                f"{finding.column.name} · BLEU {runs[0].result['bleu_signature']} · data "
                f"{finding.corpus.data_hash[:12]} · seeds {seeds[0]}–{seeds[-1]} · {version}"
            )
    return "\n".join(lines)


def _signs(finding: Finding, name: str) -> str:
    result = next((c.test for c in finding.contrasts if c.row == name), None)
    if result is None or not is_better(result):
        return ""
    by_paper = PAPER_MARK if result.p_bootstrap <= LEVEL else ""
    return by_paper + (SEEDS_MARK if result.seeds and result.p_holm <= LEVEL else "")


def _contrast_cells(result: Comparison) -> tuple[Cell, ...]:
    seeds = None if result.seeds is None else result.seeds.p
    names = (result.system.system.name, result.baseline.system.name)
    return (*names, result.delta, result.p_bootstrap, seeds)


def _by_runs(rows: Sequence[RowRecord]) -> dict[tuple[Path, ...], RowRecord]:
    """Return the first row with each set of runs: the others are that row under another name."""
    first: dict[tuple[Path, ...], RowRecord] = {}
    for row in has_runs(rows):
        first.setdefault(row.addresses, row)
    return first


def has_runs(rows: Sequence[RowRecord]) -> list[RowRecord]:
    """Return the rows with at least one finished run."""
    return [row for row in rows if row.runs]
