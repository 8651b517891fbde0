"""The page of ``switchout compare``: scores, tests, buckets, examples; and its tables."""

from __future__ import annotations

import random
from collections.abc import Sequence
from importlib.metadata import version

import numpy as np

from switchout.evaluation.buckets import Breakdown
from switchout.evaluation.comparison import Comparison, Scored
from switchout.evaluation.verdict import is_better, is_significant, runs_compared, verdict
from switchout.report.buckets import gains_chart, gains_table, trends_table
from switchout.report.charts import Difference, ForestPlot
from switchout.report.differences import Example, mark_words
from switchout.report.page import Section, render_page
from switchout.report.tables import P_VALUE, Column, Mark, Table


def scores_table(results: Sequence[Comparison]) -> Table:
    """Scores of every system under every metric: mean, median and spread over runs."""
    rows: list[tuple[str | float | int | None, ...]] = []
    for metric in _metrics(results):
        of_metric = [r for r in results if r.metric.name == metric]
        for side in (of_metric[0].baseline, *(r.system for r in of_metric)):
            rows.append((of_metric[0].metric.label, *_score_cells(side)))
    columns = [
        Column("metric"),
        Column("system"),
        Column("runs", format="d"),
        Column("mean", format=".2f"),
        Column("median", format=".2f"),
        Column("std", format=".2f"),
        Column("min", format=".2f"),
        Column("max", format=".2f"),
    ]
    return Table("Corpus scores", columns, rows, note=_signatures(results))


def _score_cells(side: Scored) -> tuple[str | float | int | None, ...]:
    scores = side.scores
    spread = (side.mean, side.median, side.spread, min(scores), max(scores))
    return (side.system.name, len(scores), *spread)


def differences_table(results: Sequence[Comparison]) -> Table:
    """Differences from the baseline, intervals and p-values; significant ones marked."""
    columns = [
        Column("metric"),
        Column("baseline"),
        Column("system"),
        Column("Δ", "delta", "+.2f"),
        Column("95% from", "ci95_low", "+.2f"),
        Column("to", "ci95_high", "+.2f"),
        Column("p bootstrap", "p_bootstrap", P_VALUE),
        Column("p randomization", "p_randomization", P_VALUE),
        Column("p seeds", "p_seeds", P_VALUE),
        Column("p Holm", "p_holm", P_VALUE),
    ]
    rows = []
    marks: dict[tuple[int, int], Mark] = {}
    for i, result in enumerate(results):
        record = result.to_dict()
        low, high = result.ci95 or (None, None)
        names = (result.metric.label, record["baseline"], record["system"])
        p_values = (record[c.key] for c in columns[6:])
        rows.append((*names, result.delta, low, high, *p_values))
        mark: Mark = "good" if is_better(result) else "bad"
        marks[i, 3] = marks[i, 9] = mark if is_significant(result) else "quiet"
    title = "Differences from the baseline (Δ = system − baseline)"
    note = f"{_signatures(results)}\n{results[0].n_resamples:,} resamples"
    return Table(title, columns, rows, note=note, marks=marks)


def compare_page(
    results: Sequence[Comparison],
    references: Sequence[str],
    *,
    source: Sequence[str] | None = None,
    buckets: Sequence[Section] = (),
    n_examples: int = 10,
    seed: int = 0,
    data: str = "",
) -> str:
    """Return the whole HTML page.

    Args:
        results: From `switchout.evaluation.comparison.compare`.
        references: The test set's references.
        source: Its source side, shown with the examples.
        buckets: Ready sections (tables and charts) about where the gain comes from.
        n_examples: Of each kind: drawn at random, largest gain, largest loss.
        seed: Of the random examples.
        data: What identifies the test set: file name and hash.
    """
    names = ", ".join(dict.fromkeys(r.system.system.name for r in results))
    sections = [
        Section("Scores", tables=[scores_table(results)]),
        Section(
            "Significance",
            text=[HOW_TO_READ],
            tables=[differences_table(results)],
            charts=[_delta_chart(results, metric) for metric in _metrics(results)],
            remarks=[f"{r.metric.label}: {verdict(r)} {runs_compared(r)}" for r in results],
        ),
        *buckets,
        *(
            Section(
                f"Examples: {result.system.system.name}",
                text=[HOW_TO_READ_EXAMPLES],
                examples=find_examples(
                    result, references, source, n_examples=n_examples, seed=seed
                ),
            )
            for result in results
            if result.metric.name == results[0].metric.name and n_examples > 0
        ),
    ]
    return render_page(
        f"{names} against {results[0].baseline.system.name}",
        sections,
        lead=[verdict(r) for r in results if r.metric.name == results[0].metric.name],
        made_by=" · ".join(
            part
            for part in (
                f"switchout {version('switchout')}",
                f"{len(references):,} sentences",
                data,
                *_signatures(results).split("\n"),
            )
            if part
        ),
    )


