"""Reading, overriding, comparing and writing configurations as TOML."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Collection, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from switchout.errors import SwitchOutError, did_you_mean
from switchout.files import read_bytes, read_toml
from switchout.runs.config import FREE_KEYS, Config, flatten
from switchout.runs.defaults import default_config

RUN_FORMAT = 1  # raise when the same configuration starts to mean another result
FILE_KEYS = {
    *("vocabulary.source_file", "vocabulary.target_file"),
    *("augment.source.vectors", "augment.target.vectors"),
}
_OTHER_STRENGTH = {"tau": "rate", "rate": "tau"}  # a side has one of the two
_OF_SIMILAR = ("vectors", "neighbors")  # which no other policy reads
PRESETS = Path(__file__).with_name("presets")


def preset_names() -> list[str]:
    """Return the names of the configurations that come with the package."""
    return sorted(path.stem for path in PRESETS.glob("*.toml"))


def preset_text(name: str) -> str:
    """Return a preset as TOML, with its comments."""
    if name not in preset_names():
        raise SwitchOutError(f"no preset {name!r}{did_you_mean(name, preset_names())}")
    return (PRESETS / f"{name}.toml").read_text(encoding="utf-8")


def load_config(
    source: str | Path | None,
    *,
    corpus: str | None = None,
    languages: tuple[str | None, str | None] = (None, None),
    overrides: Sequence[str] = (),
) -> Config:
    """Read a configuration.

    Args:
        source: A TOML file, or the name of a preset if there is no such file; None: what suits
            ``corpus``, see `switchout.runs.defaults`.
        corpus: Another corpus than the file's.
        languages: Source and target of ``corpus``; None: as it says itself.
        overrides: ``key=value`` each, the key dotted, the value as in TOML (quotes of a plain
            string may be left out). Of two values the later one counts.

    Example:
        >>> load_config("phrasebook", overrides=["train.steps=10"]).train.steps
        10
    """
    if source is None:
        if corpus is None:
            raise SwitchOutError("give a configuration or a corpus")
        # What is wrong in them is told before a long look at the corpus.
        asked = _parse_with({"data": {"corpus": corpus}}, overrides, where=f"corpus={corpus}")
        source_language, target_language = languages
        suited = default_config(
            corpus,
            source=source_language or asked.data.source,
            target=target_language or asked.data.target,
        )
        values = suited.model_dump(exclude_none=True)
        where = f"corpus={corpus}"
    else:
        path = _find(source)
        values, where = read_toml(path), str(path)
        if corpus is not None:
            values["data"] = _data(values, corpus, languages)
    return _parse_with(values, overrides, where=where)


def _parse_with(values: dict[str, Any], overrides: Sequence[str], *, where: str) -> Config:
    """Check values after the overrides have changed them."""
    blame = {_override(values, override): f"overrides={override}" for override in overrides}
    _keep_asked_noise(values, blame.keys())
    return parse_config(values, where=where, blame=blame)


def _keep_asked_noise(values: dict[str, Any], asked: Collection[str]) -> None:
    """A policy "none" that merely stands there does not swallow what was asked for beside it."""
    for side in ("source", "target"):
        start = f"augment.{side}."
        keys = {key.removeprefix(start) for key in asked if key.startswith(start)}
        if not keys or "policy" in keys or start[:-1] in asked:
            continue
        table = values["augment"][side]
        if table.get("policy") == "none":  # a strength is refused without another one
            values["augment"][side] = {key: value for key, value in table.items() if key in keys}


def _find(source: str | Path) -> Path:
    path = Path(source)
    if not path.is_file() and str(source) in preset_names():  # a folder may be the preset's run
        return PRESETS / f"{source}.toml"
    if not path.exists() and path.suffix != ".toml":  # meant as a preset, by its look
        near = did_you_mean(str(source), preset_names())
        raise SwitchOutError(f"{source}: no such file, and no preset of that name{near}")
    if path.is_dir():
        raise SwitchOutError(_about_folder(path))
    return path


def _data(
    values: dict[str, Any], corpus: str, languages: tuple[str | None, str | None]
) -> dict[str, Any]:
    """Return ``[data]`` with another corpus: what belongs to the old one is dropped."""
    table = values.get("data", {})
    kept = {k: v for k, v in table.items() if k not in ("source", "target", "train_pairs")}
    said = {k: v for k, v in zip(("source", "target"), languages, strict=True) if v is not None}
    return {**kept, "corpus": corpus, **said}


def parse_config(
    values: dict[str, Any], *, where: str, blame: dict[str, str] | None = None
) -> Config:
    """Check plain values; ``where`` (or, by key, ``blame``) is named in the error."""
    try:
        return Config.model_validate(values)
    except ValidationError as error:
        # What is missing may be there, misspelt: unknown keys first.
        wrong = sorted(error.errors(), key=lambda e: e["type"] != "extra_forbidden")
        first = wrong[0]
        key, *more = dict.fromkeys(".".join(_known_path(e["loc"])) for e in wrong)
        at = next((text for k, text in (blame or {}).items() if key.startswith(k)), where)
        message = _explain(first, key)
        also = f" (also wrong: {', '.join(more)})" if more else ""
        raise SwitchOutError(f"{at}: {message}{also}") from None


def _about_folder(path: Path) -> str:
    """Say what to do where a folder was given instead of a file."""
    if (path / "config.toml").is_file():
        return f"{path}: is a run; its configuration is {path / 'config.toml'}"
    if any(path.glob("train.*")):
        return f"{path}: is a corpus; train on it with corpus={path}"
    return f"{path}: is a folder, expected a TOML file or a preset ({', '.join(preset_names())})"


def changed_keys(old: Config, new: Config) -> list[str]:
    """Return the keys whose change makes it another run, as ``key: old -> new``."""
    before, after = flatten(old), flatten(new)
    return [
        f"{key}: {before[key]} -> {after[key]}"
        for key in before
        if before[key] != after[key] and key not in FREE_KEYS
    ]


def deciding_values(config: Config) -> dict[str, Any]:
    """Return what decides a run's result, by key; of the corpus's path only the last part counts.

    (It names the tokenizer.)
    """
    values = {
        key: value
        for key, value in flatten(config).items()
        if key not in FREE_KEYS or key in ("train.steps", "train.checkpoint_every")
    }
    return values | {"data.corpus": Path(config.data.corpus).name}


def run_key(config: Config, data_hash: str) -> str:
    """Return the content address of a run: what decides its result, hashed.

    Values at their defaults are left out, so that a new option does not rename old runs. The text
    is known by its hash.
    """
    defaults = flatten(Config.model_validate({"data": {"corpus": ""}}))
    deciding = {
        key: value
        for key, value in deciding_values(config).items()
        if value != defaults[key] or key == "data.corpus"
    }
    deciding |= file_hashes(config)
    address = {"format": RUN_FORMAT, "data": data_hash, "config": deciding}
    return sha256(json.dumps(address, sort_keys=True).encode()).hexdigest()[:16]


def file_hashes(config: Config) -> dict[str, str]:
    """Return the sha256 of every file that a configuration names, by key."""
    values = flatten(config)
    paths = {key: path for key in sorted(FILE_KEYS) if (path := values[key])}
    return {key: sha256(read_bytes(path)).hexdigest() for key, path in paths.items()}


def to_toml(config: Config) -> str:
    """Return the configuration as TOML, all defaults written out.

    Example:
        >>> config = load_config("phrasebook")
        >>> parse_config(tomllib.loads(to_toml(config)), where="") == config
        True
    """
    return "\n".join(_lines(config, "")).lstrip("\n") + "\n"


def _lines(section: BaseModel, name: str) -> list[str]:
    fields = {key: getattr(section, key) for key in type(section).model_fields}
    own = [f"{k} = {_value(v)}" for k, v in fields.items() if not isinstance(v, BaseModel | None)]
    header = ["", f"[{name}]"] if name and own else []
    below = [
        line
        for key, value in fields.items()
        if isinstance(value, BaseModel)
        for line in _lines(value, f"{name}.{key}" if name else key)
    ]
    return [*header, *own, *below]


def _value(value: Any) -> str:
    if isinstance(value, float) and math.isinf(value):
        return "inf"
    return json.dumps(value, ensure_ascii=False)  # strings, numbers and booleans: TOML's own form


def _override(values: dict[str, Any], override: str) -> str:
    key, equals, text = override.partition("=")
    key = key.strip()
    if not equals or not key:
        raise SwitchOutError(f"overrides={override}: expected key=value, such as train.steps=10")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except RecursionError:
        raise SwitchOutError(f"overrides={key}: its value is nested too deep") from None
    except ValueError:  # no TOML: a plain string, its quotes left out
        value = text.strip()
    *tables, last = key.split(".")
    place = values
    for table in tables:
        place = place.setdefault(table, {})
        if not isinstance(place, dict):
            raise SwitchOutError(f"overrides={override}: {table} is a value, not a table")
    place[last] = value
    if len(tables) == 2 and tables[0] == "augment":
        for gone in _replaced(last, value):
            place.pop(gone, None)
    return key


def _replaced(key: str, value: Any) -> tuple[str, ...]:
    """Return the keys of a side that go when another one is set; a later one counts again."""
    if key == "policy":
        return () if value == "similar" else _OF_SIMILAR
    return (_OTHER_STRENGTH[key],) if key in _OTHER_STRENGTH else ()


def _known_path(location: tuple[int | str, ...]) -> list[str]:
    """Drop what pydantic appends for the branch of a union."""
    model: Any = Config
    path: list[str] = []
    for part in location:
        path.append(str(part))
        model = _section(model, str(part))
        if model is None:
            break
    return path


def _section(model: type[BaseModel], name: str) -> type[BaseModel] | None:
    info = model.model_fields.get(name)
    kind = info.annotation if info else None
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def _explain(error: Any, key: str) -> str:
    *tables, last = key.split(".") if key else [""]
    model: type[BaseModel] = Config
    for table in tables:
        model = _section(model, table) or model
    if error["type"] == "extra_forbidden":
        near = _by_last_part(last) or did_you_mean(last, list(model.model_fields))
        return f"unknown key {key!r}{near}"
    if error["type"] == "missing":
        return f"key {key!r} is missing"
    if error["type"] == "literal_error":
        choices = [c for c in _literals(model.model_fields[last].annotation) if c]
        return f"{key} = {error['input']!r}{did_you_mean(str(error['input']), choices)}"
    message = error["msg"].removeprefix("Value error, ")
    if error["type"] == "value_error" and message.startswith("must be "):
        return f"{key} {message}"
    if error["type"] == "value_error":
        return f"[{key}] {message}" if key else message
    return f"{key} = {error['input']!r}: {message[0].lower()}{message[1:]}"


def _by_last_part(name: str) -> str:
    """Suggest the keys that end in a name; ``tau_x`` is how options call that of the source."""
    table = {"_x": "augment.source", "_y": "augment.target"}.get(name[-2:])
    ending = f".{name}" if table is None else f"{table}.{name[:-2]}"
    keys = flatten(Config.model_validate({"data": {"corpus": ""}}))
    found = " or ".join(repr(key) for key in keys if key.endswith(ending))
    return f" (did you mean {found}?)" if found else ""


def _literals(annotation: Any) -> list[str]:
    parts = get_args(annotation)
    return [p for part in parts for p in ([part] if isinstance(part, str) else _literals(part))]
