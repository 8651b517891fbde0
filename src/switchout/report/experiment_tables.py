"""The tables of an experiment's report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median, stdev

from switchout.corpora.registry import find_entry
from switchout.evaluation.comparison import Comparison
from switchout.evaluation.verdict import LEVEL, is_better
from switchout.experiments.analysis import Analysis
from switchout.experiments.contrasts import Contrast
from switchout.experiments.experiment import RowRecord
from switchout.experiments.paper import DAGGERS, reported
from switchout.experiments.reference import Reference
from switchout.report.answers import TONES
from switchout.report.tables import P_VALUE, Cell, Column, Mark, Table, interval

Part = tuple[Column, Sequence[Cell]]  # a column of a table with its cells
Marks = Mapping[tuple[int, int], Mark]
CHOSEN = "chosen"
PAPER_MARK, SEEDS_MARK = "†", "‡"
ABOUT_SIGNS = (
    f"{PAPER_MARK} better than the best row without SwitchOut of its block by the paper's test "
    f"(paired bootstrap of the median runs, p ≤ {LEVEL}); {SEEDS_MARK} by the test over seeds, "
    "Holm-corrected."
)


def main_table(kind: str, analyses: Sequence[Analysis]) -> Table:
    """The table as the paper prints it: medians of test BLEU, and the paper's own beside them."""
    names = [row.name for row in analyses[0].rows]
    parts: list[Part] = [(Column("row"), names)]
    marks: dict[tuple[int, int], Mark] = {}
    for analysis in analyses:
        where = f" {analysis.name}" if len(analyses) > 1 else ""
        for i, row in enumerate(analysis.rows):
            if _signs(analysis, row.name):
                marks[i, len(parts)] = "good"
        parts += [
            (
                Column(f"test BLEU{where}", f"test_bleu{where}", ".2f"),
                [row.median("test_bleu") for row in analysis.rows],
            ),
            (
                Column("", f"significant{where}"),
                [_signs(analysis, row.name) for row in analysis.rows],
            ),
            (Column("runs", f"runs{where}", "d"), [len(row.runs) for row in analysis.rows]),
            *_tuning_runs(analysis, where),
            *_by_the_paper(kind, analysis, where),
            *_of_the_reference(analysis),
        ]
    note = "\n".join([ABOUT_SIGNS, *_notes(analyses)])
    return _table("Test BLEU, medians over seeds", parts, note=note, marks=marks)


def headline_table(kind: str, analysis: Analysis) -> Table:
    """What the first screen shows: medians, and both differences with their intervals."""
    names = [row.name for row in analysis.rows]
    parts: list[Part] = [
        (Column("row"), names),
        (Column("median", format=".2f"), [row.median("test_bleu") for row in analysis.rows]),
    ]
    if len({len(row.runs) for row in analysis.rows}) > 1:
        parts.append((Column("runs", format="d"), [len(row.runs) for row in analysis.rows]))
    first = {c.row: c for c in analysis.against_first}
    asked = [c for c in analysis.contrasts if c.row in first and c.against != first[c.row].against]
    # What was asked of the first row counts: it may be paired by seed.
    first |= {c.row: c for c in analysis.contrasts if c not in asked and c.row in first}
    if first:
        zero = next(iter(first.values())).against
        parts.append((Column(f"Δ to {zero}"), [_delta(first.get(name)) for name in names]))
    if asked:
        by_row = {name: [c for c in asked if c.row == name] for name in names}
        cells = ["; ".join(f"{_delta(c)} to {c.against}" for c in by_row[name]) for name in names]
        parts.append((Column("Δ as asked"), cells))
    parts += [*_by_the_paper(kind, analysis, ""), *_of_the_reference(analysis)]
    title, note = "Test BLEU: medians; Δ of means [95% interval]", "\n".join(_notes([analysis]))
    return _table(title, parts, note=note, marks=_verdict_marks(analysis, parts))


def _verdict_marks(analysis: Analysis, parts: Sequence[Part]) -> Marks:
    """The verdict of a question colours the difference that it is about."""
    places = [j for j, (column, _) in enumerate(parts) if column.title.startswith("Δ")]
    lines = {row.name: i for i, row in enumerate(analysis.rows)}
    first = {(c.row, c.against) for c in analysis.against_first}
    return {
        (lines[c.row], places[0 if (c.row, c.against) in first else -1]): TONES[c.verdict]
        for c in analysis.contrasts
        if places
    }


