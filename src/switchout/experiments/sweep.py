"""Sweeps: any grid or list of configurations, each with several seeds.

The file names a base (a preset or another TOML file) and what varies:

    base = "phrasebook"
    seeds = [1, 2, 3]
    [set]                                # for every configuration
    "train.steps" = 1000
    [grid]                               # all combinations, as rows
    "augment.source.tau" = [0.8, 1.0]
    "model.dropout" = [0.1, 0.3]
    [[config]]                           # or, and, single rows
    name = "no noise"
    set = { "augment.source.policy" = "none", "augment.target.policy" = "none" }
    [[contrast]]                         # declared before the first run
    question = "C1"                      # for people
    row = "augment.source.tau 0.8"
    against = "no noise"
    paired = true                        # compare runs of the same seed with each other

Without declared contrasts all rows are compared with the first one.
"""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from switchout.engines import Engine
from switchout.errors import SwitchOutError, did_you_mean
from switchout.experiments.experiment import (
    CorpusRows,
    Experiment,
    Question,
    Row,
    check_corpora,
    check_folder,
)
from switchout.experiments.reproduce import corpus_title
from switchout.experiments.training import Failure, train_experiment
from switchout.files import read_toml
from switchout.runs.config import Seed
from switchout.runs.config_file import load_config

Values = dict[str, Any]


class Single(BaseModel):
    """A row of its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: str
    set: Values = {}


class DeclaredContrast(BaseModel):
    """A comparison declared beforehand: which rows, and whether their runs are paired by seed."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    question: str = ""  # for people
    row: str
    against: str
    paired: bool = False


class Sweep(BaseModel):
    """The file of a sweep."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    base: str
    seeds: Annotated[list[Seed], Field(min_length=1)] = [1]
    set: Values = {}
    grid: dict[str, list[Any]] = {}
    config: list[Single] = []
    contrast: list[DeclaredContrast] = []


def sweep(path: Path, out: Path, *, engine: Engine, command: str = "") -> list[Failure]:
    """Train every configuration of a sweep with every seed; return what failed."""
    check_folder(out, "sweep")
    rows = read_sweep(path)
    check_corpora(row.config for row in rows)
    planned = CorpusRows(corpus_title(*(row.config for row in rows)), tuple(rows))
    experiment = Experiment("sweep", (planned,), command)
    return train_experiment(experiment, out, engine)


def read_sweep(path: Path) -> list[Row]:
    """Return the rows a file asks for, all checked."""
    try:
        wanted = Sweep.model_validate(read_toml(path))
    except ValidationError as error:
        raise SwitchOutError(f"{path}: {_explain(error)}") from None
    named = [(single.name, single.set) for single in wanted.config] + _cells(wanted.grid)
    if not named:
        raise SwitchOutError(f"{path}: nothing varies: give [grid] or [[config]]")
    names = [name for name, _ in named]
    if len({*names}) < len(names):
        raise SwitchOutError(f"{path}: two rows have the same name")
    if len({*wanted.seeds}) < len(wanted.seeds):  # one run would count as several
        raise SwitchOutError(f"{path}: seeds = {wanted.seeds}: a seed stands there twice")
    _check_contrasts(wanted.contrast, names, path)
    base = wanted.base
    if (path.parent / base).is_file():  # a file is meant relative to this one
        base = str(path.parent / base)
    rows: list[Row] = []
    for name, values in named:
        try:
            config = load_config(base, overrides=_overrides({**wanted.set, **values}))
        except SwitchOutError as error:
            raise SwitchOutError(f"{path}, row {name!r}: {error}") from None
        first = [Question((names[0],))] if rows else []
        questions = _questions(name, wanted.contrast) if wanted.contrast else first
        rows.append(Row(name, config, tuple(wanted.seeds), tuple(questions)))
    return rows


def _check_contrasts(contrasts: list[DeclaredContrast], names: list[str], path: Path) -> None:
    for contrast in contrasts:
        for name in (contrast.row, contrast.against):
            if name not in names:
                near = did_you_mean(name, names)
                raise SwitchOutError(f"{path}: a contrast names no row {name!r}{near}")


def _questions(name: str, contrasts: list[DeclaredContrast]) -> list[Question]:
    return [Question((c.against,), c.question, c.paired) for c in contrasts if c.row == name]


def _cells(grid: dict[str, list[Any]]) -> list[tuple[str, Values]]:
    if not grid:
        return []
    combinations = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    return [(_name(values), values) for values in combinations]


def _name(values: Values) -> str:
    return ", ".join(f"{key.removeprefix('augment.')} {value}" for key, value in values.items())


def _overrides(values: Values) -> list[str]:
    return [f"{key}={_toml(value)}" for key, value in values.items()]


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(v)}" for key, v in value.items()) + "}"
    if isinstance(value, float) and value == float("inf"):
        return "inf"
    return json.dumps(value, ensure_ascii=False)


def _explain(error: ValidationError) -> str:
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        known = Single.model_fields if len(first["loc"]) > 1 else Sweep.model_fields
        return f"unknown key {key!r}{did_you_mean(str(first['loc'][-1]), list(known))}"
    if first["type"] == "missing":
        return f"key {key!r} is missing"
    return f"{key} = {first['input']!r}: {first['msg'][0].lower()}{first['msg'][1:]}"
