"""``switchout backtranslate``: synthetic pairs from monolingual text."""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path
from typing import Annotated

import typer

from switchout.cli.direction import Source, Target, direction
from switchout.cli.ranged import within
from switchout.cli.train_extra import needs_train_extra
from switchout.files import check_output_folder
from switchout.ranges import BEAM, RATIO_OF_PAIRS

app = typer.Typer(add_completion=False, rich_markup_mode=None)

EXAMPLES = """
\b
Examples:
  switchout backtranslate --corpus phrasebook --out phrasebook-bt
  switchout backtranslate --corpus my-de-en --mono news.en.gz --out bt
  switchout backtranslate --corpus my-de-en --run rev --tag '<BT>' --out bt
  switchout train multi30k --set data.corpus=bt --out runs/with-bt
"""


@app.command(epilog=EXAMPLES)
def backtranslate(
    corpus: Annotated[str, typer.Option(help="Real pairs: name or folder.")],
    out: Annotated[Path, typer.Option(help="Folder of the corpus with synthetic pairs.")],
    mono: Annotated[
        Path | None, typer.Option(help="Text in the target language; default: the corpus's own.")
    ] = None,
    run: Annotated[
        Path | None, typer.Option(help="A reverse run; default: train one, or find it.")
    ] = None,
    preset: Annotated[
        str | None, typer.Option(help="Preset or TOML file of the reverse model.")
    ] = None,
    set: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="Override one key; repeatable.")
    ] = None,
    source: Source = None,
    target: Target = None,
    ratio: Annotated[
        float, typer.Option(callback=within(RATIO_OF_PAIRS), help="Synthetic pairs per real pair.")
    ] = 1.0,
    tag: Annotated[str, typer.Option(help="Word put before every synthetic source.")] = "",
    beam: Annotated[int, typer.Option(callback=within(BEAM), help="Beam size.")] = 5,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Train a reverse model (or take one), translate target text, write a corpus with both."""
    from switchout.corpora.opening import FACTS
    from switchout.engines import Engine
    from switchout.experiments.backtranslate import Recipe, monolingual, read_mono, train_reverse
    from switchout.experiments.backtranslate import backtranslate as write
    from switchout.experiments.reproduce import Request, base_config
    from switchout.runs.job import corpus_of

    logging.basicConfig(format="%(message)s", level=logging.INFO, stream=sys.stderr)
    recipe = Recipe(ratio=ratio, tag=tag, beam=beam)
    check_output_folder("--out", out, {"--mono": mono, "--run": run}, marker=FACTS)
    config = base_config(
        corpus,
        Request([corpus], preset=preset, overrides=[*direction(source, target), *(set or [])]),
    )
    lines = monolingual(config) if mono is None else read_mono(mono)
    with needs_train_extra():
        reverse = run or train_reverse(config, Engine())
        facts = write(corpus_of(config), reverse, lines, out, recipe=recipe)
    if as_json:
        print(json.dumps(facts, ensure_ascii=False))
        return
    pairs = facts["pairs"]
    print(f"{out}: {pairs['train']:,} real and {pairs['synthetic']:,} synthetic pairs")
    if facts["dropped"]:
        print(f"{facts['dropped']:,} lines were translated to nothing and left out")
