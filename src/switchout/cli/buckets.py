"""``switchout buckets``: where does a system gain? By distance, length, rare and unknown words."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from switchout.cli.evaluation_options import (
    Baseline,
    Json,
    Lowercase,
    Ref,
    Resamples,
    Seed,
    Systems,
    Tokenize,
    system_inputs,
)
from switchout.cli.ranged import within
from switchout.errors import SwitchOutError
from switchout.ranges import Real, Whole

EDGE = Real(-1e30, 1e30)
app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def buckets(
    ref: Ref,
    baseline: Baseline,
    system: Systems,
    by: Annotated[
        list[str] | None,
        typer.Option(help="wer, length, rarest, unknown; may be repeated. Default: all it can."),
    ] = None,
    neighbors: Annotated[
        Path | None, typer.Option(help="File of 'switchout neighbors', for wer.")
    ] = None,
    train: Annotated[
        Path | None, typer.Option(help="Training text, source side: for wer, rarest, unknown.")
    ] = None,
    test: Annotated[Path | None, typer.Option(help="Test text, source side; with --train.")] = None,
    vocab: Annotated[
        Path | None, typer.Option(help="Known source words, one a line; default: those of --train.")
    ] = None,
    edges: Annotated[
        str | None, typer.Option(metavar="E1,E2,…", help="Where buckets begin, for one --by.")
    ] = None,
    n: Annotated[
        int,
        typer.Option(
            "--buckets",
            callback=within(Whole(1, 100)),
            help="Buckets of about equally many sentences.",
        ),
    ] = 5,
    metric: Annotated[str, typer.Option(help="bleu, chrf or ter.")] = "bleu",
    tokenize: Tokenize = "13a",
    lowercase: Lowercase = False,
    resamples: Resamples = 10_000,
    seed: Seed = 0,
    plot: Annotated[Path | None, typer.Option(help="Write a figure, as .svg.")] = None,
    as_json: Json = False,
) -> None:
    """Gain over a baseline in buckets of test sentences, and whether it has a trend.

    \b
    Example:
      switchout buckets --ref test.en --baseline base=b1,b2 --system new=n1,n2 \\
        --train train.de --test test.de --by wer --plot gains.svg
      switchout buckets --ref test.en --baseline base.hyp --system new.hyp \\
        --neighbors nn.tsv --by wer --edges 0.4,0.6,0.8 --json
    """
    from switchout.corpora.vocabulary import read_words
    from switchout.evaluation.buckets import break_down
    from switchout.evaluation.comparison import score_system
    from switchout.evaluation.features import features_of
    from switchout.evaluation.metrics import Metric
    from switchout.evaluation.references import References
    from switchout.files import check_outputs, read_lines
    from switchout.report.buckets import check_figure, gains_table, plot_gains, trends_table

    edges_given = None if edges is None else _numbers(edges)
    if plot is not None:
        check_figure(plot)
    check_outputs(
        {"--plot": plot},
        {
            "--ref": ref,
            **system_inputs(baseline, system),
            "--neighbors": neighbors,
            "--train": train,
            "--test": test,
            "--vocab": vocab,
        },
    )
    references = References.read(ref)
    base, *systems = (references.system(text) for text in (baseline, *system))
    features = features_of(
        references.lines,
        by=by or (),
        wer=references.distances(neighbors) if neighbors else None,
        sources=references.matching(test) if test else None,
        train=read_lines(train) if train else None,
        known=set(read_words(vocab)) if vocab else None,
        workers=os.cpu_count() or 1,
    )
    if edges is not None and len(features) != 1:
        raise SwitchOutError("--edges needs exactly one --by")
    measured = Metric(metric, references.lines, tokenize=tokenize, lowercase=lowercase)
    breakdowns = break_down(
        references.lines,
        score_system(measured, base),
        [score_system(measured, other) for other in systems],
        features,
        metric=measured,
        edges=edges_given,
        n_buckets=n,
        n_resamples=resamples,
        seed=seed,
    )
    if plot is not None:
        plot_gains(breakdowns, plot)
    if as_json:
        print(json.dumps([b.to_dict() for b in breakdowns], ensure_ascii=False, indent=2))
        return
    for breakdown in breakdowns:
        table = gains_table(breakdown)
        print(table.title, table.text(), "", sep="\n")
    trends = trends_table(breakdowns)
    print(trends.text(), trends.note, breakdowns[0].metric.signature, sep="\n")


def _numbers(text: str) -> list[float]:
    return [EDGE.parse(part, f"--edges {text}: each") for part in text.split(",")]
