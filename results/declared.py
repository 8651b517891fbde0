"""Studies as they were declared before their first run: ``studies/NAME.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from switchout.experiments.experiment import CorpusRows, Experiment, Row
from switchout.experiments.reproduce import corpus_title
from switchout.experiments.sweep import read_sweep
from switchout.runs.job import Job, job_of

STUDIES = Path(__file__).parents[1] / "studies"
# Seeds that a machine without bfloat16 instructions trained, all rows alike; dated in en-vi.md.
IN_FLOAT32 = {"en-vi": (303, 304)}
NOTES = {
    "en-vi": (
        "Seeds 301 and 302 were trained in bfloat16, 303 and 304 in float32, all rows alike.",
        "The correction of p-values counts C4 of study 2 too, a slope (docs/results.md).",
    ),
    "dose": ("A screening: it chooses two doses for the second part and decides nothing.",),
}


@dataclass(frozen=True)
class Declared(Experiment):
    """A study; some of its seeds may be trained in another precision than its file says."""

    in_float32: tuple[int, ...] = ()

    def of(self, row: Row) -> list[Job]:
        """Return the runs of a row."""
        return [self._amended(job) for job in super().of(row)]

    def _amended(self, job: Job) -> Job:
        if job.config.seed not in self.in_float32:
            return job
        train = job.config.train.model_copy(update={"precision": "float32"})
        config = job.config.model_copy(update={"train": train})
        return job_of(config, label=job.label, root=self.root)


def is_declared(name: str) -> bool:
    """Whether there is a study of this name; other tables are older."""
    return (STUDIES / f"{name}.toml").is_file()


def contrasts_of(name: str) -> list[dict[str, Any]]:
    """Return what a study asks: ``question``, ``row``, ``against``, maybe ``paired``."""
    content = tomllib.loads((STUDIES / f"{name}.toml").read_text(encoding="utf-8"))
    return list(content["contrast"])


def experiment_of(name: str, **others: Any) -> Experiment:
    """Return a study with all its rows and seeds; ``others`` are fields of `Experiment`."""
    path = STUDIES / f"{name}.toml"
    rows = tuple(read_sweep(path))
    command = f"switchout sweep studies/{path.name} --out studies-out/{name}"
    planned = (CorpusRows(corpus_title(*(row.config for row in rows)), rows),)
    amended: dict[str, Any] = {
        "in_float32": IN_FLOAT32.get(name, ()),
        "notes": NOTES.get(name, ()),
    }
    return Declared("sweep", planned, command, **amended, **others)
