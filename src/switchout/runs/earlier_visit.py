"""What an earlier visit to a run's folder noted, checked against what is asked now.

A folder that is found again must be of the same configuration, text and files. Notes that are
damaged come back from the newest whole checkpoint, which has a copy.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from pathlib import Path
from typing import Any

from switchout.corpora import Corpus
from switchout.errors import SwitchOutError
from switchout.files.writing import remove
from switchout.nmt.checkpoint import is_whole, read_facts, step_folders
from switchout.runs.config import Config, flatten
from switchout.runs.config_file import changed_keys, file_hashes, run_key
from switchout.runs.folder import LEARNED, SIGNATURE, own_files, read_run_config
from switchout.runs.sealed import read_sealed

log = logging.getLogger(__name__)

RESTART = "restart=True to move this run aside"


def earlier_visit(config: Config, folder: Path, corpus: Corpus) -> dict[str, Any] | None:
    """Return what an earlier visit noted, checked against the configuration; None for a new run."""
    try:
        known = _noted(folder)
    except SwitchOutError as error:
        if (known := _noted_in_checkpoints(folder)) is None:
            if own_files(folder) | {SIGNATURE} >= {path.name for path in folder.iterdir()}:
                log.warning("%s; nothing was learned yet, made again", error)
                remove(folder / SIGNATURE)
                return None
            raise SwitchOutError(f"{error}; restore it, or {RESTART}") from None
        log.warning("%s; made again from the checkpoints", error)
        remove(folder / SIGNATURE)
    if known is None:
        return None
    _check_config(config, folder, corpus, known)
    if known.get("data_hash") != corpus.data_hash:
        raise SwitchOutError(
            f"{folder}: the text of corpus {corpus.name} has changed since this run was made; "
            f"restore it, or {RESTART}"
        )
    if (done := _steps_done(folder)) > config.train.steps:
        raise SwitchOutError(
            f"{folder}: {done} steps are done already; train.steps={config.train.steps} is fewer: "
            "choose another folder"
        )
    return known


def _steps_done(folder: Path) -> int:
    """Return the highest step of the checkpoints and the result; a damaged result says nothing."""
    parents = (folder / "resume", folder / "checkpoints")
    steps = [int(path.name[5:]) for parent in parents for path in step_folders(parent)]
    with suppress(SwitchOutError, KeyError, TypeError, ValueError, OSError):
        steps.append(int(read_sealed(folder / "result.json")["steps"]))
    return max(steps, default=0)


def _noted(folder: Path) -> dict[str, Any] | None:
    path = folder / SIGNATURE
    if path.exists():
        return read_sealed(path)
    if any((folder / name).exists() for name in LEARNED):
        raise SwitchOutError(f"{path}: missing")
    return None


def _noted_in_checkpoints(folder: Path) -> dict[str, Any] | None:
    """Return the same from the newest whole checkpoint, which has a copy."""
    for parent in (folder / "resume", folder / "checkpoints"):
        for path in reversed(step_folders(parent)):
            if is_whole(path) and isinstance(noted := read_facts(path).get("run"), dict):
                return noted
    return None


def _check_config(config: Config, folder: Path, corpus: Corpus, known: dict[str, Any]) -> None:
    try:
        changed = changed_keys(read_run_config(folder), config)
        problem = f"{folder}: made with another configuration ({'; '.join(changed)})"
    except SwitchOutError as error:
        changed, problem = ["config.toml"], str(error)
    if not changed:
        _check_named_files(config, folder, known)
        return
    if known.get("key") != run_key(config, corpus.data_hash):
        raise SwitchOutError(f"{problem}; choose another folder, or {RESTART}")
    log.warning("%s: damaged; written again", folder / "config.toml")


def _check_named_files(config: Config, folder: Path, known: dict[str, Any]) -> None:
    """Refuse a file that has changed in its place; runs of older versions did not note any."""
    before = known.get("named_files", {})
    for key, value in file_hashes(config).items():
        if before.get(key, value) != value:
            path = flatten(config)[key]
            raise SwitchOutError(
                f"{folder}: {path} ({key}) has changed since this run was made; restore it, or "
                f"{RESTART}"
            )
