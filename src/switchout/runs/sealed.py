"""Facts that notice when they were changed: JSON files with a hash of their content, and of others.

A torn file is no JSON any more; a flipped bit often still is. What older versions wrote has no seal
and is taken as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from switchout.errors import SwitchOutError
from switchout.files import read_json, sha256_of, write_json

SEAL = "seal"


def write_sealed(path: Path, facts: Mapping[str, Any]) -> None:
    """Write facts together with their hash.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "facts.json"
        >>> write_sealed(path, {"steps": 100})
        >>> read_sealed(path)["steps"]
        100
        >>> _ = path.write_text(path.read_text().replace("100", "900"))
        >>> read_sealed(path)  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        switchout.errors.SwitchOutError: ...facts.json: damaged, its content is not what was written
    """
    write_json(path, sealed(facts))


def sealed(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return facts with a hash of them."""
    plain = {name: value for name, value in facts.items() if name != SEAL}
    content = json.dumps(plain, sort_keys=True).encode()
    return {**plain, SEAL: sha256(content).hexdigest()}


def read_sealed(path: Path) -> dict[str, Any]:
    """Return what `write_sealed` wrote, or name the file that is damaged."""
    facts = read_json(path)
    if SEAL in facts and facts != sealed(facts):
        raise SwitchOutError(f"{path}: damaged, its content is not what was written")
    return facts


def hashes(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Return the sha256 of files, by name."""
    return {name: sha256_of(folder / name) for name in names}


def damaged(folder: Path, known: Mapping[str, str]) -> list[Path]:
    """Return the files that are not what their hashes say."""
    return [folder / name for name, value in known.items() if not _is(folder / name, value)]


def check_files(folder: Path, known: Mapping[str, str], *, advice: str) -> None:
    """Refuse files that are not what their hashes say."""
    if bad := damaged(folder, known):
        raise SwitchOutError(f"{bad[0]}: damaged or missing, not what was written; {advice}")


def _is(path: Path, value: str) -> bool:
    try:
        return sha256_of(path) == value
    except (OSError, SwitchOutError):
        return False
