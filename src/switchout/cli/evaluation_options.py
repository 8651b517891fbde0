"""Options that ``score``, ``compare`` and ``buckets`` share. Not a verb itself."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Ref = Annotated[Path, typer.Option(help="Reference: real text, a line per sentence.")]
Baseline = Annotated[
    str, typer.Option(metavar="NAME=F1,F2,…", help="Outputs of the baseline's runs (seeds).")
]
Systems = Annotated[
    list[str], typer.Option(metavar="NAME=F1,F2,…", help="A system's runs; may be repeated.")
]
Tokenize = Annotated[
    str, typer.Option(help="sacrebleu's tokenizer for BLEU; none for tokenised text.")
]
Lowercase = Annotated[bool, typer.Option("--lowercase", "-l", help="BLEU without case.")]
Resamples = Annotated[int, typer.Option(min=100, help="Resampled test sets.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the resampling.")]
Json = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]
