"""``switchout score``: BLEU, chrF and TER of translations, with intervals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from switchout.cli.evaluation_options import Json, Lowercase, Ref, Seed, Tokenize
from switchout.cli.ranged import within
from switchout.ranges import SOME_RESAMPLES

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def score(
    hypotheses: Annotated[
        list[Path], typer.Argument(metavar="HYP…", help="Outputs to score, or folders of runs.")
    ],
    ref: Ref,
    metric: Annotated[
        list[str] | None, typer.Option(help="bleu, chrf, ter; may be repeated. Default: all.")
    ] = None,
    tokenize: Tokenize = "13a",
    lowercase: Lowercase = False,
    resamples: Annotated[
        int,
        typer.Option(
            callback=within(SOME_RESAMPLES), help="Bootstrap resamples for 95% intervals; 0: none."
        ),
    ] = 1000,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Score outputs with sacrebleu; its signature identifies the numbers.

    \b
    Example:
      switchout score base.hyp switchout.hyp --ref test.en
      switchout score tokenised.hyp --ref test.tok.en --tokenize none --json
    """
    from switchout.evaluation.metrics import FORMULAS
    from switchout.evaluation.references import References
    from switchout.evaluation.scores import score_all
    from switchout.progress import Meter

    metrics = metric or list(FORMULAS)
    references = References.read(ref)
    outputs = [references.matching(path) for path in hypotheses]
    with Meter("scoring", total=len(outputs) * len(metrics), unit="outputs") as meter:
        scores = score_all(
            outputs,
            references.lines,
            tokenize=tokenize,
            lowercase=lowercase,
            metrics=metrics,
            n_resamples=resamples,
            seed=seed,
            meter=meter,
        )
    records = [{"system": str(h), **s} for h, s in zip(hypotheses, scores, strict=True)]
    if as_json:
        print(json.dumps(records, ensure_ascii=False, indent=2))
        return
    from switchout.report.scores import score_table

    table = score_table(records, metrics=metrics)
    print(table.text(), table.note, sep="\n")
