"""Runs that learned nothing: the difference between two failed trainings means nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from switchout.experiments.experiment import RowRecord

LOWEST_BLEU = 1.0
FEW_WORDS = 4  # a shorter line may repeat a word without being a loop


@dataclass(frozen=True)
class UnlearnedRun:
    """A run whose outputs are those of a model that learned nothing, and why we think so."""

    row: str
    seed: int
    reason: str


def unlearned_runs(rows: Iterable[RowRecord], *, rule: str | None = None) -> list[UnlearnedRun]:
    """Return the runs that learned nothing."""
    return [
        UnlearnedRun(row.name, run.seed, reason)
        for row in rows
        for run in row.runs
        if (
            reason := why_unlearned(
                run.lines("test", rule=rule), run.number("test_bleu", rule=rule)
            )
        )
    ]


def why_unlearned(lines: Sequence[str], bleu: float) -> str:
    """Return why translations are those of a model that learned nothing; empty: it did learn.

    Example:
        >>> why_unlearned(["a a a a a", "the the the the"], bleu=2.0)
        'most outputs repeat one word'
        >>> why_unlearned(["a dog runs over grass", "two men talk"], bleu=20.0)
        ''
    """
    if bleu < LOWEST_BLEU:
        return f"BLEU is {bleu:.2f}"
    if not lines:  # the texts were not kept
        return ""
    if 2 * sum(not line.strip() for line in lines) > len(lines):
        return "most outputs are empty"
    [(_, n_same)] = Counter(lines).most_common(1)
    if len(lines) > FEW_WORDS and 2 * n_same > len(lines):
        return "most outputs are the same sentence"
    long = [words for line in lines if len(words := line.split()) >= FEW_WORDS]
    if long and 2 * sum(_repeats(words) for words in long) > len(long):
        return "most outputs repeat one word"
    return ""


def _repeats(words: Sequence[str]) -> bool:
    """Whether one word is more than half of the line."""
    return 2 * Counter(words).most_common(1)[0][1] > len(words)
