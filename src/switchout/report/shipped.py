"""What we ship beside a user's own runs: the demo with more seeds, and our studies on real data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

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
    there: list[Difference] = []
    for study, results in groupby(studies, key=lambda one: one.study):
        there.append(Difference(study, "", None))
        there += [Difference(r.question, r.against, r.delta, r.low, r.high) for r in results]
    return ForestPlot(
        "Δ test BLEU: this grammar, then real data",
        [Difference("This grammar", "", None), *here, *there],
        x_label="right of 0: better with SwitchOut",
        colours={**{d.name: "s3" for d in here}, **{d.name: "s2" for d in there}},
        note="SwitchOut here against the Transformer, its runs as dots; in the studies against "
        "what is named, in study 3 at four numbers of pairs, with 95% intervals over seeds and "
        "sentences. The studies are shipped with switchout, not trained here.",
    )


def studies_table(studies: Sequence[StudyResult]) -> Table:
    """Return the studies' answers, dev beside test."""
    by_study = groupby(studies, key=lambda one: one.study)
    short = ((study.partition(":")[0], of) for study, of in by_study)
    named = [(study if i == 0 else "", one) for study, of in short for i, one in enumerate(of)]
    return Table.of(
        "Studies on real data, shipped with switchout",
        named,
        {
            Column("study"): lambda line: line[0],
            Column("SwitchOut", "question"): lambda line: line[1].question,
            Column("Δ test [95%]", "delta"): lambda line: _interval(line[1]),
            Column("Δ dev", "dev_delta", "+.2f"): lambda line: line[1].dev_delta,
            Column("by dev BLEU", "by_bleu"): lambda line: _by_dev_bleu(line[1]),
            Column("seeds", "n_seeds", "d"): lambda line: line[1].n_seeds,
            Column("verdict"): lambda line: line[1].verdict,
        },
        note="Studies 1 and 2 choose checkpoints by lowest dev perplexity, as the paper does, "
        "later ones by best dev BLEU. The column says test and dev of the same runs by dev BLEU. "
        "A screening decides nothing: it chooses what is trained again with fresh seeds.",
    )


def _by_dev_bleu(one: StudyResult) -> str:
    """Both sets by that rule, where it is not the study's own."""
    if (one.test_by_bleu, one.dev_by_bleu) == (one.delta, one.dev_delta):
        return ""
    shown = f"{one.test_by_bleu:+.2f}, {one.dev_by_bleu:+.2f}".replace("-", "−")
    return shown.replace(" ", "\N{NO-BREAK SPACE}")


def _interval(one: StudyResult) -> str:
    shown = f"{one.delta:+.2f} [{one.low:+.2f}, {one.high:+.2f}]".replace("-", "−")
    return shown.replace(" ", "\N{NO-BREAK SPACE}")
