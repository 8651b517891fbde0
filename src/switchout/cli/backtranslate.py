"""``switchout backtranslate``: synthetic pairs from monolingual text."""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path
from typing import Annotated

from switchout.cli.options import Direction, Json, Overrides
from switchout.cli.verb import Option
from switchout.files import check_output_folder
from switchout.ranges import BEAM, RATIO_OF_PAIRS


def backtranslate(
    *,
    corpus: Annotated[str, Option("Real pairs: name or folder.", "CORPUS")],
    out: Annotated[Path, Option("Folder of the corpus with synthetic pairs.", "DIR")],
    direction: Direction,
    mono: Annotated[
        Path | None, Option("Text in the target language; default: the corpus's own.")
    ] = None,
    run: Annotated[
        Path | None, Option("A reverse run; default: train one, or find it.", "DIR")
    ] = None,
    preset: Annotated[
        str | None, Option("Preset or TOML file of the reverse model.", "CONFIG")
    ] = None,
    overrides: Overrides = None,
    ratio: Annotated[float, Option("Synthetic pairs per real pair.", limits=RATIO_OF_PAIRS)] = 1.0,
    tag: Annotated[str, Option("Word put before every synthetic source.", "WORD")] = "",
    beam: Annotated[int, Option("Beam size.", limits=BEAM)] = 5,
    as_json: Json = False,
) -> None:
    """Train a reverse model (or take one), translate target text, write a corpus with both.

    Examples:
      switchout backtranslate --corpus phrasebook --out phrasebook-bt
      switchout backtranslate --corpus my-de-en --mono news.en.gz --out bt
      switchout backtranslate --corpus my-de-en --run rev --tag '<BT>' --out bt
      switchout train multi30k --set data.corpus=bt --out runs/with-bt
    """
    from switchout.corpora.opening import FACTS
    from switchout.engines import Engine
    from switchout.experiments.backtranslate import Recipe, monolingual, read_mono, train_reverse
    from switchout.experiments.backtranslate import backtranslate as write
    from switchout.experiments.reproduce import Request, base_config
    from switchout.runs.job import corpus_of

    logging.basicConfig(format="%(message)s", level=logging.INFO, stream=sys.stderr)
    recipe = Recipe(ratio=ratio, tag=tag, beam=beam)
    check_output_folder("out", out, {"mono": mono, "run": run}, marker=FACTS)
    settings = [*direction.overrides, *(overrides or [])]
    config = base_config(corpus, Request([corpus], preset=preset, overrides=settings))
    lines = monolingual(config) if mono is None else read_mono(mono)
    reverse = run or train_reverse(config, Engine())
    facts = write(corpus_of(config), reverse, lines, out, recipe=recipe)
    if as_json:
        print(json.dumps(facts, ensure_ascii=False))
        return
    pairs = facts["pairs"]
    print(f"{out}: {pairs['train']:,} real and {pairs['synthetic']:,} synthetic pairs")
    if facts["dropped"]:
        print(f"{facts['dropped']:,} lines were translated to nothing and left out")
