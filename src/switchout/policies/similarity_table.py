"""Sparse tables of word similarities, for ``so.Similar(words, table, tau)``.

With s(x̂, x) = Σ_i sim(x_i, x̂_i) the exact policy of equation 2 factorises: one categorical draw
per position, ``q(v | w) ∝ exp(sim(w, v) / tau)`` over the row of w.

* The row of w lists exactly the words that w may become, w itself among them.
* A word without a row, or alone in it, never changes. ``-inf`` means "never".
* A constant added to a row changes nothing; the builders give w itself 0 and all others less.
* Rows are sorted by id and special ids appear nowhere, so equal inputs give equal tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from switchout.words import Words

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]

_BLOCK = 1 << 21  # similarities held at once while searching neighbours: 16 MB of float64


@dataclass(frozen=True, eq=False)
class SimilarityTable:
    """Candidates and their similarities per word, as compressed rows (CSR).

    Attributes:
        words: Which ids are words.
        indptr: Row w is the slice ``indptr[w]:indptr[w + 1]``, [size + 1].
        ids: Candidate ids, ascending within a row, [entries].
        sims: Their similarities, finite or -inf, [entries].

    Example:
        >>> table = SimilarityTable.from_dictionary({4: [6, 7]}, Words(8))
        >>> table.row(4)
        (array([4, 6, 7]), array([ 0., -1., -1.]))
        >>> table.row(5)                                # no row: never changes
        (array([5]), array([0.]))
    """

    words: Words
    indptr: Ids
    ids: Ids
    sims: Floats

    def __post_init__(self) -> None:
        for name, dtype in (("indptr", np.int64), ("ids", np.int64), ("sims", np.float64)):
            array = np.array(getattr(self, name), dtype=dtype)
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        self._check()

    def row(self, word: int) -> tuple[Ids, Floats]:
        """Return the candidates of a word and their similarities, both [candidates]."""
        if not 0 <= word < self.words.size:
            raise ValueError(f"word {word} is outside the vocabulary of {self.words.size} ids")
        part = slice(self.indptr[word], self.indptr[word + 1])
        if part.start == part.stop:
            return np.array([word]), np.zeros(1)
        return self.ids[part], self.sims[part]

    @classmethod
    def from_pairs(
        cls, words: Words, *, sources: ArrayLike, candidates: ArrayLike, sims: ArrayLike
    ) -> SimilarityTable:
        """Return the table of the given entries, in any order; sources join their own rows at 0.

        Args:
            words: Which ids are words.
            sources, candidates, sims: Word, what it may become, how similar that is; all [entries].
        """
        src, tgt = (np.asarray(a, np.int64).reshape(-1) for a in (sources, candidates))
        sim = np.asarray(sims, dtype=np.float64).reshape(-1)
        if not src.size == tgt.size == sim.size:
            raise ValueError(f"{src.size} sources, {tgt.size} candidates, {sim.size} similarities")
        _check_ids(src, words, "source")
        alone = np.setdiff1d(src, src[src == tgt])
        src, tgt = np.concatenate([src, alone]), np.concatenate([tgt, alone])
        sim = np.concatenate([sim, np.zeros(alone.size)])
        order = np.lexsort((tgt, src))
        indptr = np.zeros(words.size + 1, np.int64)
        np.cumsum(np.bincount(src, minlength=words.size), out=indptr[1:])
        return cls(words, indptr, tgt[order], sim[order])

    @classmethod
    def from_embeddings(
        cls,
        vectors: ArrayLike,
        words: Words,
        *,
        k: int,
        metric: Literal["cosine", "euclidean"] = "cosine",
    ) -> SimilarityTable:
        """Return the k nearest words of every word; sim = cosine - 1, or minus the distance.

        Equal similarities are decided by the lower id, after rounding to 9 decimals, so that
        another linear algebra library gives the same table. Words whose vector is zero have no
        direction: under cosine they have no row and are nobody's candidate.

        Args:
            vectors: One row per id, [size, dimensions].
            words: Which ids are words; candidates come from its drawable ones.
            k: Candidates per word, itself not counted.
            metric: What "near" means.
        """
        space = _space(vectors, words, metric)
        every = np.arange(words.size)
        usable = np.ones(words.size, bool) if metric == "euclidean" else space.any(axis=1)
        sources = np.flatnonzero(words.is_word(every) & usable)
        candidates = np.flatnonzero(words.is_drawable(every) & usable)
        _check_k(k, candidates)
        step = max(1, _BLOCK // max(1, candidates.size))
        parts = []
        for start in range(0, sources.size, step):
            block = sources[start : start + step]
            sims = _nearness(space[block], space[candidates], metric)
            sims[block[:, None] == candidates] = -np.inf  # the word itself is added by from_pairs
            row, column = _top(sims, k)
            parts.append((block[row], candidates[column], sims[row, column]))
        src, tgt, sim = (np.concatenate(column) for column in zip(*parts, strict=True))
        return cls.from_pairs(words, sources=src, candidates=tgt, sims=sim)

    @classmethod
    def from_frequencies(cls, counts: ArrayLike, words: Words, *, k: int = 32) -> SimilarityTable:
        """Return the k words next to each word in the frequency ranking.

        sim = -1 - abs(log((count + 1) / (candidate's count + 1))): a change costs 1, as in the
        Hamming distance, and more where the candidate is much rarer or more frequent.

        Args:
            counts: Occurrences per id, [size].
            words: Which ids are words; candidates come from its drawable ones.
            k: Candidates per word, itself not counted.
        """
        count = np.asarray(counts, dtype=np.float64)
        if count.shape != (words.size,) or not (np.isfinite(count) & (count >= 0)).all():
            raise ValueError(
                f"counts must be {words.size} finite numbers of at least 0, one per id"
            )
        level = np.log1p(count)
        every, drawable = np.arange(words.size), words.drawable()
        sources = every[words.is_word(every)]
        _check_k(k, drawable)
        ranked = drawable[np.lexsort((drawable, level[drawable]))]
        rank = np.searchsorted(level[ranked], level)
        rank[ranked] = np.arange(ranked.size)
        first = np.clip(rank[sources] - k // 2, 0, ranked.size - k - 1)
        tgt = ranked[first[:, None] + np.arange(k + 1)]  # [sources, k + 1], maybe with itself
        other = tgt != sources[:, None]
        row, column = np.nonzero(other & (np.cumsum(other, axis=1) <= k))
        src, tgt = sources[row], tgt[row, column]
        sims = -1.0 - np.abs(level[src] - level[tgt])
        return cls.from_pairs(words, sources=src, candidates=tgt, sims=sims)

    @classmethod
    def from_dictionary(
        cls,
        alternatives: Mapping[int, Iterable[int] | Mapping[int, float]],
        words: Words,
        *,
        sim: float = -1.0,
    ) -> SimilarityTable:
        """Return the table of hand-made alternatives, {word: [others]} or {word: {other: sim}}.

        Args:
            alternatives: What each word may become; words that are absent never change.
            words: Which ids are words.
            sim: Similarity of the alternatives that come without one.
        """
        entries = [
            (word, other, float(others[other]) if isinstance(others, Mapping) else sim)
            for word, others in alternatives.items()
            for other in others
        ]
        src, tgt, sims = zip(*entries, strict=True) if entries else ((), (), ())
        return cls.from_pairs(words, sources=src, candidates=tgt, sims=sims)

    @classmethod
    def restricted(
        cls, groups: Iterable[Iterable[int]], words: Words, *, sim: float = -1.0
    ) -> SimilarityTable:
        """Return the table in which words are exchanged inside their group only.

        Groups (parts of speech, topics, one allowed vocabulary) may overlap. Entries number the
        sum of the squared group sizes; for one large group ``Words(draw_ids=...)`` with
        ``Hamming`` is the same policy without a table.

        Example:
            >>> SimilarityTable.restricted([(4, 5), (6, 7)], Words(8)).row(6)
            (array([6, 7]), array([ 0., -1.]))
        """
        members = [np.unique(np.fromiter(group, np.int64)) for group in groups]
        grids = [np.meshgrid(group, group, indexing="ij") for group in members]
        pairs = np.concatenate(
            [np.empty((0, 2), np.int64), *(np.stack(g, axis=-1).reshape(-1, 2) for g in grids)]
        )
        pairs = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)
        src, tgt = pairs.T
        return cls.from_pairs(words, sources=src, candidates=tgt, sims=np.full(src.size, sim))

    def _check(self) -> None:
        size, entries = self.words.size, self.ids.size
        if self.indptr.shape != (size + 1,) or self.indptr[0] != 0 or self.indptr[-1] != entries:
            raise ValueError(f"indptr must be {size + 1} offsets from 0 to {entries}")
        if (np.diff(self.indptr) < 0).any() or self.sims.shape != self.ids.shape:
            raise ValueError("indptr must not decrease, and every id needs one similarity")
        src = np.repeat(np.arange(size), np.diff(self.indptr))
        _check_ids(src, self.words, "source")
        _check_ids(self.ids, self.words, "candidate")
        strange = self.ids[(self.ids != src) & ~self.words.is_drawable(self.ids)]
        if strange.size:
            raise ValueError(f"candidate {strange[0]} is not among the drawable words")
        same_row = src[1:] == src[:-1]
        if (same_row & (np.diff(self.ids) <= 0)).any():
            row = src[1:][same_row & (np.diff(self.ids) <= 0)][0]
            raise ValueError(
                f"the row of word {row} must list each candidate once, by ascending id"
            )
        if np.isnan(self.sims).any() or (self.sims == np.inf).any():
            raise ValueError("similarities must be finite or -inf")
        alone = np.setdiff1d(src, src[(src == self.ids) & np.isfinite(self.sims)])
        if alone.size:
            raise ValueError(
                f"the row of word {alone[0]} needs the word itself, with a finite value"
            )


def _check_ids(ids: Ids, words: Words, role: str) -> None:
    wrong = ids[(ids < 0) | (ids >= words.size)]
    if wrong.size:
        raise ValueError(f"{role} {wrong[0]} is outside the vocabulary of {words.size} ids")
    special = ids[~words.is_word(ids)]
    if special.size:
        raise ValueError(f"{role} {special[0]} is a special id; only words have similarities")


def _check_k(k: int, candidates: Ids) -> None:
    if not 1 <= k < max(2, candidates.size):
        raise ValueError(f"k must be between 1 and {candidates.size - 1}, the other words; got {k}")


def _space(vectors: ArrayLike, words: Words, metric: str) -> Floats:
    """Return the vectors as float64, of length one for the cosine."""
    space = np.array(vectors, dtype=np.float64)
    if metric not in ("cosine", "euclidean"):
        raise ValueError(f"metric must be 'cosine' or 'euclidean', got {metric!r}")
    if space.ndim != 2 or len(space) != words.size or not np.isfinite(space).all():
        raise ValueError(f"vectors must be finite, [{words.size}, dimensions], got {space.shape}")
    if metric == "cosine":
        length = np.linalg.norm(space, axis=1, keepdims=True)
        space /= np.where(length == 0, 1.0, length)
    return space


def _nearness(a: Floats, b: Floats, metric: str) -> Floats:
    """Return similarities [rows of a, rows of b], at most 0."""
    dot = a @ b.T
    if metric == "cosine":
        return np.asarray(np.minimum(np.round(dot - 1.0, 9), 0.0))
    squares = (a**2).sum(axis=1)[:, None] - 2 * dot + (b**2).sum(axis=1)
    # rounded before the root: it would turn the rounding errors of equal vectors into distances
    return np.asarray(-np.sqrt(np.round(np.maximum(squares, 0.0), 9)))


def _top(sims: Floats, k: int) -> tuple[Ids, Ids]:
    """Return rows and columns of the k largest values of every row; of equal ones the first."""
    kth = np.partition(sims, -k, axis=1)[:, -k, None]
    row, column = np.nonzero(sims >= kth)  # k per row, and more where several equal the last one
    order = np.lexsort((column, -sims[row, column], row))
    row, column = row[order], column[order]
    place = np.arange(row.size) - np.searchsorted(row, row)
    return row[place < k], column[place < k]
