"""The paper's tables and figures: from a few words to rows of runs, trained and written down."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from switchout.corpora.registry import find_entry
from switchout.errors import SwitchOutError, did_you_mean
from switchout.experiments.config import Config
from switchout.experiments.config_file import load_config
from switchout.experiments.engines import Engine, Failure, train_all
from switchout.experiments.experiment import Column, Experiment, check_corpora, check_folder, save
from switchout.experiments.paper import taus_for
from switchout.experiments.rows import Row, table1_rows, wer_rows
from switchout.experiments.runs import corpus_of

KINDS = ["table1", "table2", "tau", "wer"]
PRESET_OF = {
    "phrasebook": "phrasebook",
    "multi30k-de-en": "multi30k",
    "iwslt15-en-vi": "en-vi",
    "iwslt14-de-en": "de-en",
    "wmt15-en-de": "en-de",
}
OTHER_PRESET = "multi30k"  # a small Transformer


@dataclass(frozen=True)
class Wish:
    """What a user asks of `reproduce`.

    Attributes:
        corpora: Names or folders; each is a column.
        preset: A preset or TOML file; None: the corpus's own.
        overrides: ``key=value`` each.
        n_seeds: Per row; None: as many as in the paper.
        taus: (tau_x, tau_y); None: the paper's.
        is_tuned: Tune dropout and label smoothing of the first row on dev before anything else.
        grid_x, grid_y: Temperatures of the figure ``tau``.
        mono: Monolingual target text for table 2; None: what the corpus has to offer.
        engine: Where to train.
        command: The line that repeats it.
    """

    corpora: Sequence[str]
    preset: str | None = None
    overrides: Sequence[str] = ()
    n_seeds: int | None = None
    taus: tuple[float, float] | None = None
    is_tuned: bool = False
    grid_x: Sequence[float] = (0.0, 0.8, 1.0, 1.2)
    grid_y: Sequence[float] = (0.0, 0.8, 1.0, 1.2)
    mono: Path | None = None
    engine: Engine = field(default_factory=Engine)
    command: str = ""


def reproduce(kind: str, wish: Wish, out: Path) -> list[Failure]:
    """Train what a table or figure needs and write ``experiment.json`` into ``out``.

    The same call again trains only what is missing.
    """
    if kind not in KINDS:
        raise SwitchOutError(f"reproduce {kind}: unknown{did_you_mean(kind, KINDS)}")
    check_folder(out)
    bases = [base_config(name, wish) for name in wish.corpora]
    for base in bases:  # refuse all that is wrong before the first run
        check_corpora((Column("", (Row("", base, ()),)),))
    plan = {"table1": _table1, "wer": _wer}[kind]
    columns = tuple(plan(base, wish) for base in bases)
    experiment = Experiment(kind, columns, wish.command)
    save(experiment, out)
    return train_all(experiment.jobs(), wish.engine, label=kind)


def base_config(corpus: str, wish: Wish) -> Config:
    """Return the configuration all rows of a corpus share, without noise."""
    entry = find_entry(corpus)
    preset = wish.preset or PRESET_OF.get(entry.name if entry else "", OTHER_PRESET)
    config = load_config(preset, overrides=wish.overrides)
    if config.data.corpus == corpus:
        return config
    given = {override.partition("=")[0].strip() for override in wish.overrides}
    own = {k: None for k in ("source", "target", "train_pairs") if f"data.{k}" not in given}
    data = config.data.model_copy(update={"corpus": corpus, **own})
    return config.model_copy(update={"data": data})


def column_name(config: Config) -> str:
    """Return a heading: corpus, direction and how much of it."""
    corpus = corpus_of(config)
    n_pairs = config.data.train_pairs
    size = f", {n_pairs:,} pairs" if n_pairs else ""
    return f"{Path(corpus.name).name} {corpus.source}→{corpus.target}{size}"


Plan = Callable[[Config, Wish], Column]


def _taus(base: Config, wish: Wish) -> tuple[float, float]:
    return wish.taus or taus_for(base.data.corpus)


def _table1(base: Config, wish: Wish) -> Column:
    rows = table1_rows(base, taus=_taus(base, wish), n_seeds=wish.n_seeds)
    return Column(column_name(base), tuple(rows))


def _wer(base: Config, wish: Wish) -> Column:
    rows = wer_rows(base, taus=_taus(base, wish), n_seeds=wish.n_seeds)
    return Column(column_name(base), tuple(rows))
