"""``switchout compare``: is a system better than the baseline, over sentences and over seeds?"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from switchout.evaluation.comparison import System

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def compare(
    ref: Annotated[Path, typer.Option(help="Reference: real text, a line per sentence.")],
    baseline: Annotated[
        str, typer.Option(metavar="NAME=F1,F2,…", help="Outputs of the baseline's runs (seeds).")
    ],
    system: Annotated[
        list[str], typer.Option(metavar="NAME=F1,F2,…", help="A system's runs; may be repeated.")
    ],
    metric: Annotated[
        list[str] | None, typer.Option(help="bleu, chrf, ter; may be repeated. Default: bleu.")
    ] = None,
    tokenize: Annotated[
        str, typer.Option(help="sacrebleu's tokenizer for BLEU; none for tokenised text.")
    ] = "13a",
    lowercase: Annotated[
        bool, typer.Option("--lowercase", "-l", help="BLEU without case.")
    ] = False,
    resamples: Annotated[int, typer.Option(min=100, help="Resampled test sets.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the resampling.")] = 0,
    src: Annotated[Path | None, typer.Option(help="Source side, shown in the page.")] = None,
    examples: Annotated[int, typer.Option(min=0, help="Examples of each kind in the page.")] = 10,
    html: Annotated[Path | None, typer.Option(help="Write a self-contained page.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write the table of tests as CSV.")] = None,
    latex: Annotated[Path | None, typer.Option(help="Write the tables as LaTeX.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Machine-readable output.")] = False,
) -> None:
    """Test differences from a baseline. A bare path is a system with one run.

    \b
    Example:
      switchout compare --ref test.en --baseline base.hyp --system switchout.hyp
      switchout compare --ref test.en --baseline base=b1.hyp,b2.hyp,b3.hyp,b4.hyp \\
        --system switchout=s1.hyp,s2.hyp,s3.hyp,s4.hyp --html report.html --json

    \b
    p_bootstrap, p_randomization   the luck of the test sentences, lower-median runs
    p_seeds                        the luck of sentences and seeds (2 runs a side or more)
    p_holm                         corrected for the number of systems
    """
    from switchout.evaluation.comparison import compare as compare_systems
    from switchout.evaluation.scores import read_hypotheses, read_references
    from switchout.evaluation.verdict import runs_compared, verdict
    from switchout.files import atomic
    from switchout.progress import Meter
    from switchout.report.compare import differences_table, scores_table

    metrics = metric or ["bleu"]
    references = read_references(ref)
    base, *systems = (_system(text, ref, len(references)) for text in (baseline, *system))
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
            n_resamples=resamples,
            seed=seed,
            meter=meter,
        )
    scores, tests = scores_table(results), differences_table(results)
    if csv is not None:
        with atomic(csv) as partial:
            partial.write_text(tests.csv(), encoding="utf-8")
    if latex is not None:
        with atomic(latex) as partial:
            partial.write_text(scores.latex() + "\n" + tests.latex(), encoding="utf-8")
    if html is not None:
        from switchout.report.compare import compare_page

        digest = sha256("\n".join(references).encode()).hexdigest()
        page = compare_page(
            results,
            references,
            source=source,
            n_examples=examples,
            seed=seed,
            data=f"reference {ref.name}, sha256 {digest[:16]}",
        )
        with atomic(html) as partial:
            partial.write_text(page, encoding="utf-8")
    if as_json:
        records = [r.to_dict() | {"verdict": verdict(r)} for r in results]
        print(json.dumps(records, ensure_ascii=False, indent=2))
        return
    print(scores.text(), "", tests.text(), "", sep="\n")
    for result in results:
        print(" ".join(part for part in (verdict(result), runs_compared(result)) if part))
    print(tests.note)


def _system(text: str, ref: Path, n_lines: int) -> System:
    """Read ``NAME=f1,f2,…``, or a bare path as a system of one run."""
    from switchout.errors import SwitchOutError
    from switchout.evaluation.comparison import System
    from switchout.evaluation.scores import read_hypotheses

    name, equals, files = text.partition("=")
    if not equals or Path(text).exists():
        name, paths = text, [text]
    else:
        paths = files.split(",")
        if not name or not all(paths):
            raise SwitchOutError(f"{text!r}: expected NAME=file1,file2,… or one path")
    runs = [read_hypotheses(p, references=ref, n_lines=n_lines) for p in paths]
    return System(name, runs, run_names=paths)
