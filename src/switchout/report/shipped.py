"""What we ship beside a user's own runs: the demo with more seeds, and our studies on real data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from switchout.experiments.analysis import Analysis
from switchout.experiments.contrasts import Contrast
from switchout.experiments.reference import Reference, StudyResult
from switchout.report.charts import Difference, ForestPlot
from switchout.report.compare import difference
from switchout.report.page import Section
from switchout.report.tables import Column, Table


def shipped_section(analysis: Analysis, reference: Reference) -> Section:
    """Our numbers of the same rows, marked as ours."""
    n_equal, n_both = reference.n_equal(analysis.rows)
    return Section(
        "Shipped reference: not your runs",
        text=[
            f"The same rows, configuration and text, trained by us with {reference.n_seeds} seeds "
            "a row, as a measure for what fewer seeds can tell.",
            f"{n_equal} of your {n_both} runs reached exactly the test BLEU of our run of the same "
            "seed. Runs are repeatable bit by bit with the same processor type, torch and "
            "switchout; with others they differ as another seed would.",
        ],
        tables=[reference_table(reference)],
        remarks=[f"Reference, {answer}" for answer in reference.answers],
    )


def reference_table(reference: Reference) -> Table:
    """Every run of the shipped reference."""
    return Table.of(
        f"Shipped reference: {reference.corpus}",
        reference.rows,
        {
            Column("row"): lambda row: row.name,
            Column("test BLEU median", "test_bleu", ".2f"): lambda row: row.median,
            Column("std", format=".2f"): lambda row: row.spread,
            Column("all seeds", "seeds"): lambda row: " ".join(f"{s:.1f}" for s in row.scores),
            Column("chosen = last", "selected_is_last"): lambda row: (
                f"{row.n_last} of {len(row.runs)}"
            ),
        },
        note=reference.origin,
    )


def beside_real_data(contrasts: Sequence[Contrast], studies: Sequence[StudyResult]) -> ForestPlot:
    """Return what was trained here, its runs as dots, above what the studies say.

    The intervals of a few runs here stand in the figure of the rows; they would hide the others.
    """
    here = [replace(difference(one.test), low=None, high=None) for one in contrasts]
    there = [Difference(_label(one), one.against, one.delta, one.low, one.high) for one in studies]
    return ForestPlot(
        "Δ test BLEU: this grammar above, real data below",
        [*here, *there],
        x_label="right of 0: better than without SwitchOut",
        colours={**{d.name: "s3" for d in here}, **{d.name: "s2" for d in there}},
        note="C1: +SwitchOut against Transformer. C2: +RAML +SwitchOut against +RAML. W1 and W2: "
        "the same rows against word dropout in place of SwitchOut. Study 3 asks C1 and W1 at four "
        "sizes, with checkpoints by dev BLEU. Lines: 95% intervals over "
        "seeds. These are shipped with switchout, not trained here.",
    )


def studies_table(studies: Sequence[StudyResult]) -> Table:
    """Return the studies' answers, dev beside test."""
    return Table.of(
        "Studies on real data, shipped with switchout",
        studies,
        {
            Column("study"): lambda one: one.study,
            Column("", "question"): lambda one: one.question,
            Column("Δ test [95%]", "delta"): _interval,
            Column("Δ dev", "dev_delta", "+.2f"): lambda one: one.dev_delta,
            Column("seeds", "n_seeds", "d"): lambda one: one.n_seeds,
            Column("verdict"): lambda one: one.verdict,
        },
    )


def _interval(one: StudyResult) -> str:
    return f"{one.delta:+.2f} [{one.low:+.2f}, {one.high:+.2f}]".replace("-", "−")


def _label(one: StudyResult) -> str:
    """Question and study in the few letters that a plot has room for."""
    study = one.study.partition(":")[0].lower()
    return f"{one.question.removesuffix(' pairs')} {study}"
