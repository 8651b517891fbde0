"""The tool at small scale, on the embedded corpus: what noise does to sentences, what came of it.

The comparison shows how the tool works. It is no test of the method, and `WHY` says why. The rows
with noise are at the paper's temperature and at a lower one; all six rows of table 1 are one option
away. What is finished is not trained again. Beside the user's few seeds stands the reference we
ship, with more seeds, if it is of the same rows, and what our studies on real data say.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from switchout.corpora import open_corpus
from switchout.corpora.codec import Codec
from switchout.engines import Engine
from switchout.experiments.data_facts import share_kept
from switchout.experiments.experiment import (
    CorpusRows,
    Experiment,
    Question,
    Row,
    check_folder,
)
from switchout.experiments.paper import BASELINE, OTHER_TAUS, SWITCHOUT, table1_rows, with_taus
from switchout.experiments.reproduce import Request, base_config, corpus_title
from switchout.experiments.training import Failure, train_experiment
from switchout.policies import SwitchOut

# A run takes about a minute and a half on one processor. Sized by dev perplexity alone, with a seed
# that no table uses: few pairs and many small steps, so that a longer training would gain the rows
# with noise little (studies/demo-size.md).
SETTINGS = (
    "data.train_pairs=600",
    "model.d_model=64",
    "model.d_head=16",
    "model.d_inner=128",
    "train.batch_tokens=512",
    "train.learning_rate=0.004",
    "train.steps=2000",
    "train.checkpoint_every=200",
    "train.save_every=1000",
    "train.tensorboard=false",
)
QUICK = ("train.steps=600", "train.checkpoint_every=200", "train.dev_bleu=false", "search.beam=1")
LOWER_TAU = 0.5
WHY = (
    "A grammar is no test of the method: its sentences are deterministic, so a word that noise has "
    "replaced cannot be guessed from the others, and SwitchOut loses here at every dose we tried. "
    "It shows the tool; the studies on real data are shown beside it."
)
N_SHOWN, N_EPOCHS = 2, 4
NoisyLine = list[tuple[str, bool]]  # words, and whether noise put them there


@dataclass(frozen=True)
class Dose:
    """What one temperature does to the training sentences, and some of them in the first epochs.

    Attributes:
        tau: The temperature.
        changed: Expected share of the words that change.
        untouched: Share of the sentences that stay as they are.
        examples: A training sentence and its noisy versions, epoch by epoch.
    """

    tau: float
    changed: float
    untouched: float
    examples: list[tuple[str, list[NoisyLine]]]


def doses() -> Iterator[Dose]:
    """Return what SwitchOut does to German sentences at the demo's temperatures."""
    lines = open_corpus("phrasebook", train_pairs=600).pairs("train")[0]
    codec = Codec.word(lines)
    ids = [codec.encode(line) for line in lines]
    lengths = np.array([len(sentence) for sentence in ids])
    for tau in (LOWER_TAU, OTHER_TAUS[0]):
        policy = SwitchOut(codec.vocabulary.words(), tau)
        yield Dose(
            tau,
            float(policy.expected_changes(lengths).sum() / lengths.sum()),
            share_kept(policy, ids),
            [(lines[i], [_noisy(lines[i], codec, policy, i, epoch) for epoch in range(N_EPOCHS)])
             for i in range(N_SHOWN)],
        )  # fmt: skip


def _noisy(line: str, codec: Codec, policy: SwitchOut, example: int, epoch: int) -> NoisyLine:
    ids, tokens = codec.encode(line), codec.vocabulary.tokens
    new_ids = policy.sample(np.array([ids]), seed=1, example_ids=[example], epoch=epoch)[0]
    return [(tokens[new], new != old) for old, new in zip(ids, new_ids.tolist(), strict=True)]


def demo(
    out: Path,
    *,
    n_seeds: int,
    is_full: bool = False,
    is_quick: bool = False,
    engine: Engine | None = None,
    command: str = "",
) -> list[Failure]:
    """Train the demo's rows and write ``experiment.json`` into ``out``; return what failed.

    Args:
        out: Folder of table and report.
        n_seeds: Runs a row.
        is_full: All six rows of table 1 instead of three.
        is_quick: A few hundred steps: shows how it works, and nothing else.
        engine: Where to train.
        command: The line that repeats it.
    """
    check_folder(out, "demo")
    overrides = [*SETTINGS, *(QUICK if is_quick else ())]
    base = base_config("phrasebook", Request(["phrasebook"], overrides=overrides))
    rows = table1_rows(base, taus=OTHER_TAUS, n_seeds=n_seeds)
    if not is_full:
        rows = _few_rows(rows)
    planned = CorpusRows(corpus_title(base), tuple(rows))
    notes = ("Far too short a training to say anything.",) if is_quick else (WHY,)
    experiment = Experiment("demo", (planned,), command, notes=notes)
    return train_experiment(experiment, out, engine or Engine())


def _few_rows(table1: list[Row]) -> list[Row]:
    """The Transformer, and SwitchOut at the paper's temperature and at a lower one."""
    by_name = {row.name: row for row in table1}
    baseline, asked = by_name[BASELINE], (Question((BASELINE,)),)
    lower = with_taus(baseline.config, LOWER_TAU, 0.0)
    return [
        baseline,
        replace(by_name[SWITCHOUT], questions=asked),
        Row(f"{SWITCHOUT}, tau {LOWER_TAU:g}", lower, baseline.seeds, asked),
    ]
