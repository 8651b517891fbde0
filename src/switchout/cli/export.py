"""``switchout export``: a run's model for use elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

from switchout.cli.options import Json, Step
from switchout.cli.verb import Option
from switchout.files import check_output_folder


def export(
    run: Annotated[Path, Option("A trained run.", "DIR")],
    to: Annotated[Literal["ctranslate2", "safetensors"], Option("What to write.")],
    out: Annotated[Path, Option("New folder; an earlier export there is replaced.", "DIR")],
    step: Step = None,
    quantization: Annotated[
        str | None, Option("For ctranslate2: int8, int8_float32, int16, float16.", "NAME")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a run's model and vocabularies as one folder; 'translate --run' reads it too.

    Examples:
      switchout export --run runs/first --to ctranslate2 --out served
      switchout export --run a --to ctranslate2 --quantization int8 --out small
      switchout translate --run served --engine ctranslate2 < test.de
    """
    from switchout.runs.trained import EXPORTED, export_run

    check_output_folder("out", out, {"run": run}, marker=EXPORTED)
    files = export_run(run, out, to=to, step=step, quantization=quantization)
    if as_json:
        print(json.dumps({"out": str(out), "format": to, "files": files}))
    else:
        print(f"{out}: {', '.join(files)}")
