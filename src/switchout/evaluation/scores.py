"""Scores of translations with sacrebleu."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from switchout.evaluation.metrics import FORMULAS, Array, Metric
from switchout.evaluation.resampling import bootstrap_sums
from switchout.progress import Meter


def score(
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    tokenize: str = "13a",
    lowercase: bool = False,
    metrics: Sequence[str] = tuple(FORMULAS),
) -> dict[str, Any]:
    """Return the scores of one output and ``signature`` (of BLEU if it is among the metrics).

    Example:
        >>> score(["a b c d"], ["a b c d"], metrics=["bleu"])["bleu"]
        100.00000000000004
    """
    [record] = score_all(
        [hypotheses], references, tokenize=tokenize, lowercase=lowercase, metrics=metrics
    )
    return record


def score_all(
    outputs: Sequence[Sequence[str]],
    references: Sequence[str],
    *,
    tokenize: str = "13a",
    lowercase: bool = False,
    metrics: Sequence[str] = tuple(FORMULAS),
    n_resamples: int = 0,
    seed: int = 0,
    meter: Meter | None = None,
) -> list[dict[str, Any]]:
    """Score several outputs of the same test set.

    Args:
        outputs: Hypotheses of each system, one per reference.
        references: Real text, one line per sentence.
        tokenize, lowercase: sacrebleu's tokenizer and case for BLEU.
        metrics: Any of bleu, chrf, ter.
        n_resamples: Bootstrap resamples for 95% intervals; 0 leaves ``ci95`` out.
        seed: Of the bootstrap.
        meter: Advanced by one per output and metric.

    Returns:
        For each output its scores, ``signature``, ``signatures`` by metric and ``ci95`` by metric.
    """
    records: list[dict[str, Any]] = [{} for _ in outputs]
    for name in metrics:
        metric = Metric(name, references, tokenize=tokenize, lowercase=lowercase)
        statistics = []
        for record, hypotheses in zip(records, outputs, strict=True):
            statistics.append(metric.statistics(hypotheses))
            record[name] = metric.score(statistics[-1])
            record.setdefault("signature", metric.signature)
            record.setdefault("signatures", {})[name] = metric.signature
            if meter:
                meter.advance()
        if n_resamples:
            for record, interval in zip(
                records, _intervals(metric, statistics, n_resamples, seed), strict=True
            ):
                record.setdefault("ci95", {})[name] = interval
    return records


def _intervals(
    metric: Metric, statistics: list[Array], n_resamples: int, seed: int
) -> list[list[float] | None]:
    """Percentile intervals; None for a single sentence, which cannot vary."""
    if len(statistics[0]) < 2:
        return [None] * len(statistics)
    resampled = bootstrap_sums(statistics, n_resamples=n_resamples, seed=seed)
    return [np.quantile(metric.from_sums(sums), [0.025, 0.975]).tolist() for sums in resampled]
