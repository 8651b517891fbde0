"""Reading files so that nothing half-read goes unnoticed, and every error names the file.

Lines end at ``\\n`` and nowhere else: U+2028 and ``\\r`` are part of a sentence.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from switchout.errors import SwitchOutError

FilePath = str | os.PathLike[str]
COMPRESSED = (".gz", ".xz", ".bz2", ".zst")  # suffixes; all are read and written
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EPIPE)
JSON_BYTES = 256 << 20  # more is no file of ours, and would take minutes to read
TOML_BYTES = 1 << 20
START_BYTES = 4096  # by which a file is judged
_PACKED = (  # suffix, program, how the content begins, which is no text
    (".gz", "gzip", rb"\x1f\x8b"),
    (".xz", "xz", rb"\xfd7zXZ\0"),
    (".bz2", "bzip2", rb"BZh[1-9]1AY&SY"),
    (".zst", "zstd", rb"\x28\xb5\x2f\xfd"),
)
_OTHER = (  # how the content begins, what it is, what to do; a small one may be valid UTF-8
    # Of Thrift, the fifth byte: PAR1 alone may be a word of the text.
    (b"PAR1\x15", "a Parquet file", "'switchout augment' reads it as --pairs FILE.parquet"),
    (b"PK\x03\x04", "a zip archive, as .docx, .xlsx and .npz are", "save it as text first"),
    (b"%PDF-", "a PDF", "save it as text first"),
)
_MARK = b"\xef\xbb\xbf"  # of UTF-8, which has no byte order
_WIDE_MARKS = (  # UTF-32 first: its mark begins as that of UTF-16
    (b"\xff\xfe\0\0", "UTF-32"),
    (b"\0\0\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
_DESCRIPTOR = re.compile(r"/dev/(std(?:in|out|err))|/dev/fd/(\d+)|/proc/(\w+)/fd/(\d+)")
_STANDARD = {"stdin": 0, "stdout": 1, "stderr": 2}


def is_stream(path: FilePath) -> bool:
    """Return whether ``path`` can be read or written only once, from beginning to end.

    So are ``-``, pipes, FIFOs, terminals, devices, process substitutions (``<(zcat a.gz)``) and
    whatever else names an open descriptor, such as ``/dev/stdin``, behind any links.

    Example:
        >>> is_stream("-"), is_stream("/dev/null"), is_stream("/dev/fd/0"), is_stream("absent.txt")
        (True, True, True, False)
    """
    name = os.fspath(path)
    if name == "-" or descriptor_of(name) is not None:
        return True
    try:
        mode = os.stat(name).st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def descriptor_of(path: FilePath) -> int | None:
    """Return the number of our open descriptor that ``path`` names, behind any links, or None."""
    name = os.path.abspath(path)
    for _ in range(40):  # the kernel follows no more links either
        folder, last = os.path.split(name)
        for spelling in (name, os.path.join(os.path.realpath(folder), last)):
            if match := _DESCRIPTOR.fullmatch(spelling):
                standard, number, process, of_process = match.groups()
                if process in (None, "self", str(os.getpid())):
                    return _STANDARD[standard] if standard else int(number or of_process)
        try:
            name = os.path.normpath(os.path.join(os.path.realpath(folder), os.readlink(name)))
        except (OSError, ValueError):
            return None
    return None


def is_standard_output(path: FilePath | None) -> bool:
    """Return whether writing to ``path`` is writing to standard output.

    Example:
        >>> is_standard_output("-"), is_standard_output("/dev/stdout"), is_standard_output("a.txt")
        (True, True, False)
    """
    return path is not None and (os.fspath(path) == "-" or descriptor_of(path) == 1)


@contextmanager
def spooled(path: FilePath) -> Iterator[Path]:
    """Yield a file with the content of ``path`` that can be read as often as needed.

    That is ``path`` itself, or for a stream a private copy, as it is (compressed if it was), which
    goes away after the block.

    Example:
        >>> with spooled("/dev/null") as copy:
        ...     copy.read_bytes(), copy.read_bytes()
        (b'', b'')
    """
    if not is_stream(path):
        yield Path(path)
        return
    with tempfile.TemporaryDirectory(prefix="switchout-") as folder:
        copy = Path(folder) / (Path(path).name if os.fspath(path) != "-" else "stdin")
        with _open_stream(path) as source, copy.open("xb") as target:
            shutil.copyfileobj(source, target)
        yield copy


@contextmanager
def _open_stream(path: FilePath) -> Iterator[BinaryIO]:
    with named_errors(path):
        if os.fspath(path) == "-":
            with open(0, "rb", closefd=False) as handle:
                yield handle
        else:
            _refuse_endless_device(path)
            with open(path, "rb") as handle:
                yield handle


@contextmanager
def named_errors(path: FilePath) -> Iterator[None]:
    """Turn what goes wrong while ``path`` is read into one line that names it."""
    try:
        yield
    except FileNotFoundError:
        raise SwitchOutError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise SwitchOutError(f"{path}: is a folder, expected a file") from None
    except Exception as error:  # gzip, lzma, bz2 and zstd each raise their own kind
        if isinstance(error, OSError) and error.errno is not None:
            if error.filename is not None or error.errno in FULL:
                raise  # named already, or of what is written meanwhile
            raise SwitchOutError(f"{path}: cannot be read ({error.strerror})") from None
        if isinstance(error, MemoryError | SwitchOutError):
            raise
        if isinstance(error, ValueError) and "null byte" in str(error):
            raise SwitchOutError(f"{path!r}: not a file name (it has a null byte)") from None
        raise SwitchOutError(f"{path}: damaged or truncated archive ({error})") from None


def read_start(path: FilePath, n_bytes: int) -> bytes:
    """Return the first bytes of a file, as they are."""
    with named_errors(path), open(path, "rb") as handle:
        return handle.read(n_bytes)


def refuse_unless_plain(path: FilePath, start: bytes) -> None:
    """Refuse what would be read as words and is none, by the first bytes of a file.

    That is compressed text, files of other programs, a byte-order mark, and UTF-16 and UTF-32,
    whose lines do not end at a newline.

    Example:
        >>> refuse_unless_plain("a.de", "Hund und Katze".encode("utf-16-le"))
        Traceback (most recent call last):
        switchout.errors.SwitchOutError: a.de: looks like UTF-16LE: convert it to UTF-8 first \
