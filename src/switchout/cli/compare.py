"""``switchout compare``: is a system better than the baseline, over sentences and over seeds?"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from switchout.cli.options import Json, Resamples, Scoring, Systems, Training
from switchout.cli.terminal import table_width, wrapped
from switchout.cli.verb import Option
from switchout.errors import SwitchOutError
from switchout.ranges import COUNT_OR_NONE

if TYPE_CHECKING:
    from switchout.evaluation.comparison import Comparison
    from switchout.evaluation.references import References


@dataclass(frozen=True, kw_only=True)
class Page(Training):
    """What the HTML page is made of, besides the results."""

    GROUP = "Page"

    html: Annotated[Path | None, Option("Write a self-contained page.")] = None
    src: Annotated[Path | None, Option("Source side, shown in the page.")] = None
    examples: Annotated[int, Option("Examples of each kind in the page.", limits=COUNT_OR_NONE)] = (
        10
    )

    def source(self, references: References) -> list[str] | None:
        """Return the source side of the test set."""
        shown = {"--src": self.src, "--train": self.train, "--neighbors": self.wer}
        if self.html is None and (given := [flag for flag in shown if shown[flag] is not None]):
            raise SwitchOutError(f"{given[0]} is for the page: give --html")
        if self.train is not None and self.src is None:
            raise SwitchOutError("--train needs --src, the source side of the test set")
        return None if self.src is None else references.matching(self.src)

    def made(
        self,
        results: list[Comparison],
        references: References,
        source: list[str] | None,
        *,
        seed: int,
    ) -> str:
        """Return the page, with buckets by all that the material allows."""
        from switchout.evaluation.buckets import break_down
        from switchout.evaluation.examples import choose_examples
        from switchout.report.compare import compare_page

        lines, metric = references.lines, results[0].metric
        main = [r for r in results if r.metric is metric]
        breakdowns = break_down(
            lines,
            main[0].baseline,
            [r.system for r in main],
            self.features(references, source),
            metric=metric,
            n_resamples=main[0].n_resamples,
            seed=seed,
        )
        digest = sha256("\n".join(lines).encode()).hexdigest()
        examples = {
            r.system.system.name: choose_examples(
                r, lines, source, n_examples=self.examples, seed=seed
            )
            for r in main
            if self.examples > 0
        }
        return compare_page(
            results,
            buckets=breakdowns,
            examples=examples,
            data=f"reference {references.path.name}, sha256 {digest[:16]}",
        )


def compare(
    systems: Systems,
    *,
    metric: Annotated[
        list[str] | None, Option("bleu, chrf, ter; may be repeated. Default: bleu.", "NAME")
    ] = None,
    scoring: Scoring,
    paired: Annotated[
        bool, Option("Run k of every system has the same seed. Decide before you look.", "--paired")
    ] = False,
    resamples: Resamples = 10_000,
    csv: Annotated[Path | None, Option("Write the table of tests as CSV.")] = None,
    latex: Annotated[Path | None, Option("Write the tables as LaTeX.")] = None,
    as_json: Json = False,
    page: Page,
) -> None:
    """Test differences from a baseline. A bare path is a system with one run.

    p_bootstrap and p_randomization count the luck of the test sentences, for lower-median runs;
    p_seeds the luck of sentences and seeds, from 2 runs on; p_holm is corrected for the number of
    systems.

    Examples:
      switchout compare --baseline runs/plain --system runs/noisy --html page.html
      switchout compare --baseline base=runs/1,runs/2 --system new=runs/3,runs/4
      switchout compare --ref test.en --baseline base.hyp --system switchout.hyp
      switchout compare --ref test.en --baseline base=b1,b2,b3,b4 \\
        --system switchout=s1,s2,s3,s4 --html report.html --json
    """
    from switchout.evaluation.comparison import compare as compare_systems
    from switchout.evaluation.verdict import runs_compared, verdict
    from switchout.files import check_outputs, write_texts
    from switchout.progress import Meter
    from switchout.report.compare import differences_table, scores_table

    check_outputs(
        {"html": page.html, "csv": csv, "latex": latex},
        {**systems.inputs, "src": page.src, "train": page.train, "wer": page.wer},
        begins={"html": b"<!doctype html", "csv": b"metric,", "latex": b"\\begin{table}"},
    )
    metrics = metric or ["bleu"]
    references, base, others = systems.read(is_paired=paired)
    source = page.source(references)
    n_runs = sum(len(s.runs) for s in (base, *others))
    with Meter("extracting statistics", total=n_runs * len(metrics), unit="outputs") as meter:
        results = compare_systems(
            references.lines,
            base,
            others,
            metrics=metrics,
            is_paired=paired,
            n_resamples=resamples,
            seed=scoring.seed,
            meter=meter,
            **scoring.of(references),
        )
    scores, tests = scores_table(results), differences_table(results)
    files: dict[str | os.PathLike[str], str] = {}
    if csv is not None:
        files[csv] = tests.csv()
    if latex is not None:
        files[latex] = scores.latex() + "\n" + tests.latex()
    if page.html is not None:
        files[page.html] = page.made(results, references, source, seed=scoring.seed)
    write_texts(files)
    if as_json:
        records = [r.to_dict() | {"verdict": verdict(r)} for r in results]
        print(json.dumps(records, ensure_ascii=False, indent=2))
        return
    width = table_width()
    print(scores.text(width), "", tests.text(width), "", sep="\n")
    for result in results:
        told = (verdict(result), runs_compared(result))
        print(wrapped(" ".join(part for part in told if part)))
    print(tests.note)
