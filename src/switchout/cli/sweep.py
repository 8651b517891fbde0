"""``switchout sweep``: every configuration of a grid or list, with several seeds."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from switchout.cli.experiment_output import finish
from switchout.cli.ranged import within
from switchout.cli.train_extra import needs_train_extra
from switchout.files import check_output_folder
from switchout.ranges import GPUS, WORKERS

app = typer.Typer(add_completion=False, rich_markup_mode=None)

EXAMPLES = """
\b
Example of a sweep.toml:
  base = "phrasebook"                  # a preset, or a TOML file
  seeds = [1, 2, 3]
  [set]
  "train.steps" = 1000
  [grid]
  "augment.source.tau" = [0.8, 1.0, 1.2]
  [[config]]
  name = "no noise"
  set = { "augment.source.policy" = "none", "augment.target.policy" = "none" }

\b
  switchout sweep sweep.toml --out sweep

\b
Rows are compared with the first: [[config]] rows come first, then the grid.
"""


@app.command(epilog=EXAMPLES)
def sweep(
    config: Annotated[Path, typer.Argument(metavar="CONFIG.toml", help="What varies.")],
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
    out: Annotated[Path, typer.Option(help="Folder of table and report.")] = Path("sweep"),
    as_json: Annotated[bool, typer.Option("--json", help="Print results.json.")] = False,
) -> int:
    """Train every configuration of a grid or list with several seeds; finished runs are kept."""
    from switchout.engines import Engine
    from switchout.experiments.experiment import command_line
    from switchout.experiments.sweep import sweep as train

    where = Engine(engine, workers=workers, ray_address=ray_address, gpus=gpus)
    check_output_folder("--out", out, {"CONFIG.toml": config})
    with needs_train_extra():
        failures = train(config, out, engine=where, command=command_line(sys.argv[1:]))
    return finish(out, failures, as_json=as_json)
