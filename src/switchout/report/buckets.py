"""Tables and the figure of ``switchout buckets``: gains by bucket, as in figure 2 of the paper."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence

from switchout.errors import SwitchOutError
from switchout.evaluation.buckets import Breakdown
from switchout.files import write_text
from switchout.report.charts import BarChart, Series, stacked
from switchout.report.page import Section
from switchout.report.tables import P_VALUE, Cell, Column, Table, with_interval


def _about_intervals(breakdown: Breakdown) -> str:
    if all(breakdown.counts_seeds):
        return "Intervals and p-values count seeds and sentences, as on the first screen."
    if not any(breakdown.counts_seeds):
        return "A side has one run: intervals and p-values are over sentences alone."
    # Where some are over seeds the baseline has several runs, so the other systems have one.
    several, one = (_named(breakdown, has_seeds=has_seeds) for has_seeds in (True, False))
    return (
        f"Intervals and p-values of {several} count seeds and sentences, as on the first screen; "
        f"those of {one} are over sentences alone, for lack of a second run."
    )


def _named(breakdown: Breakdown, *, has_seeds: bool) -> str:
    pairs = zip(breakdown.systems, breakdown.counts_seeds, strict=True)
    return " and ".join(name for name, counts in pairs if counts == has_seeds)


def gains_table(breakdown: Breakdown) -> Table:
    """A row per bucket and system."""
    title = f"Gain over {breakdown.baseline} by {breakdown.feature.title}"
    columns = [Column(breakdown.feature.name), *_columns(breakdown)]
    return Table(title, columns, list(_rows(breakdown)), note=breakdown.metric.signature)


def _columns(breakdown: Breakdown) -> list[Column]:
    label = breakdown.metric.label
    return [
        Column("sentences", format="d"),
        Column("system"),
        Column(f"{label} {breakdown.baseline}", "baseline_score", ".2f"),
        Column(f"{label} system", "system_score", ".2f"),
        *with_interval("Δ", "delta", "+.2f"),
    ]


def _rows(breakdown: Breakdown) -> Iterator[tuple[Cell, ...]]:
    for k, bucket in enumerate(breakdown.buckets):
        for name, gains in zip(breakdown.systems, breakdown.gains, strict=True):
            gain = gains[k]
            numbers = (gain.baseline, gain.system, gain.delta, *(gain.ci95 or (None, None)))
            yield (bucket.label, len(bucket.members), name, *numbers)


def trends_table(breakdowns: Sequence[Breakdown]) -> Table:
    """A row per feature and system: how the gain changes with the feature."""
    columns = [
        Column("trend of the gain with", "by"),
        Column("system"),
        *with_interval("slope", "slope", "+.3f"),
        Column("per", is_joined=True),
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


def gains_chart(breakdown: Breakdown, colours: Mapping[str, str] | None = None) -> BarChart:
    """The gains as bars with intervals; colours by system, by default those of the chart."""
    return BarChart(
        title=f"Gain by {breakdown.feature.title}",
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
        colours=colours or {},
    )


def bucket_sections(
    breakdowns: Sequence[Breakdown],
    where: str = "",
    *,
    colours: Mapping[str, str] | None = None,
) -> list[Section]:
    """One section: gains by bucket, drawn and in numbers, and their trends; none without any."""
    if not breakdowns:
        return []
    first = breakdowns[0]
    columns = [Column("by"), Column("bucket"), *_columns(first)]
    rows = [(b.feature.name, *row) for b in breakdowns for row in _rows(b)]
    return [
        Section(
            f"{where}Where is the gain over {first.baseline}?",
            text=[_about_intervals(first)],
            charts=[gains_chart(breakdown, colours) for breakdown in breakdowns],
            tables=[Table("Buckets", columns, rows), trends_table(breakdowns)],
        )
    ]


def plot_gains(breakdowns: Sequence[Breakdown], path: str | os.PathLike[str]) -> None:
    """Write bars of the gain per bucket with intervals, a panel per feature, as an SVG file."""
    check_figure(path)
    write_text(path, stacked([gains_chart(b) for b in breakdowns]))


def check_figure(path: str | os.PathLike[str]) -> None:
    """Refuse a name that is not that of an SVG file, before the figure is made."""
    if not os.fspath(path).lower().endswith(".svg"):
        raise SwitchOutError(f"{path}: the figure's name must end in .svg")
