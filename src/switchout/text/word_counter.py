"""A vocabulary counted from the corpus itself, in one pass over its bytes, and its file."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from switchout.core import compiled
from switchout.errors import SwitchOutError
from switchout.files import atomic, check_outputs, is_stream
from switchout.ranges import COUNT
from switchout.text.augmentation import Augmentation
from switchout.text.first_look import LINES, line_of_no_utf8, warn_if_untokenised, warn_of_no_utf8
from switchout.text.formats import CorpusFormat, Part, TextFiles
from switchout.text.lines import Lines
from switchout.text.side_noise import SIDES, NoiseOptions, SideNoise
from switchout.text.streams import CHUNK_BYTES

Counted = dict[str, list[tuple[bytes, int]]]  # side -> words and how often they occur
_WORD_AND_COUNT = re.compile(rb"\S+ \d+\n")  # a line of a vocabulary that we wrote


class WordCounter:
    """Counts the words of lines; memory is that of the distinct words.

    Example:
        >>> counter = WordCounter()
        >>> counter.add(Lines.joined([b"b a b"]))
        >>> counter.most_common()
        [(b'b', 2), (b'a', 1)]
    """

    def __init__(self) -> None:
        self._counter = compiled.make_counter()

    def add(self, lines: Lines) -> None:
        """Count the words of some lines."""
        compiled.count_words(self._counter, *lines)

    def most_common(
        self, *, min_count: int = 1, max_words: int | None = None
    ) -> list[tuple[bytes, int]]:
        """Return words and counts, by count, then by bytes."""
        text, *numbers = compiled.counted(self._counter)
        ends, counts = (np.frombuffer(array, np.int64).tolist() for array in numbers)
        counted = [
            (text[start:end], count)
            for start, end, count in zip([0, *ends[:-1]], ends, counts, strict=bool(ends))
            if count >= min_count
        ]
        counted.sort(key=lambda item: (-item[1], item[0]))
        return counted[:max_words]


def count_missing_words(
    job: Augmentation, min_count: int = 1, max_words: int | None = None
) -> Counted:
    """Count the words of the sides that have noise and no words, in one pass over the corpus."""
    _check_limits(min_count, max_words)
    counters = {noise.side: WordCounter() for noise in job.noises if noise.needs_words}
    if not counters:
        return {}
    if streams := [path for path in job.format.inputs if is_stream(path)]:
        missing = " and ".join(f"vocab_{side}" for side in counters)
        what = "standard input" if streams[0] == "-" else f"{streams[0]}: a pipe or device"
        raise SwitchOutError(
            f"{what} cannot be read twice: give {missing} (made by 'switchout vocab')"
        )
    for chunk in job.format.chunks(Part(), CHUNK_BYTES):
        for side, counter in counters.items():
            lines = chunk.sides[SIDES.index(side)]
            if lines is not None:
                counter.add(lines)
    counted: Counted = {}
    for side, counter in counters.items():
        frequent = counter.most_common(min_count=min_count)
        readable = _readable(frequent)
        counted[side] = readable[:max_words]
        if not counted[side]:
            raise _no_words(job.format.inputs[0 if side == "source" else -1], min_count)
        if len(readable) < len(frequent):
            line = _line_of_no_utf8(job.format, side)
            if line is not None and line >= LINES:  # of the first ones `look_at` will say it
                warn_of_no_utf8(f"{side}: line {line + 1}")
    return counted


def _readable(entries: list[tuple[bytes, int]]) -> list[tuple[bytes, int]]:
    """Leave out words that are no UTF-8: a vocabulary of them could not be read again."""
    if line_of_no_utf8(b" ".join(word for word, _ in entries)) is None:
        return entries
    return [entry for entry in entries if line_of_no_utf8(entry[0]) is None]


def _line_of_no_utf8(corpus: CorpusFormat, side: str) -> int | None:
    """Return the number, from 0, of the first line of a side that is not valid UTF-8."""
    for chunk in corpus.chunks(Part(), CHUNK_BYTES):
        lines = chunk.sides[SIDES.index(side)]
        line = None if lines is None else line_of_no_utf8(b"\n".join(lines.texts()))
        if line is not None:
            return chunk.first_line + line
    return None


def with_counted(job: Augmentation, counted: Counted, options: NoiseOptions) -> Augmentation:
    """Return the same with the counted words; the options say which of them are special."""

    def with_words(noise: SideNoise) -> SideNoise:
        if noise.side not in counted:
            return noise
        entries = [word for word, _ in counted[noise.side]]
        return noise.with_words(entries, set(), f"vocabulary of the {noise.side}", options)

    return replace(job, source=with_words(job.source), target=with_words(job.target))


def count_vocabulary(
    text: str, out: str, *, min_count: int = 1, max_words: int | None = None
) -> dict[str, Any]:
    """Count the words of a text file (``-``: standard input) into a vocabulary file.

    Returns:
        ``out``, how many ``words`` it has, how often they occur (``kept``), and how many words
        the text has, with repetition (``running``).

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = (folder / "text").write_text("b a b\\nc b\\n")
        >>> count_vocabulary(str(folder / "text"), str(folder / "words"), max_words=1)["kept"]
        3
        >>> (folder / "words").read_text()
        'b 3\\n'
    """
    _check_limits(min_count, max_words)
    if is_stream(out):
        raise SwitchOutError(f"out={out}: a vocabulary is a file, to be read again")
    check_outputs({"out": out}, {f"file {text}": text})
    if not is_free_for_counted(out):
        raise SwitchOutError(
            f"out={out}: a file that is no counted vocabulary is there; remove it, or name another"
        )
    counter = WordCounter()
    for chunk in TextFiles(text, None).chunks(Part(), CHUNK_BYTES):
        if (lines := chunk.sides[0]) is not None:
            if chunk.first_line == 0:
                warn_if_untokenised(lines.first(LINES).split(), text)
            counter.add(lines)
    everything = counter.most_common()
    readable = _readable(everything)
    kept = [entry for entry in readable if entry[1] >= min_count][:max_words]
    if not kept:
        raise _no_words(text, min_count)
    if len(readable) < len(everything):
        line = None if is_stream(text) else _line_of_no_utf8(TextFiles(text, None), "source")
        name = "standard input" if text == "-" else text
        warn_of_no_utf8(name if line is None else f"{name}:{line + 1}")
    write_counted(out, kept)
    n_kept, n_running = (sum(n for _, n in entries) for entries in (kept, everything))
    return {"out": out, "words": len(kept), "kept": n_kept, "running": n_running}


def write_counted(path: str, entries: list[tuple[bytes, int]]) -> None:
    """Write a vocabulary that can be given back as ``vocab_source``: 'word count' lines."""
    with atomic(path) as place:
        place.write_bytes(b"".join(b"%b %d\n" % entry for entry in entries))


def is_free_for_counted(path: str) -> bool:
    """Return whether a name is free, or holds an earlier vocabulary of ours."""
    if not Path(path).exists():
        return True
    with Path(path).open("rb") as handle:
        return all(_WORD_AND_COUNT.fullmatch(line) for line in islice(handle, 1000))


def _no_words(path: str, min_count: int) -> SwitchOutError:
    why = f" occurs {min_count} times" if min_count > 1 else "; is the file empty?"
    return SwitchOutError(f"{path}: no word in it{why}")


def _check_limits(min_count: int, max_words: int | None) -> None:
    COUNT.check(min_count, "min_count")
    if max_words is not None:
        COUNT.check(max_words, "max_words")
