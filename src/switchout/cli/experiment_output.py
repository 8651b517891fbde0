"""What the verbs that train many runs print at the end. Not a verb itself."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from switchout.experiments.training import Failure

SOME_FAILED = 1


def finish(folder: Path, failures: Sequence[Failure], *, as_json: bool) -> int:
    """Write the report, print the table or JSON, list what failed; return the exit code."""
    from switchout.report.write import write_report

    results = write_report(folder)
    show(folder, results, as_json=as_json)
    if failures:
        print(f"{len(failures)} runs failed; the same command tries them again:", file=sys.stderr)
        for failure in failures:
            print(f"  {failure.job.label} ({failure.job.key}): {failure.reason}", file=sys.stderr)
    return SOME_FAILED if failures else 0


def _wrapped(paragraph: str) -> str:
    """As wide as the terminal; words of identifying lines are never broken."""
    width = max(40, shutil.get_terminal_size().columns)
    return textwrap.fill(paragraph, width, break_long_words=False, break_on_hyphens=False)


def show(folder: Path, results: dict[str, Any], *, as_json: bool) -> None:
    """Print what a report found."""
    if as_json:
        print(json.dumps(results, ensure_ascii=False))
        return
    table, _, note = (folder / "table.txt").read_text(encoding="utf-8").partition("\n\n")
    print(table)
    for paragraph in ("", *note.splitlines(), "", *results["answers"]):
        print(_wrapped(paragraph))
    print(f"report: {folder / 'report.html'}")
