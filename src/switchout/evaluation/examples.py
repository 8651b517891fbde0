"""Which test sentences to look at: some that nobody chose, and those that matter most."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from switchout.evaluation.comparison import Comparison


@dataclass(frozen=True)
class Example:
    """A test sentence with what one system or two made of it.

    Attributes:
        number: Line of the test set, from 1.
        source: Source sentence, if known.
        reference: The real translation.
        outputs: (name, output) of each system.
        group: Why it is shown.
        caption: What it adds to the corpus-level difference: jackknife, mean over runs.
    """

    number: int
    source: str | None
    reference: str
    outputs: Sequence[tuple[str, str]]
    group: str = ""
    caption: str = ""


def choose_examples(
    result: Comparison,
    references: Sequence[str],
    source: Sequence[str] | None = None,
    *,
    n_examples: int = 10,
    seed: int = 0,
) -> list[Example]:
    """Return random sentences first, then the largest contributions both ways.

    Args:
        result: The comparison; outputs are those of the lower-median runs.
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
    sides = (result.baseline, result.system)
    return [
        Example(
            int(i) + 1,
            None if source is None else source[i],
            references[i],
            [(side.name, side.system.runs[side.tested][i]) for side in sides],
            group,
            f"contributes {result.gains[i] / len(gains):+.3f} {result.metric.label}",
        )
        for group, chosen in groups.items()
        for i in chosen
    ]
