"""``switchout buckets``: where does a system gain? By distance, length, rare and unknown words."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from switchout.cli.options import Json, Resamples, Scoring, Systems, Training
from switchout.cli.terminal import table_width, wrapped
from switchout.cli.verb import Option
from switchout.errors import SwitchOutError
from switchout.ranges import Real, Whole

if TYPE_CHECKING:
    from switchout.evaluation.features import Feature
    from switchout.evaluation.references import References

EDGE = Real(-1e30, 1e30)


@dataclass(frozen=True, kw_only=True)
class Cuts(Training):
    """What the buckets are made by."""

    sources: Annotated[Path | None, Option("Test text, source side; with --train.", "--test")] = (
        None
    )
    known: Annotated[
        Path | None, Option("Known source words, one a line; default: those of --train.", "--vocab")
    ] = None
    by: Annotated[
        list[str] | None,
        Option("wer, length, rarest, unknown; repeatable. Default: all it can.", "NAME"),
    ] = None
    edges: Annotated[str | None, Option("Where buckets begin, for one --by.", "E1,E2,…")] = None
    n_buckets: Annotated[
        int, Option("Buckets of about equally many sentences.", "--buckets", limits=Whole(1, 100))
    ] = 5

    @property
    def numbers(self) -> list[float] | None:
        """Where buckets begin."""
        if self.edges is None:
            return None
        name = f"--edges {self.edges}: each"
        return [EDGE.parse(part, name) for part in self.edges.split(",")]

    def made(self, references: References) -> list[Feature]:
        """Return what the sentences are sorted by."""
        from switchout.corpora.vocabulary import read_words

        for flag, path in (("--train", self.train), ("--vocab", self.known)):
            if path is not None and self.sources is None:
                raise SwitchOutError(f"{flag} needs --test, the source side of the test set")
        features = self.features(
            references,
            None if self.sources is None else references.matching(self.sources),
            by=self.by or (),
            known=None if self.known is None else set(read_words(self.known)),
        )
        if self.edges is not None and len(features) != 1:
            raise SwitchOutError("--edges needs exactly one --by")
        return features


def buckets(
    systems: Systems,
    cuts: Cuts,
    *,
    metric: Annotated[str, Option("bleu, chrf or ter.", "NAME")] = "bleu",
    scoring: Scoring,
    resamples: Resamples = 10_000,
    plot: Annotated[Path | None, Option("Write a figure, as .svg.")] = None,
    as_json: Json = False,
) -> None:
    """Gain over a baseline in buckets of test sentences, and whether it has a trend.

    Examples:
      switchout buckets --ref test.en --baseline base=b1,b2 --system new=n1,n2 \\
        --train train.de --test test.de --by wer --plot gains.svg
      switchout buckets --ref test.en --baseline base.hyp --system new.hyp \\
        --neighbors nn.tsv --by wer --edges 0.4,0.6,0.8 --json
      switchout buckets --baseline runs/base --system runs/switchout --by length
    """
    from switchout.evaluation.buckets import break_down
    from switchout.evaluation.comparison import score_system
    from switchout.evaluation.metrics import Metric
    from switchout.files import check_outputs
    from switchout.report.buckets import check_figure, gains_table, plot_gains, trends_table

    edges = cuts.numbers
    if plot is not None:
        check_figure(plot)
    given = {name: getattr(cuts, name) for name in ("wer", "train", "sources", "known")}
    check_outputs({"plot": plot}, systems.inputs | given, begins={"plot": b"<svg"})
    references, base, others = systems.read()
    features = cuts.made(references)
    measured = Metric(metric, references.lines, **scoring.of(references))
    breakdowns = break_down(
        references.lines,
        score_system(measured, base),
        [score_system(measured, other) for other in others],
        features,
        metric=measured,
        edges=edges,
        n_buckets=cuts.n_buckets,
        n_resamples=resamples,
        seed=scoring.seed,
    )
    if plot is not None:
        plot_gains(breakdowns, plot)
    if as_json:
        print(json.dumps([b.to_dict() for b in breakdowns], ensure_ascii=False, indent=2))
        return
    width = table_width()
    for table in map(gains_table, breakdowns):
        print(wrapped(table.title), table.text(width), "", sep="\n")
    trends = trends_table(breakdowns)
    print(trends.text(width), wrapped(trends.note), breakdowns[0].metric.signature, sep="\n")
