"""The table of a study, NAME.jsonl: what its runs share, then a line per run (README.md)."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from switchout.errors import SwitchOutError
from switchout.evaluation.metrics import Array, Measure, Metric
from switchout.files import atomic
from switchout.runs.finished import Finished

HERE = Path(__file__).parent
ORDER = 4  # of BLEU


@dataclass
class Study:
    """All that is kept of a study.

    Attributes:
        name: Of the file, and of ``studies/NAME.toml`` if it was declared.
        shared: What all runs have in common: corpus, configuration, planned seeds, sentences.
        runs: A dictionary per finished run, by its content address.
    """

    name: str
    shared: dict[str, Any]
    runs: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def n_planned(self) -> int:
        return sum(len(seeds) for seeds in self.shared["planned"].values())

    @property
    def rows(self) -> list[str]:
        """Names of the rows, in order; runs that only chose settings are in none."""
        return list(self.shared["planned"])

    @property
    def is_complete(self) -> bool:
        return all(not self.missing(row) for row in self.rows)

    def of(self, row: str) -> list[dict[str, Any]]:
        """Return the runs of a row, by seed."""
        found = [r for r in self.runs.values() if row in r["rows"] and not r["tried_for"]]
        return sorted(found, key=lambda run: run["seed"])

    def missing(self, row: str) -> list[int]:
        """Return the seeds of a row that are planned and not finished."""
        return sorted({*self.shared["planned"][row]} - {run["seed"] for run in self.of(row)})

    def scores(self, row: str, name: str, rule: str | None = None) -> list[float]:
        """Return a score of every run of a row by a checkpoint rule; None: the one that counts."""
        return [run["rules"][rule or self.selects_by][name] for run in self.of(row)]

    def progress(self, row: str, seeds: Collection[int]) -> dict[int, float]:
        """Return dev BLEU of greedy search at every validation, the mean over runs of the seeds."""
        found: dict[int, list[float]] = {}
        for run in self.of(row):
            for validation in run["validations"] if run["seed"] in seeds else []:
                found.setdefault(validation["step"], []).append(validation["dev_bleu"])
        return {step: fmean(scores) for step, scores in found.items()}

    def statistics(self, row: str, split: str, rule: str | None = None) -> list[Array] | None:
        """Return BLEU's statistics [sentence, statistic] of every run; None: they were not kept."""
        found = [self.statistics_of(run, split, rule) for run in self.of(row)]
        kept = [one for one in found if one is not None]
        return kept if len(kept) == len(found) else None

    def statistics_of(
        self, run: dict[str, Any], split: str, rule: str | None = None
    ) -> Array | None:
        """Return the same of one run."""
        lengths = self.sentences(split, "reference")
        if lengths is None or "matches" not in run:
            return None
        step = run["rules"][rule or self.selects_by]["step"]
        return whole(unpack(run["matches"][str(step)][split]), lengths)

    def kept(self, folder: Path) -> Kept | None:
        """Return the run that was made in a folder of this name; None: the table has none."""
        run = self.runs.get(folder.name)
        if run is None:
            return None
        chosen = run["rules"][self.selects_by]
        scores = {name: chosen[name] for name in ("dev_bleu", "test_bleu")}
        facts = {"selected_step": chosen["step"], "bleu_signature": self.shared["bleu"]}
        return Kept(folder, {**run, **scores, **facts}, run, self)

    @property
    def selects_by(self) -> str:
        """The checkpoint rule that counts."""
        return str(self.shared["config"]["train.select"])

    def sentences(self, split: str, name: str) -> Array | None:
        """Return a number per sentence: words of its ``reference``, of its ``source``, …"""
        packed = self.shared.get("sentences", {}).get(split, {}).get(name)
        return None if packed is None else unpack(packed)[0]

    @property
    def measure(self) -> Measure:
        return Measure("bleu", self.shared["bleu"])


@dataclass(frozen=True)
class Kept(Finished):
    """A run of a table: its texts are gone, their statistics are kept."""

    study: Study

    def lines(self, split: str, *, rule: str | None = None) -> list[str]:
        return []

    def statistics(self, metric: Metric, split: str, *, rule: str | None = None) -> Array:
        found = self.study.statistics_of(self.record, split, rule)
        if found is None:
            raise SwitchOutError(f"{self.study.name}: no statistics were kept of {self.folder}")
        return found


def read(name: str) -> Study:
    """Read a table of this folder."""
    first, *lines = (HERE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    runs = [json.loads(line) for line in lines]
    return Study(name, json.loads(first), {run["key"]: run for run in runs})


def write(study: Study) -> Path:
    """Write a table into this folder; runs seed by seed, as they were trained."""
    rank = {row: i for i, row in enumerate(study.rows)}
    runs = sorted(
        study.runs.values(),
        key=lambda r: (bool(r["tried_for"]), r["seed"], rank.get(r["rows"][0], 0), r["key"]),
    )
    path = HERE / f"{study.name}.jsonl"
    with atomic(path) as partial:
        lines = [json.dumps(line, ensure_ascii=False) + "\n" for line in (study.shared, *runs)]
        partial.write_text("".join(lines), encoding="utf-8")
    return path


def brief(statistics: Array) -> Array:
    """Return output words and matches, [number, sentence]: the rest follows from them."""
    return statistics[:, [0, 2, 3, 4, 5]].T


def whole(numbers: Array, reference_lengths: Array) -> Array:
    """Return BLEU's statistics [sentence, statistic] from what `brief` kept."""
    length, *matches = numbers
    totals = [np.maximum(length - n, 0) for n in range(ORDER)]
    return np.column_stack([length, reference_lengths, *matches, *totals]).astype(float)


def pack(numbers: Array) -> str:
    """Return small whole numbers [row, column] as text: shape, then compressed bytes in base 85.

    Example:
        >>> unpack(pack(np.array([[1, 2], [300, 4]])))
        array([[  1.,   2.],
               [300.,   4.]])
    """
    rows = np.atleast_2d(numbers)
    kind = "u1" if rows.max(initial=0) < 256 else "<u2"
    if rows.min(initial=0) < 0 or rows.max(initial=0) >= 2**16 or (rows % 1).any():
        raise ValueError("only whole numbers from 0 to 65,535 can be packed")
    packed = zlib.compress(rows.astype(kind).tobytes(), 9)
    return f"{rows.shape[0]}x{rows.shape[1]} {kind} {base64.b85encode(packed).decode()}"


def unpack(text: str) -> Array:
    """Return what was packed, [row, column]."""
    shape, kind, packed = text.split(" ")
    numbers = np.frombuffer(zlib.decompress(base64.b85decode(packed)), dtype=kind)
    return numbers.reshape([int(size) for size in shape.split("x")]).astype(float)


def in_common(configs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the keys that have the same value in all flat configurations."""
    first, *others = configs
    return {k: v for k, v in first.items() if all(o.get(k, ...) == v for o in others)}
