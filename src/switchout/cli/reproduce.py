"""``switchout reproduce``: the paper's tables and figures, one command each."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from switchout.cli.direction import Source, Target, direction
from switchout.cli.experiment_output import finish
from switchout.cli.ranged import within
from switchout.cli.train_extra import needs_train_extra
from switchout.errors import SwitchOutError
from switchout.files import check_output_folder
from switchout.ranges import GPUS, RATIO_OF_PAIRS, SEEDS, WORKERS

GRID = (0.0, 0.8, 1.0, 1.2)  # temperatures of the figure
app = typer.Typer(add_completion=False, rich_markup_mode=None)

EXAMPLES = """
\b
Examples:
  switchout reproduce table1 --seeds 2 --out table1
  switchout reproduce table1 --corpus my-corpus --set train.steps=5000
  switchout reproduce table1 --tune --tune-taus --tau-x 0.7,1,1.3
  switchout reproduce table1 --corpus my-corpus --corpus other --engine ray
  switchout reproduce tau --tau-x 0,0.6,0.8,1,1.2 --tau-y 0,0.8,1 --seeds 4
  switchout reproduce table2 --corpus my-corpus --mono news.en.gz --ratio 2
  switchout reproduce wer --corpus my-corpus --seeds 4

\b
The same command again trains only what is missing; --seeds 9 extends a table.
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
    source: Source = None,
    target: Target = None,
    seeds: Annotated[
        int | None,
        typer.Option(callback=within(SEEDS), help="Runs per row; default: the paper's 4, or 9."),
    ] = None,
    tau_x: Annotated[
        str | None, typer.Option(metavar="T[,T…]", help="Source temperatures; default: paper's.")
    ] = None,
    tau_y: Annotated[
        str | None, typer.Option(metavar="T[,T…]", help="Target temperatures; default: paper's.")
    ] = None,
    tune: Annotated[
        bool, typer.Option(help="First tune dropout and label smoothing of row 1 on dev.")
    ] = False,
    tune_taus: Annotated[
        bool,
        typer.Option(
            help="table1: add rows at temperatures tuned on dev, among --tau-x and --tau-y."
        ),
    ] = False,
    mono: Annotated[
        Path | None, typer.Option(help="table2: monolingual text in the target language.")
    ] = None,
    ratio: Annotated[
        float,
        typer.Option(
            callback=within(RATIO_OF_PAIRS), help="table2: synthetic pairs per real pair."
        ),
    ] = 1.0,
    workers: Annotated[
        int | None,
        typer.Option(
            callback=within(WORKERS), help="Runs at a time; default: as many as processors."
        ),
    ] = None,
    engine: Annotated[str, typer.Option(help="local or ray.")] = "local",
    ray_address: Annotated[
        str | None, typer.Option(help="Of a running cluster; default: Ray on this machine.")
    ] = None,
    gpus: Annotated[
        float, typer.Option(callback=within(GPUS), help="GPUs a run needs, on Ray.")
    ] = 0.0,
    out: Annotated[Path | None, typer.Option(help="Folder of table and report.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print results.json.")] = False,
) -> int:
    """Train what a table or figure of the paper needs, test it, and write a report."""
    from switchout.engines import Engine
    from switchout.experiments.backtranslate import Recipe
    from switchout.experiments.experiment import command_line
    from switchout.experiments.reproduce import Request
    from switchout.experiments.reproduce import reproduce as train
    from switchout.experiments.tuning import TAUS

    grid_x, grid_y = _taus(tau_x, "--tau-x"), _taus(tau_y, "--tau-y")
    grid = TAUS if tune_taus else GRID
    request = Request(
        corpora=corpus or ["phrasebook"],
        preset=preset,
        overrides=[*direction(source, target), *(set or [])],
        n_seeds=seeds,
        taus=None if tune_taus else _pair(what, grid_x, grid_y),
        is_tuned=tune,
        has_tuned_taus=tune_taus,
        grid_x=grid_x or grid,
        grid_y=grid_y or grid,
        mono=mono,
        recipe=Recipe(ratio=ratio),
        engine=Engine(engine, workers=workers, ray_address=ray_address, gpus=gpus),
        command=command_line(sys.argv[1:]),
    )
    folder = out or Path(what)
    check_output_folder("--out", folder, {"--mono": mono})
    with needs_train_extra():
        failures = train(what, request, folder)
    return finish(folder, failures, as_json=as_json)


def _taus(text: str | None, option: str) -> list[float]:
    try:
        taus = [float(part) for part in text.split(",")] if text else []
    except ValueError:
        raise SwitchOutError(f"{option} {text}: expected numbers such as 0.8,1.0,1.2") from None
    if any(not tau >= 0 for tau in taus):
        raise SwitchOutError(f"{option} {text}: a temperature is 0 or more")
    return taus


def _pair(what: str, grid_x: list[float], grid_y: list[float]) -> tuple[float, float] | None:
    """The temperatures of a table: one of each side, or the paper's."""
    if what == "tau" or not (grid_x or grid_y):
        return None
    if len(grid_x) != 1 or len(grid_y) != 1 or not grid_x[0] * grid_y[0] > 0:
        raise SwitchOutError(f"{what} needs one --tau-x and one --tau-y, both above 0")
    return grid_x[0], grid_y[0]
