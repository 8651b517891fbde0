"""Runs by content address: the same configuration and text are the same folder, trained once.

A run belongs to no table. Tables, sweeps and figures name the runs they need; what is finished is
never trained again, and more seeds extend what is there.
"""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from switchout.corpora import Corpus, open_corpus
from switchout.errors import SwitchOutError
from switchout.files import read_lines
from switchout.runs.config import Config
from switchout.runs.config_file import run_key
from switchout.runs.sealed import check_files, read_sealed

log = logging.getLogger(__name__)

RULES = ("dev-perplexity", "dev-bleu", "last")
RECORD = "record.json"  # beside result.json: the other checkpoint rules, and where it was made


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


@dataclass(frozen=True)
class Finished:
    """What a finished run left.

    Attributes:
        folder: Where.
        result: ``result.json``.
        record: ``record.json``: ``rules`` (rule → step, dev_bleu, test_bleu), ``machine``.
    """

    folder: Path
    result: dict[str, Any]
    record: dict[str, Any]

    @property
    def seed(self) -> int:
        return int(self.result["seed"])

    @property
    def is_last(self) -> bool:
        """Whether the selected checkpoint is the last one."""
        return bool(self.result["selected_step"] == self.result["steps"])

    def number(self, name: str, *, rule: str | None = None) -> float:
        """Return a score, as selected or as another checkpoint rule would have it."""
        value = self.result[name] if rule is None else self.record["rules"][rule][name]
        return float(value)

    def lines(self, split: str, *, rule: str | None = None) -> list[str]:
        """Return the translations of ``dev`` or, by any rule, ``test``."""
        chosen = {"is_selected": True} if rule is None else self.record["rules"][rule]
        name = split if chosen["is_selected"] else f"{split}.step-{chosen['step']}"
        known = {**self.result.get("files", {}), **self.record.get("files", {})}
        advice = f"remove {self.folder / RECORD} and repeat the command that made it"
        check_files(
            self.folder, {k: v for k, v in known.items() if k == f"{name}.hyp"}, advice=advice
        )
        return read_lines(self.folder / f"{name}.hyp")


def runs_root() -> Path:
    """Return where runs live: ``SWITCHOUT_RUNS``, or ``runs`` here."""
    return Path(os.environ.get("SWITCHOUT_RUNS") or "runs")


def corpus_of(config: Config) -> Corpus:
    """Open the corpus of a configuration; equal ones are opened, and hashed, once."""
    data = config.data
    return _open(data.corpus, data.source, data.target, data.train_pairs)


@cache
def _open(name: str, source: str | None, target: str | None, train_pairs: int | None) -> Corpus:
    return open_corpus(name, source=source, target=target, train_pairs=train_pairs)


def job_of(config: Config, *, label: str, root: Path | None = None) -> Job:
    """Return the run of a configuration, wherever it stands."""
    key = run_key(config, corpus_of(config).data_hash)
    return Job(label, config, (root or runs_root()) / key)


def finished(folder: Path) -> Finished | None:
    """Return what a run left, or None while it is not finished."""
    try:
        result, record = read_sealed(folder / "result.json"), read_sealed(folder / RECORD)
        is_done = result["state"] == "done" and record["steps"] == result["steps"]
        return Finished(folder, result, record) if is_done else None
    except (SwitchOutError, KeyError, TypeError) as error:
        if (folder / RECORD).exists():  # the last file to be written
            log.warning("%s: not used, as if it were not finished (%s)", folder, error)
        return None
