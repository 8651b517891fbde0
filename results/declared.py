"""Studies as they were declared before their first run: ``studies/NAME.toml``."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from switchout.experiments.experiment import CorpusRows, Experiment
from switchout.experiments.reproduce import corpus_title
from switchout.experiments.sweep import read_sweep

STUDIES = Path(__file__).parents[1] / "studies"


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
    return Experiment("sweep", (CorpusRows(corpus_title(rows[0].config), rows),), command, **others)