def _delta(contrast: Contrast | None) -> str | None:
    if contrast is None:
        return None
    number, bounds = Column("", format="+.2f"), contrast.test.ci95
    shown = f" [{number.show(bounds[0])}, {number.show(bounds[1])}]" if bounds else ""
    # A narrow column breaks before the other row's name, not within the numbers.
    return (number.show(contrast.test.delta) + shown).replace(" ", "\N{NO-BREAK SPACE}")


def _table(title: str, parts: Sequence[Part], *, note: str, marks: Marks) -> Table:
    columns, cells = zip(*parts, strict=True)
    return Table(title, columns, list(zip(*cells, strict=True)), note=note, marks=marks)


def _notes(analyses: Sequence[Analysis]) -> list[str]:
    notes = []
    for analysis in analyses:
        if analysis.planned.is_tuned:
            notes.append(
                "Tuning runs: spent on dev, with a seed that is in no row, before the row's runs; "
                f"those of {analysis.rows[0].name} chose what all rows share."
            )
        notes += _same_rows(analysis)
        if analysis.reference:
            notes.append(f"Reference: {analysis.reference.origin}")
    return list(dict.fromkeys(notes))


def _same_rows(analysis: Analysis) -> list[str]:
    """Rows at tuned temperatures that turned out to be a row which the table has anyway."""
    first = _by_runs(analysis.rows)
    return [
        f"{row.name}: the same runs as {first[row.addresses].name}, compared once."
        for row in with_runs(analysis.rows)
        if first[row.addresses] is not row
    ]


def _tuning_runs(analysis: Analysis, where: str) -> Iterator[Part]:
    if analysis.planned.is_tuned:
        spent = [analysis.planned.n_tried(row.name) for row in analysis.rows]
        yield Column("tuning runs", f"trials{where}", "d"), spent


def _by_the_paper(kind: str, analysis: Analysis, title: str) -> Iterator[Part]:
    paper, entry = reported(kind, analysis.corpus.name), find_entry(analysis.corpus.name)
    if paper and entry:
        yield (
            Column(f"paper{title}", f"paper{title}", ".2f"),
            [paper.get(row.name) for row in analysis.rows],
        )
        yield (
            Column("", f"paper_significant{title}"),
            [PAPER_MARK if (entry.name, r.name) in DAGGERS else "" for r in analysis.rows],
        )


def _of_the_reference(analysis: Analysis) -> Iterator[Part]:
    if analysis.reference:
        known = [analysis.reference.by_name.get(row.name) for row in analysis.rows]
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


def detail_table(analysis: Analysis) -> Table:
    """Every row's scores over seeds, dev beside test."""
    parts: list[Part] = [
        (Column("row"), [row.name for row in analysis.rows]),
        (Column("runs", format="d"), [len(row.runs) for row in analysis.rows]),
    ]
    for title, of in (("std", stdev), ("min", min), ("max", max)):
        needed = 2 if of is stdev else 1
        scores = [row.numbers("test_bleu") for row in analysis.rows]
        parts.append(
            (Column(title, format=".2f"), [of(s) if len(s) >= needed else None for s in scores])
        )
    parts += [
        (Column("dev BLEU", format=".2f"), [row.median("dev_bleu") for row in analysis.rows]),
        (
            Column("dev perplexity", format=".2f"),
            [row.median("dev_perplexity") for row in analysis.rows],
        ),
        (Column("chosen = last"), [f"{row.n_last} of {len(row.runs)}" for row in analysis.rows]),
        *_tuning_runs(analysis, ""),
    ]
    note = "std, min and max of test BLEU over seeds; dev: medians."
    return _table("All rows", parts, note=note, marks={})


def rules_table(analysis: Analysis) -> Table:
    """Medians had another rule chosen the checkpoints."""
    rules = [analysis.planned.base.train.select, *analysis.by_rule]
    columns = [Column("row"), *(Column(f"{rule}", rule, ".2f") for rule in rules)]
    rows = [
        (row.name, *(row.median("test_bleu", rule=rule) if row.runs else None for rule in rules))
        for row in analysis.rows
    ]
    note = "Test BLEU, medians; the first rule was fixed before the runs."
    return Table("By checkpoint rule", columns, rows, note=note)


