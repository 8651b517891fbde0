"""Fetching one file over HTTP, resumed where it broke, checked before it gets its name.

* What has arrived stands in ``<file>.part``; the next attempt asks only for the rest.
* ``<file>.part.tag`` remembers which version of the file the part belongs to (ETag or date), so
  that two versions are never glued together.
* The file gets its name when length and checksum are right.
"""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.request
from pathlib import Path

from switchout.errors import SwitchOutError
from switchout.files import sha256_of
from switchout.progress import Meter

ATTEMPTS = 5
TIMEOUT = 60.0  # seconds without a byte
CHUNK = 1 << 18


def download(url: str, path: Path, *, sha256: str | None = None, patience: float = 1.0) -> Path:
    """Fetch ``url`` to ``path``; a file that is there already and right is not fetched again.

    Args:
        url: An http or https address.
        path: Where the file goes; ``path.part`` beside it holds an unfinished one.
        sha256: Expected checksum, if known.
        patience: Seconds before the second attempt; doubled each time.
    """
    if path.exists():
        _check_sum(url, path, sha256)
        return path
    part = path.with_name(path.name + ".part")
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(patience * 2 ** (attempt - 1))
        try:
            expected = _fetch_rest(url, part)
        except urllib.error.HTTPError as error:
            if error.code < 500:
                raise SwitchOutError(
                    f"{url}: the server says {error.code} {error.reason}"
                ) from None
            reason = f"the server says {error.code} {error.reason}"
            continue
        except (OSError, http.client.HTTPException) as error:
            reason = str(getattr(error, "reason", error)) or type(error).__name__
            continue
        arrived = part.stat().st_size
        if expected is None or arrived == expected:
            _check_sum(url, part, sha256)
            _tag_file(part).unlink(missing_ok=True)
            return part.rename(path)
        reason = f"cut at {arrived:,} of {expected:,} bytes"
        if arrived > expected:
            part.unlink()
    kept = f"; {part} is kept: run the same command again to resume" if part.exists() else ""
    raise SwitchOutError(f"{url}: {reason}, {ATTEMPTS} attempts{kept}")


def _fetch_rest(url: str, part: Path) -> int | None:
    """Append what is missing to ``part``; return the whole file's length, if the server says."""
    start = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"User-Agent": "switchout"})
    tag_file = _tag_file(part)
    if start and tag_file.exists():
        request.add_header("Range", f"bytes={start}-")
        request.add_header("If-Range", tag_file.read_text(encoding="utf-8"))
    try:
        response = urllib.request.urlopen(request, timeout=TIMEOUT)
    except urllib.error.HTTPError as error:
        if error.code != 416:
            raise
        # Nothing left to send: the part is whole, or not a part of this file at all.
        total = (error.headers.get("Content-Range") or "").rpartition("/")[2]
        if total == str(start):
            return start
        part.unlink()
        raise OSError("the server's file is shorter than what is here; starting again") from None
    with response:
        is_rest = response.status == 206 and _range_start(response) == start
        length = _whole(response.headers.get("Content-Length"))
        _remember_version(tag_file, response)
        start = start if is_rest else 0
        total_bytes = start + length if length is not None else None
        with (
            part.open("ab" if is_rest else "wb") as handle,
            Meter(f"get {url}", total=total_bytes, unit="bytes", done=start) as meter,
        ):
            while chunk := response.read(CHUNK):
                handle.write(chunk)
                meter.advance(len(chunk))
    return total_bytes


def _whole(text: str | None) -> int | None:
    """Return the number in a header, None if there is none: servers send anything."""
    is_number = text is not None and len(text) < 20 and text.isascii() and text.isdigit()
    return int(text) if text is not None and is_number else None


def _range_start(response: http.client.HTTPResponse) -> int | None:
    header = response.headers.get("Content-Range") or ""
    return _whole(header.removeprefix("bytes ").partition("-")[0])


def _remember_version(tag_file: Path, response: http.client.HTTPResponse) -> None:
    """Without a tag the next attempt starts over; a weak one (``W/``) may not be used to resume."""
    tag = response.headers.get("ETag") or response.headers.get("Last-Modified")
    is_plain = tag is not None and tag.isascii() and tag.isprintable() and len(tag) < 1000
    if tag and is_plain and not tag.startswith("W/"):
        tag_file.write_text(tag, encoding="utf-8")
    else:
        tag_file.unlink(missing_ok=True)


def _tag_file(part: Path) -> Path:
    return part.with_name(part.name + ".tag")


def _check_sum(url: str, path: Path, sha256: str | None) -> None:
    """Compare with the known checksum; what is wrong goes away, so that nothing is built on it."""
    if sha256 is None:
        return
    found = sha256_of(path)
    if found != sha256:
        path.unlink()
        raise SwitchOutError(
            f"{url}: wrong checksum (sha256 {found}, expected {sha256}): the file has changed or "
            "was damaged on its way; it was removed, try again"
        )
