"""``switchout preview``: what a setting does to a corpus, before anything is written."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

from switchout.cli.options import Json
from switchout.cli.verb import Option

if TYPE_CHECKING:
    from switchout.text.preview import Effect, Preview, SwitchedLine, SwitchedWord

WIDTH = 80
_LABEL = 12  # columns of what stands before a sentence
LINES, EPOCHS = 5, 3


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """The corpus."""

    GROUP = "Files"

    source: Annotated[str | None, Option("Source file; '-': standard input.", "--src", "FILE")] = (
        None
    )
    target: Annotated[str | None, Option("Target file; '-': standard input.", "--tgt", "FILE")] = (
        None
    )
    pairs: Annotated[
        str | None, Option("Instead: one file of tab-separated pairs, or .parquet.", "FILE")
    ] = None
    source_column: Annotated[str, Option("Parquet column; '': none.", "--src-column", "NAME")] = (
        "source"
    )
    target_column: Annotated[str, Option("Parquet column; '': none.", "--tgt-column", "NAME")] = (
        "target"
    )


@dataclass(frozen=True, kw_only=True)
class Noise:
    """What is done to the words."""

    GROUP = "Noise"

    tau_x: Annotated[float | None, Option("Temperature of the source side.", "T")] = None
    tau_y: Annotated[float | None, Option("Temperature of the target side.", "T")] = None
    rate_x: Annotated[float | None, Option("Instead: share of source words changed.", "R")] = None
    rate_y: Annotated[float | None, Option("Instead: share of target words changed.", "R")] = None
    policy_x: Annotated[
        str | None, Option("switchout (default), raml, hamming or word_dropout.", "NAME")
    ] = None
    policy_y: Annotated[str | None, Option("The same for the target; default raml.", "NAME")] = None
    seed: Annotated[int, Option("Seed, 0 <= seed < 2^64.", "N")]
    epoch: Annotated[int, Option("Other noise for the same corpus.", "N")] = 0


@dataclass(frozen=True, kw_only=True)
class Vocabularies:
    """Which words there are."""

    GROUP = "Words"

    vocab_source: Annotated[
        str | None,
        Option(
            "Words, one a line ('word' or 'word count'); a sentencepiece .model; a tokenizer.json."
            " Default: counted from the corpus.",
            "--vocab-src",
            "FILE",
        ),
    ] = None
    vocab_target: Annotated[
        str | None, Option("The same for the target.", "--vocab-tgt", "FILE")
    ] = None
    min_count: Annotated[int, Option("Counted vocabulary: least frequency.", "N")] = 1
    max_words: Annotated[int | None, Option("Counted vocabulary: largest size.", "N")] = None
    special_words: Annotated[
        list[str] | None,
        Option(
            "A word to leave alone and never draw; repeatable. Default: <s>, <unk>, …",
            "--special",
            "WORD",
        ),
    ] = None
    special_pattern: Annotated[
        str | None,
        Option("The same for all words that match it as a whole.", "--special-regex", "RE"),
    ] = None
    null_word: Annotated[str, Option("What word_dropout leaves behind.", "WORD")] = "<unk>"
    encode: Annotated[
        bool, Option("The input is raw text: split it by the vocabulary.", "--encode")
    ] = False


def preview(
    inputs: Inputs,
    noise: Noise,
    vocabularies: Vocabularies,
    lines: Annotated[int, Option("Sentences to show.", "N")] = LINES,
    epochs: Annotated[int, Option("Of so many epochs.", "N")] = EPOCHS,
    as_json: Json = False,
) -> None:
    """Show changed sentences, epoch by epoch, and what a setting does to a corpus.

    That is the share of words changed and of lines untouched, by length. Nothing is written.

    Examples:
      switchout preview --src train.de --tgt train.en --tau-x 1 --tau-y 1 --seed 1
      switchout preview --src train.de --rate-x 0.1 --seed 1 --lines 3 --epochs 5
    """
    show(parameters(inputs, noise, vocabularies), lines=lines, epochs=epochs, as_json=as_json)


def parameters(inputs: Inputs, *others: Any) -> dict[str, Any]:
    """Return options as parameters of `augment_files`."""
    given = dict(vars(inputs))
    for column in ("source_column", "target_column"):
        given[column] = given[column] or None
    for options in others:
        given |= vars(options)
    return given


def show(given: dict[str, Any], *, lines: int, epochs: int, as_json: bool) -> None:
    """Print what `augment_files` would do with these parameters."""
    from switchout.text.preview import preview as look

    seen = look(lines=lines, epochs=epochs, **given)
    if as_json:
        print(json.dumps(seen.to_dict()))
    else:
        print(rendered(seen, in_color=sys.stdout.isatty()))


def rendered(preview: Preview, *, in_color: bool) -> str:
    """Return a preview as text of 80 columns."""
    blocks = []
    for (line, side), samples in groupby(preview.samples, key=lambda s: (s.line, s.side)):
        blocks.append("\n".join([f"line {line + 1}, {side}", *_lines(list(samples), in_color)]))
    return "\n\n".join([*blocks, *map(_table, preview.effects)])


def _lines(samples: list[SwitchedLine], in_color: bool) -> Iterator[str]:
    original = [(word.was, 0) for word in samples[0].words]
    yield from _wrapped("as it is", original)
    same = [s for s in samples if not any(word.is_changed for word in s.words)]
    for sample in samples:
        if sample not in same:
            words = [_marked(word, in_color) for word in sample.words]
            yield from _wrapped(f"epoch {sample.epoch}", words)
    if same:
        epochs = f"epoch{'s' * (len(same) > 1)} {', '.join(str(s.epoch) for s in same)}"
        yield f"  {'the same':<{_LABEL - 2}}in {epochs}"


def _marked(word: SwitchedWord, in_color: bool) -> tuple[str, int]:
    """Return a word as it is printed, and how many of its characters take no room."""
    if not word.is_changed:
        return word.text, 0
    return (f"\x1b[1;7m{word.text}\x1b[0m", 10) if in_color else (f"[{word.text}]", 0)


def _wrapped(label: str, words: list[tuple[str, int]]) -> Iterator[str]:
    line, room = f"  {label:<{_LABEL - 2}}", WIDTH - _LABEL
    for word, hidden in words:
        size = len(word) - hidden + 1
        if size > room and room < WIDTH - _LABEL:
            yield line.rstrip()
            line, room = " " * _LABEL, WIDTH - _LABEL
        line += f"{word} "
        room -= size
    yield line.rstrip()


def _table(effect: Effect) -> str:
    lines = [
        f"{effect.side}: {effect.signature.partition(',vocab=')[0]}",
        f"  expected, for the first {effect.lines:,} lines"
        f" ({100 * effect.known:.0f}% of their words are known)",
        f"  {'words a line':<14}{'lines':>9}{'words changed':>16}{'lines untouched':>18}",
    ]
    rows = [(g.words, g.lines, g.changed, g.untouched) for g in effect.by_length]
    for words, n, changed, untouched in [
        *rows,
        ("all", effect.lines, effect.changed, effect.untouched),
    ]:
        lines.append(f"  {words:<14}{n:>9,}{100 * changed:>15.1f}%{100 * untouched:>17.1f}%")
    return "\n".join(lines)
