"""What an experiment asked: what its rows share, what they differ in, and what was fixed before."""

from __future__ import annotations

from collections.abc import Iterable

from switchout.experiments.experiment import CorpusRows, Experiment
from switchout.report.page import Section
from switchout.report.tables import Cell, Column, Table
from switchout.runs.config import Config, Side, flatten

TRAINING_PAIRS = {"data.train_pairs", "data.synthetic"}


def asked_section(experiment: Experiment) -> Section:
    """Return the section; the rows of the figure of temperatures are its cells, not listed."""
    several = len(experiment.corpora) > 1
    text = [
        f"{corpus.name}: {sentence}" if several else sentence
        for corpus in experiment.corpora
        for sentence in _settings(corpus)
    ]
    text.append("Temperatures are tau as in the text of the paper; its appendix prints 1/tau.")
    if experiment.kind == "tau":
        return Section("What was asked", text=text)
    rows: list[tuple[Cell, ...]] = [
        (*([corpus.name] if several else []), row.name, *_noise(row.config), len(row.seeds))
        for corpus in experiment.corpora
        for row in corpus.rows
    ]
    columns = [
        *([Column("corpus")] if several else []),
        Column("row"),
        Column("noise of the source", "source"),
        Column("of the target", "target"),
        Column("seeds", format="d"),
    ]
    return Section("What was asked", text=text, tables=[Table("Rows", columns, rows)])


def about(experiment: Experiment) -> str:
    """Return on what and how, in one line."""
    return " · ".join(_in_short(corpus) for corpus in experiment.corpora)


def _in_short(corpus: CorpusRows) -> str:
    m = corpus.base.model
    steps = _span(row.config.train.steps for row in corpus.rows)
    n_seeds = _span(len(row.seeds) for row in corpus.rows)
    return (
        f"{corpus.name}; Transformer {m.layers}+{m.layers} layers, width {m.d_model}; "
        f"{steps} steps; {n_seeds} seeds a row".replace(" 1 seeds", " 1 seed")
    )


def _span(numbers: Iterable[int]) -> str:
    found = sorted(numbers)
    return f"{found[0]:,}" if found[0] == found[-1] else f"{found[0]:,} to {found[-1]:,}"


def _settings(corpus: CorpusRows) -> list[str]:
    base = corpus.base
    m, t = base.model, base.train
    sentences = [
        f"{_difference(corpus)}: {m.layers}+{m.layers} layers, width {m.d_model}, dropout "
        f"{m.dropout:g}, label smoothing {t.label_smoothing:g}, {t.steps:,} steps of "
        f"{t.batch_tokens:,} tokens, beam {base.search.beam}.",
        f"Checkpoint rule, fixed before the runs: {t.select}, looked at every "
        f"{t.checkpoint_every:,} steps.",
    ]
    if n_tried := sum(len(rows) for rows in corpus.tried.values()):
        sentences.insert(1, f"{n_tried} more runs chose settings by dev BLEU before.")
    return sentences


def _difference(corpus: CorpusRows) -> str:
    """In which keys the rows differ, in words for those of the paper's tables."""
    first, *others = (flatten(row.config) for row in corpus.rows)
    keys = [key for key in first if any(other[key] != first[key] for other in others)]
    beside_noise = {key for key in keys if not key.startswith("augment.")}
    if not beside_noise:
        return "Rows differ in their noise and in nothing else"
    if beside_noise <= TRAINING_PAIRS:
        return "Rows differ in their noise and their training pairs, and in nothing else"
    if beside_noise == {"data.corpus"}:  # other dev or test pairs would have been refused
        return "Rows differ in their noise and their corpus, whose dev and test pairs are the same"
    return f"Rows differ in {', '.join(keys)}; the first has"


def _noise(config: Config) -> tuple[str, str]:
    until = config.augment.until
    return _policy(config.augment.source, until), _policy(config.augment.target, until)


def _policy(side: Side, until: float) -> str:
    if side.policy == "none":
        return "–"
    strength = f"rate {side.rate:g}" if side.tau is None else f"tau {side.tau:.4g}"
    rescaled = ", rescaled" if side.rescaled else ""
    span = "" if until == 1 else f", in the first {until:.0%} of the steps"
    return f"{side.policy}, {strength}{rescaled}{span}"
