"""An inverted index over the words of training sentences, for `neighbor_search`.

* Sentences are renumbered by length ("rank"), so that a range of lengths is a range of ranks and
  the words of the sentences of one length form a matrix. Each length begins at a multiple
  of `LANES` ranks; ranks that only fill up belong to no sentence.
* A *term* is the k-th occurrence of a word in its sentence, so that the words two sentences share,
  counted with repetition, are the terms they share, and a list of the index holds ranks only.
* The most frequent terms, whose lists are the longest, are also bits of one mark per sentence.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from switchout.evaluation.word_ids import Sentences

N_MARKED = 32
LANES = 32  # ranks of a length are a multiple of this, for loops over packed counters


class Index(NamedTuple):
    """Training sentences by length and by word.

    Attributes:
        first_rank: First rank of each length, [longest + 2].
        first_row: Where the words of the sentences of each length begin in ``rows``, [longest + 1].
        rows: Word ids of the sentences, rank after rank, [words].
        order: Training sentence of each rank, or the number of sentences for none, [ranks].
        lowest: First training sentence that is at most so long, or their number, [longest + 1].
        first_term: Term of the first occurrence of each word; the next ones follow, [distinct + 1].
        list_starts: Where the list of each term begins in ``ranks``, [terms + 1].
        ranks: Ranks that hold each term, ascending, [words].
        bits: Bit of each term in the marks; `N_MARKED` if it has none, [terms].
        marks: Frequent terms of each rank, [ranks].
    """

    first_rank: NDArray[np.int64]
    first_row: NDArray[np.int64]
    rows: NDArray[np.uint32]
    order: NDArray[np.int32]
    lowest: NDArray[np.int64]
    first_term: NDArray[np.int64]
    list_starts: NDArray[np.int64]
    ranks: NDArray[np.uint32]
    bits: NDArray[np.uint8]
    marks: NDArray[np.uint32]


def build_index(sentences: Sentences, n_train: int) -> Index:
    """Index the first ``n_train`` sentences."""
    starts = sentences.starts[: n_train + 1]
    counts = np.bincount(np.diff(starts))  # sentences of each length
    padded = -(-counts // LANES) * LANES
    first_rank = np.concatenate([[0], np.cumsum(padded)])
    first_row = np.cumsum(counts * np.arange(len(counts))) - counts * np.arange(len(counts))
    rows, order, lowest = _sort_by_length(sentences.ids, starts, first_rank, first_row)
    terms, first_term = _number_terms(rows, counts, sentences.n_distinct)
    sizes = np.bincount(terms, minlength=first_term[-1])
    bits = np.full(len(sizes), N_MARKED, np.uint8)
    frequent = np.argsort(sizes, kind="stable")[-N_MARKED:]
    bits[frequent] = np.arange(len(frequent))
    list_starts = np.concatenate([[0], np.cumsum(sizes)])
    ranks, marks = _invert(terms, counts, first_rank, list_starts, bits)
    return Index(
        first_rank,
        first_row,
        rows,
        order,
        lowest,
        first_term,
        list_starts,
        ranks,
        bits,
        marks,
    )


@njit(cache=True, nogil=True)
def _sort_by_length(ids, starts, first_rank, first_row):  # type: ignore[no-untyped-def]
    n_train = len(starts) - 1
    rows = np.empty(starts[n_train], np.uint32)  # unsigned: indexing by it is quicker
    order = np.full(first_rank[-1], np.int32(n_train))
    lowest = np.full(len(first_row), n_train)
    free = first_rank.copy()
    for i in range(n_train):
        length = starts[i + 1] - starts[i]
        rank = free[length]
        free[length] += 1
        order[rank] = i
        lowest[length] = min(lowest[length], i)
        row = first_row[length] + (rank - first_rank[length]) * length
        for k in range(length):
            rows[row + k] = ids[starts[i] + k]
    for length in range(1, len(lowest)):
        lowest[length] = min(lowest[length], lowest[length - 1])
    return rows, order, lowest


@njit(cache=True, nogil=True)
def _number_terms(rows, counts, n_distinct):  # type: ignore[no-untyped-def]
    """Return the term of every word in ``rows``, and the first term of every word."""
    occurrences = np.empty(len(rows), np.int32)
    seen = np.zeros(n_distinct, np.int32)
    first_term = np.zeros(n_distinct + 1, np.int64)
    begin = 0
    for length in range(len(counts)):
        for _ in range(counts[length]):
            for k in range(begin, begin + length):
                word = rows[k]
                occurrences[k] = seen[word]
                seen[word] += 1
                first_term[word + 1] = max(first_term[word + 1], seen[word])
            for k in range(begin, begin + length):
                seen[rows[k]] = 0
            begin += length
    for word in range(n_distinct):
        first_term[word + 1] += first_term[word]
    for k in range(len(rows)):
        occurrences[k] += first_term[rows[k]]
    return occurrences, first_term


@njit(cache=True, nogil=True)
def _invert(terms, counts, first_rank, list_starts, bits):  # type: ignore[no-untyped-def]
    """Return the ranks of every term, and the marks of every rank."""
    ranks = np.empty(len(terms), np.uint32)
    marks = np.zeros(first_rank[-1], np.uint32)
    free = list_starts.copy()
    k = 0
    for length in range(len(counts)):
        for rank in range(first_rank[length], first_rank[length] + counts[length]):
            for _ in range(length):
                term = terms[k]
                ranks[free[term]] = rank
                free[term] += 1
                if bits[term] < N_MARKED:
                    marks[rank] |= np.uint32(1) << np.uint32(bits[term])
                k += 1
    return ranks, marks
