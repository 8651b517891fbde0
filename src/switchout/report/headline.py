"""What an experiment is about: its table as the paper prints it, and as the first screen shows it.

For the figure of temperatures it is a heat map of dev BLEU, and its cells as a table.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from switchout.corpora.registry import find_entry
from switchout.evaluation.comparison import Comparison
from switchout.evaluation.verdict import LEVEL, is_better
from switchout.experiments.analysis import Analysis
from switchout.experiments.contrasts import Contrast
from switchout.experiments.paper import DAGGERS, reported
from switchout.experiments.tau_grid import TauGrid
from switchout.report.answers import TONES
from switchout.report.charts import HeatMap
from switchout.report.tables import Cell, Column, Mark, Table

Part = tuple[Column, Sequence[Cell]]  # a column of a table with its cells
Marks = Mapping[tuple[int, int], Mark]
PAPER_MARK, SEEDS_MARK = "†", "‡"
ABOUT_SIGNS = {
    PAPER_MARK: "better than the best row without SwitchOut of its block by the paper's test "
    f"(paired bootstrap of the median runs, p ≤ {LEVEL}).",
    SEEDS_MARK: "better than it by the test over seeds, Holm-corrected.",
}


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
        spent = [analysis.planned.n_tried(row.name) for row in analysis.rows]
        tuning = (Column("tuning runs", f"trials{where}", "d"), spent)
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
            *([tuning] if analysis.planned.is_tuned else []),
            *_by_the_paper(kind, analysis, where),
            *_of_the_reference(analysis),
        ]
    note = "\n".join([*_about_signs(parts), *_notes(analyses)])
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
    asked = [
        c for c in analysis.contrasts if c.row not in first or c.against != first[c.row].against
    ]
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
    title = "Test BLEU: medians; Δ of means [95% interval]"
    note = "\n".join([*_about_signs(parts), *_notes([analysis])])
    return _table(title, parts, note=note, marks=_verdict_marks(analysis, parts))


def _about_signs(parts: Sequence[Part]) -> list[str]:
    """Explain those that stand in columns without a heading."""
    signs = "".join(str(cell) for column, cells in parts if not column.title for cell in cells)
    about = [f"{sign} {text}" for sign, text in ABOUT_SIGNS.items() if sign in signs]
    return [" ".join(about)] * bool(about)


def _signs(analysis: Analysis, name: str) -> str:
    """Of a row that several are compared with, all comparisons must deserve a sign."""
    asked = [c for c in analysis.contrasts if c.row == name]
    tests = [c.test for c in asked if is_better(c.test) and c.verdict != "nothing was learned"]
    if not asked or len(tests) < len(asked):
        return ""
    by_paper = PAPER_MARK if all(_is_by_the_paper(one) for one in tests) else ""
    by_seeds = all(one.seeds and one.p_holm <= LEVEL for one in tests)
    return by_paper + (SEEDS_MARK if by_seeds else "")


def _is_by_the_paper(test: Comparison) -> bool:
    """Its test is of the median runs, whose difference must be that of the means."""
    return test.tested_delta * test.delta > 0 and test.p_bootstrap <= LEVEL


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
    first = analysis.distinct_rows()
    return [
        f"{row.name}: the same runs as {first[row.addresses].name}, compared once."
        for row in analysis.finished_rows
        if first[row.addresses] is not row
    ]


def _by_the_paper(kind: str, analysis: Analysis, where: str) -> Iterator[Part]:
    paper, entry = reported(kind, analysis.corpus.name), find_entry(analysis.corpus.name)
    if paper and entry:
        yield (
            Column(f"paper{where}", f"paper{where}", ".2f"),
            [paper.get(row.name) for row in analysis.rows],
        )
        yield (
            Column("", f"paper_significant{where}"),
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


def tau_map(taus: TauGrid) -> HeatMap:
    """Return the heat map of one corpus; small print says how many runs a cell has."""
    xs, ys = (sorted({cell[axis] for cell in taus.cells}) for axis in (0, 1))
    rows = [[taus.cells.get((x, y)) for x in xs] for y in ys]
    return HeatMap(
        "Dev BLEU, medians over seeds",
        [f"{x:.4g}" for x in xs],
        [f"{y:.4g}" for y in ys],
        [[row.median("dev_bleu") if row else None for row in line] for line in rows],
        [[_runs(len(row.runs)) if row else "" for row in line] for line in rows],
        x_label="tau_x: SwitchOut on the source (0: none)",
        y_label="tau_y: RAML",
        best=(ys.index(taus.best[1]), xs.index(taus.best[0])),
    )


def tau_table(analyses: Sequence[Analysis]) -> Table:
    """A row per cell of the grid."""
    grids = [(analysis.name, analysis.taus.cells) for analysis in analyses if analysis.taus]
    return Table.of(
        "Dev BLEU by temperature, medians over seeds",
        [(name, cell, row) for name, cells in grids for cell, row in cells.items()],
        {
            Column("corpus"): lambda one: one[0],
            Column("tau_x", format=".4g"): lambda one: one[1][0],
            Column("tau_y", format=".4g"): lambda one: one[1][1],
            Column("dev BLEU", "dev_bleu", ".2f"): lambda one: one[2].median("dev_bleu"),
            Column("dev perplexity", "dev_perplexity", ".2f"): lambda one: one[2].median(
                "dev_perplexity"
            ),
            Column("runs", format="d"): lambda one: len(one[2].runs),
        },
    )


def _runs(n: int) -> str:
    """A dark cell of one run is worth less than one of several."""
    return f"{n} run{'s' * (n != 1)}"
