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
from collections.abc import Callable, Hashable, Sequence
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
from switchout.experiments.same_text import check_same_text
from switchout.experiments.training import Failure, train_experiment
from switchout.files import read_toml
from switchout.runs.config import Config, Seed
from switchout.runs.config_file import load_config, run_key
from switchout.runs.job import job_of

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
    check_same_text(rows, where=str(path))
    _check_runs_differ(rows, path, _address)
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
    _check_seed(wanted, path)
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
    _check_runs_differ(rows, path, _address_by_name)
    return rows


def _check_seed(wanted: Sweep, path: Path) -> None:
    """A seed of a row would be replaced by every one of ``seeds``: it names runs that are none."""
    places = {"[set]": wanted.set, "[grid]": wanted.grid}
    places |= {f"row {single.name!r}": single.set for single in wanted.config}
    for place, values in places.items():
        if "seed" in (key.strip() for key in values):
            raise SwitchOutError(
                f'{path}, {place}: "seed": seeds go into seeds = […], for all rows'
            )


def _check_runs_differ(
    rows: Sequence[Row], path: Path, address: Callable[[Config], Hashable]
) -> None:
    """Refuse two names for the same runs: a row would be compared with itself."""
    names: dict[Hashable, str] = {}
    for row in rows:
        first = names.setdefault(address(row.config), row.name)
        if first != row.name:
            raise SwitchOutError(
                f"{path}: rows {first!r} and {row.name!r} are the same runs: they differ in"
                " nothing that decides a result"
            )


def _address(config: Config) -> str:
    return job_of(config, label="").key


def _address_by_name(config: Config) -> Hashable:
    """The address of a run as far as it is known without the corpus, which may be elsewhere."""
    return config.data.corpus, run_key(config, data_hash="")


def _check_contrasts(contrasts: list[DeclaredContrast], names: list[str], path: Path) -> None:
    for contrast in contrasts:
        if contrast.row == contrast.against:
            raise SwitchOutError(f"{path}: a contrast compares row {contrast.row!r} with itself")
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
    # JSON has no dates: as text they are refused like any other wrong value.
    return json.dumps(value, ensure_ascii=False, default=str)


def _explain(error: ValidationError) -> str:
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        known = Single.model_fields if len(first["loc"]) > 1 else Sweep.model_fields
        return f"unknown key {key!r}{did_you_mean(str(first['loc'][-1]), list(known))}"
    if first["type"] == "missing":
        return f"key {key!r} is missing"
    return f"{key} = {first['input']!r}: {first['msg'][0].lower()}{first['msg'][1:]}"
