"""Which rows are compared, and what the tests say.

* As the paper: within a block, against the better of the rows without SwitchOut, by a paired
  bootstrap of the median runs. Here the better row is chosen on dev, never on test.
* Seed-aware: would another set of seeds agree? (`switchout.evaluation.significance`)
* A/A: the baseline's odd runs against its even runs, where every difference is luck.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from switchout.corpora import Corpus
from switchout.evaluation import student
from switchout.evaluation.comparison import Comparison, System, compare
from switchout.evaluation.significance import POWER, SeedsTest, holm
from switchout.experiments.experiment import RowRecord


def contrasts(
    rows: Sequence[RowRecord], corpus: Corpus, *, rule: str | None = None
) -> list[Comparison]:
    """Return the comparisons the rows ask for, Holm-corrected together.

    A row at tuned temperatures may have the runs of another row; the same runs are compared once.

    Args:
        rows: All rows of a column; those without finished runs are passed over.
        corpus: Whose test set it is.
        rule: Another checkpoint rule than the one the runs selected by.
    """
    by_name = {row.name: row for row in rows if row.runs}
    pairs: dict[object, tuple[RowRecord, RowRecord]] = {}
    for row in by_name.values():
        others = [by_name[name] for name in row.row.against if name in by_name]
        if others:
            better = max(others, key=lambda other: other.median("dev_bleu") or 0.0)
            pairs.setdefault((better.addresses, row.addresses), (better, row))
    results = [compare_rows(better, row, corpus, rule=rule) for better, row in pairs.values()]
    adjusted = holm([result.p for result in results])
    return [replace(result, p_holm=p) for result, p in zip(results, adjusted, strict=True)]


def compare_rows(
    baseline: RowRecord,
    row: RowRecord,
    corpus: Corpus,
    *,
    split: str = "test",
    rule: str | None = None,
) -> Comparison:
    """Compare two rows on dev or test, over all their runs."""
    sides = [_system(side, side.name, split, rule) for side in (baseline, row)]
    return _compare(sides[0], sides[1], corpus, split)


def same_against_same(row: RowRecord, corpus: Corpus) -> Comparison | None:
    """Compare a row's odd runs with its even runs; None with fewer than 4 runs."""
    if len(row.runs) < 4:
        return None
    whole = _system(row, row.name, "test", None)
    odd = System(f"{row.name}, odd runs", whole.runs[::2], whole.run_names[::2])
    even = System(f"{row.name}, even runs", whole.runs[1::2], whole.run_names[1::2])
    return _compare(odd, even, corpus, "test")


def smallest_gap(test: SeedsTest) -> float:
    """Return the true difference that this test would call significant 4 times in 5."""
    needed = student.quantile(0.975, test.df) + student.quantile(POWER, test.df)
    return needed * math.sqrt(test.variance)


def _system(row: RowRecord, name: str, split: str, rule: str | None) -> System:
    lines = [run.lines(split, rule=rule) for run in row.runs]
    return System(name, lines, [f"seed {run.seed}" for run in row.runs])


def _compare(baseline: System, system: System, corpus: Corpus, split: str) -> Comparison:
    references, bleu = corpus.pairs(split)[1], corpus.bleu
    [result] = compare(
        references, baseline, [system], tokenize=bleu.tokenize, lowercase=bleu.lowercase
    )
    return result
