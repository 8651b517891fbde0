"""``switchout sweep``: every configuration of a grid or list, with several seeds."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from switchout.cli.options import Json, Where
from switchout.cli.report import finish
from switchout.cli.verb import Argument, Option
from switchout.files import check_output_folder


def sweep(
    config: Annotated[Path, Argument("CONFIG.toml", "What varies.")],
    *,
    out: Annotated[Path, Option("Folder of table and report.", "DIR")] = Path("sweep"),
    as_json: Json = False,
    where: Where,
) -> int:
    """Train every configuration of a grid or list with several seeds; finished runs are kept.

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

    To train it:
      switchout sweep sweep.toml --out sweep

    Rows are compared with the first: [[config]] rows come first, then the grid.
    """
    from switchout.experiments.experiment import command_line
    from switchout.experiments.sweep import sweep as train

    engine = where.made()
    check_output_folder("out", out, {"CONFIG.toml": config})
    failures = train(config, out, engine=engine, command=command_line(sys.argv[1:]))
    return finish(out, failures, as_json=as_json)
