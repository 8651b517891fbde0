"""``switchout export``: a run's model for use elsewhere."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from switchout.files import check_output_folder

app = typer.Typer(add_completion=False, rich_markup_mode=None)

EXAMPLES = """
\b
Examples:
  switchout export --run runs/first --to ctranslate2 --out served
  switchout export --run a --to ctranslate2 --quantization int8 --out small
  switchout translate --run served --engine ctranslate2 < test.de
"""


class Format(StrEnum):
    ctranslate2 = "ctranslate2"
    safetensors = "safetensors"


@app.command(epilog=EXAMPLES)
def export(
    run: Annotated[Path, typer.Option(help="A trained run.")],
    to: Annotated[Format, typer.Option(help="What to write.")],
    out: Annotated[Path, typer.Option(help="New folder; an earlier export there is replaced.")],
    step: Annotated[
        str | None, typer.Option(help="Checkpoint: a step, or 'average'; else the selected one.")
    ] = None,
    quantization: Annotated[
        str | None, typer.Option(help="For ctranslate2: int8, int8_float32, int16, float16.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Write a run's model and vocabularies as one folder; ``translate --run`` reads it too."""
    from switchout.cli.train_extra import needs_train_extra

    with needs_train_extra():
        from switchout.runs.export import export_run
        from switchout.runs.translate import EXPORTED
    check_output_folder("--out", out, {"--run": run}, marker=EXPORTED)
    files = export_run(run, out, to=to.value, step=step, quantization=quantization)
    if as_json:
        print(json.dumps({"out": str(out), "format": to.value, "files": files}))
    else:
        print(f"{out}: {', '.join(files)}")
