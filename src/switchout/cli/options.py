"""Options that several verbs share, declared once. Not a verb itself.

Where the library has a parameter for it, an option has that parameter's name, whatever its flag:
so errors of the library become errors about flags (see `switchout.cli.verb`).
"""

from __future__ import annotations

import logging
import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from switchout.cli.verb import Option
from switchout.errors import SwitchOutError
from switchout.ranges import GPUS, RESAMPLES, SEED, WORKERS

if TYPE_CHECKING:
    from switchout.engines import Engine
    from switchout.evaluation.comparison import System
    from switchout.evaluation.features import Feature
    from switchout.evaluation.references import References

log = logging.getLogger(__name__)

Json = Annotated[bool, Option("Print JSON, for programs.", "--json")]
Overrides = Annotated[
    list[str] | None, Option("Override one key; repeatable.", "--set", "KEY=VALUE")
]
Step = Annotated[
    str | None, Option("Checkpoint: a step, or 'average'; else the selected one.", "STEP")
]
Runs = Annotated[
    int | None, Option("Runs at a time; default: as many as processors.", limits=WORKERS)
]
Resamples = Annotated[int, Option(f"Resampled test sets, {RESAMPLES}.", limits=RESAMPLES)]


@dataclass(frozen=True, kw_only=True)
class Direction:
    """From which language to which, where a corpus does not say so itself."""

    source: Annotated[
        str | None, Option("Source language, where the corpus is silent.", "LANG")
    ] = None
    target: Annotated[
        str | None, Option("Target language, where the corpus is silent.", "LANG")
    ] = None

    @property
    def overrides(self) -> list[str]:
        """The same as settings of a configuration.

        Example:
            >>> Direction(source="de").overrides
            ['data.source="de"']
        """
        given = {"data.source": self.source, "data.target": self.target}
        return [f'{key}="{value}"' for key, value in given.items() if value is not None]


@dataclass(frozen=True, kw_only=True)
class Where:
    """Where many runs are trained."""

    GROUP = "Where it runs"

    workers: Runs = None
    engine: Annotated[str, Option("local or ray.", "NAME")] = "local"
    ray_address: Annotated[
        str | None, Option("Of a running cluster; default: Ray on this machine.", "HOST")
    ] = None
    gpus: Annotated[float, Option("GPUs a run needs, on Ray.", limits=GPUS)] = 0.0

    def made(self) -> Engine:
        """Return the engine."""
        from switchout.engines import Engine

        return Engine(
            self.engine, workers=self.workers, ray_address=self.ray_address, gpus=self.gpus
        )


Ref = Annotated[Path | None, Option("Reference: real text, a line per sentence; runs know theirs.")]


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """How text is scored."""

    tokenize: Annotated[
        str | None,
        Option(
            "sacrebleu's tokenizer for BLEU; none for tokenised text. Default: 13a, or as the"
            " corpus of the runs is scored.",
            "NAME",
        ),
    ] = None
    lowercase: Annotated[bool, Option("BLEU without case.", "--lowercase", "-l")] = False
    seed: Annotated[int, Option("Seed of the resampling.", limits=SEED)] = 0

    def of(self, references: References) -> dict[str, Any]:
        """Return tokenizer and case for a test set, as `Metric` takes them."""
        return {
            "tokenize": self.tokenize or references.bleu.tokenize,
            "lowercase": self.lowercase or references.bleu.lowercase,
        }


