"""What the data and the noise are like: overlap, unknown words, sentences left untouched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from switchout.corpora import Corpus
from switchout.corpora.codec import Codec
from switchout.corpora.vocabulary import UNK
from switchout.experiments.experiment import RowRecord
from switchout.policies import Policy
from switchout.runs.noise import build_policy

SAMPLE = 2_000  # training sentences looked at


@dataclass(frozen=True)
class DataFacts:
    """Facts about one corpus.

    Attributes:
        n_train: Training pairs.
        vocabulary: Words of source and target.
        unknown: Share of test words that are unknown, source and target.
        overlap: Share of test sentences whose source is in the training set.
        untouched: Row → (share of source, of target sentences that noise leaves as they are).
    """

    n_train: int
    vocabulary: tuple[int, int]
    unknown: tuple[float, float]
    overlap: float
    untouched: dict[str, tuple[float, float]]


def data_facts(rows: Sequence[RowRecord], corpus: Corpus) -> DataFacts | None:
    """Return the facts, by the vocabularies of a finished run; None where no folder is left."""
    folder = next((row.runs[0].folder for row in rows if row.runs), None)
    if folder is None or not folder.is_dir():
        return None
    codecs = (Codec.load(folder, "src"), Codec.load(folder, "tgt"))
    train, test = corpus.pairs("train"), corpus.pairs("test")
    known = set(train[0])
    ids = [
        [codec.encode(line) for line in lines[:SAMPLE]]
        for codec, lines in zip(codecs, train, strict=True)
    ]
    return DataFacts(
        n_train=len(train[0]),
        vocabulary=(len(codecs[0].vocabulary), len(codecs[1].vocabulary)),
        unknown=(_unknown(codecs[0], test[0]), _unknown(codecs[1], test[1])),
        overlap=sum(line in known for line in test[0]) / len(test[0]),
        untouched={row.name: _untouched(row, codecs, ids) for row in rows},
    )


def _unknown(codec: Codec, lines: Sequence[str]) -> float:
    ids = [id for line in lines for id in codec.encode(line)]
    return ids.count(UNK) / max(len(ids), 1)


def _untouched(
    row: RowRecord, codecs: tuple[Codec, Codec], ids: list[list[list[int]]]
) -> tuple[float, float]:
    augment = row.row.config.augment
    shares = []
    for side, codec, sentences in zip((augment.source, augment.target), codecs, ids, strict=True):
        policy = build_policy(side, codec.vocabulary)
        shares.append(1.0 if policy is None else share_kept(policy, sentences))
    return shares[0], shares[1]


def share_kept(policy: Policy, sentences: list[list[int]]) -> float:
    """Mean probability that a sentence is drawn as itself: exact, not sampled."""
    longest = max(map(len, sentences))
    x = np.array([s + [0] * (longest - len(s)) for s in sentences])
    return float(np.exp(policy.log_prob(x, x)).mean())  # type: ignore[attr-defined]  # Chain alone has none
