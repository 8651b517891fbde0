"""The main job at small scale, on the embedded corpus: ``make demo``, or this module by itself.

Shows the sampler at work, trains the six rows of table 1 at the paper's temperatures, tests the
differences and writes ``demo/report.html``. What is finished is not trained again. Beside the
user's few seeds stands the reference we ship, with more seeds, if it is of the same rows.

Environment: ``SEEDS`` runs per row (2); ``QUICK=1`` a version of a few minutes that shows how it
works and nothing else. ``python -m switchout.demo --write-reference`` makes that reference.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from switchout.corpora import open_corpus
from switchout.corpora.codec import Codec
from switchout.errors import SwitchOutError
from switchout.experiments.paper import OTHER_TAUS
from switchout.policies import RAML, SwitchOut

OUT = Path("demo")
# Ten minutes on two processors. Sized by dev perplexity alone, with a seed that no table uses: few
# pairs and many small steps, so that a longer training would gain the rows with noise little.
# docs/experiments.md has what was tried.
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
N_SHOWN, N_EPOCHS = 3, 5
REFERENCE_SEEDS = 9


def main(arguments: Sequence[str] = ()) -> int:
    """Run the demonstration; return the exit code."""
    is_quick = os.environ.get("QUICK", "") not in ("", "0")
    try:
        n_seeds = _number("SEEDS", 1 if is_quick else 2)
        if list(arguments) == ["--write-reference"]:
            return make_reference(_number("SEEDS", REFERENCE_SEEDS))
        if arguments:
            raise SwitchOutError(f"{' '.join(arguments)}: only --write-reference is known")
        return demonstrate(n_seeds, is_quick=is_quick)
    except SwitchOutError as error:
        print(f"switchout: {error}", file=sys.stderr)
        return 2


def demonstrate(n_seeds: int, *, is_quick: bool) -> int:
    """Show the sampler, train the table, print it with what it cannot tell."""
    begun = time.monotonic()
    show_sampler()
    code, results = _table(n_seeds, [*SETTINGS, *(QUICK if is_quick else ())])
    print(f"\n{(time.monotonic() - begun) / 60:.1f} minutes")
    for remark in _remarks(results, n_seeds, is_quick=is_quick):
        print(remark)
    return code


def make_reference(n_seeds: int) -> int:
    """Train the table with many seeds and write it where the package looks for its reference."""
    from switchout.experiments.reference import write_reference

    code, results = _table(n_seeds, list(SETTINGS))
    if code == 0:
        print(f"reference: {write_reference(OUT, results['answers'])}")
    return code


def _remarks(results: dict[str, Any], n_seeds: int, *, is_quick: bool) -> list[str]:
    """What these runs cannot tell, and what the shipped reference says."""
    if is_quick:
        return ["QUICK=1: far too short a training to say anything about SwitchOut."]
    remarks = []
    if n_seeds < 4:
        remarks.append(
            f"{_seeds(n_seeds)} a row settle little: 'make demo SEEDS=9' extends this table "
            "and keeps what is trained."
        )
    reference = results["columns"][0]["shipped_reference"]
    if reference is None:
        remarks.append(
            "The shipped reference is of another configuration, or absent: not shown beside it."
        )
    else:
        remarks += [f"Shipped reference, {answer}" for answer in reference["answers"]]
    return remarks


def _seeds(n: int) -> str:
    return "Single seeds" if n == 1 else f"{n} seeds"


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


def _table(n_seeds: int, settings: list[str]) -> tuple[int, dict[str, Any]]:
    """Train and print table 1; return the exit code and what ``results.json`` holds."""
    from switchout.cli.experiment_output import finish
    from switchout.experiments.reproduce import Wish, reproduce

    command = f"make demo SEEDS={n_seeds}" + (" QUICK=1" if QUICK[0] in settings else "")
    wish = Wish(["phrasebook"], overrides=settings, n_seeds=n_seeds, command=command)
    failures = reproduce("table1", wish, OUT)
    code = finish(OUT, failures, as_json=False)
    return code, json.loads((OUT / "results.json").read_text(encoding="utf-8"))


def _number(name: str, default: int) -> int:
    text = os.environ.get(name) or str(default)
    if not text.isdigit() or int(text) < 1:
        raise SwitchOutError(f"{name}={text}: expected a number of at least 1")
    return int(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
