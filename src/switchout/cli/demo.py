"""``switchout demo``: the tool at small scale, in about five minutes on two processors."""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from switchout.cli.experiment_output import finish
from switchout.cli.ranged import within
from switchout.cli.train_extra import needs_train_extra
from switchout.ranges import SEEDS, WORKERS

if TYPE_CHECKING:
    from switchout.experiments.demo import Dose, NoisyLine

app = typer.Typer(add_completion=False, rich_markup_mode=None)

EXAMPLES = """
\b
Examples:
  switchout demo                # three rows, two seeds each
  switchout demo --full         # the six rows of table 1 of the paper
  switchout demo --seeds 9      # more seeds; what is trained is kept
"""
WIDEST = 80


@app.command(epilog=EXAMPLES)
def demo(
    seeds: Annotated[int, typer.Option(callback=within(SEEDS), help="Runs a row.")] = 2,
    full: Annotated[bool, typer.Option("--full", help="All six rows of table 1.")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="A minute or two: only shows how it works.")
    ] = False,
    workers: Annotated[
        int | None,
        typer.Option(
            callback=within(WORKERS), help="Runs at a time; default: as many as processors."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder of table and report.")] = Path("demo"),
    as_json: Annotated[bool, typer.Option("--json", help="Print results.json.")] = False,
) -> int:
    """Show what noise does to sentences, train a small comparison, write a report."""
    from switchout.engines import Engine
    from switchout.experiments.demo import demo as train
    from switchout.experiments.demo import doses
    from switchout.experiments.experiment import command_line

    begun = time.monotonic()
    if not as_json:
        for dose in doses():
            _show(dose)
    with needs_train_extra():
        failures = train(
            out,
            n_seeds=1 if quick else seeds,
            is_full=full,
            is_quick=quick,
            engine=Engine(workers=workers),
            command=command_line(sys.argv[1:]),
        )
    code = finish(out, failures, as_json=as_json)
    if not as_json:
        print(f"{(time.monotonic() - begun) / 60:.1f} minutes")
    return code


def _show(dose: Dose) -> None:
    """Print sentences as the model sees them, new words marked."""
    print(
        f"Temperature {dose.tau:g}: SwitchOut changes {dose.changed:.1%} of the words and leaves "
        f"{dose.untouched:.0%}\nof the sentences as they are. The first epochs, [new] words:\n"
    )
    for original, epochs in dose.examples:
        print(f"  as written  {_cut(original, WIDEST - 14)}")
        for epoch, line in enumerate(epochs):
            is_same = not any(is_new for _, is_new in line)
            typer.echo(f"  epoch {epoch}     {'the same' if is_same else _marked(line)}")
        print()


def _marked(line: NoisyLine) -> str:
    """The line in one row of the terminal; bold where it may be."""
    room = min(WIDEST, shutil.get_terminal_size().columns) - 14
    shown: list[str] = []
    for word, is_new in line:
        text = f"[{word}]" if is_new else word
        room -= len(text) + 1
        if room < 1:
            return " ".join([*shown, "…"])
        shown.append(typer.style(text, bold=True) if is_new else text)
    return " ".join(shown)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
