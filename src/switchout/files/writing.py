"""Writing files so that nothing half-done appears under a final name.

* Everything is written to a `Draft` beside its final name and renamed when it is complete.
* A draft has a name that nobody can foresee, is created exclusively and is locked while its writer
  lives. What a killed process left is therefore known, and removed by the next one that writes to
  the same folder.
* A link is followed: the file it points to is replaced, the link stays. A replaced file keeps its
  permissions. A pipe or device is written to, never replaced.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

from switchout.errors import SwitchOutError
from switchout.files.reading import FULL, FilePath, descriptor_of, is_stream, read_json

log = logging.getLogger(__name__)

_OURS = re.compile(r"\.switchout-[0-9a-f]{16}\.(?P<kind>partial|old)\.(?P<name>.+)")
_NAME_TAIL = 50  # characters of a long name that a draft's name keeps, suffixes included
_swept: set[Path] = set()  # folders where this process has looked for leftovers


class Draft:
    """A file or folder under a temporary name; `commit` gives it its own, `discard` removes it.

    Args:
        final: The name it shall have; a link there is followed.
        is_folder: A folder instead of a file.

    Attributes:
        path: Where to write: an empty file or folder that exists. It keeps the suffixes, so that
            writers which look at them (``.gz``) still work.
        final: The name, links resolved.

    Example:
        >>> folder = Path(tempfile.mkdtemp())
        >>> draft = Draft(folder / "a.txt")
        >>> _ = draft.path.write_text("hello")
        >>> draft.commit()
        >>> [p.name for p in folder.iterdir()]
        ['a.txt']
    """

    def __init__(self, final: FilePath, *, is_folder: bool = False) -> None:
        self.is_folder = is_folder
        self._lock: int | None = None
        with guard(final):
            self.final = Path(os.path.realpath(final))
            if self.final.is_symlink():  # what is left of a link that leads nowhere
                raise SwitchOutError(f"{final}: is a link to itself")
            if not self.final.parent.is_dir():
                raise SwitchOutError(f"{final}: the folder {Path(final).parent} does not exist")
            if self.final.is_dir() and not is_folder:
                raise SwitchOutError(f"{final}: is a folder, expected a file name")
            sweep(self.final.parent)
            before = self.final.stat() if self.final.exists() else None
            self._mode = None if before is None else before.st_mode & 0o777
            self.path, self._lock = _create(self.final, is_folder, before)

    def commit(self, *, sync: bool = True, aside: Path | None = None) -> None:
        """Bring the content to the disk and give it its name, in place of what was there.

        Args:
            sync: Wait for the disk.
            aside: The name that an earlier folder gets; None: it is removed.
        """
        with guard(self.final, self.path):
            if sync:
                for path in _files_below(self.path) if self.is_folder else [self.path]:
                    _sync(path)
            if self._mode is not None:
                self.path.chmod(self._mode)
            old = self._set_aside(aside) if self.is_folder else None
            try:
                self.path.replace(self.final)
            except OSError:
                if old is not None:
                    old.rename(self.final)
                raise
            if sync:
                _sync(self.final.parent)
        self.release()
        if old not in (None, aside):
            shutil.rmtree(old, ignore_errors=True)

    def discard(self) -> None:
        """Remove what has no name yet; after `commit` nothing."""
        if self._lock is None:
            return
        with suppress(OSError):
            remove(self.path)
        self.release()

    def _set_aside(self, aside: Path | None) -> Path | None:
        """Move an earlier folder away; `sweep` moves it back if we are killed before the next."""
        if not self.final.exists():
            return None
        old = aside or self.final.with_name(_draft_name(self.final.name, "old"))
        self.final.rename(old)
        return old

    def release(self) -> None:
        """Leave it as a killed process would: unfinished, for the next `sweep`."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


@contextmanager
def atomic(path: FilePath) -> Iterator[Path]:
    """Yield a temporary path to write to; on success it becomes ``path``, otherwise it goes away.

    Example:
        >>> folder = Path(tempfile.mkdtemp())
        >>> with atomic(folder / "a.txt") as partial:
        ...     _ = partial.write_text("hello")
        >>> [p.name for p in folder.iterdir()]
        ['a.txt']
    """
    if is_stream(path):
        with _sent_to_stream(path) as partial:
            yield partial
        return
    draft = Draft(path)
    try:
        with guard(path, draft.path):
            yield draft.path
        draft.commit()
    finally:
        draft.discard()


@contextmanager
def atomic_folder(folder: Path, *, marker: str) -> Iterator[Path]:
    """Yield a temporary folder to fill; on success it becomes ``folder``, otherwise it goes away.

    Args:
        folder: The final name. An empty folder there is replaced, and so is an earlier result,
            recognised by its file ``marker``; anything else is somebody's work, and an error. An
            earlier result that holds more than the new one has is set aside, not removed.
        marker: Name of a JSON file which every finished folder of this kind has.
    """
    refuse_foreign_folder(folder, marker=marker)
    made = _make_parents(folder)
    draft = None
    try:
        draft = Draft(folder, is_folder=True)
        with guard(folder, draft.path):
            yield draft.path
        aside = None if _replaces(draft.path, draft.final, marker) else free_name(draft.final)
        draft.commit(aside=aside)
        if aside is not None:
            log.warning("%s: held other files; the whole earlier folder is now %s", folder, aside)
    except BaseException:
        if draft is not None:
            draft.discard()
        for parent in made:
            with suppress(OSError):
                parent.rmdir()
        raise


def free_name(folder: Path) -> Path:
    """Return a name for a folder that is set aside."""
    names = (folder.with_name(f"{folder.name}.old-{n}") for n in count(1))
    return next(name for name in names if not os.path.lexists(name))