def bucket_sections(breakdowns: Sequence[Breakdown]) -> list[Section]:
    """A section per feature: gains by bucket, their trend, and both drawn."""
    return [
        Section(
            f"Gain by {breakdown.feature.title}",
            tables=[gains_table(breakdown), trends_table([breakdown])],
            charts=[gains_chart(breakdown)],
        )
        for breakdown in breakdowns
    ]


HOW_TO_READ = (
    "Δ is the difference of the means over runs: where a table shows medians, the two may differ. "
    "p seeds asks whether another set of training seeds and another test set would agree; "
    "p bootstrap and p randomization ask it of the test set alone, for one output of each system. "
    "p Holm corrects p seeds (p bootstrap with one run) for the number of systems. "
    "For TER, lower is better."
)
HOW_TO_READ_EXAMPLES = (
    "Marked words are in one output and not in the other: underlined where the reference has "
    "them too, with a wavy line where it has not. The contribution of a sentence is what it adds "
    "to the corpus-level difference (jackknife, mean over runs); outputs are of the lower-median "
    "runs."
)


def _metrics(results: Sequence[Comparison]) -> list[str]:
    return list(dict.fromkeys(r.metric.name for r in results))


def _signatures(results: Sequence[Comparison]) -> str:
    return "\n".join(dict.fromkeys(f"{r.metric.label} {r.metric.signature}" for r in results))


def _delta_chart(results: Sequence[Comparison], metric: str) -> ForestPlot:
    shown = [r for r in results if r.metric.name == metric]
    label, base = shown[0].metric.label, shown[0].baseline.system.name
    title = f"Δ {label} over {base}, 95% intervals, every run"
    return ForestPlot(title, [difference(r) for r in shown], x_label=f"Δ {label}")


def difference(result: Comparison) -> Difference:
    """Return a comparison as a line of a forest plot."""
    system, base = result.system, result.baseline
    low, high = result.ci95 or (None, None)
    dots = [score - base.mean for score in system.scores]
    return Difference(system.system.name, base.system.name, result.delta, low, high, dots)


def find_examples(
    result: Comparison,
    references: Sequence[str],
    source: Sequence[str] | None,
    *,
    n_examples: int,
    seed: int = 0,
) -> list[Example]:
    """Random sentences first (nobody chose them), then the largest contributions both ways."""
    gains = result.gains if result.metric.higher_is_better else -result.gains
    drawn = sorted(random.Random(seed).sample(range(len(gains)), min(n_examples, len(gains))))
    order = np.argsort(gains, kind="stable")
    groups = {
        "Drawn at random": drawn,
        "Largest gains": [i for i in order[::-1][:n_examples] if gains[i] > 0],
        "Largest losses": [i for i in order[:n_examples] if gains[i] < 0],
    }
    return [
        _example(result, group, int(i), references, source)
        for group, chosen in groups.items()
        for i in chosen
    ]


def _example(
    result: Comparison,
    group: str,
    index: int,
    references: Sequence[str],
    source: Sequence[str] | None,
) -> Example:
    sides = (result.baseline, result.system)
    base, other = (side.system.runs[side.tested][index] for side in sides)
    reference = references[index]
    contribution = result.gains[index] / len(result.gains)
    return Example(
        group=group,
        number=index + 1,
        caption=f"contributes {contribution:+.3f} {result.metric.label}".replace("-", "−"),
        source=None if source is None else source[index],
        reference=reference,
        outputs=[
            (result.baseline.system.name, mark_words(base, other, reference)),
            (result.system.system.name, mark_words(other, base, reference)),
        ],
    )
