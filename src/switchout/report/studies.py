"""The demo's comparison beside our studies on real data, in one picture."""

from __future__ import annotations

from collections.abc import Sequence

from switchout.experiments.contrasts import Contrast
from switchout.experiments.reference import StudyResult
from switchout.report.charts import Difference, ForestPlot
from switchout.report.tables import Column, Table


def beside_real_data(contrasts: Sequence[Contrast], studies: Sequence[StudyResult]) -> ForestPlot:
    """Return what was trained here above what the studies say of the same questions."""
    here = [
        Difference(f"here: {c.row}", c.against, c.test.delta, *(c.test.ci95 or (None, None)))
        for c in contrasts
    ]
    there = [
        Difference(f"{one.row} ({_short(one)})", one.against, one.delta, one.low, one.high)
        for one in studies
    ]
    mine, theirs = "s3", "s2"
    return ForestPlot(
        "Δ test BLEU: this grammar above, real data below",
        [*here, *there],
        x_label="right of 0: better than without SwitchOut",
        colours={**{d.name: mine for d in here}, **{d.name: theirs for d in there}},
        note="Lines: 95% intervals over seeds. Below: shipped with switchout, not trained here.",
    )


def studies_table(studies: Sequence[StudyResult]) -> Table:
    """Return the studies' answers, dev beside test."""
    columns = [
        Column("on real data", "study"),
        Column("", "question"),
        Column("row"),
        Column("against"),
        Column("Δ test", "delta", "+.2f"),
        Column("95% from", "low", "+.2f"),
        Column("to", "high", "+.2f"),
        Column("Δ dev", "dev_delta", "+.2f"),
        Column("seeds", "n_seeds", "d"),
        Column("verdict"),
    ]
    keys = [column.key or column.title for column in columns]
    rows = [[getattr(study, key) for key in keys] for study in studies]
    return Table("Studies on real data, shipped with switchout", columns, rows)


def _short(one: StudyResult) -> str:
    return one.study.partition(":")[0] if ":" in one.study else one.study.rpartition("pairs, ")[2]
