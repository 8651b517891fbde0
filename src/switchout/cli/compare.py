"""``switchout compare``: is a system better than the baseline, over sentences and over seeds?"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
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
    from switchout.evaluation.references import References

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
    from switchout.evaluation.references import References
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
    references = References.read(ref)
    base, *systems = (references.system(text) for text in (baseline, *system))
    page = _Page(
        references,
        source=references.matching(src) if src is not None else None,
        train=train,
        neighbors=neighbors,
        n_examples=examples,
        seed=seed,
    )
    n_runs = sum(len(s.runs) for s in (base, *systems))
    with Meter("extracting statistics", total=n_runs * len(metrics), unit="outputs") as meter:
        results = compare_systems(
            references.lines,
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
        files[html] = page.html(results)
    write_texts(files)
    if as_json:
        records = [r.to_dict() | {"verdict": verdict(r)} for r in results]
        print(json.dumps(records, ensure_ascii=False, indent=2))
        return
    print(scores.text(), "", tests.text(), "", sep="\n")
    for result in results:
        print(" ".join(part for part in (verdict(result), runs_compared(result)) if part))
    print(tests.note)


@dataclass(frozen=True)
class _Page:
    """What the HTML page is made of, besides the results."""

    references: References
    source: list[str] | None
    train: Path | None
    neighbors: Path | None
    n_examples: int
    seed: int

    def html(self, results: list[Comparison]) -> str:
        """Return the page, with buckets by all that the material allows."""
        from switchout.evaluation.buckets import break_down
        from switchout.evaluation.examples import choose_examples
        from switchout.evaluation.features import features_of
        from switchout.files import read_lines
        from switchout.report.compare import compare_page

        lines, metric = self.references.lines, results[0].metric
        main = [r for r in results if r.metric is metric]
        features = features_of(
            lines,
            wer=None if self.neighbors is None else self.references.distances(self.neighbors),
            sources=self.source,
            train=None if self.train is None else read_lines(self.train),
            workers=os.cpu_count() or 1,
        )
        breakdowns = break_down(
            lines,
            main[0].baseline,
            [r.system for r in main],
            features,
            metric=metric,
            n_resamples=main[0].n_resamples,
            seed=self.seed,
        )
        digest = sha256("\n".join(lines).encode()).hexdigest()
        examples = {
            r.system.system.name: choose_examples(
                r, lines, self.source, n_examples=self.n_examples, seed=self.seed
            )
            for r in main
            if self.n_examples > 0
        }
        return compare_page(
            results,
            buckets=breakdowns,
            examples=examples,
            data=f"reference {self.references.path.name}, sha256 {digest[:16]}",
        )
