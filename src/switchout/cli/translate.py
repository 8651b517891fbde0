"""``switchout translate``: lines in, translations out."""

from __future__ import annotations

import json
import logging
import select
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from io import TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, Literal

from switchout.cli.options import Step
from switchout.cli.verb import Option
from switchout.errors import SwitchOutError
from switchout.files import atomic, check_outputs
from switchout.files.reading import refuse_unless_plain
from switchout.progress import Meter
from switchout.ranges import BEAM, PENALTY, WORKERS

if TYPE_CHECKING:
    from switchout.nmt.translate import Translation

_AT_ONCE = 1 << 20  # bytes


@dataclass(frozen=True, kw_only=True)
class Search:
    """How translations are searched for."""

    GROUP = "Search"

    beam: Annotated[
        int | None, Option("Beam size, 1: greedy; else the run's own.", limits=BEAM)
    ] = None
    length_penalty: Annotated[
        float | None,
        Option("Score = log-probability / words^penalty; else the run's own.", limits=PENALTY),
    ] = None
    n_best: Annotated[
        int, Option("Translations per line, as 'line ||| text ||| score'.", limits=BEAM)
    ] = 1


def translate(
    run: Annotated[list[Path], Option("A trained run; several are an ensemble.", "DIR")],
    *,
    input: Annotated[Path | None, Option("Lines to translate; else stdin.")] = None,
    output: Annotated[Path | None, Option("Where to write; else stdout.")] = None,
    unk: Annotated[
        Literal["keep", "drop", "copy"],
        Option("Unknown words: <unk>, nothing, or the source word looked at."),
    ] = "keep",
    step: Step = None,
    engine: Annotated[Literal["torch", "ctranslate2"], Option("What searches.")] = "torch",
    device: Annotated[
        str | None, Option("cpu, cuda, cuda:1 …; else where the run was trained.", "NAME")
    ] = None,
    threads: Annotated[int, Option("More gain little on small models.", limits=WORKERS)] = 1,
    as_json: Annotated[bool, Option("One JSON object per line.", "--json")] = False,
    search: Search,
) -> None:
    """Translate: one line in, one line out; the run's preprocessing is applied and inverted.

    Examples:
      switchout translate --run runs/first < test.de > test.hyp
      switchout translate --run a --run b --beam 8 --output test.hyp < test.de
      switchout translate --run runs/first --n-best 3 --json < test.de
    """
    from switchout.nmt.machine import prepare_cpu
    from switchout.nmt.translate import translate_windows
    from switchout.runs.trained import OpenRuns

    inputs = {"input": input or "-", "run": [path for each in run for path in each.rglob("*")]}
    check_outputs({"output": output or "-"}, inputs)
    prepare_cpu(threads)
    logging.basicConfig(format="%(message)s", level=logging.WARNING, stream=sys.stderr)
    with ExitStack() as stack:
        runs = stack.enter_context(OpenRuns(run, step=step, engine=engine, device=device))
        options = runs.options(**vars(search), need_attention=unk == "copy")
        windows = _windows_of_stdin() if input is None else _windows_of_file(input)
        sink = _sink(output, stack)
        meter = stack.enter_context(Meter("translating", unit="lines"))
        line = 0
        for window in translate_windows(
            runs.searcher, windows, runs.codecs, options=options, unk=unk, done=meter.advance
        ):
            for translations in window:
                sink.write(_shown(line, translations, n_best=search.n_best, as_json=as_json))
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
    while arrived := _arriving(stdin):
        if number == 1 and not rest:
            refuse_unless_plain("-", arrived)
        *complete, rest = (rest + arrived).split(b"\n")
        yield [_decoded(line, number + i) for i, line in enumerate(complete)]
        number += len(complete)
    if rest:
        yield [_decoded(rest, number)]


def _arriving(stdin: BinaryIO) -> bytes:
    """Return what has arrived, nothing at the end; a pipe that does not block is waited for."""
    raw = getattr(stdin, "raw", stdin)
    while (arrived := raw.read(_AT_ONCE)) is None:
        select.select([raw], [], [])
    return bytes(arrived)


def _decoded(line: bytes, number: int) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SwitchOutError(f"<stdin>:{number}: not valid UTF-8 ({error.reason})") from None
