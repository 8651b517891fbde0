"""Parallel text: one sentence a line, two files or one TSV, compressed or not; and its words.

* Lines are streamed, so that a corpus of any size costs no memory; `FilePairs` and `TsvPairs`
  can be iterated again and again.
* Lines end at ``\\n`` and nowhere else.
* A mistake in the text (unequal files, invalid UTF-8, a damaged archive, a TSV line without two
  columns) is raised where it is met, with file and line: writers must therefore write aside.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from pathlib import Path

from switchout.errors import SwitchOutError
from switchout.files import open_bytes
from switchout.files.reading import COMPRESSED, START_BYTES, refuse_unless_plain

COMPRESSIONS = ("", *COMPRESSED)
JOINER = "￭"  # stands where the text had no space
_WORD_OR_MARK = re.compile(r"\w+|[^\w ]")
_CLOSING = ("Po", "Pe", "Pf")  # kinds of punctuation that may end a word, in all scripts
_LEAST = 20  # marks, below which there is nothing to say


@dataclass(frozen=True)
class FilePairs:
    """The sentence pairs of two files of equal length."""

    src: Path
    tgt: Path

    def __iter__(self) -> Iterator[tuple[str, str]]:
        n_src = n_tgt = 0
        for src, tgt in zip_longest(stream_lines(self.src), stream_lines(self.tgt)):
            n_src += src is not None
            n_tgt += tgt is not None
            if src is not None and tgt is not None:
                yield src, tgt
        if n_src != n_tgt:
            raise SwitchOutError(
                f"{self.src} has {n_src:,} lines but {self.tgt} has {n_tgt:,}: "
                "the two sides must be line by line translations"
            )


@dataclass(frozen=True)
class TsvPairs:
    """The sentence pairs of a file with two tab-separated columns."""

    path: Path
    src_column: int = 0

    def __iter__(self) -> Iterator[tuple[str, str]]:
        for number, line in enumerate(stream_lines(self.path), 1):
            columns = line.split("\t")
            if len(columns) != 2:
                raise SwitchOutError(
                    f"{self.path}:{number}: expected 2 tab-separated columns, found {len(columns)}"
                )
            yield columns[self.src_column], columns[1 - self.src_column]


def stream_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 file without their ``\\n``, decompressed by suffix."""
    with open_bytes(path) as handle:
        refuse_unless_plain(path, handle.peek(START_BYTES))  # type: ignore[attr-defined]
        for number, line in enumerate(handle, 1):
            try:
                text = line.removesuffix(b"\n").decode("utf-8")
            except UnicodeDecodeError as error:
                raise SwitchOutError(f"{path}:{number}: not valid UTF-8 ({error.reason})") from None
            yield text


def find_file(folder: Path, name: str) -> Path | None:
    """Return ``folder/name``, plain or compressed, or None; two of them are an error."""
    found = [path for suffix in COMPRESSIONS if (path := folder / (name + suffix)).is_file()]
    if len(found) > 1:
        raise SwitchOutError(f"{folder}: both {found[0].name} and {found[1].name}: remove one")
    return found[0] if found else None


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write UTF-8 lines, each ended by ``\\n``."""
    with path.open("w", encoding="utf-8", newline="\n") as handle:
        handle.writelines(line + "\n" for line in lines)


def split_words(line: str) -> list[str]:
    """Return the words of a tokenised line: split at ASCII spaces, a final ``\\r`` ignored.

    No-break and other Unicode spaces belong to a word, as they do in Moses-tokenised text.
    """
    words = line.rstrip("\r").split(" ")
    return [word for word in words if word] if "" in words else words


def split_punctuation(line: str) -> list[str]:
    """Return words and punctuation marks; a joiner marks those that had no space before them.

    Example:
        >>> split_punctuation("Ja, gern!")
        ['Ja', '￭,', 'gern', '￭!']
    """
    tokens: list[str] = []
    end = -1
    for match in _WORD_OR_MARK.finditer(line.replace(JOINER, " ").rstrip("\r")):
        is_glued = match.start() == end
        tokens.append(JOINER + match.group() if is_glued else match.group())
        end = match.end()
    return tokens


def join_punctuation(tokens: Iterable[str]) -> str:
    """Undo `split_punctuation`."""
    return " ".join(tokens).replace(" " + JOINER, "").removeprefix(JOINER)


@dataclass(frozen=True)
class Marks:
    """Punctuation at the end of words, as in "yes,": a sign of text that nobody tokenised.

    Attributes:
        n_marks: Words that end in a mark, marks that stand alone included.
        glued: The words among them that are more than a mark.
    """

    n_marks: int
    glued: list[str]

    @classmethod
    def of(cls, words: Iterable[str]) -> Marks:
        """Look at words that are not empty; ``@@`` is no mark: it ends a piece of subword-nmt."""
        ended = [word for word in words if _is_mark(word[-1]) and not word.endswith("@@")]
        return cls(len(ended), [word for word in ended if not all(map(_is_mark, word))])

    @property
    def is_raw(self) -> bool:
        """Whether more than half of the marks stick to a word; too few marks say nothing.

        Example:
            >>> Marks.of("Yes, he came.".split() * 9).is_raw
            False
            >>> Marks.of("Yes, he came.".split() * 10).is_raw
            True
            >>> Marks.of("Yes , he ca@@ me .".split() * 10).is_raw
            False
        """
        return self.n_marks >= _LEAST and 2 * len(self.glued) > self.n_marks

    @property
    def is_tokenised(self) -> bool:
        """Whether there are marks, and most of them stand alone; few marks say neither."""
        return self.n_marks >= _LEAST and not self.is_raw


@cache
def _is_mark(character: str) -> bool:
    return unicodedata.category(character) in _CLOSING
