"""The first lines of a corpus: to take a sentence from, and to count words in."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from switchout.corpora import open_corpus
from switchout.corpora.text import stream_lines
from switchout.errors import SwitchOutError
from switchout.text.formats import Part, TextFiles
from switchout.text.streams import CHUNK_BYTES

MOST_LINES = 50_000  # read of a file; a playground needs no more


@dataclass(frozen=True)
class CorpusLines:
    """Sentence pairs, or one side of them.

    Attributes:
        title: For people.
        source, target: Lines; an empty side is not there.
    """

    title: str
    source: list[str]
    target: list[str]

    def of(self, side: str) -> list[str]:
        """Return the lines of a side."""
        return self.source if side == "source" else self.target

    def pair(self, number: int) -> tuple[str, str]:
        """Return line ``number``, counted from 1 and around, of both sides."""
        at = (number - 1) % max(len(self.source), len(self.target))
        return self.source[at] if self.source else "", self.target[at] if self.target else ""

    def __len__(self) -> int:
        return max(len(self.source), len(self.target))


def words_apart(line: str) -> str:
    """Return a line whose words, split where ``augment`` splits, are one blank apart.

    That is at the white space of ASCII: a no-break space stands inside a word.

    Example:
        >>> words_apart("10\\u00a0km\\t. ")
        '10\\xa0km .'
    """
    return b" ".join(line.encode().split()).decode()


def embedded_lines() -> CorpusLines:
    """Return the training pairs of the embedded phrasebook."""
    corpus = open_corpus("phrasebook")
    source, target = corpus.pairs("train")
    return CorpusLines(f"embedded phrasebook, {len(source):,} pairs", source, target)


def file_lines(source: Path | None, target: Path | None) -> CorpusLines | None:
    """Return the first lines of the user's files; None without files.

    All lines are counted, at about 1 GB a second: two files that do not belong together are told
    before a page is.
    """
    if source is None and target is None:
        return None
    if source and target and source.is_file() and target.is_file():  # no pipe: read only once
        for _ in TextFiles(str(source), str(target)).chunks(Part(), CHUNK_BYTES):
            pass
    sides = [
        [words_apart(line) for line in islice(stream_lines(path), MOST_LINES)] if path else []
        for path in (source, target)
    ]
    names = " and ".join(path.name for path in (source, target) if path is not None)
    n = max(map(len, sides))
    if n == 0:
        raise SwitchOutError(f"{names}: is empty, nothing to explore")
    return CorpusLines(f"{names}, first {n:,} lines" if n == MOST_LINES else names, *sides)
