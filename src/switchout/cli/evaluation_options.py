"""Options that ``score``, ``compare`` and ``buckets`` share. Not a verb itself."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from switchout.cli.ranged import within
from switchout.ranges import RESAMPLES, SEED

Ref = Annotated[Path, typer.Option(help="Reference: real text, a line per sentence.")]
Baseline = Annotated[
    str, typer.Option(metavar="NAME=F1,F2,…", help="Outputs, or folders, of the baseline's runs.")
]
Systems = Annotated[
    list[str], typer.Option(metavar="NAME=F1,F2,…", help="Those of a system; may be repeated.")
]
Tokenize = Annotated[
    str, typer.Option(help="sacrebleu's tokenizer for BLEU; none for tokenised text.")
]
Lowercase = Annotated[bool, typer.Option("--lowercase", "-l", help="BLEU without case.")]
Resamples = Annotated[
    int, typer.Option(callback=within(RESAMPLES), help=f"Resampled test sets, {RESAMPLES}.")
]
Seed = Annotated[int, typer.Option(callback=within(SEED), help="Seed of the resampling.")]
Json = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]


def system_inputs(baseline: str, systems: list[str]) -> dict[str, list[str]]:
    """Return the files that ``--baseline`` and ``--system`` name, by option."""
    from switchout.evaluation.references import files_of_system, output_file

    def files(text: str) -> list[str]:
        return [str(output_file(path)) for path in files_of_system(text)[1]]

    return {"--baseline": files(baseline), "--system": [f for s in systems for f in files(s)]}
