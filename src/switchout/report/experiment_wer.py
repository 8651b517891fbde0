"""The figure of distances in words: does the gain grow far from the training text?"""

from __future__ import annotations

from switchout.evaluation.trend import Trend
from switchout.evaluation.verdict import LEVEL
from switchout.experiments.findings import Finding


def wer_answers(finding: Finding) -> list[str]:
    """Say whether the gain grows with the distance to the training text, as the paper has it."""
    return [
        _trend_in_words(name, trend)
        for breakdown in finding.breakdowns
        if breakdown.feature.name == "wer"
        for name, trend in zip(breakdown.systems, breakdown.trends, strict=True)
        if trend is not None
    ]


def _trend_in_words(name: str, trend: Trend) -> str:
    word = "is not shown to change"
    if trend.p <= LEVEL:
        word = "grows" if trend.slope > 0 else "shrinks"
    low, high = trend.ci95
    return (
        f"The gain of {name} {word} with the distance to the nearest training sentence: "
        f"{trend.slope:+.2f} BLEU per 1.0 of WER (95% interval {low:+.2f} to {high:+.2f}, "
        f"p = {trend.p:.3f}). In the paper it grows."
    )
