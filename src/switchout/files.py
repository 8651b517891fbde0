"""Reading and writing files so that nothing half-done or half-read goes unnoticed.

* Lines end at ``\\n`` and nowhere else: U+2028 and ``\\r`` are part of a sentence.
* A final name appears only when its content is complete (`atomic`, `atomic_folder`).
* Every error names the file, and the line where there is one.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from switchout.errors import SwitchOutError


@contextmanager
def atomic(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path beside ``path``; on success sync it and rename it to ``path``.

    The temporary name keeps the suffixes, so that writers which look at them (``.gz``) still work.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> with atomic(folder / "a.txt") as partial:
        ...     _ = partial.write_text("hello")
        >>> [p.name for p in folder.iterdir()]
        ['a.txt']
    """
    path = Path(path)
    if path.exists() and not path.is_file():
        yield path  # a device or pipe is written to, never replaced
        return
    partial = path.with_name(f".{os.getpid()}.partial.{path.name}")
    try:
        yield partial
        with partial.open("rb+") as handle:
            os.fsync(handle.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def atomic_folder(folder: Path, *, marker: str) -> Iterator[Path]:
    """Yield a temporary folder beside ``folder``; on success sync it and rename it.

    Args:
        folder: The final name. An empty folder there is replaced, and so is an earlier result,
            recognised by its file ``marker``; anything else is somebody's work, and an error.
        marker: Name of a file which every finished folder of this kind has.
    """
    if folder.exists() and not (folder / marker).is_file() and any(folder.iterdir()):
        raise SwitchOutError(f"{folder}: exists and has no {marker}: choose another folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = folder.with_name(f".{os.getpid()}.partial.{folder.name}")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    try:
        yield partial
        for path in [path for path in partial.rglob("*") if path.is_file()]:
            with path.open("rb+") as handle:
                os.fsync(handle.fileno())
        if folder.exists():
            old = folder.with_name(f".{os.getpid()}.old.{folder.name}")
            folder.rename(old)
            partial.rename(folder)
            shutil.rmtree(old)
        else:
            partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn what goes wrong while ``path`` is read into one line that names it."""
    try:
        yield
    except FileNotFoundError:
        raise SwitchOutError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise SwitchOutError(f"{path}: is a folder, expected a file") from None
    except Exception as error:  # gzip, lzma, bz2 and zstd each raise their own kind
        is_of_the_system = isinstance(error, OSError) and error.errno is not None
        if is_of_the_system or isinstance(error, MemoryError | SwitchOutError):
            raise
        raise SwitchOutError(f"{path}: damaged or truncated archive ({error})") from None


@contextmanager
def open_bytes(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for reading, decompressed by suffix; all that goes wrong names the file."""
    from xopen import xopen

    with naming(path), xopen(path, "rb", threads=0) as handle:
        yield handle


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the whole content, decompressed by suffix; a damaged archive is an error."""
    with open_bytes(path) as handle:
        return handle.read()


def read_lines(path: str | os.PathLike[str]) -> list[str]:
    """Return the lines of a UTF-8 text file, without their ``\\n``, decompressed by suffix."""
    content = read_bytes(path)
    try:
        lines = content.decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise SwitchOutError(f"{path}:{line}: not valid UTF-8 ({error.reason})") from None
    if lines[-1] == "":
        lines.pop()
    return lines
