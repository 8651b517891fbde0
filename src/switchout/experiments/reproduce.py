"""The paper's tables and figures: from a few words to rows of runs, trained and written down."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from switchout.corpora.registry import find_entry
from switchout.engines import Engine
from switchout.errors import SwitchOutError, did_you_mean
from switchout.experiments.backtranslate import Recipe, read_mono, with_synthetic
from switchout.experiments.experiment import (
    CorpusRows,
    Experiment,
    Row,
    Trials,
    check_corpora,
    check_folder,
    save,
)
from switchout.experiments.paper import (
    BT,
    table1_rows,
    table2_rows,
    taus_for,
    tuned_name,
    tuned_rows,
    wer_rows,
)
from switchout.experiments.training import Failure, train_experiment
from switchout.experiments.tuning import TAUS, search_taus, tune, tune_taus
from switchout.runs.config import Config
from switchout.runs.config_file import load_config
from switchout.runs.job import corpus_of

KINDS = ["table1", "table2", "tau", "wer"]
PRESET_OF = {
    "phrasebook": "phrasebook",
    "multi30k-de-en": "multi30k",
    "iwslt15-en-vi": "en-vi",
    "iwslt14-de-en": "de-en",
    "wmt15-en-de": "en-de",
}
OTHER_PRESET = "multi30k"  # a small Transformer
# Settings that the rows have of their own, and what says them instead. (Of the noise of a side the
# rows take what is a word: unk_is_word and special_pattern.)
NOISE_KEYS = ("policy", "tau", "rate", "rescaled", "vectors", "neighbors")
OF_NOISE = "rows have noise of their own: give --tau-x and --tau-y, or make a sweep for other noise"
INSTEAD = {
    "seed": "rows have the seeds 1, 2, …: give their number by --seeds",
    "data.corpus": "give it by --corpus",
    **{f"augment.{side}.{key}": OF_NOISE for side in ("source", "target") for key in NOISE_KEYS},
}


@dataclass(frozen=True)
class Request:
    """What a user asks of `reproduce`.

    Attributes:
        corpora: Names or folders; each has rows of its own.
        preset: A preset or TOML file; None: the corpus's own, or what suits somebody's folder.
        overrides: ``key=value`` each.
        n_seeds: Per row; None: as many as in the paper.
        taus: (tau_x, tau_y); None: the paper's.
        is_tuned: Tune dropout and label smoothing of the first row on dev before anything else.
        has_tuned_taus: Add rows to table 1 at temperatures tuned on dev.
        grid_x, grid_y: Temperatures of the figure ``tau``, or to tune among.
        mono: Monolingual target text for table 2; None: what the corpus has to offer.
        recipe: Of the synthetic pairs of table 2.
        engine: Where to train.
        command: The line that repeats it.
    """

    corpora: Sequence[str]
    preset: str | None = None
    overrides: Sequence[str] = ()
    n_seeds: int | None = None
    taus: tuple[float, float] | None = None
    is_tuned: bool = False
    has_tuned_taus: bool = False
    grid_x: Sequence[float] = TAUS
    grid_y: Sequence[float] = TAUS
    mono: Path | None = None
    recipe: Recipe = field(default_factory=Recipe)
    engine: Engine = field(default_factory=Engine)
    command: str = ""


def reproduce(kind: str, request: Request, out: Path) -> list[Failure]:
    """Train what a table or figure needs and write ``experiment.json`` into ``out``.

    The same call again trains only what is missing.
    """
    if kind not in KINDS:
        raise SwitchOutError(f"reproduce {kind}: unknown{did_you_mean(kind, KINDS)}")
    if request.has_tuned_taus and kind != "table1":
        raise SwitchOutError(f"reproduce {kind}: only table1 has rows at tuned temperatures")
    if request.has_tuned_taus and not all(tau > 0 for tau in (*request.grid_x, *request.grid_y)):
        raise SwitchOutError("temperatures to tune among are above 0: 0 is the row without noise")
    check_overrides(request.overrides)
    check_folder(out, kind)
    bases = [base_config(name, request) for name in request.corpora]
    check_corpora(bases)  # refuse all that is wrong before the first run
    if kind == "tau":
        return _search_taus(bases, request, out)
    experiment = Experiment(
        kind, tuple(_corpus_rows(kind, b, request) for b in bases), request.command
    )
    return train_experiment(experiment, out, request.engine)


def check_overrides(overrides: Sequence[str]) -> None:
    """Refuse settings that no row would have: they would be passed over in silence."""
    for override in overrides:
        for key in _given_keys(override):
            if key in INSTEAD:
                raise SwitchOutError(f"overrides={key}: has no effect here: {INSTEAD[key]}")


def _given_keys(override: str) -> Iterator[str]:
    """The dotted keys of ``key=value``: several, if the value is a table."""
    key, _, text = override.partition("=")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):  # a plain string, or refused where it is read
        value = text
    yield from _leaves(key.strip(), value)


def _leaves(key: str, value: Any) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield key
        return
    for name, below in value.items():
        yield from _leaves(f"{key}.{name}", below)


def base_config(corpus: str, request: Request) -> Config:
    """Return the configuration all rows of a corpus share, without noise."""
    if request.preset is None and find_entry(Path(corpus).name) is None:  # somebody's own
        return load_config(None, corpus=corpus, overrides=request.overrides)
    preset = request.preset
    if preset is None:
        entry = find_entry(corpus)
        preset = PRESET_OF.get(entry.name if entry else "", OTHER_PRESET)
    config = load_config(preset, overrides=request.overrides)
    if config.data.corpus == corpus:
        return config
    given = {override.partition("=")[0].strip() for override in request.overrides}
    own = {k: None for k in ("source", "target", "train_pairs") if f"data.{k}" not in given}
    data = config.data.model_copy(update={"corpus": corpus, **own})
    return config.model_copy(update={"data": data})


def corpus_title(config: Config, *others: Config) -> str:
    """Return a heading: corpus, direction and how much of it, if all rows have the same."""
    corpus = corpus_of(config)
    n_pairs = config.data.train_pairs
    is_same = all(other.data.train_pairs == n_pairs for other in others)
    size = f", {n_pairs:,} pairs" if n_pairs and is_same else ""
    return f"{Path(corpus.name).name} {corpus.source}→{corpus.target}{size}"


def _corpus_rows(kind: str, base: Config, request: Request) -> CorpusRows:
    base, tried_first = _tuned(base, request)
    rows = _rows(kind, base, request)
    tried = {rows[0].name: tried_first}
    if request.has_tuned_taus:
        tuned = tune_taus(base, request.engine, taus_x=request.grid_x, taus_y=request.grid_y)
        rows += tuned_rows(base, tuned, n_seeds=request.n_seeds)
        tried |= {tuned_name(name): taus.tried for name, taus in tuned.items()}
    return CorpusRows(corpus_title(base), tuple(rows), tried)


def _rows(kind: str, base: Config, request: Request) -> list[Row]:
    taus = request.taus or taus_for(base.data.corpus)
    if kind == "table2":
        return _table2_rows(base, taus, request)
    plan = wer_rows if kind == "wer" else table1_rows
    return plan(base, taus=taus, n_seeds=request.n_seeds)


def _table2_rows(base: Config, taus: tuple[float, float], request: Request) -> list[Row]:
    """The rows; their synthetic pairs are made first, while other workers train those without."""
    mono = None if request.mono is None else read_mono(request.mono)
    same = table2_rows(base, base, taus=taus, n_seeds=request.n_seeds)
    real = CorpusRows("", tuple(row for row in same if BT not in row.name))
    beside = Experiment("table2", (real,), request.command).jobs()
    pair = with_synthetic(base, request.engine, mono=mono, recipe=request.recipe, beside=beside)
    return table2_rows(*pair, taus=taus, n_seeds=request.n_seeds)


def _tuned(base: Config, request: Request) -> tuple[Config, Trials]:
    return tune(base, request.engine) if request.is_tuned else (base, ())


def _search_taus(bases: Sequence[Config], request: Request, out: Path) -> list[Failure]:
    corpora: list[CorpusRows] = []
    failures: list[Failure] = []
    seeds = range(1, 1 + (request.n_seeds or 1))
    for base in bases:
        tuned, tried = _tuned(base, request)
        rows, failed = search_taus(
            tuned, request.engine, taus_x=request.grid_x, taus_y=request.grid_y, seeds=seeds
        )
        failures += failed
        corpora.append(CorpusRows(corpus_title(base), tuple(rows), {rows[0].name: tried}))
    save(Experiment("tau", tuple(corpora), request.command), out)
    return failures
