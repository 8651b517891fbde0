"""``switchout translate``: lines in, translations out."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from enum import StrEnum
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from switchout.cli.ranged import within
from switchout.errors import SwitchOutError
from switchout.files import atomic, check_outputs
from switchout.progress import Meter
from switchout.ranges import BEAM, PENALTY, WORKERS

if TYPE_CHECKING:
    from switchout.nmt.translate import Translation

app = typer.Typer(add_completion=False, rich_markup_mode=None)

EXAMPLES = """
\b
Examples:
  switchout translate --run runs/first < test.de > test.hyp
  switchout translate --run a --run b --beam 8 --output test.hyp < test.de
  switchout translate --run runs/first --n-best 3 --json < test.de
"""
_AT_ONCE = 1 << 20  # bytes


class Unk(StrEnum):
    keep = "keep"
    drop = "drop"
    copy = "copy"


class EngineChoice(StrEnum):
    torch = "torch"
    ctranslate2 = "ctranslate2"


@app.command(epilog=EXAMPLES)
def translate(
    run: Annotated[list[Path], typer.Option(help="A trained run; several are an ensemble.")],
    input: Annotated[Path | None, typer.Option(help="Lines to translate; else stdin.")] = None,
    output: Annotated[Path | None, typer.Option(help="Where to write; else stdout.")] = None,
    beam: Annotated[
        int | None,
        typer.Option(callback=within(BEAM), help="Beam size, 1: greedy; else the run's own."),
    ] = None,
    length_penalty: Annotated[
        float | None,
        typer.Option(
            callback=within(PENALTY),
            help="Score = log-probability / words^penalty; else the run's own.",
        ),
    ] = None,
    n_best: Annotated[
        int,
        typer.Option(
            callback=within(BEAM),
            help="Translations per line, as 'line ||| text ||| score'.",
        ),
    ] = 1,
    unk: Annotated[
        Unk, typer.Option(help="Unknown words: <unk>, nothing, or the source word looked at.")
    ] = Unk.keep,
    step: Annotated[
        str | None, typer.Option(help="Checkpoint: a step, or 'average'; else the selected one.")
    ] = None,
    engine: Annotated[EngineChoice, typer.Option(help="What searches.")] = EngineChoice.torch,
    device: Annotated[
        str | None, typer.Option(help="cpu, cuda, cuda:1 …; else where the run was trained.")
    ] = None,
    threads: Annotated[
        int, typer.Option(callback=within(WORKERS), help="More gain little on small models.")
    ] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line.")] = False,
) -> None:
    """Translate: one line in, one line out; the run's preprocessing is applied and inverted."""
    from switchout.cli.train_extra import needs_train_extra

    with needs_train_extra():
        from switchout.nmt.machine import prepare_cpu
        from switchout.nmt.translate import translate_windows
        from switchout.runs.translate import OpenRuns
    inputs = {"--input": input, "--run": [path for each in run for path in each.glob("*")]}
    check_outputs({"--output": output}, inputs)
    prepare_cpu(threads)
    logging.basicConfig(format="%(message)s", level=logging.WARNING, stream=sys.stderr)
    with ExitStack() as stack:
        runs = stack.enter_context(OpenRuns(run, step=step, engine=engine.value, device=device))
        options = runs.options(
            beam=beam,
            length_penalty=length_penalty,
            n_best=n_best,
            need_attention=unk is Unk.copy,
        )
        windows = _windows_of_stdin() if input is None else _windows_of_file(input)
        sink = _sink(output, stack)
        meter = stack.enter_context(Meter("translating", unit="lines"))
        line = 0
        for window in translate_windows(
            runs.searcher, windows, runs.codecs, options=options, unk=unk.value, done=meter.advance
        ):
            for translations in window:
                sink.write(_shown(line, translations, n_best=n_best, as_json=as_json))
                line += 1
            sink.flush()


def _shown(line: int, translations: Sequence[Translation], *, n_best: int, as_json: bool) -> str:
    if as_json:
        found = [{"text": t.text, "score": t.score} for t in translations]
        return json.dumps({"line": line, "translations": found}, ensure_ascii=False) + "\n"
    if n_best == 1:
        return translations[0].text + "\n"
    return "".join(f"{line} ||| {t.text} ||| {t.score:.6f}\n" for t in translations)


def _sink(output: Path | None, stack: ExitStack) -> TextIOWrapper:
    """Return a UTF-8 text stream that adds no ``\\r``; a file appears when it is complete."""
    if output is None:
        sink = TextIOWrapper(sys.stdout.buffer, encoding="utf-8", newline="\n")
        stack.callback(sink.detach)  # closing it would close stdout
        return sink
    partial = stack.enter_context(atomic(output))
    return stack.enter_context(partial.open("w", encoding="utf-8", newline="\n"))


def _windows_of_file(path: Path) -> Iterator[list[str]]:
    from switchout.corpora.text import stream_lines
    from switchout.nmt.translate import WINDOW

    lines = stream_lines(path)
    while window := list(islice(lines, WINDOW)):
        yield window


def _windows_of_stdin() -> Iterator[list[str]]:
    """Yield what lines have arrived, so that a program that waits for its answer gets it."""
    stdin: BinaryIO = sys.stdin.buffer
    rest, number = b"", 1
    while arrived := stdin.read1(_AT_ONCE):  # type: ignore[attr-defined]
        *complete, rest = (rest + arrived).split(b"\n")
        yield [_decoded(line, number + i) for i, line in enumerate(complete)]
        number += len(complete)
    if rest:
        yield [_decoded(rest, number)]


def _decoded(line: bytes, number: int) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SwitchOutError(f"<stdin>:{number}: not valid UTF-8 ({error.reason})") from None
