"""All that is said about finished rows: comparisons, other checkpoint rules, side claims, data."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, median, stdev

from switchout.corpora import Corpus
from switchout.evaluation.buckets import Breakdown, break_down
from switchout.evaluation.comparison import Comparison, System
from switchout.evaluation.features import features_of
from switchout.evaluation.statistics import Metric
from switchout.experiments.contrasts import compare_rows, contrasts, same_against_same
from switchout.experiments.experiment import Column, Experiment, RowRecord, records
from switchout.experiments.paper import BASELINE, RAML, RAML_SWITCHOUT, SWITCHOUT
from switchout.experiments.reference import Reference, reference_for
from switchout.experiments.rows import TUNED
from switchout.runs.finished import RULES, corpus_of

SHUFFLES = 10_000


@dataclass(frozen=True)
class Spread:
    """Whether rows with SwitchOut vary more over seeds: standard deviations, and a p-value."""

    without: float
    with_switchout: float
    p: float


@dataclass(frozen=True)
class Finding:
    """What is known about one corpus.

    Attributes:
        column, corpus: Whose.
        rows: With their finished runs.
        tried: What was trained to choose on dev, by the name of the row it was for.
        contrasts: Comparisons of table 1 or 2 on test.
        by_rule: The same, had another rule chosen the checkpoints.
        same: A/A comparison of the baseline.
        switchout_and_raml: +SwitchOut against +RAML, which the paper finds about equal.
        spread: Seed variance with and without SwitchOut.
        breakdowns: Gain of +RAML +SwitchOut over +RAML by sentence.
        reference: The shipped numbers of the same rows.
    """

    column: Column
    corpus: Corpus
    rows: Sequence[RowRecord]
    tried: dict[str, list[RowRecord]] = field(default_factory=dict)
    contrasts: Sequence[Comparison] = ()
    by_rule: dict[str, Sequence[Comparison]] = field(default_factory=dict)
    same: Comparison | None = None
    switchout_and_raml: Comparison | None = None
    spread: Spread | None = None
    breakdowns: Sequence[Breakdown] = ()
    reference: Reference | None = None

    @property
    def is_empty(self) -> bool:
        return not any(row.runs for row in self.rows)

    def row(self, name: str) -> RowRecord | None:
        """Return a row that has runs."""
        return next((row for row in self.rows if row.name == name and row.runs), None)


def find_out(experiment: Experiment) -> list[Finding]:
    """Return the findings, a corpus each."""
    return [_finding(experiment, column) for column in experiment.columns]


def _finding(experiment: Experiment, column: Column) -> Finding:
    rows, corpus = records(experiment, column.rows), corpus_of(column.base)
    tried = {name: records(experiment, trials) for name, trials in column.tried.items()}
    found = Finding(column, corpus, rows, tried)
    if experiment.kind == "tau" or found.is_empty:
        return found
    selected = column.base.train.select
    first, base, switchout = rows[0], found.row(RAML), found.row(SWITCHOUT)
    return replace(
        found,
        contrasts=contrasts(rows, corpus),
        by_rule={
            rule: contrasts(rows, corpus, rule=rule)
            for rule in RULES
            if rule != selected and all(rule in r.record["rules"] for row in rows for r in row.runs)
        },
        same=same_against_same(first, corpus),
        switchout_and_raml=compare_rows(base, switchout, corpus) if base and switchout else None,
        spread=_spread(rows),
        breakdowns=_breakdowns(found),
        reference=reference_for(column),
    )


def _breakdowns(found: Finding) -> list[Breakdown]:
    """Where the most augmented row gains over the row without SwitchOut, as in figure 2."""
    pairs = ((RAML, RAML_SWITCHOUT), (BASELINE, SWITCHOUT))
    for base_name, name in pairs:
        base, row = found.row(base_name), found.row(name)
        if base and row:
            break
    else:
        return []
    corpus = found.corpus
    sources, references = corpus.pairs("test")
    features = features_of(references, sources=sources, train=list(corpus.lines("train", "source")))
    bleu = corpus.bleu
    metric = Metric("bleu", references, tokenize=bleu.tokenize, lowercase=bleu.lowercase)
    sides = [System(side.name, [run.lines("test") for run in side.runs]) for side in (base, row)]
    return break_down(references, sides[0], sides[1:], features, metric=metric)


def _spread(rows: Sequence[RowRecord]) -> Spread | None:
    """Compare deviations from the row's median by shuffling them between the two groups."""
    groups: dict[bool, list[float]] = {False: [], True: []}
    spreads: dict[bool, list[float]] = {False: [], True: []}
    for row in rows:
        if row.name.endswith(TUNED):  # may have the very runs of the row it belongs to
            continue
        scores = row.numbers("test_bleu")
        if len(scores) < 3:
            return None
        is_switchout = "SwitchOut" in row.name
        groups[is_switchout] += [abs(score - median(scores)) for score in scores]
        spreads[is_switchout].append(stdev(scores))
    if not groups[False] or not groups[True]:
        return None
    observed = fmean(groups[True]) - fmean(groups[False])
    pooled, rng, extreme = groups[True] + groups[False], random.Random(0), 0
    for _ in range(SHUFFLES):
        rng.shuffle(pooled)
        n = len(groups[True])
        extreme += abs(fmean(pooled[:n]) - fmean(pooled[n:])) >= abs(observed) - 1e-12
    without, with_switchout = (fmean(spreads[key]) for key in (False, True))
    return Spread(without, with_switchout, (1 + extreme) / (SHUFFLES + 1))
