"""A preview as text of 80 columns."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from switchout.text.preview import Effect, Preview, SwitchedLine, SwitchedWord

WIDTH = 80
_LABEL = 12  # columns of what stands before a sentence


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
        yield f"  {'the same':<{_LABEL - 2}}in epochs {', '.join(str(s.epoch) for s in same)}"


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
