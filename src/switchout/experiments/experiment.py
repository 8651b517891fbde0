"""An experiment: rows of runs per corpus, written down so that a report can be made any time."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any

from switchout.errors import SwitchOutError
from switchout.files import read_json, write_json
from switchout.runs.config import Config
from switchout.runs.config_file import parse_config
from switchout.runs.finished import Finished, finished
from switchout.runs.job import Job, corpus_of, job_of, runs_root

FORMAT = 3
WITHOUT_QUESTIONS = 2  # the format before: a row names what it is compared with, and no more
NAME = "experiment.json"


@dataclass(frozen=True)
class Question:
    """A comparison that a row asks for.

    Attributes:
        against: Rows it is compared with: the better one of them on dev.
        name: For people, if it was declared ("C1").
        is_paired: Declared beforehand: runs of the same seed are compared with each other.
    """

    against: tuple[str, ...]
    name: str = ""
    is_paired: bool = False


@dataclass(frozen=True)
class Row:
    """One row of a table.

    Attributes:
        name: As printed.
        config: With any seed.
        seeds: One run each.
        questions: What it is compared with; none: with nothing.
    """

    name: str
    config: Config
    seeds: tuple[int, ...]
    questions: tuple[Question, ...] = ()

    def configs(self) -> list[Config]:
        """Return a configuration per seed."""
        return [self.config.model_copy(update={"seed": seed}) for seed in self.seeds]


Trials = tuple[Row, ...]  # what was trained to choose on dev, and is no row of a table


@dataclass(frozen=True)
class CorpusRows:
    """The rows of one corpus.

    Attributes:
        name: Of the corpus, for people.
        rows: In order.
        tried: What was trained before to choose on dev, by the name of the row it was for.
    """

    name: str
    rows: tuple[Row, ...]
    tried: dict[str, Trials] = field(default_factory=dict, hash=False)

    @property
    def base(self) -> Config:
        """What the rows share: the first one has nothing more."""
        return self.rows[0].config

    @property
    def is_tuned(self) -> bool:
        """Whether anything was chosen on dev before."""
        return any(self.tried.values())

    def n_tried(self, row: str) -> int:
        """Return how many runs were spent on choosing for a row."""
        return len(self.tried.get(row, ()))


@dataclass(frozen=True)
class Experiment:
    """What was asked.

    Attributes:
        kind: table1, table2, tau, wer, sweep or demo.
        corpora: Their rows.
        command: The line that repeats it.
        root: Where the runs are.
        notes: What a reader must know before the answers.
        other_p: p-values that were declared with the contrasts and are of no two rows: a trend.
        find: Reads what the run of a folder left; None: it is not finished.
    """

    kind: str
    corpora: tuple[CorpusRows, ...]
    command: str
    root: Path = field(default_factory=runs_root)
    notes: tuple[str, ...] = ()
    other_p: tuple[float, ...] = ()
    find: Callable[[Path], Finished | None] = finished

    def jobs(self) -> list[Job]:
        """Return every run; seed by seed, so that an early look has all rows."""
        jobs = [
            (i, job) for c in self.corpora for row in c.rows for i, job in enumerate(self.of(row))
        ]
        return [job for _, job in sorted(jobs, key=lambda pair: pair[0])]

    def of(self, row: Row) -> list[Job]:
        """Return the runs of a row."""
        label = f"{row.name} seed "
        return [job_of(c, label=f"{label}{c.seed}", root=self.root) for c in row.configs()]


@dataclass(frozen=True)
class RowRecord:
    """A row with what its runs left; runs that are not finished are counted, not shown."""

    row: Row
    runs: tuple[Finished, ...]
    n_missing: int

    @property
    def name(self) -> str:
        return self.row.name

    @property
    def addresses(self) -> tuple[Path, ...]:
        """Where its runs are: rows with the same ones are the same under two names."""
        return tuple(run.folder for run in self.runs)

    def numbers(self, name: str, *, rule: str | None = None) -> list[float]:
        """Return a score of every run."""
        return [run.number(name, rule=rule) for run in self.runs]

    def median(self, name: str, *, rule: str | None = None) -> float | None:
        """Return the median over runs; None without runs."""
        numbers = self.numbers(name, rule=rule)
        return median(numbers) if numbers else None

    def median_curve(self, name: str) -> list[tuple[int, float]]:
        """Return the median over runs at every step where some were looked at, as (step, value)."""
        by_step: dict[int, list[float]] = {}
        for run in self.runs:
            for seen in run.result["validations"]:
                if name in seen:
                    by_step.setdefault(seen["step"], []).append(seen[name])
        return [(step, median(values)) for step, values in sorted(by_step.items())]

    @cached_property
    def n_last(self) -> int:
        """Runs whose selected checkpoint is their last."""
        return sum(run.is_last for run in self.runs)


def records(experiment: Experiment, rows: Iterable[Row]) -> list[RowRecord]:
    """Return rows with what is finished."""
    found = []
    for row in rows:
        runs = [experiment.find(job.folder) for job in experiment.of(row)]
        done = tuple(run for run in runs if run is not None)
        found.append(RowRecord(row, done, len(runs) - len(done)))
    return found


def save(experiment: Experiment, folder: Path) -> None:
    """Write ``experiment.json``; runs and report may come later."""
    check_folder(folder, experiment.kind)
    folder.mkdir(parents=True, exist_ok=True)
    content = {
        "format": FORMAT,
        "kind": experiment.kind,
        "command": experiment.command,
        "runs": str(experiment.root),
        # So that a report from another working directory finds them.
        "runs_from_here": os.path.relpath(experiment.root, folder),
        "notes": experiment.notes,
        "columns": [
            {
                "name": c.name,
                "rows": [_plain(row) for row in c.rows],
                "tried": {name: [_plain(row) for row in tried] for name, tried in c.tried.items()},
            }
            for c in experiment.corpora
        ],
    }
    write_json(folder / NAME, content)


def load(folder: Path) -> Experiment:
    """Read what `save` wrote."""
    path = folder / NAME
    if not folder.is_dir():
        raise SwitchOutError(f"{folder}: no such folder")
    if not path.is_file():
        raise SwitchOutError(
            f"{folder}: no {NAME} in it; 'switchout reproduce' and 'switchout sweep' make one;"
            " single runs: switchout compare --baseline RUN --system RUN --html page.html"
        )
    content = _content(path)
    try:
        corpora = tuple(
            CorpusRows(
                c["name"],
                tuple(_row(r, path) for r in c["rows"]),
                {name: tuple(_row(r, path) for r in tried) for name, tried in c["tried"].items()},
            )
            for c in content["columns"]
        )
        notes = tuple(content.get("notes", ()))
        root = _runs_of(folder, content)
        return Experiment(content["kind"], corpora, content["command"], root, notes)
    except (KeyError, TypeError, AttributeError) as error:
        raise SwitchOutError(f"{path}: not written by switchout ({error!r})") from None


def _runs_of(folder: Path, content: dict[str, Any]) -> Path:
    """Return where the runs are, as seen from the folder; of one that was moved, as named."""
    from_here = content.get("runs_from_here")  # files of before have only the name
    seen = Path(os.path.normpath(folder / from_here)) if from_here else None
    return seen if seen and seen.is_dir() else Path(content["runs"])


def check_folder(folder: Path, kind: str) -> None:
    """Refuse a folder that holds something else than an experiment of this kind."""
    if folder.exists() and not folder.is_dir():
        raise SwitchOutError(f"{folder}: is a file; choose another folder")
    if (folder / NAME).exists():
        other = _content(folder / NAME).get("kind")
        if other != kind:
            raise SwitchOutError(f"{folder}: holds {other}, not {kind}; choose another folder")
    elif folder.is_dir() and any(not p.name.startswith(".") for p in folder.iterdir()):
        raise SwitchOutError(
            f"{folder}: is not empty and holds no experiment; choose another folder"
        )


def check_corpora(configs: Iterable[Config]) -> None:
    """Refuse a corpus that cannot be read or lacks a split, before anything is trained."""
    for config in configs:
        corpus = corpus_of(config)
        if next(corpus.stream("train"), None) is None:
            raise SwitchOutError(f"{corpus.where}: split 'train' is empty")
        for split in ("dev", "test"):
            corpus.pairs(split)


def command_line(arguments: list[str]) -> str:
    """Return what a user types to repeat a command; bytes that are no text as escapes."""
    words = (os.fsencode(word).decode(errors="backslashreplace") for word in arguments)
    return shlex.join(["switchout", *words])


def _content(path: Path) -> dict[str, Any]:
    content = read_json(path)
    version = content.get("format")
    if version is None:
        raise SwitchOutError(f"{path}: not written by switchout; choose another folder")
    if version not in (FORMAT, WITHOUT_QUESTIONS):
        raise SwitchOutError(
            f"{path}: format {version}, this switchout writes format {FORMAT}; "
            "remove it or choose another folder (finished runs are found again)"
        )
    return content


def _plain(row: Row) -> dict[str, Any]:
    return {
        "name": row.name,
        "seeds": row.seeds,
        "questions": [asdict(question) for question in row.questions],
        "config": row.config.model_dump(),
    }


def _row(plain: dict[str, Any], path: Path) -> Row:
    config = parse_config(plain["config"], where=f"{path}, row {plain['name']!r}")
    asked = plain.get("questions")
    if asked is None:
        asked = [{"against": plain["against"]}] if plain["against"] else []
    questions = tuple(Question(**{**one, "against": tuple(one["against"])}) for one in asked)
    return Row(plain["name"], config, tuple(plain["seeds"]), questions)
