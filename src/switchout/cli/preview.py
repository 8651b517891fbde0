"""``switchout preview``: what a setting does to a corpus, before anything is written."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

from switchout.cli.options import Json
from switchout.cli.verb import Option

if TYPE_CHECKING:
    from switchout.text.preview import Effect, Preview

NoisyWords = Sequence[tuple[str, bool]]  # words, and whether they are new
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
    target: Annotated[
        str | None,
        Option(
            "Target file; '-': standard input. Give a target here also when it is alone: two"
            " files given as --src with one seed change at the same places.",
            "--tgt",
            "FILE",
        ),
    ] = None
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
        str | None,
        Option(
            "switchout (default), raml, hamming or word_dropout, where tau 1 drops 27% of the"
            " words: rate / (1 - rate) = exp(-1 / tau).",
            "NAME",
        ),
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
      switchout preview --src train.de --tgt train.en \\
        --tau-x 1 --tau-y 1.1 --seed 1
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
    for (line, side), group in groupby(preview.samples, key=lambda s: (s.line, s.side)):
        samples = list(group)
        original = [word.was for word in samples[0].words]
        epochs = {s.epoch: [(word.text, word.is_changed) for word in s.words] for s in samples}
        shown = in_epochs(original, epochs, in_color=in_color)
        blocks.append("\n".join([f"line {line + 1}, {side}", *shown]))
    return "\n\n".join([*blocks, *map(_table, preview.effects)])


def in_epochs(
    original: Sequence[str], epochs: Mapping[int, NoisyWords], *, in_color: bool
) -> Iterator[str]:
    """Yield a sentence as it is and as it is in the epochs that change it, new words marked."""
    yield from _wrapped("as it is", [(word, False) for word in original], in_color)
    same = [epoch for epoch, words in epochs.items() if not any(is_new for _, is_new in words)]
    for epoch, words in epochs.items():
        if epoch not in same:
            yield from _wrapped(f"epoch {epoch}", words, in_color)
    if same:
        shown = f"epoch{'s' * (len(same) > 1)} {', '.join(map(str, same))}"
        yield f"  {'the same':<{_LABEL - 2}}in {shown}"


def _wrapped(label: str, words: NoisyWords, in_color: bool) -> Iterator[str]:
    width = min(WIDTH, shutil.get_terminal_size().columns) - _LABEL
    line, room = f"  {label:<{_LABEL - 2}}", width
    for word, is_new in words:
        text = f"[{word}]" if is_new and not in_color else word
        if len(text) > room and room < width:
            yield line.rstrip()
            line, room = " " * _LABEL, width
        line += f"\x1b[1;7m{text}\x1b[0m " if is_new and in_color else f"{text} "
        room -= len(text) + 1
    yield line.rstrip()


def _table(effect: Effect) -> str:
    first = "line" if effect.lines == 1 else f"{effect.lines:,} lines"
    lines = [
        f"{effect.side}: {effect.signature.partition(',vocab=')[0]}",
        f"  expected, for the first {first} ({100 * effect.known:.0f}% of their words are known)",
        f"  {'words a line':<14}{'lines':>9}{'words changed':>16}{'lines untouched':>18}",
    ]
    rows = [(g.words, g.lines, g.changed, g.untouched) for g in effect.by_length]
    for words, n, changed, untouched in [
        *rows,
        ("all", effect.lines, effect.changed, effect.untouched),
    ]:
        lines.append(f"  {words:<14}{n:>9,}{100 * changed:>15.1f}%{100 * untouched:>17.1f}%")
    return "\n".join(lines)
