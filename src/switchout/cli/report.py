"""``switchout report``: one page about finished runs, made again any time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from switchout.cli.experiment_output import show
from switchout.errors import SwitchOutError

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def report(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR…",
            help="Folders of 'reproduce' or 'sweep'; p-values are corrected over all of them.",
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print results.json.")] = False,
) -> None:
    """Write report.html, results.json, table.csv and table.tex from what is finished so far.

    \b
    Examples:
      switchout report table1
      switchout report study1 study2    # two pages, one correction
    """
    from switchout.report.write import write_reports

    if len({folder.resolve() for folder in folders}) < len(folders):
        raise SwitchOutError("the same folder twice: its contrasts would count double")
    results = write_reports(folders)
    if as_json and len(folders) > 1:
        print(json.dumps(results, ensure_ascii=False))
        return
    for folder, result in zip(folders, results, strict=True):
        show(folder, result, as_json=as_json)
