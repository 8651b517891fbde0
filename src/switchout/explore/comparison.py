"""Several runs side by side: systems are runs that differ in nothing but the seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from switchout.corpora import Corpus
from switchout.errors import SwitchOutError
from switchout.evaluation.buckets import Breakdown, break_down
from switchout.evaluation.comparison import Comparison, System, compare
from switchout.evaluation.features import features_of
from switchout.explore.catalogue import Catalogue
from switchout.files import read_lines
from switchout.runs.config import Config, Side
from switchout.runs.folder import read_run_config
from switchout.runs.job import common_corpus

MOST_COMPARED = 24
N_RESAMPLES = 2_000


@dataclass(frozen=True)
class RunGroup:
    """Runs of one configuration, by any seed."""

    name: str
    runs: tuple[str, ...]


@dataclass(frozen=True)
class Compared:
    """What a comparison found.

    Attributes:
        groups: The systems; the first one is the baseline.
        results: Every other against the baseline, on the test set; empty where there is no reason
            or no way to compare, which ``problem`` then says.
        breakdowns: Where the gain is, by length of the reference.
    """

    groups: list[RunGroup]
    results: list[Comparison]
    breakdowns: list[Breakdown]
    references: list[str]
    problem: str = ""


def groups_of(catalogue: Catalogue, names: Sequence[str]) -> list[RunGroup]:
    """Return the runs by configuration, the one without augmentation first."""
    if not names:
        raise SwitchOutError("choose at least one run")
    if len(names) > MOST_COMPARED:
        raise SwitchOutError(f"{len(names)} runs; at most {MOST_COMPARED} are compared at once")
    if len(set(names)) < len(names):
        raise SwitchOutError("a run is named twice")
    configs = {name: read_run_config(catalogue.folder(name)) for name in names}
    together: dict[Config, list[str]] = {}
    for name, config in configs.items():
        together.setdefault(config.model_copy(update={"seed": 0}), []).append(name)
    groups = [
        (config.augment.source.policy == config.augment.target.policy == "none", config, runs)
        for config, runs in together.items()
    ]
    groups.sort(key=lambda group: not group[0])
    labels = _told_apart([describe(config) for _, config, _ in groups])
    return [RunGroup(label, tuple(g[2])) for label, g in zip(labels, groups, strict=True)]


def describe(config: Config) -> str:
    """Return the noise of a configuration in a few words.

    Example:
        >>> describe(Config.model_validate({"data": {"corpus": "phrasebook"}}))
        'no augmentation'
    """
    sides = [("x", config.augment.source), ("y", config.augment.target)]
    return ", ".join(_side(letter, side) for letter, side in sides if side.policy != "none") or (
        "no augmentation"
    )


def compare_runs(catalogue: Catalogue, names: Sequence[str]) -> Compared:
    """Return how systems made of these runs differ on the test set."""
    groups = groups_of(catalogue, names)
    if len(groups) < 2:
        return Compared(groups, [], [], [], "one configuration only: nothing to compare it with")
    folders = {name: catalogue.folder(name) for name in names}
    try:
        corpus = _common_corpus(folders)
    except SwitchOutError as error:  # the learning curves need no test set
        return Compared(groups, [], [], [], str(error))
    references = corpus.pairs("test")[1]
    baseline, *systems = (
        System(g.name, [read_lines(folders[n] / "test.hyp") for n in g.runs], g.runs)
        for g in groups
    )
    results = compare(
        references, baseline, systems, tokenize=corpus.bleu.tokenize,
        lowercase=corpus.bleu.lowercase, n_resamples=N_RESAMPLES,
    )  # fmt: skip
    breakdowns = break_down(
        references, results[0].baseline, [result.system for result in results],
        features_of(references), metric=results[0].metric, n_resamples=N_RESAMPLES,
    )  # fmt: skip
    return Compared(groups, results, breakdowns, references)


def _common_corpus(folders: dict[str, Path]) -> Corpus:
    """Return the corpus whose test set all runs have translated."""
    unfinished = [name for name, folder in folders.items() if not (folder / "test.hyp").exists()]
    if unfinished:
        raise SwitchOutError(f"not finished, or without a test set: {', '.join(unfinished)}")
    return common_corpus(list(folders.values()))


def _side(letter: str, side: Side) -> str:
    how = f"τ {side.tau:g}" if side.tau is not None else f"rate {side.rate:g}"
    return f"{side.policy} {letter} {how}"


def _told_apart(labels: list[str]) -> list[str]:
    """Number labels that occur more than once: the configurations differ in something else."""
    seen: dict[str, int] = {}
    told = []
    for label in labels:
        seen[label] = seen.get(label, 0) + 1
        told.append(label if labels.count(label) == 1 else f"{label} ({seen[label]})")
    return told
