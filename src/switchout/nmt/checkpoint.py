"""Checkpoints that are complete or absent, and known to be so.

* A checkpoint is a folder of safetensors and JSON; nothing in it can run code when read.
* It is written under another name, synced, and renamed: a kill leaves the old ones and a leftover.
* ``manifest.json``, written last, holds the sha256 of every file; a read checks it first.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from switchout.errors import SwitchOutError
from switchout.files import Draft

log = logging.getLogger(__name__)

FORMAT = 1
Tensors = Mapping[str, Any]  # name -> torch.Tensor


class DamagedCheckpoint(SwitchOutError):
    """A checkpoint that is not what was written; the message names the file and the damage."""


def write_checkpoint(folder: Path, tensors: Mapping[str, Tensors], facts: dict[str, Any]) -> None:
    """Write ``tensors`` (file stem -> name -> tensor) and ``facts`` so that ``folder`` is whole.

    Example:
        >>> import tempfile, torch
        >>> folder = Path(tempfile.mkdtemp()) / "step-7"
        >>> write_checkpoint(folder, {"model": {"w": torch.ones(2)}}, {"step": 7})
        >>> read_tensors(folder, "model")["w"], read_facts(folder)["step"]
        (tensor([1., 1.]), 7)
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Draft(folder, is_folder=True)  # in place of what a resumed run passes again
    try:
        write_files(draft.path, tensors, facts)
        draft.commit()
    finally:
        draft.discard()


def write_files(folder: Path, tensors: Mapping[str, Tensors], facts: dict[str, Any]) -> None:
    """Write the files of a checkpoint into a folder that the caller makes whole."""
    from safetensors.torch import save

    hashes = {}
    for stem, named in tensors.items():
        content = save({name: value.detach().cpu().clone() for name, value in named.items()})
        hashes[f"{stem}.safetensors"] = _write(folder / f"{stem}.safetensors", content)
    hashes["facts.json"] = _write(folder / "facts.json", _json({"format": FORMAT, **facts}))
    _write(folder / "manifest.json", _json(hashes))


def read_facts(folder: Path) -> dict[str, Any]:
    """Return what was noted beside the tensors."""
    content = _verified(folder, "facts.json")
    try:
        facts: dict[str, Any] = json.loads(content)
        written_by = facts["format"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise DamagedCheckpoint(f"{folder}/facts.json: not what switchout writes") from None
    if written_by != FORMAT:
        raise DamagedCheckpoint(
            f"{folder}: checkpoint format {written_by}, this version reads {FORMAT}"
        )
    return facts


def read_tensors(folder: Path, stem: str) -> dict[str, Any]:
    """Return the tensors of one file, on the CPU."""
    from safetensors import SafetensorError
    from safetensors.torch import load

    content = _verified(folder, f"{stem}.safetensors")
    try:
        tensors: dict[str, Any] = load(content)
    except SafetensorError as error:
        raise DamagedCheckpoint(f"{folder}/{stem}.safetensors: {error}") from None
    return tensors


def check(folder: Path) -> None:
    """Raise `DamagedCheckpoint` unless every file of ``folder`` is what was written."""
    for name in _manifest(folder):
        _verified(folder, name)


def is_whole(folder: Path) -> bool:
    """Return whether every file is what was written; say what is not."""
    try:
        check(folder)
        return True
    except DamagedCheckpoint as error:
        log.warning("%s: not used", error)
        return False


def step_folders(parent: Path) -> list[Path]:
    """Return the ``step-N`` folders below ``parent``, lowest step first."""
    folders = parent.glob("step-*") if parent.is_dir() else ()
    return sorted((f for f in folders if f.name[5:].isdecimal()), key=lambda f: int(f.name[5:]))


def newest_good(parent: Path) -> Path | None:
    """Return the newest undamaged checkpoint; damaged ones are named and set aside."""
    for folder in reversed(step_folders(parent)):
        if is_whole(folder):
            return folder
        aside = folder.with_name(f"damaged-{folder.name}")
        shutil.rmtree(aside, ignore_errors=True)
        folder.rename(aside)
    return None


def prune(parent: Path, *, keep: int) -> None:
    """Delete all but the newest ``keep`` checkpoints."""
    for folder in step_folders(parent)[:-keep]:
        shutil.rmtree(folder, ignore_errors=True)


def digest(tensors: Tensors) -> str:
    """Return one hash of all tensors, by name and bit pattern."""
    total = sha256()
    for name in sorted(tensors):
        raw = tensors[name].detach().cpu().contiguous().numpy().tobytes()
        total.update(name.encode() + b"\0" + raw)
    return total.hexdigest()


def _manifest(folder: Path) -> dict[str, str]:
    try:
        hashes = json.loads((folder / "manifest.json").read_bytes())
        return {str(name): str(value) for name, value in hashes.items()}
    except (FileNotFoundError, NotADirectoryError):
        raise DamagedCheckpoint(
            f"{folder}/manifest.json: missing, not a whole checkpoint"
        ) from None
    except (ValueError, AttributeError, RecursionError, IsADirectoryError):
        raise DamagedCheckpoint(f"{folder}/manifest.json: damaged") from None


def _verified(folder: Path, name: str) -> bytes:
    wanted = _manifest(folder).get(name)
    if wanted is None:
        raise DamagedCheckpoint(f"{folder}/{name}: not listed in manifest.json")
    try:
        content = (folder / name).read_bytes()
    except FileNotFoundError:
        raise DamagedCheckpoint(f"{folder}/{name}: missing") from None
    except IsADirectoryError:
        raise DamagedCheckpoint(f"{folder}/{name}: is a folder, expected a file") from None
    if sha256(content).hexdigest() != wanted:
        raise DamagedCheckpoint(f"{folder}/{name}: damaged, its hash is not the one written")
    return content


def _write(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    return sha256(content).hexdigest()


def _json(value: Any) -> bytes:
    return json.dumps(value, indent=1, allow_nan=False).encode()
