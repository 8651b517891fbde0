"""``switchout report``: the page of an experiment, made again any time."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from switchout.cli.options import Json
from switchout.cli.terminal import wrapped
from switchout.cli.verb import Argument
from switchout.errors import SwitchOutError

if TYPE_CHECKING:
    from switchout.experiments.training import Failure

SOME_FAILED = 1


def report(
    folders: Annotated[
        list[Path],
        Argument(
            "DIR…", "Folders of 'reproduce' or 'sweep'; p-values are corrected over all of them."
        ),
    ],
    as_json: Json = False,
) -> None:
    """Write report.html, results.json, table.csv and table.tex from what is finished so far.

    Single runs of 'switchout train' have no such folder: 'switchout compare --html' makes a page.

    Examples:
      switchout report table1
      switchout report study1 study2    # two pages, one correction
    """
    from switchout.report.write import write_reports

    if len({*map(os.path.realpath, folders)}) < len(folders):  # resolve() fails on a loop
        raise SwitchOutError("the same folder twice: its contrasts would count double")
    results = write_reports(folders)
    if as_json and len(folders) > 1:
        print(json.dumps(results, ensure_ascii=False))
        return
    for folder, result in zip(folders, results, strict=True):
        _show(folder, result, as_json=as_json)


def finish(folder: Path, failures: Sequence[Failure], *, as_json: bool) -> int:
    """End a verb that trained many runs: report, table or JSON, what failed; the exit code."""
    from switchout.report.write import write_report

    results = write_report(folder)
    _show(folder, results, as_json=as_json)
    if failures:
        print(f"{len(failures)} runs failed; the same command tries them again:", file=sys.stderr)
        for failure in failures:
            print(f"  {failure.job.label} ({failure.job.key}): {failure.reason}", file=sys.stderr)
    return SOME_FAILED if failures else 0


def _show(folder: Path, results: dict[str, Any], *, as_json: bool) -> None:
    """Print what a report found."""
    if as_json:
        print(json.dumps(results, ensure_ascii=False))
        return
    table, _, note = (folder / "table.txt").read_text(encoding="utf-8").partition("\n\n")
    print(table)
    for paragraph in ("", *note.splitlines(), "", *results["answers"]):
        print(wrapped(paragraph))
    print(f"report: {folder / 'report.html'}")
