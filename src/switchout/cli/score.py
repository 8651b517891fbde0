"""``switchout score``: BLEU, chrF and TER of translations, with intervals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

from switchout.cli.options import Json, Ref, Scoring, references_of
from switchout.cli.terminal import table_width
from switchout.cli.verb import Argument, Option
from switchout.ranges import SOME_RESAMPLES


def score(
    hypotheses: Annotated[list[Path], Argument("HYP…", "Outputs to score, or folders of runs.")],
    *,
    ref: Ref = None,
    metric: Annotated[
        list[str] | None, Option("bleu, chrf, ter; may be repeated. Default: all.", "NAME")
    ] = None,
    scoring: Scoring,
    resamples: Annotated[
        int, Option("Bootstrap resamples for 95% intervals; 0: none.", limits=SOME_RESAMPLES)
    ] = 1000,
    as_json: Json = False,
) -> None:
    """Score outputs with sacrebleu; its signature identifies the numbers.

    Examples:
      switchout score base.hyp switchout.hyp --ref test.en
      switchout score tokenised.hyp --ref test.tok.en --tokenize none --json
      switchout score runs/base runs/switchout
    """
    from switchout.evaluation.metrics import FORMULAS
    from switchout.evaluation.scores import score_all
    from switchout.progress import Meter

    metrics = metric or list(FORMULAS)
    references = references_of(ref, hypotheses)
    outputs = [references.matching(path) for path in hypotheses]
    with Meter("scoring", total=len(outputs) * len(metrics), unit="outputs") as meter:
        scores = score_all(
            outputs,
            references.lines,
            metrics=metrics,
            n_resamples=resamples,
            seed=scoring.seed,
            meter=meter,
            **scoring.of(references),
        )
    records = [{"system": str(h), **s} for h, s in zip(hypotheses, scores, strict=True)]
    if as_json:
        print(json.dumps(records, ensure_ascii=False, indent=2))
        return
    from switchout.report.compare import score_table

    table = score_table(records, metrics=metrics)
    print(table.text(table_width()), table.note, sep="\n")
