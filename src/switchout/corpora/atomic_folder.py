"""A folder that appears complete or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from switchout.errors import SwitchOutError


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
