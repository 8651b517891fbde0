"""Answers as the charts and tables of the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from switchout.errors import SwitchOutError
from switchout.explore.comparison import Compared
from switchout.explore.playground import N_DRAWS, SideAnswer
from switchout.report.buckets import gains_chart
from switchout.report.charts import BarChart, ForestPlot, Line, LineChart, Series
from switchout.report.colours import colours_of
from switchout.report.compare import compare_page, difference, differences_table, scores_table
from switchout.report.tables import Column, Table
from switchout.text.preview import Effect

Curves = Mapping[str, Sequence[tuple[float, float]]]


def law_chart(side: str, answer: SideAnswer) -> BarChart | None:
    """How many words change: the exact law beside the sampled one and Algorithm 1.

    The max-ent policy is left to `beside_table`: at the same temperature it changes nearly every
    word, and its one bar would hide all others.
    """
    law = answer.law
    if law is None:
        return None
    series = [
        Series("exact", law.exact),
        Series(f"{N_DRAWS:,} draws", law.sampled),
    ]
    if law.algorithm1 and law.algorithm1 != law.exact:
        series.append(Series("Algorithm 1, same τ", law.algorithm1))
    colours = {s.name: colour for s, colour in zip(series, ("s2", "s1", "s5"), strict=False)}
    return BarChart(
        f"Changed words, {side}", law.labels, series, y_label="probability",
        x_label=f"changed words of {answer.n_words}", colours=colours,
    )  # fmt: skip


def untouched_chart(answers: Mapping[str, SideAnswer]) -> BarChart | None:
    """How often nothing changes, by the length of the sentence."""
    known = {side: a.untouched_by_length for side, a in answers.items() if a.untouched_by_length}
    if not known:
        return None
    lengths = [str(n) for n, _ in next(iter(known.values()))]
    series = [Series(side, [100 * p for _, p in shares]) for side, shares in known.items()]
    return BarChart(
        "Sentences left untouched", lengths, series, y_label="% untouched",
        x_label="words of the sentence", colours={"source": "s2", "target": "s3"},
    )  # fmt: skip


def effect_chart(effect: Effect) -> BarChart:
    """How much of a corpus changes, by the length of its lines."""
    groups = effect.by_length
    series = [
        Series("% of the words change", [100 * group.changed for group in groups]),
        Series("% of the lines stay", [100 * group.untouched for group in groups]),
    ]
    colours = {series[0].name: "s1", series[1].name: "s2"}
    return BarChart(
        f"By length, {effect.side}", [group.words for group in groups], series, y_label="%",
        x_label="words of the line", colours=colours,
    )  # fmt: skip


def effect_table(effects: Sequence[Effect]) -> Table:
    """The same in numbers, with how many lines there are."""
    columns = [
        Column("words of the line"),
        Column("side"),
        Column("lines", format=",d"),
        Column("words that change", format=".1%"),
        Column("lines that stay", format=".1%"),
    ]
    rows = [
        (group.words, effect.side, group.lines, group.changed, group.untouched)
        for effect in effects
        for group in effect.by_length
    ]
    return Table("By length, in numbers", columns, rows)


def beside_table(side: str, answer: SideAnswer) -> Table | None:
    """Algorithm 1 beside the exact max-ent policies."""
    if not answer.beside:
        return None
    columns = [
        Column(f"{side}, τ = {answer.tau:.3g}", "policy"),
        Column("changed", format=".2f"),
        Column("untouched", format=".1%"),
        Column("entropy", format=".2f"),
        Column("J", format=".2f"),
    ]
    rows = [
        (b.name, b.expected_changes, b.untouched, b.entropy, b.objective) for b in answer.beside
    ]
    return Table("", columns, rows)


def curve_charts(
    curves: Mapping[str, Curves], colours: Mapping[str, str] | None = None
) -> list[LineChart | Table]:
    """Learning curves of one run or several: training and dev perplexity, dev BLEU.

    What was measured at one step only is no curve yet: it is a table.
    """
    titles = {
        "perplexity": ("Training perplexity", True),
        "dev_perplexity": ("Dev perplexity", True),
        "dev_bleu": ("Dev BLEU, greedy", False),
    }
    charts: list[LineChart | Table] = []
    for kind, (title, is_log) in titles.items():
        lines = [Line(name, of_run[kind]) for name, of_run in curves.items() if of_run[kind]]
        if len({step for line in lines for step, _ in line.points}) == 1:
            charts.append(_points_table(title, lines))
        elif lines:
            charts.append(
                LineChart(
                    title, lines, x_label="step", y_label=title, is_log=is_log,
                    colours=colours or {},
                )
            )  # fmt: skip
    return charts


def _points_table(title: str, lines: Sequence[Line]) -> Table:
    """The one value of each run."""
    columns = [Column("run"), Column("step", format=",.0f"), Column("value", format=",.2f")]
    return Table(title, columns, [(line.name, *point) for line in lines for point in line.points])


def run_colours(compared: Compared) -> dict[str, str]:
    """The colour of each run: that of its system, the same in all charts."""
    colours = system_colours(compared)
    return {run: colours[group.name] for group in compared.groups for run in group.runs}


def system_colours(compared: Compared) -> dict[str, str]:
    """The colour of each system."""
    return colours_of(group.name for group in compared.groups)


def forest(compared: Compared) -> ForestPlot:
    """Every system against the baseline, all runs as dots."""
    results = compared.results
    base = results[0].baseline
    differences = [difference(result) for result in results]
    label = results[0].metric.label
    return ForestPlot(
        f"Δ test {label} over {base.name}", differences, x_label=f"Δ {label}",
        colours=system_colours(compared), note=results[0].metric.signature,
    )  # fmt: skip


def comparison_tables(compared: Compared) -> list[Table]:
    """Scores and tests, as ``switchout compare`` prints them."""
    return [scores_table(compared.results), differences_table(compared.results)]


def bucket_charts(compared: Compared) -> list[BarChart]:
    """Where the gain is."""
    colours = system_colours(compared)
    return [replace(gains_chart(b), colours=colours) for b in compared.breakdowns]


def whole_report(compared: Compared) -> str:
    """The page that ``switchout compare --html`` writes."""
    if not compared.results:
        raise SwitchOutError(compared.problem)
    return compare_page(compared.results, buckets=compared.breakdowns)
