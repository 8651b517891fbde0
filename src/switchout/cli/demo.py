"""``switchout demo``: the tool at small scale, in about five minutes on two processors."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from switchout.cli.options import Json, Runs
from switchout.cli.preview import in_epochs
from switchout.cli.report import finish
from switchout.cli.verb import Option
from switchout.ranges import SEEDS

UNDECIDED = ("open", "screening")

if TYPE_CHECKING:
    from switchout.experiments.demo import Dose
    from switchout.experiments.reference import StudyResult


def demo(
    seeds: Annotated[
        int | None, Option("Runs a row; default: 2, with --quick 1.", limits=SEEDS)
    ] = None,
    full: Annotated[bool, Option("All six rows of table 1.", "--full")] = False,
    quick: Annotated[bool, Option("A minute or two: only shows how it works.", "--quick")] = False,
    workers: Runs = None,
    out: Annotated[Path, Option("Folder of table and report.", "DIR")] = Path("demo"),
    as_json: Json = False,
) -> int:
    """Show what noise does to sentences, train a small comparison, write a report.

    Examples:
      switchout demo                # three rows, two seeds each
      switchout demo --full         # the six rows of table 1 of the paper
      switchout demo --seeds 9      # more seeds; what is trained is kept
    """
    from switchout.engines import Engine
    from switchout.experiments.demo import demo as train
    from switchout.experiments.demo import doses
    from switchout.experiments.experiment import command_line

    begun = time.monotonic()
    if not as_json:
        for dose in doses():
            _show(dose)
    failures = train(
        out,
        n_seeds=seeds or (1 if quick else 2),
        is_full=full,
        is_quick=quick,
        engine=Engine(workers=workers),
        command=command_line(sys.argv[1:]),
    )
    code = finish(out, failures, as_json=as_json)
    if not as_json:
        print(*_real_data(), f"{(time.monotonic() - begun) / 60:.1f} minutes", sep="\n")
    return code


def _real_data() -> list[str]:
    """What studies of ours say of real data: each answer, and how many questions are open."""
    from switchout.experiments.reference import SHIPPED, read_reference

    reference = read_reference(SHIPPED)
    lines: list[str] = []
    for study, of_study in groupby(reference.studies if reference else (), lambda one: one.study):
        results = list(of_study)
        lines.append(f"  {study}")
        for one in results:
            if one.verdict in UNDECIDED:
                continue
            lines.append(f"    {one.row} against {one.against}: {one.verdict}")
            lines.append(
                f"      {one.delta:+.2f} BLEU ({one.low:+.2f} to {one.high:+.2f}), dev "
                f"{one.dev_delta:+.2f}, {one.n_seeds} seeds"
            )
            if one.test_by_bleu != one.delta:
                by_bleu = f"{one.test_by_bleu:+.2f}, dev {one.dev_by_bleu:+.2f}"
                lines.append(f"      with checkpoints by dev BLEU {by_bleu}")
        lines += _open(results)
    return ["", "On real data, by our studies, not trained here:", *lines, ""] * bool(lines)


def _open(results: Sequence[StudyResult]) -> list[str]:
    """How many questions are open, and how many of them although test alone shows a difference."""
    undecided = [one for one in results if one.verdict in UNDECIDED]
    if not undecided:
        return []
    asked = f"    {len(undecided)} question{'s' * (len(undecided) > 1)}"
    if all(one.verdict == "screening" for one in undecided):
        again = "      the best of them are trained again with fresh seeds"
        return [f"{asked} screened, which decides nothing:", again]
    n_shown = sum(one.low > 0 or one.high < 0 for one in undecided)
    line = f"{asked} open"
    if not n_shown:
        return [f"{line}: every interval on test includes 0"]
    have = "has" if n_shown == 1 else "have"
    return [
        f"{line}: test and dev do not agree, or p corrected is too large;",
        f"      {n_shown} of them {have} an interval on test without 0",
    ]


def _show(dose: Dose) -> None:
    """Print sentences as the model sees them, new words marked."""
    print(
        f"Temperature {dose.tau:g}: SwitchOut changes {dose.changed:.1%} of the words and leaves "
        f"{dose.untouched:.0%}\nof the sentences as they are. The first epochs, new words marked:\n"
    )
    for original, epochs in dose.examples:
        shown = in_epochs(original.split(), dict(enumerate(epochs)), in_color=sys.stdout.isatty())
        print(*shown, "", sep="\n")
