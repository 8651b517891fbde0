"""The main job at small scale, on the embedded corpus: ``make demo``, or this module by itself.

Shows the sampler at work, trains the six rows of table 1 at the paper's temperatures, tests the
differences and writes ``demo/report.html``. What is finished is not trained again.

Environment: ``SEEDS`` runs per row (2); ``QUICK=1`` a version of a few minutes that shows how it
works and nothing else.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np

from switchout.corpora import open_corpus
from switchout.corpora.codec import Codec
from switchout.errors import SwitchOutError
from switchout.experiments.paper import OTHER_TAUS
from switchout.policies import RAML, SwitchOut

OUT = Path("demo")
# Ten minutes on two processors. Few pairs, so that noise has something to do; the learning rate
# falls to zero, so that rows that learn slower (noise does that) have settled by the end as well.
SETTINGS = (
    "data.train_pairs=1000",
    "model.d_model=64",
    "model.d_head=16",
    "model.d_inner=128",
    "train.learning_rate=0.004",
    "train.steps=1200",
    "train.checkpoint_every=150",
    "train.save_every=300",
    "train.tensorboard=false",
)
QUICK = ("train.steps=300", "train.checkpoint_every=100", "train.dev_bleu=false", "search.beam=1")
N_SHOWN, N_EPOCHS = 3, 5


def main() -> int:
    """Run the demonstration; return the exit code."""
    is_quick = os.environ.get("QUICK", "") not in ("", "0")
    n_seeds = _number("SEEDS", 1 if is_quick else 2)
    begun = time.monotonic()
    show_sampler()
    try:
        code = _table(n_seeds, [*SETTINGS, *(QUICK if is_quick else ())])
    except SwitchOutError as error:
        print(f"switchout: {error}", file=sys.stderr)
        return 2
    print(f"\n{(time.monotonic() - begun) / 60:.1f} minutes")
    if is_quick:
        print("QUICK=1: far too short a training to say anything about SwitchOut.")
    elif n_seeds < 4:
        print(
            f"{n_seeds} seeds a row cannot settle differences of this size: 'make demo SEEDS=9' "
            "extends this table and keeps what is trained."
        )
    return code


def show_sampler() -> None:
    """Print what SwitchOut and RAML make of a few training pairs in the first epochs."""
    lines = open_corpus("phrasebook").pairs("train")
    codecs = [Codec.word(side) for side in lines]
    policies = [
        kind(codec.vocabulary.words(), tau)
        for kind, codec, tau in zip((SwitchOut, RAML), codecs, OTHER_TAUS, strict=True)
    ]
    print("Training pairs as the model sees them, epoch by epoch: SwitchOut on the source, RAML on")
    print(f"the target, tau_x = {OTHER_TAUS[0]:g}, tau_y = {OTHER_TAUS[1]:.3g}. [new] words:\n")
    for example in range(N_SHOWN):
        pair = [side[example] for side in lines]
        print(f"  {pair[0]}  |  {pair[1]}")
        for epoch in range(N_EPOCHS):
            shown = [
                _noisy(line, codec, policy, example, epoch)
                for line, codec, policy in zip(pair, codecs, policies, strict=True)
            ]
            is_same = all("[" not in text for text in shown)
            print(f"    epoch {epoch}: " + ("as it is" if is_same else "  |  ".join(shown)))
    print()


def _noisy(line: str, codec: Codec, policy: SwitchOut, example: int, epoch: int) -> str:
    ids, tokens = codec.encode(line), codec.vocabulary.tokens
    new_ids = policy.sample(np.array([ids]), seed=1, example_ids=[example], epoch=epoch)[0]
    pairs = zip(ids, new_ids.tolist(), strict=True)
    return " ".join(tokens[new] if new == old else f"[{tokens[new]}]" for old, new in pairs)


def _table(n_seeds: int, settings: list[str]) -> int:
    from switchout.cli.experiment_output import finish
    from switchout.experiments.reproduce import Wish, reproduce

    command = f"make demo SEEDS={n_seeds}" + (" QUICK=1" if QUICK[0] in settings else "")
    wish = Wish(["phrasebook"], overrides=settings, n_seeds=n_seeds, command=command)
    failures = reproduce("table1", wish, OUT)
    return finish(OUT, failures, as_json=False)


def _number(name: str, default: int) -> int:
    text = os.environ.get(name) or str(default)
    if not text.isdigit() or int(text) < 1:
        print(f"switchout: {name}={text}: expected a number of at least 1", file=sys.stderr)
        sys.exit(2)
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
