"""``switchout explore``: pages to look at policies, corpora and runs, on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from switchout.errors import SwitchOutError

app = typer.Typer(add_completion=False, rich_markup_mode=None)

HOST = "127.0.0.1"  # and nothing else: there is no password


@app.command()
def explore(
    runs: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of runs; else SWITCHOUT_RUNS or runs."),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any free one.")] = 8765,
    src: Annotated[Path | None, typer.Option(help="Source side of your corpus.")] = None,
    tgt: Annotated[Path | None, typer.Option(help="Target side of your corpus.")] = None,
) -> None:
    """Look at what a temperature does, at a corpus, at runs; compare and translate.

    \b
    Examples:
      switchout explore
      switchout explore --runs runs --src train.de --tgt train.en
    """
    try:
        from switchout.explore.server import serve
        from switchout.explore.site import Site
    except ModuleNotFoundError as error:
        if error.name not in ("fastapi", "uvicorn", "jinja2", "starlette"):
            raise
        raise SwitchOutError(f"{error.name} is missing: pip install 'switchout[web]'") from None
    from switchout.runs.job import runs_root

    folder = runs or runs_root()
    if runs is not None and not runs.is_dir():
        raise SwitchOutError(f"{runs}: no such folder")

    def announce(address: str) -> None:
        print(f"{address}  (Ctrl-C ends it)", flush=True)

    serve(Site(folder, src, tgt), host=HOST, port=port, announce=announce)