def _replaces(new: Path, old: Path, marker: str) -> bool:
    """Return whether nothing is lost if a folder is put in the place of an earlier one."""
    if not old.is_dir() or not any(old.iterdir()):
        return True
    try:
        of_one_kind = read_json(old / marker).keys() == read_json(new / marker).keys()
    except (SwitchOutError, AttributeError):  # no JSON, or no object
        return False
    return of_one_kind and _names_below(old) <= _names_below(new)


def _names_below(folder: Path) -> set[Path]:
    return {path.relative_to(folder) for path in folder.rglob("*")}


def write_text(path: FilePath, text: str) -> None:
    """Write a whole text file, atomically, as UTF-8 with ``\\n`` at line ends.

    What is no character (of a file name in another encoding) is written as its escape.
    """
    write_texts({path: text})


def write_texts(texts: Mapping[FilePath, str]) -> None:
    """Write several files, all of them or, if one cannot be written, none; see `write_text`."""
    with ExitStack() as stack:  # left in reverse order: pipes, which may fail, before the renames
        for path in sorted(texts, key=is_stream):
            partial = stack.enter_context(atomic(path))
            content = texts[path].encode("utf-8", "backslashreplace")
            with guard(path, partial):
                partial.write_bytes(content)


def write_json(path: FilePath, value: Any) -> None:
    """Write a JSON file, atomically, to be read again by `read_json`."""
    write_text(path, json.dumps(value, indent=1) + "\n")


def refuse_foreign_folder(folder: Path, *, marker: str) -> None:
    """Refuse to make ``folder`` where it is a file, or holds what is not ours."""
    if folder.exists() and not folder.is_dir():
        raise SwitchOutError(f"{folder}: is a file, expected a folder to make")
    if folder.is_dir() and not (folder / marker).is_file() and any(folder.iterdir()):
        raise SwitchOutError(f"{folder}: exists and has no {marker}: choose another folder")


def sweep(folder: Path, *, again: bool = False) -> None:
    """Remove what killed processes left half-written in a folder, once per folder and process.

    Only drafts of ours, of the same user, whose writer is gone: they are no longer locked. A folder
    that was set aside when its replacement was killed gets its name back.
    """
    if folder in _swept and not again:
        return
    _swept.add(folder)
    with suppress(OSError):
        for entry in list(os.scandir(folder)):
            if match := _OURS.fullmatch(entry.name):
                with suppress(OSError):
                    _sweep_one(Path(entry.path), match)


def _sweep_one(path: Path, match: re.Match[str]) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if os.fstat(descriptor).st_uid != os.geteuid():
            return
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises while the writer lives
        named = path.with_name(match["name"])
        if match["kind"] == "old" and not named.exists():
            path.rename(named)
        else:
            remove(path)
    finally:
        os.close(descriptor)


@contextmanager
def guard(path: FilePath, draft: Path | None = None) -> Iterator[None]:
    """Turn what the system refuses while ``path`` is written into one line that names it."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        is_full = error.errno in FULL
        is_ours = draft is None or str(error.filename or "").startswith(str(draft))
        if not is_full and not is_ours:
            raise
        reason = error.strerror or error
        raise SwitchOutError(f"{path}: cannot be written ({reason})") from None
    except ValueError as error:
        if "null byte" not in str(error):
            raise
        raise SwitchOutError(f"{path!r}: not a file name (it has a null byte)") from None


def _create(final: Path, is_folder: bool, before: os.stat_result | None) -> tuple[Path, int]:
    """Create a draft nobody else has, seen by no more people than ``before``, and lock it."""
    everybody = 0o777 if is_folder else 0o666  # less the user's umask
    mode = everybody if before is None else before.st_mode & 0o777
    while True:
        path = final.with_name(_draft_name(final.name, "partial"))
        if is_folder:
            path.mkdir(mode=mode | stat.S_IRWXU)
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        else:
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            descriptor = os.open(path, flags, mode | stat.S_IRUSR | stat.S_IWUSR)
        with suppress(OSError):  # a file system without locks: then nothing is swept either
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is_still(path, descriptor):  # not swept between its creation and the lock
            break
        os.close(descriptor)
    if before is not None:
        with suppress(OSError):
            os.fchown(descriptor, before.st_uid, before.st_gid)
    return path, descriptor


def _is_still(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.lstat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _draft_name(name: str, kind: str) -> str:
    return f".switchout-{secrets.token_hex(8)}.{kind}.{name[-_NAME_TAIL:]}"


@contextmanager
def _sent_to_stream(path: FilePath) -> Iterator[Path]:
    """Yield a private file whose content goes to a pipe or device once it is complete."""
    with tempfile.TemporaryDirectory(prefix="switchout-") as folder:
        partial = Path(folder) / (Path(path).name.lstrip("-") or "stdout")
        partial.touch()
        yield partial
        number = 1 if os.fspath(path) == "-" else descriptor_of(path)
        with guard(path), partial.open("rb") as source:
            # The descriptor itself: opening its name would cut a file the shell appends to.
            place: Any = path if number is None else os.dup(number)
            with open(place, "wb") as target:
                shutil.copyfileobj(source, target)


def _make_parents(folder: Path) -> list[Path]:
    """Make the folders above ``folder``; return the new ones, the deepest first."""
    parents = Path(os.path.realpath(folder)).parents
    missing = [parent for parent in parents if not parent.exists()]
    with guard(folder):
        for parent in reversed(missing):
            parent.mkdir(exist_ok=True)
    return missing


def remove(path: Path) -> None:
    """Remove a file or a whole folder; nothing, if it is not there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _files_below(folder: Path) -> list[Path]:
    return [path for path in [*folder.rglob("*"), folder] if not path.is_symlink()]


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
