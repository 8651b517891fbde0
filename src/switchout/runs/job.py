"""A run to be trained: the same configuration and text are the same folder, trained once.

A run belongs to no table. Tables, sweeps and figures name the runs they need; what is finished is
never trained again, and more seeds extend what is there.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from switchout.corpora import Corpus
from switchout.errors import SwitchOutError
from switchout.runs.config import Config, Data
from switchout.runs.config_file import run_key
from switchout.runs.corpus_warnings import warn_if_small
from switchout.runs.finished import finished
from switchout.runs.folder import read_run_config
from switchout.runs.leases import lease

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Job:
    """One run to be trained.

    Attributes:
        label: For people: row and seed.
        config: All of it, with the seed.
        folder: Its home under the runs' root; the name is the content address.
    """

    label: str
    config: Config
    folder: Path

    @property
    def key(self) -> str:
        return self.folder.name


def runs_root() -> Path:
    """Return where runs live: ``SWITCHOUT_RUNS``, or ``runs`` here."""
    return Path(os.environ.get("SWITCHOUT_RUNS") or "runs")


def corpus_of(config: Config) -> Corpus:
    """Open the corpus of a configuration; equal ones are opened, and hashed, once."""
    return _open(config.data)


@cache
def _open(data: Data) -> Corpus:
    corpus = data.open()
    warn_if_small(corpus)
    return corpus


def common_corpus(folders: Sequence[Path]) -> Corpus:
    """Return the corpus whose test set all these runs have translated.

    Args:
        folders: At least one run.
    """
    first, *others = (corpus_of(read_run_config(folder)) for folder in folders)
    for folder, other in zip(folders[1:], others, strict=True):
        if other is not first and other.pairs("test")[1] != first.pairs("test")[1]:
            raise SwitchOutError(
                f"{folders[0]} and {folder} have different test sets ({first.name} and"
                f" {other.name}): their translations cannot be compared"
            )
    return first


def job_of(config: Config, *, label: str, root: Path | None = None) -> Job:
    """Return the run of a configuration, wherever it stands."""
    key = run_key(config, corpus_of(config).data_hash)
    return Job(label, config, (root or runs_root()) / key)


@dataclass(frozen=True)
class Visit:
    """How a worker left a run. ``busy``: another worker has it; ``stopped``: asked to stop."""

    state: Literal["done", "busy", "stopped", "failed"]
    reason: str = ""


def work(config: Config, folder: Path) -> Visit:
    """Train the run in ``folder`` to its end, go on with it, or find it done."""
    with lease(folder) as is_ours:
        if not is_ours:
            return Visit("busy")
        if finished(folder) is not None:
            return Visit("done")
        _talk_to(folder / ".log")
        try:
            from switchout.runs.train import train_held  # first: it says what is not installed

            result = train_held(config, folder)
            if result["state"] != "done":
                return Visit("stopped")
            from switchout.runs.result import write_record

            write_record(folder)
        except SwitchOutError as error:
            return Visit("failed", str(error))
        except Exception as error:  # one broken run must not end the table
            log.exception("failed")
            return Visit("failed", f"{type(error).__name__}: {error} (see {folder / '.log'})")
    return Visit("done")


def _talk_to(path: Path) -> None:
    """Send everything this process says to a file: the terminal belongs to the driver."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    sys.stdout.flush()
    sys.stderr.flush()
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.close(descriptor)
    logging.basicConfig(format="%(message)s", level=logging.INFO, stream=sys.stderr, force=True)
