"""``switchout reproduce``: the paper's tables and figures, one command each."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from switchout.cli.options import Direction, Json, Overrides, Where
from switchout.cli.report import finish
from switchout.cli.verb import Argument, Option
from switchout.errors import SwitchOutError
from switchout.files import check_output_folder
from switchout.ranges import RATIO_OF_PAIRS, SEEDS

GRID = (0.0, 0.8, 1.0, 1.2)  # temperatures of the figure


@dataclass(frozen=True, kw_only=True)
class Temperatures:
    """Which temperatures are tried."""

    GROUP = "Temperatures"

    tau_x: Annotated[str | None, Option("Source temperatures; default: paper's.", "T[,T…]")] = None
    tau_y: Annotated[str | None, Option("Target temperatures; default: paper's.", "T[,T…]")] = None
    tune: Annotated[bool, Option("First tune dropout and label smoothing of row 1 on dev.")] = False
    tune_taus: Annotated[
        bool, Option("table1: add rows at temperatures tuned on dev, among --tau-x and --tau-y.")
    ] = False

    @property
    def grids(self) -> tuple[list[float], list[float]]:
        """The temperatures of both sides, as far as they were given."""
        return _taus(self.tau_x, "--tau-x"), _taus(self.tau_y, "--tau-y")

    def pair(self, what: str) -> tuple[float, float] | None:
        """Return the temperatures of a table: one of each side, or the paper's."""
        grid_x, grid_y = self.grids
        if self.tune_taus or what == "tau" or not (grid_x or grid_y):
            return None
        if len(grid_x) != 1 or len(grid_y) != 1 or not grid_x[0] * grid_y[0] > 0:
            raise SwitchOutError(f"{what} needs one --tau-x and one --tau-y, both above 0")
        return grid_x[0], grid_y[0]


@dataclass(frozen=True, kw_only=True)
class Synthetic:
    """The back-translated pairs of table 2."""

    GROUP = "Of table2"

    mono: Annotated[Path | None, Option("Monolingual text in the target language.")] = None
    ratio: Annotated[float, Option("Synthetic pairs per real pair.", limits=RATIO_OF_PAIRS)] = 1.0


def reproduce(
    what: Annotated[str, Argument("WHAT", "table1, table2, tau or wer.")],
    *,
    corpus: Annotated[
        list[str] | None, Option("Name or folder; repeatable: a column each.", "CORPUS")
    ] = None,
    direction: Direction,
    preset: Annotated[
        str | None,
        Option(
            "Preset or TOML file; default: the corpus's own; for a folder as 'train --corpus'.",
            "CONFIG",
        ),
    ] = None,
    overrides: Overrides = None,
    seeds: Annotated[
        int | None, Option("Runs per row; default: the paper's 4, or 9.", limits=SEEDS)
    ] = None,
    out: Annotated[Path | None, Option("Folder of table and report.", "DIR")] = None,
    as_json: Json = False,
    temperatures: Temperatures,
    synthetic: Synthetic,
    where: Where,
) -> int:
    """Train what a table or figure of the paper needs, test it, and write a report.

    Examples:
      switchout reproduce table1 --seeds 2 --out table1
      switchout reproduce table1 --corpus my-corpus --set train.steps=5000
      switchout reproduce table1 --tune --tune-taus --tau-x 0.7,1,1.3
      switchout reproduce table1 --corpus my-corpus --corpus other --engine ray
      switchout reproduce tau --tau-x 0,0.6,0.8,1,1.2 --tau-y 0,0.8,1 --seeds 4
      switchout reproduce table2 --corpus my-corpus --mono news.en.gz --ratio 2
      switchout reproduce wer --corpus my-corpus --seeds 4

    The same command again trains only what is missing; --seeds 9 extends a table.
    """
    from switchout.experiments.backtranslate import Recipe
    from switchout.experiments.experiment import command_line
    from switchout.experiments.reproduce import Request
    from switchout.experiments.reproduce import reproduce as train
    from switchout.experiments.tuning import TAUS

    grid_x, grid_y = temperatures.grids
    grid = TAUS if temperatures.tune_taus else GRID
    request = Request(
        corpora=corpus or ["phrasebook"],
        preset=preset,
        overrides=[*direction.overrides, *(overrides or [])],
        n_seeds=seeds,
        taus=temperatures.pair(what),
        is_tuned=temperatures.tune,
        has_tuned_taus=temperatures.tune_taus,
        grid_x=grid_x or grid,
        grid_y=grid_y or grid,
        mono=synthetic.mono,
        recipe=Recipe(ratio=synthetic.ratio),
        engine=where.made(),
        command=command_line(sys.argv[1:]),
    )
    folder = out or Path(what)
    check_output_folder("out", folder, {"mono": synthetic.mono})
    return finish(folder, train(what, request, folder), as_json=as_json)


def _taus(text: str | None, option: str) -> list[float]:
    try:
        taus = [float(part) for part in text.split(",")] if text else []
    except ValueError:
        raise SwitchOutError(f"{option} {text}: expected numbers such as 0.8,1.0,1.2") from None
    if any(not tau >= 0 for tau in taus):
        raise SwitchOutError(f"{option} {text}: a temperature is 0 or more")
    return taus
