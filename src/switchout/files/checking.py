"""One check for all verbs, before any work: no output destroys an input, another output, or a file
that is not an earlier result.

Files are compared by what they are (device and number), not by their names: another spelling, a
symbolic or hard link and ``/dev/fd/3`` are seen through.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from switchout.errors import SwitchOutError
from switchout.files.reading import FilePath, descriptor_of, is_stream, read_start
from switchout.files.writing import Draft, guard, refuse_foreign_folder

Inputs = Mapping[str, FilePath | Iterable[FilePath] | None]
Identity = tuple[int, int] | tuple[int, int, str]


def check_outputs(
    outputs: Mapping[str, FilePath | None],
    inputs: Inputs | None = None,
    *,
    begins: Mapping[str, bytes] | None = None,
) -> None:
    """Refuse outputs that are an input, one file, somebody's work, or that cannot be written.

    Args:
        outputs: Parameter -> file to be written, ``-`` for standard output; None: not asked for.
        inputs: Parameter -> file or files to be read, ``-`` for standard input.
        begins: Parameter -> how all its results begin, in lower case: a file that begins otherwise
            is not replaced. A corpus has no such beginning; an earlier one is replaced.

    Example:
        >>> check_outputs({"csv": "/dev/null"}, {"ref": "a.txt"})
        >>> check_outputs({"csv": "a.txt"}, {"ref": "./a.txt"})
        Traceback (most recent call last):
        switchout.errors.SwitchOutError: csv=a.txt: is also the input ref=; name another file
    """
    read = {_identity(path, 0): name for name, path in _each(inputs or {})}
    written: dict[Identity, str] = {}
    for name, path in outputs.items():
        if path is None:
            continue
        identity = _identity(path, 1)
        if identity is not None and identity in read:
            raise SwitchOutError(
                f"{shown(name, path)}: is also the input {shown(read[identity])}; name another file"
            )
        if identity is not None and identity in written:
            raise SwitchOutError(
                f"{shown(written[identity])} and {shown(name)} are one file; name two"
            )
        if identity is not None:
            written[identity] = name
    for name, path in outputs.items():
        if path is not None:
            _check_writable(name, path)
    for name, start in (begins or {}).items():
        _refuse_foreign_file(name, outputs[name], begins=start)


def _refuse_foreign_file(name: str, path: FilePath | None, *, begins: bytes) -> None:
    if path is None or is_stream(path) or not os.path.isfile(path):
        return
    start = read_start(path, len(begins)).lower()
    if start not in (b"", begins):
        raise SwitchOutError(
            f"{shown(name, path)}: a file that does not begin with {begins.decode()!r} is there;"
            " remove it, or name another"
        )


def check_output_folder(
    name: str, folder: FilePath, inputs: Inputs | None = None, *, marker: str | None = None
) -> None:
    """Refuse a folder to be made that is an input, holds one, or cannot be made.

    Args:
        name: Parameter that names it.
        folder: To be made, or replaced.
        inputs: Parameter -> file, folder or several of them to be read.
        marker: What a folder of this kind has; one without it is refused (see `atomic_folder`).
    """
    final = Path(os.path.realpath(folder))
    for source, path in _each(inputs or {}):
        if not is_stream(path) and Path(os.path.realpath(path)).is_relative_to(final):
            raise SwitchOutError(
                f"{shown(name, folder)}: holds the input {shown(source)}; name another folder"
            )
    if marker is not None:
        refuse_foreign_folder(Path(folder), marker=marker)
    existing = next(path for path in (final, *final.parents) if path.exists())
    if not existing.is_dir():
        raise SwitchOutError(f"{shown(name, folder)}: {existing} is a file, not a folder")
    with guard(shown(name, folder)):
        Draft(existing / ".switchout-probe").discard()


def shown(name: str, value: FilePath = "") -> str:
    """Return a parameter and its value as Python spells them; any other name stands as it is.

    Example:
        >>> shown("out", "a.txt"), shown("the vocabulary", "a.txt")
        ('out=a.txt', 'the vocabulary a.txt')
    """
    return f"{name}{'=' if name.isidentifier() else ' '}{os.fspath(value)}".rstrip()


def _each(inputs: Inputs) -> Iterable[tuple[str, FilePath]]:
    for name, value in inputs.items():
        if isinstance(value, str | os.PathLike):
            yield name, value
        elif value is not None:
            yield from ((name, path) for path in value)


def _identity(path: FilePath, standard: int) -> Identity | None:
    """Return what a path is; None for what may be shared (``/dev/null``, a terminal)."""
    name = os.fspath(path)
    number = standard if name == "-" else descriptor_of(name)
    try:
        status = os.stat(name) if number is None else os.fstat(number)
    except FileNotFoundError:
        return _identity_of_absent(name)
    except (OSError, ValueError):
        return None  # opening it will say what is wrong
    if number is not None and not stat.S_ISREG(status.st_mode):
        return (-1, number)  # standard input and output may be one terminal or socket
    return None if stat.S_ISCHR(status.st_mode) else (status.st_dev, status.st_ino)


def _identity_of_absent(name: str) -> Identity | None:
    real = Path(os.path.realpath(name))
    try:
        folder = os.stat(real.parent)
    except OSError:
        return None
    return folder.st_dev, folder.st_ino, real.name


def _check_writable(name: str, path: FilePath) -> None:
    """Make and remove a draft: only that shows that the folder takes one."""
    if is_stream(path):
        return
    if os.path.isfile(path) and not os.access(path, os.W_OK):
        raise SwitchOutError(f"{shown(name, path)}: cannot be written (it is read-only)")
    try:
        Draft(path).discard()
    except SwitchOutError as error:
        raise SwitchOutError(shown(name, str(error))) from None
