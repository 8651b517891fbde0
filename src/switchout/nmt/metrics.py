"""What a run measured: ``metrics.jsonl`` is the truth, TensorBoard a picture drawn from it.

A resumed run cuts both back to its checkpoint, so that no step is told twice.
"""

from __future__ import annotations

import json
import logging
import shutil
from pathlib import Path
from typing import Any

from switchout.files import write_text

log = logging.getLogger(__name__)

Record = dict[str, Any]


def read_metrics(path: Path) -> list[Record]:
    """Return the records of ``metrics.jsonl``.

    A half-written last line is left out, and so are damaged ones, which a log names.
    """
    if not path.exists():
        return []
    lines = path.read_bytes().split(b"\n")[:-1]
    records = [_record(line) for line in lines]
    if None in records:
        number = records.index(None) + 1
        log.warning("%s:%d: damaged, %d lines left out", path, number, records.count(None))
    return [record for record in records if record is not None]


def _record(line: bytes) -> Record | None:
    try:
        record = json.loads(line)
        is_ours = isinstance(record["step"], int) and all(map(_is_number, record.values()))
        return record if is_ours else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _is_number(value: Any) -> bool:
    return value is None or isinstance(value, int | float)


class Metrics:
    """Appends records to ``folder/metrics.jsonl`` and, if it can, to ``folder/tensorboard``.

    Args:
        folder: Of the run.
        until: Forget records of later steps.
        tensorboard: Draw too; silently not where TensorBoard is not installed.
    """

    def __init__(self, folder: Path, *, until: int, tensorboard: bool):
        path = folder / "metrics.jsonl"
        kept = [record for record in read_metrics(path) if record["step"] <= until]
        write_text(path, "".join(json.dumps(record) + "\n" for record in kept))
        self._file = path.open("a", encoding="utf-8")
        self._board = _board(folder / "tensorboard") if tensorboard else None
        for record in kept:
            self._draw(record)

    def add(self, record: Record) -> None:
        """Append one record; it has a ``step``."""
        self._file.write(json.dumps(record) + "\n")
        self._file.flush()
        self._draw(record)

    def close(self) -> None:
        """Flush everything."""
        self._file.close()
        if self._board is not None:
            self._board.close()

    def _draw(self, record: Record) -> None:
        if self._board is not None:
            self._board.add(record)


class _Board:
    """Writes TensorBoard's event file by its record writer; the full writer imports TensorFlow."""

    def __init__(self, folder: Path):
        from importlib import import_module

        Event = import_module("tensorboard.compat.proto.event_pb2").Event
        Summary = import_module("tensorboard.compat.proto.summary_pb2").Summary
        RecordWriter = import_module("tensorboard.summary.writer.record_writer").RecordWriter
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        self._event, self._summary = Event, Summary
        # TensorBoard knows event files by this name.
        self._writer = RecordWriter((folder / "events.out.tfevents.0").open("wb"))
        self._write(Event(file_version="brain.Event:2"))

    def add(self, record: Record) -> None:
        numbers = {k: v for k, v in record.items() if k not in ("step", "time") and v is not None}
        values = [self._summary.Value(tag=k, simple_value=v) for k, v in numbers.items()]
        event = self._event(step=record["step"], wall_time=record.get("time", 0.0))
        event.summary.CopyFrom(self._summary(value=values))
        self._write(event)

    def _write(self, event: Any) -> None:
        self._writer.write(event.SerializeToString())
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()


def _board(folder: Path) -> _Board | None:
    """Return a fresh event file, or None without TensorBoard."""
    try:
        return _Board(folder)
    except ImportError:
        return None
