"""Which rows are compared, and what the tests say.

* As the paper: within a block, against the better of the rows without SwitchOut, by a paired
  bootstrap of the median runs. Here the better row is chosen on dev, never on test.
* Seed-aware: would another set of seeds agree? (`switchout.evaluation.significance`)
* On dev beside test: a gain that the other set does not show is not believed.
* A/A: the baseline's odd runs against its even runs, where every difference is luck.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Literal

from switchout.corpora import Corpus
from switchout.evaluation.comparison import (
    N_RESAMPLES,
    Comparison,
    Scored,
    System,
    compare_scored,
    corrected,
    scored_from,
)
from switchout.evaluation.metrics import Metric
from switchout.evaluation.verdict import is_better, is_significant
from switchout.experiments.experiment import Question, RowRecord
from switchout.experiments.unlearned import UnlearnedRun, unlearned_runs
from switchout.runs.job import corpus_of

FEW_RESAMPLES = 1_000  # where the test over seeds is looked at, not those that resample
Verdict = Literal["helps", "hurts", "undecided", "nothing was learned"]


@dataclass(frozen=True)
class Contrast:
    """One question: a row against another, on test and, beside it, on dev.

    Attributes:
        question: What it was called when it was declared ("C1"); empty: not declared.
        test: The comparison that counts. Its ``p_holm`` is over the whole family: all contrasts of
            the experiment, or of all experiments that are reported together.
        dev: The same runs and rule on dev. It decides nothing alone, but must not disagree.
        n_family: How many contrasts the correction is over.
        n_missing: Runs of the rows asked about that are not finished; the verdict waits for them.
        unlearned: Runs of the two rows that learned nothing.
        remark: Why a declared pairing by seed was not possible; else empty.
    """

    question: str
    test: Comparison
    dev: Comparison
    n_family: int = 1
    n_missing: int = 0
    unlearned: tuple[UnlearnedRun, ...] = ()
    remark: str = ""

    @property
    def row(self) -> str:
        return self.test.system.name

    @property
    def against(self) -> str:
        return self.test.baseline.name

    @property
    def is_paired(self) -> bool:
        return self.test.is_paired

    @property
    def sets_agree(self) -> bool:
        """Whether dev and test point the same way."""
        return self.test.delta * self.dev.delta > 0

    @property
    def disagreement(self) -> str:
        """One sentence where dev and test point different ways; else empty."""
        if self.sets_agree:
            return ""
        return (
            f"Dev and test disagree: {self.test.delta:+.2f} on test, {self.dev.delta:+.2f} on dev."
        )

    @property
    def verdict(self) -> Verdict:
        """Helps or hurts only if the corrected test over seeds says so and dev agrees."""
        if self._nothing_learned(self.against):
            return "nothing was learned"
        is_decided = self.test.seeds is not None and is_significant(self.test)
        if is_decided and self.sets_agree and not self.n_missing:
            return "helps" if is_better(self.test) else "hurts"
        return "nothing was learned" if self._nothing_learned(self.row) else "undecided"

    def _nothing_learned(self, name: str) -> bool:
        """Whether most runs of a row learned nothing."""
        side = self.test.system if name == self.row else self.test.baseline
        return 2 * sum(run.row == name for run in self.unlearned) > len(side.scores)


class Scores:
    """The rows of a corpus scored once each, by split and checkpoint rule."""

    def __init__(self, corpus: Corpus):
        self.corpus = corpus
        self.metric = cache(partial(bleu_of, corpus))
        self._scored: dict[object, Scored] = {}

    def scored(self, row: RowRecord, split: str, rule: str | None = None) -> Scored:
        """Return all runs of a row under BLEU."""
        key = (row.name, row.addresses, split, rule)
        if key not in self._scored:
            metric = self.metric(split)
            statistics = [run.statistics(metric, split, rule=rule) for run in row.runs]
            self._scored[key] = scored_from(metric, _without_texts(row), statistics)
        return self._scored[key]

    def compare(
        self,
        baseline: RowRecord,
        row: RowRecord,
        *,
        split: str = "test",
        rule: str | None = None,
        is_paired: bool = False,
        n_resamples: int = N_RESAMPLES,
    ) -> Comparison:
        """Compare two rows over all their runs."""
        sides = [self.scored(side, split, rule) for side in (baseline, row)]
        [result] = compare_scored(
            self.metric(split), sides[0], sides[1:], is_paired=is_paired, n_resamples=n_resamples
        )
        return result


def bleu_of(corpus: Corpus, split: str) -> Metric:
    """Return BLEU on dev or test, with the tokenizer and case of the corpus."""
    bleu, references = corpus.bleu, corpus.pairs(split)[1]
    return Metric("bleu", references, tokenize=bleu.tokenize, lowercase=bleu.lowercase)


def contrasts(
    rows: Sequence[RowRecord], scores: Scores, *, rule: str | None = None
) -> list[Contrast]:
    """Return the comparisons the rows ask for, Holm-corrected together.

    A row at tuned temperatures may have the runs of another row; the same runs are compared once.

    Args:
        rows: All rows of a corpus; those without finished runs are passed over.
        scores: Of that corpus.
        rule: Another checkpoint rule than the one the runs selected by.
    """
    by_name = {row.name: row for row in rows if row.runs}
    n_missing = {row.name: row.n_missing for row in rows}
    found: dict[object, Contrast] = {}
    for row in by_name.values():
        for question in row.row.questions:
            others = [by_name[name] for name in question.against if name in by_name]
            if not others:
                continue
            better = max(others, key=lambda other: other.median("dev_bleu") or 0.0)
            key = (better.addresses, row.addresses, question.name)
            if key not in found:
                # Any row that may turn out to be the better one is waited for.
                asked = (row.name, *question.against)
                found[key] = replace(
                    contrast(better, row, scores, question=question, rule=rule),
                    n_missing=sum(n_missing.get(name, 0) for name in asked),
                )
    return correct_together([list(found.values())], unknown_p(rows))[0]


def unknown_p(rows: Sequence[RowRecord]) -> list[float]:
    """Return 1 for each question that has no runs yet: the correction counts it all the same."""
    begun = {row.name for row in rows if row.runs}
    return [
        1.0
        for row in rows
        for question in row.row.questions
        if row.name not in begun or not begun & {*question.against}
    ]


def against_first(rows: Sequence[RowRecord], scores: Scores) -> list[Contrast]:
    """Return every row against the first one, to be looked at: no question, no correction.

    Rows trained on another number of pairs are left out: that difference would hide all others.
    """
    first, *others = [row for row in rows if row.runs]
    size = _train_size(first)
    return [contrast(first, row, scores) for row in others if _train_size(row) == size]


def _train_size(row: RowRecord) -> int:
    """How many pairs a row was trained on: all of the corpus, if it says nothing else."""
    corpus = corpus_of(row.row.config)
    return corpus.train_pairs or corpus.n_train


def contrast(
    baseline: RowRecord,
    row: RowRecord,
    scores: Scores,
    *,
    question: Question | None = None,
    rule: str | None = None,
) -> Contrast:
    """Compare two rows on test and on dev; not corrected for other contrasts."""
    question = question or Question((baseline.name,))
    have_same_seeds = [r.seed for r in baseline.runs] == [r.seed for r in row.runs]
    is_paired = question.is_paired and have_same_seeds
    test, dev = (
        scores.compare(
            baseline, row, split=split, rule=rule, is_paired=is_paired, n_resamples=n_resamples
        )
        for split, n_resamples in (("test", N_RESAMPLES), ("dev", FEW_RESAMPLES))
    )
    return Contrast(
        question=question.name,
        test=test,
        dev=dev,
        n_missing=baseline.n_missing + row.n_missing,
        unlearned=tuple(unlearned_runs((baseline, row), rule=rule)),
        remark=(
            "Declared as paired by seed, but the rows have other seeds: tested unpaired."
            if question.is_paired and not have_same_seeds
            else ""
        ),
    )


def correct_together(
    groups: Sequence[Sequence[Contrast]], others: Sequence[float] = ()
) -> list[list[Contrast]]:
    """Return groups of contrasts with Holm's correction over all of them and over ``others``.

    Args:
        groups: Contrasts of a family.
        others: p-values of the same family that are no contrast of two rows.
    """
    every = [one for group in groups for one in group]
    tests = iter(corrected([one.test for one in every], others))
    n_family = len(every) + len(others)
    return [
        [replace(one, test=next(tests), n_family=n_family) for one in group] for group in groups
    ]


def same_against_same(row: RowRecord, scores: Scores) -> Comparison | None:
    """Compare a row's odd runs with its even runs; None with fewer than 4 runs."""
    if len(row.runs) < 4:
        return None
    odd, even = (
        replace(row, row=replace(row.row, name=f"{row.name}, {name} runs"), runs=runs)
        for name, runs in (("odd", row.runs[::2]), ("even", row.runs[1::2]))
    )
    return scores.compare(odd, even)


def with_texts(side: Scored, row: RowRecord) -> Scored:
    """Return a side scored on test with the translations of its row; none where none were kept."""
    lines = [run.lines("test") for run in row.runs]
    return replace(side, system=replace(side.system, runs=lines))


def _without_texts(row: RowRecord) -> System:
    return System(row.name, (), [f"seed {run.seed}" for run in row.runs])