def rule_contrasts_table(analysis: Analysis) -> Table:
    """What the comparisons say under each rule."""
    columns = [
        Column("rule"),
        Column("row"),
        Column("against"),
        Column("Δ", "delta", "+.2f"),
        Column("p bootstrap", "p_bootstrap", P_VALUE),
        Column("p seeds", "p_seeds", P_VALUE),
    ]
    by_rule = {analysis.planned.base.train.select: analysis.contrasts, **analysis.by_rule}
    rows = [(rule, *_contrast_cells(c.test)) for rule, found in by_rule.items() for c in found]
    return Table("Comparisons by checkpoint rule", columns, rows)


def dev_table(analysis: Analysis) -> Table:
    """Every question on dev beside test: a gain that only one of them shows is not believed."""
    columns = [
        Column("row"),
        Column("against"),
        Column("Δ test", "delta_test", "+.2f"),
        Column("95% interval", "ci95_test"),
        Column("Δ dev", "delta_dev", "+.2f"),
        Column("95% interval", "ci95_dev"),
        Column("seeds"),
        Column("verdict"),
    ]
    rows = [
        (
            c.row,
            c.against,
            c.test.delta,
            interval(c.test.ci95),
            c.dev.delta,
            interval(c.dev.ci95),
            "paired" if c.is_paired else "not paired",
            c.verdict,
        )
        for c in analysis.contrasts
    ]
    marks: Marks = {(i, 7): TONES[c.verdict] for i, c in enumerate(analysis.contrasts)}
    n_family = max((c.n_family for c in analysis.contrasts), default=0)
    note = f"p Holm corrects for {n_family} questions, all that are reported together."
    return Table("Dev beside test", columns, rows, note=note, marks=marks)


def power_table(analysis: Analysis) -> Table | None:
    """What these runs can show: the A/A comparison, and the smallest gap each test can see."""
    tested = [*([analysis.same] if analysis.same else []), *(c.test for c in analysis.contrasts)]
    rows: list[tuple[Cell, ...]] = [
        (r.baseline.system.name, r.system.system.name, r.delta, r.seeds.p, r.seeds.smallest_gap)
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
    return Table("What this set-up can detect", columns, rows)


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
        spent = {row.name: row.runs for row in _by_runs(analysis.rows).values()}
        for name, tried in analysis.tried.items():
            if tried:
                spent[f"tuning {name}"] = tuple(run for row in tried for run in row.runs)
        for name, runs in spent.items():
            hours = [sum(run.number(k) for run in runs) / 3600 for k in ("cpu_seconds", "seconds")]
            speeds = [run.number("tokens_per_second") for run in runs]
            cells = (len(runs), *hours, median(speeds) if speeds else None)
            rows.append((*([analysis.name] if several else []), name, *cells))
    return Table("Cost of training", columns, rows)


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


def runs_table(analyses: Sequence[Analysis]) -> Table:
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
        for analysis in analyses
        for row in analysis.rows
        for run in row.runs
    ]
    return Table("All runs", columns, rows)


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
                f"{analysis.corpus.data_hash[:12]} · seeds {seeds[0]}–{seeds[-1]} · {version}"
            )
    return "\n".join(lines)


def _signs(analysis: Analysis, name: str) -> str:
    asked = next((c for c in analysis.contrasts if c.row == name), None)
    if asked is None or not is_better(asked.test) or asked.verdict == "nothing was learned":
        return ""
    result = asked.test
    by_paper = PAPER_MARK if result.p_bootstrap <= LEVEL else ""
    return by_paper + (SEEDS_MARK if result.seeds and result.p_holm <= LEVEL else "")


def _contrast_cells(result: Comparison) -> tuple[Cell, ...]:
    seeds = None if result.seeds is None else result.seeds.p
    names = (result.system.system.name, result.baseline.system.name)
    return (*names, result.delta, result.p_bootstrap, seeds)


def _by_runs(rows: Sequence[RowRecord]) -> dict[tuple[Path, ...], RowRecord]:
    """Return the first row with each set of runs: the others are that row under another name."""
    first: dict[tuple[Path, ...], RowRecord] = {}
    for row in with_runs(rows):
        first.setdefault(row.addresses, row)
    return first


def with_runs(rows: Sequence[RowRecord]) -> list[RowRecord]:
    """Return the rows with at least one finished run."""
    return [row for row in rows if row.runs]
