"""Tables and the figure of ``switchout buckets``: gains by bucket, as in figure 2 of the paper."""

from __future__ import annotations

import os
from collections.abc import Sequence

from switchout.errors import SwitchOutError
from switchout.evaluation.buckets import Breakdown
from switchout.files import atomic
from switchout.report.charts import Chart, Series
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


def gains_chart(breakdown: Breakdown) -> Chart:
    """The gains as points with intervals, for a page of `switchout.report`."""
    return Chart(
        title=f"Gain over {breakdown.baseline} by {breakdown.feature.title}",
        labels=[f"{b.label} ({len(b.members)})" for b in breakdown.buckets],
        series=[
            Series(
                name,
                [gain.delta for gain in gains],
                [gain.ci95[0] if gain.ci95 else None for gain in gains],
                [gain.ci95[1] if gain.ci95 else None for gain in gains],
            )
            for name, gains in zip(breakdown.systems, breakdown.gains, strict=True)
        ],
        y_label=f"Δ {breakdown.metric.label}",
        x_label=breakdown.feature.title,
        note=breakdown.metric.signature,
    )


def plot_gains(breakdowns: Sequence[Breakdown], path: str | os.PathLike[str]) -> None:
    """Write bars of the gain per bucket with intervals, a panel per feature; format by suffix."""
    try:
        from matplotlib import rc_context
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise SwitchOutError("matplotlib is missing: pip install 'switchout[report]'") from None
    suffix = os.fspath(path).rpartition(".")[2].lower()
    if suffix not in ("svg", "png", "pdf"):
        raise SwitchOutError(f"{path}: the figure's name must end in .svg, .png or .pdf")
    # Room for a label under every bucket, and for every bar.
    width = 1.0 + max(len(b.buckets) * max(1.2, 0.45 * (len(b.systems) + 1)) for b in breakdowns)
    # A Figure of its own, outside pyplot: nothing to close, no global state, no display.
    figure = Figure(figsize=(width, 3.2 * len(breakdowns)), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(len(breakdowns), squeeze=False)[:, 0]
    for panel, breakdown in zip(panels, breakdowns, strict=True):
        _draw(panel, breakdown)
    if len(breakdowns[0].systems) > 1:
        panels[0].legend(frameon=False)
    else:
        panels[0].set_title(breakdowns[0].systems[0], fontsize="medium")
    # The same numbers give the same file: no date, no random ids; text stays text.
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(suffix)
    with rc_context({"svg.hashsalt": "switchout", "svg.fonttype": "none"}), atomic(path) as partial:
        figure.savefig(partial, format=suffix, metadata=metadata, dpi=150)


def _draw(panel, breakdown: Breakdown) -> None:  # type: ignore[no-untyped-def]
    n_systems = len(breakdown.systems)
    bar = 0.8 / n_systems
    for s, (name, gains) in enumerate(zip(breakdown.systems, breakdown.gains, strict=True)):
        drawn = [(k, gain) for k, gain in enumerate(gains) if gain.delta is not None]
        x = [k + (s - (n_systems - 1) / 2) * bar for k, _ in drawn]
        deltas = [gain.delta for _, gain in drawn]
        panel.bar(x, deltas, 0.9 * bar, label=name, alpha=0.85, zorder=2)
        for place, (_, gain) in zip(x, drawn, strict=True):
            if gain.ci95:
                panel.vlines(place, *gain.ci95, color="black", linewidth=1, zorder=3)
    panel.axhline(0, color="black", linewidth=0.8, zorder=1)
    panel.grid(axis="y", color="0.9", zorder=0)
    panel.set_axisbelow(True)
    panel.spines[["top", "right"]].set_visible(False)
    labels = [f"{b.label}\nn = {len(b.members)}" for b in breakdown.buckets]
    panel.set_xticks(range(len(labels)), labels)
    panel.set_xlabel(breakdown.feature.title)
    panel.set_ylabel(f"Δ {breakdown.metric.label} over {breakdown.baseline}")
