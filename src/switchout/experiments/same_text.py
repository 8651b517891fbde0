"""That rows of one table can be compared: all have the dev and test pairs of the first."""

from __future__ import annotations

from collections.abc import Sequence

from switchout.corpora import Corpus
from switchout.errors import SwitchOutError
from switchout.experiments.experiment import Row
from switchout.runs.job import corpus_of


def check_same_text(rows: Sequence[Row], *, where: str) -> None:
    """Refuse rows whose dev or test pairs are not those of the first; ``where`` names the table.

    What they are trained on may differ: a number of pairs, synthetic pairs, a folder with more.
    """
    first = rows[0]
    seen = {_place(first)}  # a split is read once, however many rows have it
    for row in rows:
        if _place(row) not in seen:
            seen.add(_place(row))
            _check_pair(first, row, where)


def _place(row: Row) -> tuple[str | None, ...]:
    """All that decides which dev and test pairs a row has."""
    data = row.config.data
    return data.corpus, data.source, data.target


def _check_pair(first: Row, row: Row, where: str) -> None:
    ours, theirs = corpus_of(first.config), corpus_of(row.config)
    for split in ("dev", "test"):
        if theirs.pairs(split) != ours.pairs(split):
            raise SwitchOutError(
                f"{where}, row {row.name!r}: data.corpus, data.source and data.target give other"
                f" {split} pairs ({_about(theirs)}) than those of row {first.name!r}"
                f" ({_about(ours)}): rows are compared on one text; make an experiment of each"
            )


def _about(corpus: Corpus) -> str:
    return f"{corpus.name} {corpus.source}→{corpus.target}"
