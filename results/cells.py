"""Numbers as they stand in a cell of a page."""

from __future__ import annotations

import re
from collections.abc import Sequence

from effects import Effect

from switchout.evaluation.significance import SeedsTest
from switchout.evaluation.trend import Trend


def needed(test: SeedsTest) -> str:
    """What would show a true difference of this size four times in five."""
    n_seeds = test.seeds_needed()
    return "only a larger test set" if n_seeds is None else f"{n_seeds} seeds a side"


def on(one: Effect) -> str:
    """A difference and its p-value, in a cell."""
    return f"{one.delta:+.2f} ({p_value(one.test.p)})"


def interval(one: Effect) -> str:
    """A difference and its interval, in a cell."""
    low, high = one.test.ci95
    return f"{one.delta:+.2f} ({low:+.2f} to {high:+.2f})"


def slope_in_words(slope: Trend) -> str:
    """Per 0.1 of WER: the sentences of a test set lie within a few tenths."""
    low, high = (bound / 10 for bound in slope.ci95)
    return f"{slope.slope / 10:+.2f} BLEU per 0.1 of WER ({low:+.2f} to {high:+.2f})"


def p_value(p: float) -> str:
    """A p-value, in a cell."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a table; minus signs as printed."""
    table = [head, ["---"] * len(head), *lines]
    text = "\n".join(f"| {' | '.join(cells)} |" for cells in table)
    return re.sub(r"(?<![\w-])-(?=\d)", "−", text)
