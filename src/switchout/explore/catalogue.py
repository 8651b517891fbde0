"""The runs of a folder, read as they stand: finished, in training, or stopped.

A run is known by its path below the folder. Names are looked up among the runs that were found,
never joined to a path, so no name leads out of the folder.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from switchout.errors import SwitchOutError
from switchout.files import read_json
from switchout.runs.folder import read_run_config
from switchout.runs.leases import is_held

MOST_RUNS = 2_000
MOST_POINTS = 400  # of a curve; more than a screen can show
DEEPEST = 3  # folders below the root, so that sweeps in subfolders are found
SILENT = 60.0  # seconds without a new line of metrics, after which nobody seems to train

State = Literal["done", "training", "stopped", "non-finite", "not readable"]


class UnknownRun(SwitchOutError):
    """No run of that name."""


@dataclass(frozen=True)
class RunSummary:
    """A line of the list of runs; None where it is not known (yet)."""

    name: str
    state: State
    policy: str = ""
    tau_x: float | None = None
    tau_y: float | None = None
    rate_x: float | None = None
    rate_y: float | None = None
    seed: int | None = None
    corpus: str = ""
    step: int = 0
    steps: int = 0
    dev_perplexity: float | None = None
    dev_bleu: float | None = None
    test_bleu: float | None = None
    changed: float = 0.0
    problem: str = ""


class Catalogue:
    """Finds runs below a folder.

    Example:
        >>> Catalogue(Path("no such folder")).names()
        []
    """

    def __init__(self, root: Path):
        self.root = root
        self._known: dict[str, tuple[tuple[int, ...], RunSummary]] = {}

    def names(self) -> list[str]:
        """Return the names of all runs."""
        found = (path.relative_to(self.root).as_posix() for path in _walk(self.root, DEEPEST))
        return sorted(name for name, _ in zip(found, range(MOST_RUNS), strict=False))

    def folder(self, name: str) -> Path:
        """Return the folder of a run that is in the list."""
        if name not in self.names():
            raise UnknownRun(f"no run {name[:200]!r} in {self.root}")
        return self.root / name

    def runs(self) -> list[RunSummary]:
        """Return a summary of every run; what has not changed is not read again."""
        return [self.summary(name) for name in self.names()]

    def summary(self, name: str) -> RunSummary:
        """Return the summary of a run."""
        folder = self.root / name
        stamp = _stamp(folder)
        known = self._known.get(name)
        if known is None or known[0] != stamp or known[1].state == "training":
            self._known[name] = stamp, _summary(name, folder)
        return self._known[name][1]


def read_curves(folder: Path) -> dict[str, list[tuple[float, float]]]:
    """Return what training wrote down so far, (step, value) by name, thinned to what shows.

    The names: ``perplexity`` of training, ``dev_perplexity``, ``dev_bleu``.
    """
    curves: dict[str, list[tuple[float, float]]] = {
        name: [] for name in ("perplexity", "dev_perplexity", "dev_bleu")
    }
    for record in _records(folder):
        for name, points in curves.items():
            value = record.get(name)
            if isinstance(value, int | float) and math.isfinite(value):
                points.append((float(record["step"]), float(value)))
    return {name: _thinned(points) for name, points in curves.items()}


def _walk(folder: Path, depth: int) -> Iterator[Path]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        # A link may lead anywhere: what is shown is in the folder itself.
        if entry.name.startswith(".") or not entry.is_dir(follow_symlinks=False):
            continue
        path = Path(entry.path)
        if (path / "config.toml").is_file() and (path / "signature.json").is_file():
            yield path
        elif depth > 1:
            yield from _walk(path, depth - 1)


def _stamp(folder: Path) -> tuple[int, ...]:
    """Return what changes when the run does."""
    stamps = []
    for name in ("config.toml", "metrics.jsonl", "result.json"):
        try:
            stamps.append((folder / name).stat().st_mtime_ns)
        except OSError:
            stamps.append(0)
    return tuple(stamps)


def _summary(name: str, folder: Path) -> RunSummary:
    try:
        config = read_run_config(folder)
        result = _result(folder)
    except (ValueError, OSError) as error:  # one run that cannot be read hides no other
        return RunSummary(name, "not readable", problem=" ".join(str(error).split()))
    records = _records(folder)
    last = _last_of(records)
    return RunSummary(
        name=name,
        state=_state(folder, result),
        **config.augment.summary(),
        rate_x=config.augment.source.rate,
        rate_y=config.augment.target.rate,
        seed=config.seed,
        corpus=config.data.corpus,
        step=int(result.get("steps") or last.get("step") or 0),
        steps=config.train.steps,
        dev_perplexity=_number(result.get("dev_perplexity") or last.get("dev_perplexity")),
        dev_bleu=_number(result.get("dev_bleu") or last.get("dev_bleu")),
        test_bleu=_number(result.get("test_bleu")),
        changed=max(_stamp(folder)) / 1e9,
    )


def _result(folder: Path) -> dict[str, Any]:
    path = folder / "result.json"
    return read_json(path) if path.exists() else {}


def _state(folder: Path, result: dict[str, Any]) -> State:
    if result.get("state") in ("done", "non-finite"):
        return result["state"]  # type: ignore[no-any-return]
    if is_held(folder):
        return "training"
    # The lock of a run is not tried: a trainer that starts at that moment would be refused.
    newest = max(_stamp(folder)) / 1e9
    return "training" if time.time() - newest < SILENT else "stopped"


def _records(folder: Path) -> list[dict[str, Any]]:
    """Return the lines of ``metrics.jsonl`` that are whole."""
    try:
        lines = (folder / "metrics.jsonl").read_bytes().split(b"\n")[:-1]
    except OSError:
        return []
    records = []
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict) and isinstance(record.get("step"), int):
            records.append(record)
    return records


def _last_of(records: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the last known value of everything."""
    last: dict[str, Any] = {}
    for record in records:
        last |= record
    return last


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and math.isfinite(value) else None


def _thinned(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return at most `MOST_POINTS` of them, evenly, the last one always."""
    every = -(-len(points) // MOST_POINTS)
    return points[:: -max(every, 1)][::-1]
