"""Where pairs come from and go to: two text files, or one of tab-separated pairs.

A format yields chunks of lines of both sides, numbered, and writes them back. It can also cut its
input into parts at line boundaries, which workers then read on their own. (Parquet: `parquet.py`.)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from switchout.core import compiled
from switchout.errors import SwitchOutError
from switchout.text.lines import PADDING, Ints, Lines
from switchout.text.rewriter import Rewritten
from switchout.text.streams import CHUNK_BYTES, LineReader, Output, all_or_nothing

COPY_BYTES = 1 << 22


class Chunk(NamedTuple):
    """Some lines of one side or of both."""

    first_line: int
    sides: tuple[Lines | None, Lines | None]
    n_lines: int
    file_bytes: tuple[int, ...]  # of each input file
    is_open: tuple[bool, bool]  # the last line is the file's last and has no newline
    rest: Any = None  # what else the format needs to write the lines


class Written(NamedTuple):
    """A chunk after both sides were rewritten."""

    sides: tuple[Rewritten | None, Rewritten | None]
    rows: Ints  # line of the chunk that each line written comes from
    ends_with_last_line: bool  # the chunk's last line was not dropped


class Part(NamedTuple):
    """Consecutive lines of the input: where they begin in each file, and how many bytes."""

    first_line: int = 0
    n_lines: int | None = None
    ranges: tuple[tuple[int, int | None], ...] = ((0, None), (0, None))
    sha256: tuple[str, ...] = ()  # of these bytes of each file


class CorpusFormat(ABC):
    """How the lines of a corpus are read and written; files may be appended to each other."""

    @property
    @abstractmethod
    def suffixes(self) -> tuple[str, ...]:
        """Endings of the output files of a part."""

    @property
    @abstractmethod
    def sides(self) -> tuple[str, ...]:
        """Which sides there are."""

    @property
    @abstractmethod
    def inputs(self) -> list[str]:
        """The files to read."""

    @property
    def columns(self) -> list[str | None]:
        """What is read of the inputs, where that is not all of them."""
        return []

    @abstractmethod
    def renamed(self, names: dict[str, str]) -> CorpusFormat:
        """Return the same with some input files elsewhere."""

    @abstractmethod
    def chunks(self, part: Part, chunk_bytes: int, digests: Any = None) -> Iterator[Chunk]:
        """Yield the lines of a part; ``digests`` take in the bytes of each file."""

    @abstractmethod
    def cut(self, part_bytes: int, digests: Any = None) -> list[Part]:
        """Return parts of about ``part_bytes`` of each file, with the hashes of their bytes."""

    @abstractmethod
    def write(self, outputs: list[Any], chunk: Chunk, written: Written) -> None:
        """Write the rewritten lines of a chunk."""

    def open_output(self, path: str, *, sync: bool) -> Output:
        """Return a file to write chunks to."""
        return Output(path, sync=sync)

    def join(self, parts: list[Path], path: str) -> None:
        """Write finished parts to one file; compressed ones, too, may follow each other."""
        output = Output(path, sync=True, compress=False)
        with all_or_nothing([output]):
            for part in parts:
                with part.open("rb", buffering=0) as handle:
                    while block := handle.read(COPY_BYTES):
                        output.write(block)


@dataclass(frozen=True)
class TextFiles(CorpusFormat):
    """One sentence a line; one file for each side, or one side alone."""

    source: str | None
    target: str | None

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Endings of the output files of a part."""
        ends = (("src", self.source), ("tgt", self.target))
        return tuple(end for end, path in ends if path is not None)

    @property
    def sides(self) -> tuple[str, ...]:
        """Which sides there are."""
        pairs = (("source", self.source), ("target", self.target))
        return tuple(side for side, path in pairs if path is not None)

    def renamed(self, names: dict[str, str]) -> TextFiles:
        """Return the same with some input files elsewhere."""
        return TextFiles(*(p and names.get(p, p) for p in (self.source, self.target)))

    @property
    def inputs(self) -> list[str]:
        """The files to read."""
        return [path for path in (self.source, self.target) if path is not None]

    def chunks(self, part: Part, chunk_bytes: int, digests: Any = None) -> Iterator[Chunk]:
        """Yield the lines of a part, the same number of both sides at a time."""
        digests = digests or [None, None]
        readers = [
            LineReader(path, chunk_bytes=chunk_bytes, offset=start, n_bytes=size, digest=digest)
            for path, (start, size), digest in zip(self.inputs, part.ranges, digests, strict=False)
        ]
        line = part.first_line
        try:
            while n_lines := min(counts := [reader.available() for reader in readers]):
                taken = [reader.take(n_lines) for reader in readers]
                yield self._chunk(line, taken, [r.ended_without_newline for r in readers])
                line += n_lines
            if max(counts):
                raise unequal_counts(self.inputs, [reader.count_rest() for reader in readers])
        finally:
            for reader in readers:
                reader.close()

    def _chunk(self, line: int, taken: list[Lines], is_open: list[bool]) -> Chunk:
        n_bytes = tuple(
            int(t.ends[-1] - t.starts[0]) + (not lacks_newline)
            for t, lacks_newline in zip(taken, is_open, strict=True)
        )
        if len(taken) == 2:
            sides: Any = tuple(taken)
        else:
            sides = (taken[0], None) if self.source is not None else (None, taken[0])
            is_open = is_open * 2
        return Chunk(line, sides, taken[0].ends.size, n_bytes, (is_open[0], is_open[1]))

    def cut(self, part_bytes: int, digests: Any = None) -> list[Part]:
        """Return parts of about ``part_bytes`` of each file; check that line counts agree."""
        parts: list[Part] = []
        begin = [0] * len(self.inputs)
        first_line = 0
        for n_lines, sizes, hashes in self._pieces(part_bytes, digests):
            parts.append(Part(first_line, n_lines, tuple(zip(begin, sizes, strict=True)), hashes))
            begin = [b + size for b, size in zip(begin, sizes, strict=True)]
            first_line += n_lines
        return parts

    def _pieces(
        self, part_bytes: int, digests: Any
    ) -> Iterator[tuple[int, list[int], tuple[str, ...]]]:
        """Yield lines, bytes and hashes of pieces of about ``part_bytes`` of the longer file."""
        n_lines, sizes, hashes = 0, [0] * len(self.inputs), [sha256() for _ in self.inputs]
        for chunk in self.chunks(Part(), min(part_bytes, CHUNK_BYTES), digests):
            sides = [lines for lines in chunk.sides if lines is not None]
            for i, (lines, n_bytes) in enumerate(zip(sides, chunk.file_bytes, strict=True)):
                first = int(lines.starts[0])
                hashes[i].update(lines.data[first : first + n_bytes].data)
                sizes[i] += n_bytes
            n_lines += chunk.n_lines
            if max(sizes) >= part_bytes:
                yield n_lines, sizes, tuple(h.hexdigest() for h in hashes)
                n_lines, sizes, hashes = 0, [0] * len(sizes), [sha256() for _ in hashes]
        if n_lines:
            yield n_lines, sizes, tuple(h.hexdigest() for h in hashes)

    def write(self, outputs: list[Output], chunk: Chunk, written: Written) -> None:
        """Write the rewritten lines of a chunk."""
        sides = [(side, i) for i, side in enumerate(written.sides) if side is not None]
        for output, (side, i) in zip(outputs, sides, strict=True):
            is_open = chunk.is_open[i] and written.ends_with_last_line
            output.write(side.data[: side.size - is_open].data)


