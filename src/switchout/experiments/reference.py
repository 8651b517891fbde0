"""Numbers we ship: a table of our own with many seeds, to stand beside a user's few.

A reference row belongs to a user's row if their runs have the same content address, that is the
same configuration and text; otherwise it is not shown. It is marked as ours wherever it appears.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from statistics import median, stdev
from typing import Any

from switchout.errors import SwitchOutError
from switchout.experiments.experiment import CorpusRows, Experiment, Row, RowRecord, load, records
from switchout.files import atomic, read_bytes
from switchout.runs.config_file import run_key
from switchout.runs.finished import Finished
from switchout.runs.job import corpus_of

SHIPPED = Path(__file__).with_name("demo_reference.json")


@dataclass(frozen=True)
class StudyResult:
    """A question on real data and what a study of ours says, made by ``results/make.py``.

    Attributes:
        study: Which data and set-up.
        question: What SwitchOut is compared with, in a few words.
        row, against: What was compared.
        delta, low, high: Difference on test with its 95% interval.
        dev_delta: The same on dev.
        test_by_bleu, dev_by_bleu: Both differences where best dev BLEU chooses the checkpoint.
        n_seeds: On the smaller side.
        verdict: confirmed, refuted, gain, loss or open; "screening" decides nothing.
    """

    study: str
    question: str
    row: str
    against: str
    delta: float
    low: float
    high: float
    dev_delta: float
    test_by_bleu: float
    dev_by_bleu: float
    n_seeds: int
    verdict: str


@dataclass(frozen=True)
class ReferenceRun:
    """One run: its content address and what it reached."""

    key: str
    seed: int
    test_bleu: float
    selected_step: int
    steps: int


@dataclass(frozen=True)
class ReferenceRow:
    """A row of the reference."""

    name: str
    runs: tuple[ReferenceRun, ...]

    @property
    def scores(self) -> list[float]:
        """Test BLEU of every run."""
        return [run.test_bleu for run in self.runs]

    @property
    def median(self) -> float:
        return median(self.scores)

    @property
    def spread(self) -> float | None:
        """Standard deviation over runs."""
        return stdev(self.scores) if len(self.runs) > 1 else None

    @property
    def n_last(self) -> int:
        """Runs whose selected checkpoint is their last."""
        return sum(run.selected_step == run.steps for run in self.runs)

    def is_of(self, row: Row, data_hash: str) -> bool:
        """Whether a row has the same configuration and text: its run would be this one."""
        config = row.config.model_copy(update={"seed": self.runs[0].seed})
        return run_key(config, data_hash) == self.runs[0].key


@dataclass(frozen=True)
class Reference:
    """A finished table of ours.

    Attributes:
        corpus, data_hash: Of what.
        command: What made it.
        made: ISO date.
        version, commit, machine: With what, on what.
        answers: What its report says of every comparison.
        rows: With all runs.
        studies: What our studies on real data say.
    """

    corpus: str
    data_hash: str
    command: str
    made: str
    version: str
    commit: str | None
    machine: str
    answers: tuple[str, ...]
    rows: tuple[ReferenceRow, ...]
    studies: tuple[StudyResult, ...] = ()

    @cached_property
    def by_name(self) -> dict[str, ReferenceRow]:
        return {row.name: row for row in self.rows}

    @property
    def n_seeds(self) -> int:
        """Runs of the row that has the fewest."""
        return min(len(row.runs) for row in self.rows)

    @property
    def origin(self) -> str:
        """One sentence: whose numbers these are."""
        return (
            f"Shipped with switchout, not trained here: {self.n_seeds} seeds a row, "
            f"'{self.command}', {self.made}, switchout {self.version}, commit {self.commit}, "
            f"{self.machine}, data {self.data_hash[:12]}."
        )

    def n_equal(self, rows: Sequence[RowRecord]) -> tuple[int, int]:
        """How many of the runs that both have reached the same test BLEU, and of how many."""
        ours = {run.key: run.test_bleu for row in self.rows for run in row.runs}
        both = [run for row in rows for run in row.runs if run.folder.name in ours]
        return sum(r.number("test_bleu") == ours[r.folder.name] for r in both), len(both)


def reference_for(planned: CorpusRows, path: Path | None = None) -> Reference | None:
    """Return the shipped reference of the rows that this corpus has too, else None.

    A row of the same name but another configuration or text makes all of it another experiment.
    """
    reference = read_reference(path or SHIPPED)
    if reference is None:
        return None
    data_hash, mine = corpus_of(planned.base).data_hash, {row.name: row for row in planned.rows}
    common = tuple(row for row in reference.rows if row.name in mine)
    if not common or not all(row.is_of(mine[row.name], data_hash) for row in common):
        return None
    if len(common) == len(reference.rows):
        return reference
    names = {row.name for row in common}
    answers = tuple(a for a in reference.answers if a.partition(":")[0] in names)
    return replace(reference, rows=common, answers=answers)


def read_reference(path: Path) -> Reference | None:
    """Read a reference; None where there is none."""
    if not path.is_file():
        return None
    content = json.loads(read_bytes(path))
    rows = tuple(
        ReferenceRow(row["name"], tuple(ReferenceRun(**run) for run in row["runs"]))
        for row in content.pop("rows")
    )
    studies = tuple(StudyResult(**study) for study in content.pop("studies", ()))
    answers = tuple(content.pop("answers"))
    return Reference(**content, answers=answers, rows=rows, studies=studies)


def write_reference(reference: Reference, path: Path) -> None:
    """Write what `read_reference` reads: a line per key."""
    lines = [
        f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
        for key, value in asdict(reference).items()
    ]
    with atomic(path) as partial:
        partial.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def reference_of(folder: Path, answers: Sequence[str]) -> Reference:
    """Return the finished table in ``folder`` as a reference to be shipped.

    Args:
        folder: Of an experiment of one corpus.
        answers: Of its report.
    """
    experiment = load(folder)
    rows = _complete(experiment)
    machine = rows[0].runs[0].record["machine"]
    return Reference(
        corpus=experiment.corpora[0].name,
        data_hash=corpus_of(experiment.corpora[0].base).data_hash,
        command=experiment.command,
        made=date.today().isoformat(),
        version=version("switchout"),
        commit=machine["commit"],
        machine=f"{machine['processor']} {machine['instructions']}, torch {machine['torch']}",
        answers=tuple(answers),
        rows=tuple(ReferenceRow(row.name, tuple(map(_run, row.runs))) for row in rows),
    )


def _complete(experiment: Experiment) -> list[RowRecord]:
    rows = [row for c in experiment.corpora for row in records(experiment, c.rows)]
    n_missing = sum(row.n_missing for row in rows)
    if n_missing:
        raise SwitchOutError(f"a reference needs all runs, {n_missing} are not finished")
    return rows


def _run(run: Finished) -> ReferenceRun:
    facts: dict[str, Any] = {
        name: run.result[name] for name in ReferenceRun.__dataclass_fields__ if name != "key"
    }
    return ReferenceRun(key=run.folder.name, **facts)
