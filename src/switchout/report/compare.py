"""The page of ``switchout compare``: scores, tests, buckets, examples; and tables of scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import Any

from switchout.evaluation.buckets import Breakdown
from switchout.evaluation.comparison import Comparison, Scored
from switchout.evaluation.examples import Example
from switchout.evaluation.metrics import LABELS
from switchout.evaluation.verdict import (
    delta_in_words,
    is_better,
    is_significant,
    runs_compared,
    what_settles,
)
from switchout.report.answers import settles
from switchout.report.buckets import bucket_sections
from switchout.report.charts import Difference, ForestPlot
from switchout.report.colours import colours_of
from switchout.report.elements import Html
from switchout.report.examples import HOW_TO_READ_EXAMPLES
from switchout.report.page import Claim, FirstScreen, Section, Tone, report_page
from switchout.report.tables import P_VALUE, Column, Mark, Table, interval, with_interval


def score_table(records: Sequence[Mapping[str, Any]], *, metrics: Sequence[str]) -> Table:
    """The table of ``switchout score``: a row per output, a score and its interval per metric."""
    has_intervals = "ci95" in records[0]
    columns, rows = [Column("system")], [[record["system"]] for record in records]
    for name in metrics:
        columns.append(Column(LABELS[name], name, ".2f"))
        if has_intervals:
            columns.append(Column("95% interval", f"{name}_ci95", is_joined=True))
        for row, record in zip(rows, records, strict=True):
            row.append(record[name])
            row += [interval(record["ci95"][name], ".2f")] if has_intervals else []
    signatures = records[0]["signatures"]
    note = "\n".join(f"{LABELS[name]} {signatures[name]}" for name in metrics)
    return Table("Scores", columns, rows, note=note)


def scores_table(results: Sequence[Comparison]) -> Table:
    """Scores of every system under every metric: mean, median and spread over runs."""
    sides: list[tuple[str, Scored]] = []
    for first, *others in _by_metric(results):
        sides += [(first.metric.label, side) for side in (first.baseline, first.system)]
        sides += [(other.metric.label, other.system) for other in others]
    return Table.of(
        "Corpus scores",
        sides,
        {
            Column("metric"): lambda one: one[0],
            Column("system"): lambda one: one[1].name,
            Column("runs", format="d"): lambda one: len(one[1].scores),
            Column("mean", format=".2f"): lambda one: one[1].mean,
            Column("median", format=".2f"): lambda one: one[1].median,
            Column("std", format=".2f"): lambda one: one[1].spread,
            Column("min", format=".2f"): lambda one: min(one[1].scores),
            Column("max", format=".2f"): lambda one: max(one[1].scores),
        },
        note=_signatures(results),
    )


def differences_table(results: Sequence[Comparison]) -> Table:
    """Differences from the baseline, intervals and p-values; significant ones marked."""
    columns = [
        Column("metric"),
        Column("baseline"),
        Column("system"),
        *with_interval("Δ", "delta", "+.2f"),
        Column("p bootstrap", "p_bootstrap", P_VALUE),
        Column("p randomization", "p_randomization", P_VALUE),
        Column("p seeds", "p_seeds", P_VALUE),
        Column("p Holm", "p_holm", P_VALUE),
    ]
    rows = []
    marks: dict[tuple[int, int], Mark] = {}
    for i, result in enumerate(results):
        names = (result.metric.label, result.baseline.name, result.system.name)
        ends = result.ci95 or (None, None)
        p_values = (result.p_bootstrap, result.p_randomization, result.p_seeds, result.p_holm)
        rows.append((*names, result.delta, *ends, *p_values))
        mark: Mark = "good" if is_better(result) else "bad"
        marks[i, 3] = marks[i, 9] = mark if is_significant(result) else "quiet"
    title = "Differences from the baseline (Δ = system − baseline)"
    note = f"{_signatures(results)}\n{results[0].n_resamples:,} resamples"
    return Table(title, columns, rows, note=note, marks=marks)


def compare_page(
    results: Sequence[Comparison],
    *,
    buckets: Sequence[Breakdown] = (),
    examples: Mapping[str, Sequence[Example]] | None = None,
    data: str = "",
) -> Html:
    """Return the whole HTML page.

    Args:
        results: From `switchout.evaluation.comparison.compare`.
        buckets: Where the gain is, from `switchout.evaluation.buckets.break_down`.
        examples: Sentences by system, from `switchout.evaluation.examples.choose_examples`.
        data: What identifies the test set: file name and hash.
    """
    main, *others = _by_metric(results)
    base = main[0].baseline.name
    names = ", ".join(r.system.name for r in main)
    colours = colours_of([base, *(r.system.name for r in main)])
    told = [_claim(result) for result in main]
    sections = [
        Section(
            "All scores",
            charts=[_forest(of_metric, colours) for of_metric in others],
            tables=[replace(scores_table(results), title="", note="")],
        ),
        Section(
            "Significance",
            text=[HOW_TO_READ],
            tables=[replace(differences_table(results), note="")],
            remarks=[text for r in main if (text := runs_compared(r))],
        ),
        *bucket_sections(buckets, colours=colours),
        *(
            Section(f"Examples: {name}", text=[HOW_TO_READ_EXAMPLES], examples=chosen)
            for name, chosen in (examples or {}).items()
        ),
    ]
    first = FirstScreen(
        question=f"Is {names} better than {base}?",
        claims=told,
        figures=[_forest(main, colours).html(), _headline(main).html()],
        settles=settles(told),
    )
    facts = (
        f"switchout {version('switchout')}",
        f"{len(results[0].gains):,} sentences",
        data,
        f"{results[0].n_resamples:,} resamples",
        *_signatures(results).split("\n"),
    )
    return report_page(first, sections, made_by=" · ".join(fact for fact in facts if fact))


def _headline(results: Sequence[Comparison]) -> Table:
    """What the first screen shows: medians, and differences with their intervals."""
    label, base = results[0].metric.label, results[0].baseline
    columns = [
        Column("system"),
        Column("runs", format="d"),
        Column("median", format=".2f"),
        Column(f"Δ to {base.name}", format="+.2f"),
        Column("95% interval"),
    ]
    rows = [(base.name, len(base.scores), base.median, None, None)] + [
        (r.system.name, len(r.system.scores), r.system.median, r.delta, interval(r.ci95))
        for r in results
    ]
    marks = {(i, 3): _claim(r).tone for i, r in enumerate(results, 1)}
    return Table(f"{label}: medians, Δ of means", columns, rows, marks=marks)


def _claim(result: Comparison) -> Claim:
    word: str = "undecided"
    tone: Tone = "quiet"
    if is_significant(result):
        word = "better" if is_better(result) else "worse"
        tone = "good" if is_better(result) else "bad"
    if tone != "quiet" and result.seeds is None:
        word, tone = f"{word} outputs", "quiet"  # one run a side says nothing about the methods
    name = result.system.name
    return Claim(name, word, tone, f"{delta_in_words(result)}.", what_settles(result))


HOW_TO_READ = (
    "Δ is the difference of the means over runs: where a table shows medians, the two may differ. "
    "p seeds asks whether another set of training seeds and another test set would agree; "
    "p bootstrap and p randomization ask it of the test set alone, for one output of each system. "
    "p Holm corrects p seeds (p bootstrap with one run) for the number of systems. "
    "For TER, lower is better."
)


def _by_metric(results: Sequence[Comparison]) -> list[list[Comparison]]:
    names = dict.fromkeys(r.metric.name for r in results)
    return [[r for r in results if r.metric.name == name] for name in names]


def _signatures(results: Sequence[Comparison]) -> str:
    return "\n".join(dict.fromkeys(f"{r.metric.label} {r.metric.signature}" for r in results))


def _forest(results: Sequence[Comparison], colours: Mapping[str, str]) -> ForestPlot:
    label, base = results[0].metric.label, results[0].baseline
    side = "right" if results[0].metric.higher_is_better else "left"
    return ForestPlot(
        f"Δ {label} to {base.name}",
        [no_difference(base), *(difference(result) for result in results)],
        x_label=f"Δ {label}, {side} of 0 is better",
        colours=colours,
        note="Diamonds: means; lines: 95% intervals; dots: runs.",
    )


def difference(result: Comparison) -> Difference:
    """Return a comparison as a line of a forest plot."""
    system, base = result.system, result.baseline
    low, high = result.ci95 or (None, None)
    dots = [score - base.mean for score in system.scores]
    return Difference(system.name, base.name, result.delta, low, high, dots)


def no_difference(base: Scored) -> Difference:
    """Return the line of the baseline itself: its runs around zero."""
    dots = [score - base.mean for score in base.scores]
    return Difference(base.name, base.name, None, dots=dots)