@dataclass(frozen=True)
class TabSeparated(CorpusFormat):
    """Source, tab, target in one file; further columns are kept as they are."""

    path: str
    suffixes = ("tsv",)
    sides = ("source", "target")

    def renamed(self, names: dict[str, str]) -> TabSeparated:
        """Return the same with the input file elsewhere."""
        return TabSeparated(names.get(self.path, self.path))

    @property
    def inputs(self) -> list[str]:
        """The file to read."""
        return [self.path]

    def chunks(self, part: Part, chunk_bytes: int, digests: Any = None) -> Iterator[Chunk]:
        """Yield both sides of the lines of a part; they share one array of bytes."""
        for chunk in TextFiles(self.path, None).chunks(part, chunk_bytes, digests):
            lines = chunk.sides[0]
            assert lines is not None
            tabs, stops = np.empty_like(lines.ends), np.empty_like(lines.ends)
            bad = compiled.find_columns(*lines, tabs, stops)
            if bad >= 0:
                raise SwitchOutError(
                    f"{self.path}:{chunk.first_line + bad + 1}: no tab, expected source<tab>target"
                )
            source = Lines(lines.data, lines.starts, tabs, 1)
            target = Lines(lines.data, tabs + 1, stops, 1)
            rest = Lines(lines.data, stops + 1, lines.ends, 1)
            yield chunk._replace(sides=(source, target), rest=rest)

    def cut(self, part_bytes: int, digests: Any = None) -> list[Part]:
        """Return parts of about ``part_bytes``."""
        return TextFiles(self.path, None).cut(part_bytes, digests)

    def write(self, outputs: list[Output], chunk: Chunk, written: Written) -> None:
        """Write the rewritten columns, each with the rest of its line."""
        source, target = written.sides
        assert source is not None
        assert target is not None
        rest: Lines = chunk.rest
        rest_bytes = int((rest.ends - rest.starts + 1)[written.rows].sum())
        out = np.empty(source.size + target.size + rest_bytes + PADDING, np.uint8)
        size = compiled.join_columns(
            source.data, source.ends, target.data, target.ends,
            rest.data, rest.starts, rest.ends, written.rows, out,
        )  # fmt: skip
        is_open = chunk.is_open[0] and written.ends_with_last_line
        outputs[0].write(out[: size - is_open].data)


def unequal_counts(paths: list[str], counts: list[int]) -> SwitchOutError:
    """Return the complaint that names both files and both counts."""
    found = ", ".join(f"{path}: {n:,} lines" for path, n in zip(paths, counts, strict=True))
    return SwitchOutError(f"{found}; both sides must have the same number of lines")
