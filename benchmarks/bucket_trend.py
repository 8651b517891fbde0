"""How often the trend test of ``switchout buckets`` calls a flat gain a trend, with BLEU.

Run: python benchmarks/bucket_trend.py [--trials 500]        (SWITCHOUT_DATA: real corpora)

Null: two systems that replace each reference word with a fixed probability, the same (gap 0) or not
(gap 0.1: a real gain, equal everywhere), on 400 random test sentences with their real WER.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import numpy as np

from switchout.evaluation.metrics import Metric
from switchout.evaluation.neighbors import find_neighbors
from switchout.evaluation.resampling import jackknife
from switchout.evaluation.trend import trend
from switchout.files import read_lines

DATA = Path(os.environ.get("SWITCHOUT_DATA", Path(__file__).parents[2] / "shared" / "data"))
N_SENTENCES = 400


def rejection_rate(gap: float, trials: int) -> float:
    folder = DATA / "iwslt15_en_vi"
    references = [line.split(" ") for line in read_lines(folder / "test.vi.gz")]
    sources = read_lines(folder / "test.en.gz")
    wer = find_neighbors(read_lines(folder / "train.en.gz"), sources).wer
    words = np.array([word for line in references for word in line], dtype=object)
    rng = np.random.default_rng(0)

    def output(chosen: np.ndarray, share: float) -> list[str]:
        lines = []
        for i in chosen:
            line = np.array(references[i], dtype=object)
            noise = rng.random(len(line)) < share
            lines.append(" ".join(np.where(noise, rng.choice(words, len(line)), line)))
        return lines

    n_rejected = 0
    for trial in range(trials):
        chosen = rng.choice(len(references), N_SENTENCES, replace=False)
        metric = Metric("bleu", [" ".join(references[i]) for i in chosen], tokenize="none")
        base, other = (
            jackknife(metric, metric.statistics(output(chosen, share)))
            for share in (0.3, 0.3 - gap)
        )
        lengths = np.array([len(references[i]) for i in chosen], dtype=float)
        found = trend(other - base, wer[chosen], lengths=lengths, n_resamples=499, seed=trial)
        assert found is not None
        n_rejected += found.p <= 0.05
    return n_rejected / trials


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=500)
    arguments = parser.parse_args()
    if not DATA.exists():
        print(f"no corpora at {DATA}; set SWITCHOUT_DATA")
        return
    for gap in (0.0, 0.1):
        rate = rejection_rate(gap, arguments.trials)
        print(f"gap {gap}: p ≤ 0.05 in {100 * rate:.1f}% of {arguments.trials} trials")


if __name__ == "__main__":
    main()
