"""All that is said about finished rows: comparisons, other checkpoint rules, side claims, data."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean, median, stdev

from switchout.corpora import Corpus
from switchout.evaluation.buckets import Breakdown, break_down
from switchout.evaluation.comparison import Comparison
from switchout.evaluation.examples import Example, choose_examples
from switchout.evaluation.features import features_of
from switchout.experiments.contrasts import (
    Contrast,
    Scores,
    against_first,
    contrasts,
    correct_together,
    same_against_same,
    unknown_p,
    with_texts,
)
from switchout.experiments.data_facts import DataFacts, data_facts
from switchout.experiments.experiment import CorpusRows, Experiment, RowRecord, records
from switchout.experiments.paper import BASELINE, RAML, RAML_SWITCHOUT, SWITCHOUT, TUNED
from switchout.experiments.reference import Reference, reference_for
from switchout.experiments.same_text import check_same_text
from switchout.experiments.tau_grid import TauGrid, tau_grid
from switchout.experiments.unlearned import UnlearnedRun, unlearned_runs
from switchout.runs.finished import RULES
from switchout.runs.job import corpus_of

SHUFFLES = 10_000
N_EXAMPLES = 4  # of each kind


@dataclass(frozen=True)
class Spread:
    """Whether rows with SwitchOut vary more over seeds: standard deviations, and a p-value."""

    without: float
    with_switchout: float
    p: float


@dataclass(frozen=True)
class Analysis:
    """What is known about one corpus.

    Attributes:
        planned, corpus: Whose rows, and on which text.
        rows: With their finished runs.
        tried: What was trained to choose on dev, by the name of the row it was for.
        contrasts: What the rows asked, on test and dev, corrected together with all others that
            are reported in the same breath. Each has a ``verdict``.
        by_rule: The same, had another rule chosen the checkpoints; they decide nothing.
        against_first: Every row against the first one, to be looked at; corrected for nothing.
        unlearned: Runs that learned nothing, of any row.
        same: A/A comparison of the baseline.
        smallest_gaps: Every test over seeds with the true difference that it would see 4 times
            in 5.
        switchout_and_raml: +SwitchOut against +RAML, which the paper finds about equal.
        spread: Seed variance with and without SwitchOut.
        breakdowns: Gain of +RAML +SwitchOut over +RAML by sentence.
        examples: Sentences to look at, of the last of ``contrasts``.
        taus: The grid of the figure of temperatures; None for all others.
        data: Facts about text and noise.
        reference: The shipped numbers of the same rows.
    """

    planned: CorpusRows
    corpus: Corpus
    rows: Sequence[RowRecord]
    tried: dict[str, list[RowRecord]] = field(default_factory=dict)
    contrasts: Sequence[Contrast] = ()
    by_rule: dict[str, Sequence[Contrast]] = field(default_factory=dict)
    against_first: Sequence[Contrast] = ()
    unlearned: Sequence[UnlearnedRun] = ()
    same: Comparison | None = None
    smallest_gaps: Sequence[tuple[Comparison, float]] = ()
    switchout_and_raml: Comparison | None = None
    spread: Spread | None = None
    breakdowns: Sequence[Breakdown] = ()
    examples: Sequence[Example] = ()
    taus: TauGrid | None = None
    data: DataFacts | None = None
    reference: Reference | None = None

    @property
    def name(self) -> str:
        """Of the corpus, for people."""
        return self.planned.name

    @property
    def finished_rows(self) -> list[RowRecord]:
        """Rows with at least one finished run."""
        return [row for row in self.rows if row.runs]

    @property
    def is_empty(self) -> bool:
        return not self.finished_rows

    def distinct_rows(self) -> dict[tuple[Path, ...], RowRecord]:
        """Return the first row with each set of runs: others are that row under another name."""
        first: dict[tuple[Path, ...], RowRecord] = {}
        for row in self.finished_rows:
            first.setdefault(row.addresses, row)
        return first

    @property
    def n_runs(self) -> int:
        """Finished runs; two rows may share some."""
        return len({run.folder for row in self.rows for run in row.runs})

    @property
    def n_last(self) -> int:
        """Runs whose selected checkpoint is their last."""
        return len({run.folder for row in self.rows for run in row.runs if run.is_last})

    @property
    def is_cut_short(self) -> bool:
        """Whether most runs chose their last checkpoint: longer training may change all this."""
        return 2 * self.n_last > self.n_runs

    def row(self, name: str) -> RowRecord | None:
        """Return a row that has runs."""
        return next((row for row in self.rows if row.name == name and row.runs), None)


def analyse(experiments: Sequence[Experiment]) -> list[list[Analysis]]:
    """Return an analysis a corpus for every experiment, corrected over all their contrasts."""
    found = [[_analysis(each, planned) for planned in each.corpora] for each in experiments]
    contrasts = [one.contrasts for analyses in found for one in analyses]
    others = [p for each in experiments for p in each.other_p]
    others += [p for analyses in found for one in analyses for p in unknown_p(one.rows)]
    every = iter(correct_together(contrasts, others))
    return [[replace(one, contrasts=next(every)) for one in analyses] for analyses in found]


def _analysis(experiment: Experiment, planned: CorpusRows) -> Analysis:
    check_same_text(planned.rows, where=planned.name)  # a folder of before may hold such rows
    rows, corpus = records(experiment, planned.rows), corpus_of(planned.base)
    tried = {name: records(experiment, trials) for name, trials in planned.tried.items()}
    found = Analysis(planned, corpus, rows, tried)
    if found.is_empty:
        return found
    selected, scores = planned.base.train.select, Scores(corpus)
    if experiment.kind == "tau":
        return replace(found, taus=tau_grid(rows, scores), unlearned=unlearned_runs(rows))
    first, base, switchout = rows[0], found.row(RAML), found.row(SWITCHOUT)
    asked, same = contrasts(rows, scores), same_against_same(first, scores)
    tested = [*([same] if same else []), *(one.test for one in asked)]
    return replace(
        found,
        contrasts=asked,
        by_rule={
            rule: contrasts(rows, scores, rule=rule)
            for rule in RULES
            if rule != selected and all(rule in r.record["rules"] for row in rows for r in row.runs)
        },
        against_first=against_first(rows, scores),
        unlearned=unlearned_runs(rows),
        same=same,
        smallest_gaps=[(one, one.seeds.smallest_gap) for one in tested if one.seeds],
        switchout_and_raml=scores.compare(base, switchout) if base and switchout else None,
        spread=_spread(rows),
        breakdowns=_breakdowns(found, scores),
        examples=_examples(found, asked),
        data=data_facts(rows, corpus),
        reference=reference_for(planned),
    )


def _examples(found: Analysis, asked: Sequence[Contrast]) -> list[Example]:
    """Sentences of the last question, which is that of the most augmented row."""
    if not asked:
        return []
    result = asked[-1].test
    baseline, system = (
        with_texts(side, row)
        for side in (result.baseline, result.system)
        if (row := found.row(side.name))
    )
    if not all(side.system.runs[side.tested] for side in (baseline, system)):
        return []  # the texts of the runs were not kept
    sources, references = found.corpus.pairs("test")
    shown = replace(result, baseline=baseline, system=system)
    return choose_examples(shown, references, sources, n_examples=N_EXAMPLES)


def _breakdowns(found: Analysis, scores: Scores) -> list[Breakdown]:
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
    sides = [scores.scored(side, "test") for side in (base, row)]
    return break_down(references, sides[0], sides[1:], features, metric=scores.metric("test"))


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
