"""``switchout report``: one page about finished runs, made again any time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from switchout.cli.experiment_output import show

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def report(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder of 'reproduce' or 'sweep'.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print results.json.")] = False,
) -> None:
    """Write report.html, results.json, table.csv and table.tex from what is finished so far.

    \b
    Example:
      switchout report table1
    """
    from switchout.report.write import write_report

    show(folder, write_report(folder), as_json=as_json)
