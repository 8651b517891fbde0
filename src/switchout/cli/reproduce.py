"""``switchout reproduce``: the paper's tables and figures, one command each."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from switchout.cli.experiment_output import finish
from switchout.cli.train_extra import needs_train_extra

app = typer.Typer(add_completion=False, rich_markup_mode=None)

EXAMPLES = """
\b
Examples:
  switchout reproduce table1 --seeds 2 --out table1
  switchout reproduce table1 --corpus multi30k-de-en --set data.train_pairs=5000
  switchout reproduce table1 --corpus iwslt15-en-vi --corpus iwslt14-de-en --engine ray
  switchout reproduce wer --corpus multi30k-de-en --set data.train_pairs=5000 --seeds 4

\b
The same command again trains only what is missing; more --seeds extend a table.
"""


@app.command(epilog=EXAMPLES)
def reproduce(
    what: Annotated[str, typer.Argument(help="table1, table2, tau or wer.")],
    corpus: Annotated[
        list[str] | None, typer.Option(help="Name or folder; repeatable: a column each.")
    ] = None,
    preset: Annotated[
        str | None, typer.Option(help="Preset or TOML file; default: the corpus's own.")
    ] = None,
    set: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="Override one key; repeatable.")
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Runs per row; default: the paper's 4, or 9.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Runs at a time; default: as many as processors.")
    ] = None,
    engine: Annotated[str, typer.Option(help="local or ray.")] = "local",
    ray_address: Annotated[
        str | None, typer.Option(help="Of a running cluster; default: Ray on this machine.")
    ] = None,
    gpus: Annotated[float, typer.Option(min=0, help="GPUs a run needs, on Ray.")] = 0.0,
    out: Annotated[Path | None, typer.Option(help="Folder of table and report.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print results.json.")] = False,
) -> int:
    """Train what a table or figure of the paper needs, test it, and write a report."""
    from switchout.experiments.engines import Engine
    from switchout.experiments.experiment import command_line
    from switchout.experiments.reproduce import Wish
    from switchout.experiments.reproduce import reproduce as train

    wish = Wish(
        corpora=corpus or ["phrasebook"],
        preset=preset,
        overrides=set or [],
        n_seeds=seeds,
        engine=Engine(engine, workers=workers, ray_address=ray_address, gpus=gpus),
        command=command_line(sys.argv[1:]),
    )
    folder = out or Path(what)
    with needs_train_extra():
        failures = train(what, wish, folder)
    return finish(folder, failures, as_json=as_json)
