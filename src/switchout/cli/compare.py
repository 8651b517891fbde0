"""``switchout compare``: is a system better than the baseline, over sentences and over seeds?"""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
from switchout.ranges import COUNT_OR_NONE

if TYPE_CHECKING:
    from switchout.evaluation.comparison import Comparison

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def compare(
    ref: Ref,
    baseline: Baseline,
    system: Systems,
    metric: Annotated[
        list[str] | None, typer.Option(help="bleu, chrf, ter; may be repeated. Default: bleu.")
    ] = None,
    tokenize: Tokenize = "13a",
    lowercase: Lowercase = False,
    paired: Annotated[
        bool,
        typer.Option(
            "--paired", help="Run k of every system has the same seed. Decide before you look."
        ),
    ] = False,
    resamples: Resamples = 10_000,
    seed: Seed = 0,
    src: Annotated[Path | None, typer.Option(help="Source side, shown in the page.")] = None,
    examples: Annotated[
        int,
        typer.Option(callback=within(COUNT_OR_NONE), help="Examples of each kind in the page."),
    ] = 10,
    train: Annotated[
        Path | None,
        typer.Option(help="Training text, source side: buckets in the page; with --src."),
    ] = None,
    neighbors: Annotated[
        Path | None, typer.Option(help="File of 'switchout neighbors': buckets by WER in the page.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write a self-contained page.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write the table of tests as CSV.")] = None,
    latex: Annotated[Path | None, typer.Option(help="Write the tables as LaTeX.")] = None,
    as_json: Json = False,
) -> None:
    """Test differences from a baseline. A bare path is a system with one run.

    \b
    Example:
      switchout compare --ref test.en --baseline base.hyp --system switchout.hyp
      switchout compare --ref test.en --baseline base=b1,b2,b3,b4 \\
        --system switchout=s1,s2,s3,s4 --html report.html --json

    \b
    p_bootstrap, p_randomization  luck of the test sentences, lower-median runs
    p_seeds                       luck of sentences and seeds (2 runs or more)
    p_holm                        corrected for the number of systems
    """
    from switchout.evaluation.comparison import compare as compare_systems
    from switchout.evaluation.outputs import (
        read_hypotheses,
        read_references,
        read_system,
    )
    from switchout.evaluation.verdict import runs_compared, verdict
    from switchout.files import check_outputs, write_texts
    from switchout.progress import Meter
    from switchout.report.compare import differences_table, scores_table

    check_outputs(
        {"--html": html, "--csv": csv, "--latex": latex},
        {
            "--ref": ref,
            **system_inputs(baseline, system),
            "--src": src,
            "--train": train,
            "--neighbors": neighbors,
        },
    )
    if train is not None and src is None:
        raise SwitchOutError("--train needs --src, the source side of the test set")
    metrics = metric or ["bleu"]
    references = read_references(ref)
    base, *systems = (
        read_system(text, references=ref, n_lines=len(references)) for text in (baseline, *system)
    )
    source = None
    if src is not None:
        source = read_hypotheses(src, references=ref, n_lines=len(references))
    n_runs = sum(len(s.runs) for s in (base, *systems))
    with Meter("extracting statistics", total=n_runs * len(metrics), unit="outputs") as meter:
        results = compare_systems(
            references,
            base,
            systems,
            metrics=metrics,
            tokenize=tokenize,
            lowercase=lowercase,
            is_paired=paired,
            n_resamples=resamples,
            seed=seed,
            meter=meter,
        )
    scores, tests = scores_table(results), differences_table(results)
    files: dict[str | os.PathLike[str], str] = {}
    if csv is not None:
        files[csv] = tests.csv()
    if latex is not None:
        files[latex] = scores.latex() + "\n" + tests.latex()
    if html is not None:
        files[html] = _page(
            results,
            references,
            ref=ref,
            source=source,
            train=train,
            neighbors=neighbors,
            n_examples=examples,
            seed=seed,
        )
    write_texts(files)
    if as_json:
        records = [r.to_dict() | {"verdict": verdict(r)} for r in results]
        print(json.dumps(records, ensure_ascii=False, indent=2))
        return
    print(scores.text(), "", tests.text(), "", sep="\n")
    for result in results:
        print(" ".join(part for part in (verdict(result), runs_compared(result)) if part))
    print(tests.note)


def _page(
    results: list[Comparison],
    references: list[str],
    *,
    ref: Path,
    source: list[str] | None,
    train: Path | None,
    neighbors: Path | None,
    n_examples: int,
    seed: int,
) -> str:
    """The HTML page, with buckets by all that the material allows."""
    from switchout.evaluation.buckets import break_down
    from switchout.evaluation.examples import choose_examples
    from switchout.evaluation.features import features_of
    from switchout.evaluation.outputs import read_distances
    from switchout.files import read_lines
    from switchout.report.compare import compare_page

    wer = None
    if neighbors is not None:
        wer = read_distances(neighbors, references=ref, n_lines=len(references))
    metric = results[0].metric
    main = [r for r in results if r.metric is metric]
    breakdowns = break_down(
        references,
        main[0].baseline,
        [r.system for r in main],
        features_of(
            references,
            wer=wer,
            sources=source,
            train=None if train is None else read_lines(train),
            workers=os.cpu_count() or 1,
        ),
        metric=metric,
        n_resamples=main[0].n_resamples,
        seed=seed,
    )
    digest = sha256("\n".join(references).encode()).hexdigest()
    examples = {
        r.system.system.name: choose_examples(
            r, references, source, n_examples=n_examples, seed=seed
        )
        for r in main
        if n_examples > 0
    }
    return compare_page(
        results,
        buckets=breakdowns,
        examples=examples,
        data=f"reference {ref.name}, sha256 {digest[:16]}",
    )
