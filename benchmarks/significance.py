"""Paired bootstrap on 1,268 sentences, 10,000 resamples, two systems: ours against sacrebleu's.

Prints CPU seconds (medians, interleaved) and ratios, for the resampling alone and end to end
(texts in, p-value out). Ours also does the randomization test end to end; sacrebleu's does not.

    OMP_NUM_THREADS=1 python benchmarks/significance.py --repeats 5
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest

from switchout.evaluation.comparison import System, compare
from switchout.evaluation.metrics import Metric
from switchout.evaluation.resampling import bootstrap_sums
from switchout.evaluation.significance import bootstrap_interval, p_bootstrap
from switchout.files import read_lines

RESAMPLES = 10_000


def damaged(lines: list[str], seed: int) -> list[str]:
    rng = random.Random(seed)
    words = [word for line in lines for word in line.split()]
    return [
        " ".join(rng.choice(words) if rng.random() < 0.3 else word for word in line.split())
        for line in lines
    ]


def sacrebleu_end_to_end(references: list[str], outputs: list[list[str]]) -> None:
    metric = BLEU(references=[references], force=True)
    named = [("a", outputs[0]), ("b", outputs[1])]
    PairedTest(named, {"BLEU": metric}, None, test_type="bs", n_samples=RESAMPLES)()


def ours_end_to_end(references: list[str], outputs: list[list[str]]) -> None:
    systems = [System(name, [output]) for name, output in zip("ab", outputs, strict=True)]
    compare(references, systems[0], systems[1:], n_resamples=RESAMPLES)


def sacrebleu_resampling(references: list[str], outputs: list[list[str]]) -> Callable[[], None]:
    """PairedTest with the statistics already extracted."""
    metric = BLEU(references=[references], force=True)
    known = {id(o): metric._extract_corpus_statistics(o, None) for o in outputs}
    metric._extract_corpus_statistics = lambda hypotheses, _: known[id(hypotheses)]
    named = [("a", outputs[0]), ("b", outputs[1])]
    return lambda: (
        PairedTest(named, {"BLEU": metric}, None, test_type="bs", n_samples=RESAMPLES)() and None
    )


def ours_resampling(references: list[str], outputs: list[list[str]]) -> Callable[[], None]:
    metric = Metric("bleu", references)
    arrays = [metric.statistics(output) for output in outputs]
    delta = metric.score(arrays[1]) - metric.score(arrays[0])

    def work() -> None:
        a, b = bootstrap_sums(arrays, n_resamples=RESAMPLES, seed=time.perf_counter_ns() % 2**32)
        resampled = metric.from_sums(b) - metric.from_sums(a)
        p_bootstrap(delta, resampled)
        bootstrap_interval(delta, resampled)

    return work


def medians(work: dict[str, Callable[[], None]], repeats: int) -> dict[str, float]:
    """Median CPU seconds of each, taken in turn so that a noisy moment hits all."""
    seconds: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(repeats):
        for name, call in work.items():
            start = time.process_time()
            call()
            seconds[name].append(time.process_time() - start)
    return {name: statistics.median(values) for name, values in seconds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("SWITCHOUT_DATA", default)) / "iwslt15_en_vi"
    references = read_lines(folder / "test.vi.gz")
    # fresh texts for every measurement: sacrebleu's tokenizer remembers sentences it has seen
    fresh = iter(range(10**6))

    def texts() -> list[list[str]]:
        return [damaged(references, next(fresh)) for _ in range(2)]

    fixed = texts()
    work = {
        "sacrebleu, resampling": sacrebleu_resampling(references, fixed),
        "switchout, resampling": ours_resampling(references, fixed),
    }
    seconds = medians(work, options.repeats)
    inputs = [texts() for _ in range(2 * options.repeats)]
    seconds |= medians(
        {
            "sacrebleu, end to end": lambda: sacrebleu_end_to_end(references, inputs.pop()),
            "switchout, end to end": lambda: ours_end_to_end(references, inputs.pop()),
        },
        options.repeats,
    )
    print(f"{len(references)} sentences, {RESAMPLES:,} resamples, 2 systems; CPU seconds, medians")
    for name, value in seconds.items():
        print(f"  {name:24}{value:8.3f}")
    for part in ("resampling", "end to end"):
        ratio = seconds[f"sacrebleu, {part}"] / seconds[f"switchout, {part}"]
        print(f"  ratio, {part}: {ratio:.1f}")


if __name__ == "__main__":
    main()
