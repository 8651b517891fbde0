"""Tables and the figure of ``switchout buckets``: gains by bucket, as in figure 2 of the paper."""

from __future__ import annotations

import os
from collections.abc import Sequence

from switchout.errors import SwitchOutError
from switchout.evaluation.buckets import Breakdown
from switchout.files import write_text
from switchout.report.charts import BarChart, Series, stacked
from switchout.report.tables import P_VALUE, Cell, Column, Table


def gains_table(breakdown: Breakdown) -> Table:
    """A row per bucket and system."""
    label = breakdown.metric.label
    columns = [
        Column(breakdown.feature.name),
        Column("sentences", format="d"),
        Column("system"),
        Column(f"{label} {breakdown.baseline}", "baseline_score", ".2f"),
        Column(f"{label} system", "system_score", ".2f"),
        Column("Δ", "delta", "+.2f"),
        Column("95% from", "ci95_low", "+.2f"),
        Column("to", "ci95_high", "+.2f"),
    ]
    rows: list[tuple[Cell, ...]] = []
    for k, bucket in enumerate(breakdown.buckets):
        for name, gains in zip(breakdown.systems, breakdown.gains, strict=True):
            gain = gains[k]
            numbers = (gain.baseline, gain.system, gain.delta, *(gain.ci95 or (None, None)))
            rows.append((bucket.label, len(bucket.members), name, *numbers))
    title = f"Gain over {breakdown.baseline} by {breakdown.feature.title}"
    return Table(title, columns, rows, note=breakdown.metric.signature)


def trends_table(breakdowns: Sequence[Breakdown]) -> Table:
    """A row per feature and system: how the gain changes with the feature."""
    columns = [
        Column("trend of the gain with", "by"),
        Column("system"),
        Column("slope", format="+.3f"),
        Column("95% from", "ci95_low", "+.3f"),
        Column("to", "ci95_high", "+.3f"),
        Column("per"),
        Column("p", format=P_VALUE),
    ]
    rows: list[tuple[Cell, ...]] = []
    for breakdown in breakdowns:
        for name, trend in zip(breakdown.systems, breakdown.trends, strict=True):
            slope = (trend.slope, *trend.ci95) if trend else (None, None, None)
            p = trend.p if trend else None
            rows.append((breakdown.feature.name, name, *slope, breakdown.feature.unit, p))
    note = "Slopes are adjusted for the length of the reference, except that of the length itself."
    return Table("Trends", columns, rows, note=note)


def gains_chart(breakdown: Breakdown) -> BarChart:
    """The gains as points with intervals, for a page of `switchout.report`."""
    return BarChart(
        title=f"Gain over {breakdown.baseline} by {breakdown.feature.title}",
        labels=[b.label.replace(" – ", "–") for b in breakdown.buckets],
        series=[
            Series(
                name,
                [gain.delta for gain in gains],
                [gain.ci95[0] if gain.ci95 else None for gain in gains],
                [gain.ci95[1] if gain.ci95 else None for gain in gains],
            )
            for name, gains in zip(breakdown.systems, breakdown.gains, strict=True)
        ],
        y_label=f"Δ {breakdown.metric.label} over {breakdown.baseline}",
        x_label=breakdown.feature.title,
    )


def plot_gains(breakdowns: Sequence[Breakdown], path: str | os.PathLike[str]) -> None:
    """Write bars of the gain per bucket with intervals, a panel per feature, as an SVG file."""
    check_figure(path)
    write_text(path, stacked([gains_chart(b) for b in breakdowns]))


def check_figure(path: str | os.PathLike[str]) -> None:
    """Refuse a name that is not that of an SVG file, before the figure is made."""
    if not os.fspath(path).lower().endswith(".svg"):
        raise SwitchOutError(f"{path}: the figure's name must end in .svg")
