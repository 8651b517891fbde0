"""What the tables say: differences between rows with intervals, verdicts of declared studies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np
from declared import contrasts_of
from table import Study

from switchout.evaluation.buckets import Breakdown, break_down
from switchout.evaluation.comparison import Scored, System, scored_from
from switchout.evaluation.features import Feature
from switchout.evaluation.significance import SeedsTest, holm, seeds_test
from switchout.evaluation.verdict import LEVEL

SMALL = 0.5  # BLEU below which studies call a gain refuted


@dataclass(frozen=True)
class Effect:
    """One row less another on one set, means over seeds.

    ``counts_sentences``: the test is over seeds and sentences; else over seeds alone, because no
    statistics of sentences were kept.
    """

    delta: float
    test: SeedsTest
    dots: tuple[float, ...]
    counts_sentences: bool


@dataclass(frozen=True)
class Claim:
    """A declared question and what the runs so far say."""

    question: str
    row: str
    against: str
    is_paired: bool
    on_test: Effect
    on_dev: Effect
    p_holm: float
    verdict: str


def effect(
    study: Study,
    row: str,
    against: str,
    *,
    split: str = "test",
    rule: str | None = None,
    is_paired: bool = False,
) -> Effect:
    """Return the difference; both rows need two runs."""
    means = [study.scores(name, f"{split}_bleu", rule) for name in (against, row)]
    delta = fmean(means[1]) - fmean(means[0])
    dots = tuple(score - fmean(means[0]) for score in means[1])
    sides = [scored(study, name, split, rule) for name in (against, row)]
    if sides[0] is None or sides[1] is None:
        constant = [np.repeat(np.array(scores)[:, None], 2, axis=1) for scores in means]
        return Effect(delta, seeds_test(delta, *constant, is_paired=is_paired), dots, False)
    values = [side.pseudo_values for side in sides if side]
    return Effect(delta, seeds_test(delta, *values, is_paired=is_paired), dots, True)


def by_dev_bleu(study: Study, claim: Claim) -> tuple[float, float]:
    """Return the differences on test and dev where the best dev BLEU chooses the checkpoint."""
    rows = (claim.row, claim.against)
    test, dev = (effect(study, *rows, split=s, rule="dev-bleu").delta for s in ("test", "dev"))
    return test, dev


def scored(study: Study, row: str, split: str, rule: str | None) -> Scored | None:
    """Return a row's runs from their stored statistics; None: none were kept."""
    statistics = study.statistics(row, split, rule)
    return None if statistics is None else scored_from(study.measure, System(row, ()), statistics)


def gains_by_distance(study: Study, row: str, against: str) -> Breakdown | None:
    """Return the gain by the distance to the training text, and its trend, as in figure 2."""
    baseline, system = (scored(study, name, "test", None) for name in (against, row))
    distance, source, words = (
        study.sentences("test", name) for name in ("distance", "source", "words")
    )
    if baseline is None or system is None or distance is None or source is None or words is None:
        return None
    references = ["w " * int(n) for n in words]  # only their lengths matter here
    wer = Feature("wer", distance / source)
    [found] = break_down(references, baseline, [system], [wer], metric=study.measure)
    return found


def claims(study: Study, *, others: Sequence[float] = ()) -> list[Claim]:
    """Return the declared questions that have two runs a side, corrected for all that are declared.

    Args:
        study: With some or all of its runs.
        others: p-values of the same family that are no contrast of two rows.
    """
    found = []
    declared = contrasts_of(study.name)
    for one in declared:
        names = (one["row"], one["against"])
        if min(len(study.of(name)) for name in names) < 2:
            continue
        same_seeds = len({tuple(run["seed"] for run in study.of(name)) for name in names}) == 1
        is_paired = one.get("paired", False) and same_seeds
        on_test, on_dev = (
            effect(study, *names, split=split, is_paired=is_paired) for split in ("test", "dev")
        )
        found.append(Claim(one["question"], *names, is_paired, on_test, on_dev, 1.0, "open"))
    unknown = [1.0] * (len(declared) - len(found))
    adjusted = holm([*(claim.on_test.test.p for claim in found), *unknown, *others])
    corrected = [replace(c, p_holm=p) for c, p in zip(found, adjusted, strict=False)]
    if not study.is_complete:
        return corrected
    return [replace(c, verdict=verdict_of_claim(study.name, c)) for c in corrected]


def verdict_of_claim(study: str, claim: Claim) -> str:
    """Return what the text of a complete study says of one of its questions."""
    test, dev = claim.on_test, claim.on_dev
    is_shown = claim.p_holm <= LEVEL
    if study == "dose":
        return "screening"  # "The screening alone decides nothing"
    if study == "data-size":
        if is_shown and test.delta * dev.delta > 0:
            return "gain" if test.delta > 0 else "loss"
        return "open"
    if is_shown and test.delta > 0 and dev.delta > 0:
        return "confirmed"
    is_worse = is_shown and test.delta < 0 and study != "dose-second"  # whose text does not ask it
    is_small = test.test.ci95[1] < SMALL and dev.delta < SMALL
    may_be_small = study == "en-vi" and claim.question == "C2"  # so is the paper's own gain
    if is_worse or (is_small and not may_be_small):
        return "refuted"
    return "open"
