"""The policies a configuration names, over the words of its vocabularies."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from switchout.corpora.vocabulary import PAD, Vocabulary
from switchout.errors import SwitchOutError
from switchout.files import read_lines
from switchout.policies import Pair, Policy, make_policy
from switchout.policies.factory import warn_if_too_much
from switchout.policies.similarity_table import SimilarityTable
from switchout.runs.config import Augment, Side
from switchout.words import Words


def build_noise(augment: Augment, source: Vocabulary, target: Vocabulary) -> Pair | None:
    """Return the policies of both sides, or None where neither side has one."""
    if augment.source.policy == augment.target.policy == "none":
        return None
    return Pair(
        source=_named_policy(augment.source, source, "augment.source"),
        target=_named_policy(augment.target, target, "augment.target"),
    )


def _named_policy(side: Side, vocabulary: Vocabulary, key: str) -> Policy | None:
    try:
        return build_policy(side, vocabulary)
    except ValueError as error:
        raise SwitchOutError(f"[{key}] {error}") from None


def warn_of_noise(noise: Pair | None) -> None:
    """Say so where noise leaves little of a sentence."""
    sides = {} if noise is None else {"source": noise.source, "target": noise.target}
    for side, policy in sides.items():
        if policy is not None:
            warn_if_too_much(policy, f"[augment.{side}]")


def build_policy(side: Side, vocabulary: Vocabulary) -> Policy | None:
    """Return the policy of one side; the null word of word dropout is PAD, a zero embedding."""
    if side.policy == "none":
        return None
    words = vocabulary.words(unk_is_word=side.unk_is_word, special_pattern=side.special_pattern)
    table = _similarities(side, words, vocabulary) if side.policy == "similar" else None
    return make_policy(
        side.policy,
        words,
        tau=side.tau,
        rate=side.rate,
        rescaled=side.rescaled,
        null_id=PAD,
        table=table,
    )


def _similarities(side: Side, words: Words, vocabulary: Vocabulary) -> SimilarityTable:
    assert side.vectors is not None  # `Side` checks it
    vectors = read_vectors(Path(side.vectors), vocabulary)
    return SimilarityTable.from_embeddings(vectors, words, k=side.neighbors)


def read_vectors(path: Path, vocabulary: Vocabulary) -> NDArray[np.float64]:
    """Return one vector per id, [ids, dimensions], zero for words the file does not have.

    The file is text, a word and its numbers per line; word2vec's first line of two is skipped.
    """
    ids = {token: id for id, token in enumerate(vocabulary.tokens)}
    lines = [line.rstrip().split(" ") for line in read_lines(path)]
    first = 1 if lines and len(lines[0]) == 2 else 0
    if len(lines) == first:
        raise SwitchOutError(f"{path}: no word vectors in it")
    vectors = np.zeros((len(ids), len(lines[first]) - 1))
    for number, (token, *values) in enumerate(lines[first:], first + 1):
        if token not in ids:
            continue
        try:
            if len(values) != vectors.shape[1]:
                raise ValueError
            vectors[ids[token]] = [float(value) for value in values]
        except ValueError:
            raise SwitchOutError(
                f"{path}:{number}: expected a word and {vectors.shape[1]} numbers"
            ) from None
    return vectors