@dataclass(frozen=True, kw_only=True)
class Systems:
    """A baseline and what is compared with it, on one test set."""

    GROUP = "What is compared"

    ref: Ref = None
    baseline: Annotated[str, Option("Outputs, or folders, of the baseline's runs.", "NAME=F1,F2,…")]
    system: Annotated[list[str], Option("Those of a system; may be repeated.", "NAME=F1,F2,…")]

    @property
    def inputs(self) -> dict[str, Any]:
        """The files that they name, by parameter."""
        from switchout.evaluation.references import output_file

        found = {
            "baseline": [output_file(path) for path in _paths([self.baseline])],
            "system": [output_file(path) for path in _paths(self.system)],
        }
        return {"ref": self.ref, **found}

    def read(self, *, is_paired: bool = False) -> tuple[References, System, list[System]]:
        """Return the test set, the baseline and the systems; say what else their runs differ in."""
        from switchout.evaluation.references import refuse_shared

        references = references_of(self.ref, _paths([self.baseline, *self.system]))
        base, *systems = (references.system(text) for text in (self.baseline, *self.system))
        refuse_shared([base, *systems])
        names = [system.name for system in (base, *systems)]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise SwitchOutError(
                f"two systems are called {twice!r}; runs of one system go together: NAME=F1,F2,…"
            )
        _look_at_runs([base, *systems], is_paired=is_paired)
        return references, base, systems


def _look_at_runs(systems: Sequence[System], *, is_paired: bool) -> None:
    """Warn of other settings, and refuse other seeds in a pair, where outputs are runs."""
    outputs = {system.name: [Path(path) for path in system.run_names] for system in systems}
    runs = {
        name: [path for path in paths if (path / "config.toml").is_file()]
        for name, paths in outputs.items()
    }
    if not any(runs.values()):
        return
    from switchout.runs.differences import check_paired, differences

    for line in differences(runs):
        log.warning(line)
    if is_paired and runs == outputs:
        check_paired([system.run_names for system in systems])


def _paths(systems: Sequence[str]) -> list[str]:
    from switchout.evaluation.references import files_of_system

    return [path for text in systems for path in files_of_system(text)[1]]


def references_of(ref: Path | None, outputs: Sequence[str | Path]) -> References:
    """Return the test set: of the file, or of the runs if all outputs are folders of runs."""
    from switchout.evaluation.references import References, output_file

    if ref is not None:
        references = References.read(ref)
        _warn_if_another(references, [Path(path) for path in outputs])
        return references
    for path in outputs:
        if not Path(path).exists():
            raise SwitchOutError(f"{path}: no such file or folder")
        if output_file(path) == Path(path):
            raise SwitchOutError(f"{path} is not the folder of a run: give its reference as --ref")
    from switchout.runs.job import common_corpus

    return References.of_corpus(common_corpus([Path(path) for path in outputs]))


def _warn_if_another(references: References, outputs: Sequence[Path]) -> None:
    """Say if a run among the outputs has another reference, where it can be found."""
    for run in outputs:
        if not (run / "config.toml").is_file():
            continue
        from switchout.runs.job import common_corpus

        try:
            known = common_corpus([run]).pairs("test")[1]
        except (SwitchOutError, OSError):  # its corpus is not here any more
            continue
        if known != references.lines:
            log.warning(
                "warning: %s is not the reference that %s was scored with", references.path, run
            )
            return


@dataclass(frozen=True, kw_only=True)
class Training:
    """What the systems were trained on: some test sentences are farther from it than others."""

    GROUP = "Buckets"

    train: Annotated[
        Path | None, Option("Training text, source side: for buckets by wer, rarest, unknown.")
    ] = None
    wer: Annotated[
        Path | None, Option("Instead, by wer alone: file of 'switchout neighbors'.", "--neighbors")
    ] = None

    def features(
        self,
        references: References,
        sources: Sequence[str] | None,
        *,
        by: Sequence[str] = (),
        known: Collection[str] | None = None,
    ) -> list[Feature]:
        """Return what test sentences can be put into buckets by."""
        from switchout.evaluation.features import features_of
        from switchout.files import read_lines

        return features_of(
            references.lines,
            by=by,
            wer=None if self.wer is None else references.distances(self.wer),
            sources=sources,
            train=None if self.train is None else read_lines(self.train),
            known=known,
            workers=os.cpu_count() or 1,
        )
