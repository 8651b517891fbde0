"""Which test sentences to look at: some that nobody chose, and those that matter most."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from switchout.evaluation.comparison import Comparison


@dataclass(frozen=True)
class ChosenSentence:
    """A test sentence with one output of each side.

    Attributes:
        group: Why it is shown.
        number: Line of the test set, from 1.
        contribution: What it adds to the corpus-level difference: jackknife, mean over runs.
        source: Source sentence, if known.
        reference: The real translation.
        outputs: (name, output) of baseline and system, of their lower-median runs.
    """

    group: str
    number: int
    contribution: float
    source: str | None
    reference: str
    outputs: tuple[tuple[str, str], tuple[str, str]]


def choose_examples(
    result: Comparison,
    references: Sequence[str],
    source: Sequence[str] | None = None,
    *,
    n_examples: int = 10,
    seed: int = 0,
) -> list[ChosenSentence]:
    """Return random sentences first, then the largest contributions both ways.

    Args:
        result: The comparison; its systems have their outputs.
        references, source: The test set.
        n_examples: Of each kind.
        seed: Of the random ones.
    """
    gains = result.gains if result.metric.higher_is_better else -result.gains
    drawn = sorted(random.Random(seed).sample(range(len(gains)), min(n_examples, len(gains))))
    order = np.argsort(gains, kind="stable")
    groups = {
        "Drawn at random": drawn,
        "Largest gains": [i for i in order[::-1][:n_examples] if gains[i] > 0],
        "Largest losses": [i for i in order[:n_examples] if gains[i] < 0],
    }
    base, other = (
        (side.system.name, side.system.runs[side.tested])
        for side in (result.baseline, result.system)
    )
    return [
        ChosenSentence(
            group,
            int(i) + 1,
            float(result.gains[i]) / len(gains),
            None if source is None else source[i],
            references[i],
            ((base[0], base[1][i]), (other[0], other[1][i])),
        )
        for group, chosen in groups.items()
        for i in chosen
    ]
