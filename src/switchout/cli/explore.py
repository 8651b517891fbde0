"""``switchout explore``: pages to look at policies, corpora and runs, on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from switchout.cli.verb import Option
from switchout.errors import SwitchOutError
from switchout.ranges import Whole

HOST = "127.0.0.1"  # and nothing else: there is no password


def explore(
    runs: Annotated[
        Path | None, Option("Folder of runs; else SWITCHOUT_RUNS or runs.", "DIR")
    ] = None,
    port: Annotated[int, Option("0: any free one.", limits=Whole(0, 65535))] = 8765,
    src: Annotated[Path | None, Option("Source side of your corpus.")] = None,
    tgt: Annotated[Path | None, Option("Target side of your corpus.")] = None,
) -> None:
    """Look at what a temperature does, at a corpus, at runs; compare and translate.

    Examples:
      switchout explore
      switchout explore --runs runs --src train.de --tgt train.en
    """
    from switchout.explore.server import serve
    from switchout.explore.site import Site
    from switchout.runs.job import runs_root

    folder = runs or runs_root()
    if runs is not None and not runs.is_dir():
        raise SwitchOutError(f"{runs}: no such folder")

    def announce(address: str) -> None:
        print(f"{address}  (Ctrl-C ends it)", flush=True)

    serve(Site(folder, src, tgt), host=HOST, port=port, announce=announce)
