"""What we ship beside a user's own runs: the demo with more seeds, and our studies on real data."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import stdev

from switchout.experiments.analysis import Analysis
from switchout.experiments.contrasts import Contrast
from switchout.experiments.reference import Reference, StudyResult
from switchout.report.charts import Difference, ForestPlot
from switchout.report.page import Section
from switchout.report.tables import Cell, Column, Table


def shipped_section(analysis: Analysis, reference: Reference) -> Section:
    """Our numbers of the same rows, marked as ours."""
    n_equal, n_both = reference.n_equal(analysis.rows)
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


def beside_real_data(contrasts: Sequence[Contrast], studies: Sequence[StudyResult]) -> ForestPlot:
    """Return what was trained here, its runs as dots, above what the studies say.

    The intervals of a few runs here stand in the figure of the rows; they would hide the others.
    """
    here = [_here(contrast) for contrast in contrasts]
    there = [
        Difference(f"{one.question} {_short(one)}", one.against, one.delta, one.low, one.high)
        for one in studies
    ]
    return ForestPlot(
        "Δ test BLEU: this grammar above, real data below",
        [*here, *there],
        x_label="right of 0: better than without SwitchOut",
        colours={**{d.name: "s3" for d in here}, **{d.name: "s2" for d in there}},
        note="C1: +SwitchOut against Transformer. C2: +RAML +SwitchOut against +RAML. "
        "Lines: 95% intervals over seeds. C1 and C2 are shipped with switchout, not trained here.",
    )


def _here(contrast: Contrast) -> Difference:
    base, row = contrast.test.baseline, contrast.test.system
    dots = [score - base.mean for score in row.scores]
    return Difference(contrast.row, contrast.against, contrast.test.delta, dots=dots)


def studies_table(studies: Sequence[StudyResult]) -> Table:
    """Return the studies' answers, dev beside test."""
    columns = [
        Column("study"),
        Column("", "question"),
        Column("Δ test [95%]", "delta"),
        Column("Δ dev", "dev_delta", "+.2f"),
        Column("seeds", "n_seeds", "d"),
        Column("verdict"),
    ]
    rows = [(s.study, s.question, _interval(s), s.dev_delta, s.n_seeds, s.verdict) for s in studies]
    return Table("Studies on real data, shipped with switchout", columns, rows)


def _interval(one: StudyResult) -> str:
    return f"{one.delta:+.2f} [{one.low:+.2f}, {one.high:+.2f}]".replace("-", "−")


def _short(one: StudyResult) -> str:
    """The study, or what was special about a set-up, in a few letters."""
    if ":" in one.study:
        return one.study.partition(":")[0].lower()
    return one.study.partition(", ")[2].removesuffix(" steps")
