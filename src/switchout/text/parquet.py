"""Pairs in two columns of a Parquet file; all other columns are kept.

A value may hold newlines: here records, not lines, are numbered. A part is a range of row groups.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from switchout.errors import SwitchOutError, did_you_mean, needs
from switchout.text.formats import COPY_BYTES, Chunk, CorpusFormat, Part, Written
from switchout.text.lines import PADDING, Lines
from switchout.text.rewriter import Rewritten
from switchout.text.streams import Output, all_or_nothing

_RECORDS_PER_MB = 4096


class ParquetOutput(Output):
    """A Parquet file being written."""

    def __init__(self, path: str, schema: Any, *, sync: bool) -> None:
        super().__init__(path, sync=sync, compress=False)
        with self.guard():
            self._writer = _pyarrow()[1].ParquetWriter(self.stream, schema)

    def write_table(self, table: Any) -> None:
        """Append a table as a row group."""
        with self.guard():
            self._writer.write_table(table)

    def close(self) -> None:
        """End the file."""
        with self.guard():
            self._writer.close()
        super().close()

    def discard(self) -> None:
        """Remove what has no name yet; a writer left open complains when it is collected."""
        with suppress(OSError, ValueError):
            self._writer.close()
        super().discard()


@dataclass(frozen=True)
class ParquetFile(CorpusFormat):
    """A Parquet file with a column of sentences for each side, or for one."""

    path: str
    source: str | None
    target: str | None
    suffixes = ("parquet",)

    @property
    def sides(self) -> tuple[str, ...]:
        """Which sides there are."""
        columns = (("source", self.source), ("target", self.target))
        return tuple(side for side, name in columns if name is not None)

    def renamed(self, names: dict[str, str]) -> ParquetFile:
        """Return the same with the input file elsewhere."""
        return replace(self, path=names.get(self.path, self.path))

    @property
    def inputs(self) -> list[str]:
        """The file to read."""
        return [self.path]

    def chunks(self, part: Part, chunk_bytes: int, digests: Any = None) -> Iterator[Chunk]:
        """Yield the records of a part."""
        pyarrow, _ = _pyarrow()
        file = self._open()
        first, stop = part.ranges[0]
        if digests:
            self._digest(digests[0], None if stop is None else _span(file.metadata, first, stop))
        groups = list(range(first, file.num_row_groups if stop is None else stop))
        line = part.first_line
        batch_size = max(1, chunk_bytes * _RECORDS_PER_MB >> 20)
        batches = file.iter_batches(batch_size, row_groups=groups)
        while (batch := self._next_of(batches)) is not None:
            table = pyarrow.Table.from_batches([batch])
            sides = tuple(
                None if name is None else _lines(table.column(name))
                for name in (self.source, self.target)
            )
            if table.num_rows:
                yield Chunk(line, sides, table.num_rows, (table.nbytes,), (False, False), table)  # type: ignore[arg-type]
            line += table.num_rows

    def _next_of(self, batches: Iterator[Any]) -> Any:
        try:
            return next(batches, None)
        except (_pyarrow()[0].ArrowException, OSError) as error:
            reason = str(error).splitlines()[0]
            raise SwitchOutError(f"{self.path}: damaged Parquet file ({reason})") from None

    @property
    def columns(self) -> list[str | None]:
        """The names of the two sides."""
        return [self.source, self.target]

    def cut(self, part_bytes: int, digests: Any = None) -> list[Part]:
        """Return parts of whole row groups, about ``part_bytes`` each."""
        if digests:
            self._digest(digests[0])
        metadata = self._open().metadata
        parts: list[Part] = []
        begin, first_line, n_lines, size = 0, 0, 0, 0
        for group in range(metadata.num_row_groups):
            n_lines += metadata.row_group(group).num_rows
            size += metadata.row_group(group).total_byte_size
            if size >= part_bytes or group == metadata.num_row_groups - 1:
                digest = hashlib.sha256()
                self._digest(digest, _span(metadata, begin, group + 1))
                rows = ((begin, group + 1),)
                parts.append(Part(first_line, n_lines, rows, (digest.hexdigest(),)))
                begin, first_line, n_lines, size = group + 1, first_line + n_lines, 0, 0
        return parts

    def open_output(self, path: str, *, sync: bool) -> Output:
        """Return a file to write chunks to."""
        return ParquetOutput(path, self._open().schema_arrow, sync=sync)

    def write(self, outputs: list[Any], chunk: Chunk, written: Written) -> None:
        """Write the records of a chunk with their new sentences."""
        table = chunk.rest.take(written.rows)
        for name, side in zip((self.source, self.target), written.sides, strict=True):
            if name is not None and side is not None:
                old = table.column(name)
                new = _column(side).cast(old.type)
                if old.null_count:
                    new = _pyarrow()[0].compute.if_else(old.is_null(), None, new)
                table = table.set_column(table.schema.get_field_index(name), name, new)
        outputs[0].write_table(table.cast(chunk.rest.schema))

    def join(self, parts: list[Path], path: str) -> None:
        """Write the row groups of finished parts to one file."""
        _, parquet = _pyarrow()
        output = ParquetOutput(path, self._open().schema_arrow, sync=True)
        with all_or_nothing([output]):
            for part in parts:
                file = parquet.ParquetFile(part)
                for group in range(file.num_row_groups):
                    output.write_table(file.read_row_group(group))

    def _digest(self, digest: Any, span: tuple[int, int] | None = None) -> None:
        """Take in the bytes of a span of the file, or all of them."""
        start, stop = span or (0, Path(self.path).stat().st_size)
        with Path(self.path).open("rb") as handle:
            handle.seek(start)
            while start < stop and (block := handle.read(min(COPY_BYTES, stop - start))):
                digest.update(block)
                start += len(block)

    def _open(self) -> Any:
        pyarrow, parquet = _pyarrow()
        try:
            file = parquet.ParquetFile(self.path)
        except FileNotFoundError:
            raise SwitchOutError(f"{self.path}: no such file") from None
        except (pyarrow.ArrowException, OSError) as error:
            raise SwitchOutError(f"{self.path}: no Parquet file ({error})") from None
        for name in (self.source, self.target):
            names = file.schema_arrow.names
            if name is not None and name not in names:
                raise SwitchOutError(f"{self.path}: no column {name!r}{did_you_mean(name, names)}")
            if name is not None and not _is_text(file.schema_arrow.field(name).type):
                kind = file.schema_arrow.field(name).type
                raise SwitchOutError(f"{self.path}: column {name!r} holds {kind}, expected strings")
        return file


def _span(metadata: Any, first: int, stop: int) -> tuple[int, int]:
    """Return where the bytes of some row groups begin and end."""
    spans = []
    for group in range(first, stop):
        for i in range(metadata.num_columns):
            column = metadata.row_group(group).column(i)
            start = column.dictionary_page_offset or column.data_page_offset
            spans.append((start, start + column.total_compressed_size))
    return min(start for start, _ in spans), max(end for _, end in spans)


def _is_text(kind: Any) -> bool:
    types = _pyarrow()[0].types
    return bool(types.is_string(kind) or types.is_large_string(kind))


def _lines(column: Any) -> Lines:
    """Return a column of strings as spans, without a copy beyond the padding."""
    pyarrow, _ = _pyarrow()
    array = pyarrow.compute.fill_null(column, "").cast(pyarrow.large_string()).combine_chunks()
    if isinstance(array, pyarrow.ChunkedArray):
        array = pyarrow.concat_arrays(array.chunks)
    _, offsets, data = array.buffers()
    stops = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    text = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
    padded = np.concatenate([text[: stops[-1]], np.zeros(PADDING, np.uint8)])
    return Lines(padded, stops[:-1].copy(), stops[1:].copy(), 0)


def _column(side: Rewritten) -> Any:
    pyarrow, _ = _pyarrow()
    offsets = np.concatenate([[0], side.ends]).astype(np.int64)
    buffers = [None, pyarrow.py_buffer(offsets), pyarrow.py_buffer(side.data[: side.size])]
    return pyarrow.Array.from_buffers(pyarrow.large_string(), side.ends.size, buffers)


def _pyarrow() -> tuple[Any, Any]:
    with needs("pyarrow", where="Parquet"):
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet
    return pyarrow, pyarrow.parquet