(iconv -f utf-16le -t utf-8)
    """
    name = "standard input" if os.fspath(path) == "-" else path
    for suffix, program, beginning in _PACKED:
        if re.match(beginning, start):
            raise SwitchOutError(
                f"{name}: compressed by {program}, not text: let its name end in {suffix}, or"
                f" unpack it first ({program} -dc)"
            )
    for first_bytes, other, advice in _OTHER:
        if start.startswith(first_bytes):
            raise SwitchOutError(f"{name}: {other}, not text: {advice}")
    if start.startswith(_MARK):
        raise SwitchOutError(
            f"{name}: begins with a byte-order mark, which would be part of the first word: take"
            " it off first (tail -c +4)"
        )
    if (kind := _wide_kind(start[:START_BYTES])) is not None:
        raise SwitchOutError(
            f"{name}: looks like {kind}: convert it to UTF-8 first"
            f" (iconv -f {kind.lower()} -t utf-8)"
        )


def _wide_kind(start: bytes) -> str | None:
    """Return which of UTF-16 and UTF-32 a file is in, if any.

    Without a byte-order mark they are known by NUL bytes, in UTF-16 at either the even or the odd
    places. A NUL here and there is a part of a word.
    """
    for mark, kind in _WIDE_MARKS:
        if start.startswith(mark):
            return kind
    even, odd = start[::2].count(0), start[1::2].count(0)
    if even + odd < max(8, 0.1 * len(start)):
        return None
    if even * odd == 0:
        return "UTF-16LE" if odd else "UTF-16BE"
    return "UTF-32" if even + odd >= 0.5 * len(start) else None


@contextmanager
def open_bytes(path: FilePath) -> Iterator[BinaryIO]:
    """Open a file for reading, decompressed by suffix; all that goes wrong names the file."""
    from xopen import xopen

    with named_errors(path):
        _refuse_endless_device(path)
        with xopen(path, "rb", threads=0) as handle:
            yield handle


def _refuse_endless_device(path: FilePath) -> None:
    """``/dev/zero`` and its like never end; a terminal and ``/dev/null`` do."""
    try:
        status = os.stat(path)
    except OSError:
        return  # opening it will say what is wrong
    if stat.S_ISCHR(status.st_mode) and status.st_rdev != os.stat(os.devnull).st_rdev:
        with open(path, "rb", buffering=0) as handle:
            if not handle.isatty():
                raise SwitchOutError(f"{path}: is a device, expected a file")


def read_bytes(path: FilePath, *, limit: int | None = None) -> bytes:
    """Return the whole content, decompressed by suffix; a damaged archive is an error.

    Args:
        path: File to read.
        limit: Refuse what is longer.
    """
    with open_bytes(path) as handle:
        if limit is None:
            return handle.read()
        content = handle.read(limit + 1)
    if len(content) > limit:
        raise SwitchOutError(f"{path}: more than {limit >> 20} MB, too large for such a file")
    return content


def sha256_of(path: FilePath) -> str:
    """Return the sha256 of a file as it stands on the disk."""
    with named_errors(path), open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def read_lines(path: FilePath) -> list[str]:
    """Return the lines of a UTF-8 text file, without their ``\\n``, decompressed by suffix."""
    content = read_bytes(path)
    refuse_unless_plain(path, content[:START_BYTES])
    try:
        lines = content.decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise SwitchOutError(f"{path}:{line}: not valid UTF-8 ({error.reason})") from None
    if lines[-1] == "":
        lines.pop()
    return lines


def read_json(path: FilePath) -> dict[str, Any]:
    """Return the JSON object in a file; anything else (a list, torn or far too deep) is refused.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "facts.json"
        >>> _ = path.write_text('{"pairs": 3}')
        >>> read_json(path)
        {'pairs': 3}
    """
    import json

    content = read_bytes(path, limit=JSON_BYTES)
    try:
        value = json.loads(content)
    except RecursionError:
        raise SwitchOutError(f"{path}: damaged, or no file of ours (nested too deep)") from None
    except ValueError as error:
        raise SwitchOutError(f"{path}: damaged, not valid JSON ({error})") from None
    if not isinstance(value, dict):
        raise SwitchOutError(f"{path}: expected a JSON object, found {_kind(value)}")
    if b"\\ud" in content or b"\\uD" in content:
        _refuse_lone_surrogates(path, value)
    return value


def read_toml(path: FilePath) -> dict[str, Any]:
    """Return the tables of a TOML file."""
    import tomllib

    content = read_bytes(path, limit=TOML_BYTES)
    try:
        return tomllib.loads(content.decode("utf-8"))
    except RecursionError:
        raise SwitchOutError(f"{path}: not valid TOML: nested too deep") from None
    except ValueError as error:  # of tomllib, of UTF-8, and of numbers with thousands of digits
        raise SwitchOutError(f"{path}: not valid TOML: {error}") from None


def _refuse_lone_surrogates(path: FilePath, value: Any) -> None:
    """Half a character (``"\\ud800"``) is legal in JSON and in no text that is written."""
    import json

    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise SwitchOutError(f"{path}: damaged, it holds half a character (\\ud…)") from None


def _kind(value: Any) -> str:
    kinds = {list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")
