"""The folder of a run in parts: what stands in it, and who may write there.

* ``manifest.json``: what is done to which input, and the parts it was cut into;
* ``000012.src``, ``000012.tgt``: the output of part 12, complete once it has this name;
* ``000012.json``: its counts and the size and hash of its files, written last;
* ``input.0``: a compressed input, unpacked; ``.driver``: locked by the one driver.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from switchout.errors import SwitchOutError
from switchout.files import read_json, sha256_of, write_json
from switchout.files.writing import sweep
from switchout.text.tally import Tally

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class PartFolder:
    """The folder of a run in parts.

    Attributes:
        path: Where.
        endings: Of the output files of a part, such as ``.src.gz``.
    """

    path: Path
    endings: tuple[str, ...]

    @property
    def manifest(self) -> Path:
        """The file that says what is done to which input, and in which parts."""
        return self.path / "manifest.json"

    @property
    def lock(self) -> Path:
        """The file that the driver locks; in the end it holds the result."""
        return self.path / ".driver"

    def copy_of_input(self, index: int) -> Path:
        """Return where a compressed input is unpacked to."""
        return self.path / f"input.{index}"

    def outputs(self, index: int) -> list[Path]:
        """Return the output files of a part."""
        return [self.path / f"{index:06d}{ending}" for ending in self.endings]

    def record(self, index: int) -> Path:
        """Return the file that says that a part is done."""
        return self.path / f"{index:06d}.json"

    def finished(self, index: int, *, verify: bool) -> Tally | None:
        """Return the numbers of a part if it is done and its files are as it left them.

        Args:
            index: Which part.
            verify: Compare hashes, not only sizes.
        """
        try:
            record = read_json(self.record(index))
            for path, entry in zip(self.outputs(index), record["files"], strict=True):
                if path.stat().st_size != entry["bytes"]:
                    return None
                if verify and sha256_of(path) != entry["sha256"]:
                    return None
            return Tally.from_dict(record["counts"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def save(self, index: int, tally: Tally) -> None:
        """Declare a part done."""
        files = [
            {"name": path.name, "bytes": path.stat().st_size, "sha256": sha256_of(path)}
            for path in self.outputs(index)
        ]
        write_json(self.record(index), {"files": files, "counts": tally.to_dict()})

    def total(self, n_parts: int, *, verify: bool) -> Tally:
        """Return the numbers of all parts, which must be done."""
        total = Tally()
        for index in range(n_parts):
            tally = self.finished(index, verify=verify)
            if tally is None:
                raise SwitchOutError(f"{self.record(index)}: missing or damaged; run again")
            total.merge(tally)
        return total

    def remove(self) -> None:
        """Remove all that is ours, the lock last: whoever resumes after a kill still finds it."""
        sweep(self.path, again=True)
        ours = re.compile(r"input\.\d+|\d{6,}\.\w+(\.\w+)?|manifest\.json")
        for path in self.path.iterdir():
            if ours.fullmatch(path.name):
                path.unlink()
        self.lock.unlink()
        with suppress(OSError):  # somebody put a file of his own there
            self.path.rmdir()


@contextmanager
def only_driver(folder: PartFolder) -> Iterator[BinaryIO]:
    """Yield the locked file of a folder's driver; wait while there is another driver.

    The system drops the lock of a process that dies: there is no clock to be wrong.
    """
    if not folder.path.parent.is_dir():
        raise SwitchOutError(f"{folder.path}: the folder {folder.path.parent} does not exist")
    while True:
        folder.path.mkdir(exist_ok=True)
        try:
            lock = folder.lock.open("a+b")
        except FileNotFoundError:  # a driver that has just finished removed the folder
            continue
        with lock:
            _wait_for(lock, folder.path)
            lock.seek(0)
            is_there = _is_open_as(folder.lock, lock)
            if is_there or lock.read(1):  # otherwise it was removed before there was a result
                yield lock
                return


@contextmanager
def tidy_if_refused(folder: PartFolder, before: set[Path]) -> Iterator[None]:
    """Leave no trace of a run that is refused before its first part is done.

    Args:
        folder: Of the run, locked.
        before: What stood in it before the run; none of that is touched.
    """
    try:
        yield
    except SwitchOutError:
        if not before and not any(folder.path.glob("[0-9]*.json")):
            folder.remove()
        elif folder.lock not in before and not folder.manifest.exists():
            folder.lock.unlink(missing_ok=True)
        raise


def _is_open_as(path: Path, lock: BinaryIO) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(lock.fileno()))
    except FileNotFoundError:
        return False


def _wait_for(lock: BinaryIO, path: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        log.warning("%s: another process works there; waiting for it", path)
        fcntl.flock(lock, fcntl.LOCK_EX)


def write_result(
    lock: BinaryIO, run: dict[str, Any], outputs: list[str], total: Tally, data_hash: str
) -> None:
    """Say what became of the run, for a driver that waits, or resumes half a clean-up."""
    result = {
        "run": run,
        "outputs": _sizes(outputs),
        "counts": total.to_dict(),
        "data_hash": data_hash,
    }
    lock.truncate(0)
    lock.write(json.dumps(result).encode())
    lock.flush()
    os.fsync(lock.fileno())


def read_result(lock: BinaryIO, run: dict[str, Any], outputs: list[str]) -> dict[str, Any] | None:
    """Return what another driver of the same run left, if its outputs are still there."""
    lock.seek(0)
    try:
        result = json.loads(lock.read())
        is_same = result["run"] == run and result["outputs"] == _sizes(outputs)
    except (OSError, ValueError, KeyError, TypeError):  # most often: empty
        return None
    return result if is_same else None


def _sizes(outputs: list[str]) -> list[list[Any]]:
    return [[os.path.realpath(path), Path(path).stat().st_size] for path in outputs]
