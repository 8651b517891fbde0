"""Exact search of the nearest sentence in a `neighbor_index`, compiled.

No two sentences x, y are nearer than max(|x|, |y|) minus the terms they share. For every x:

1. Read the lists of its terms, rarest first, and count the shared terms per sentence. A sentence
   on none of the lists read can share at most the unread terms. Once that is too few to reach the
   best distance known, the rest, the longest lists, stays unread. The longer y, the earlier that
   happens: ranks go by length, so each list is read only as far as it matters.
2. For the sentences met, the marks tell which unread terms they hold, which makes the bound exact.
3. Verify them by edit distance, smallest bound first, until no bound can win.

Reading pauses once, halfway, to verify a few sentences that share the most rare terms: the sooner
a good distance is known, the less there is to read.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from switchout.evaluation.edit_distance import distance, forget, prepare
from switchout.evaluation.neighbor_index import N_MARKED, Index
from switchout.evaluation.word_ids import Sentences

# Tuned on TED and Tatoeba sentences; they change the speed, never the result.
_GUESS = 0.5  # the pause comes when sentences not met must be further than this WER
_PROBES = 32  # sentences verified in the pause
_SLACK = 2  # terms read beyond need: a list costs less than the sentences it rules out

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_ONE = np.uint64(1)
_ZERO = np.uint64(0)


class _Scratch(NamedTuple):
    """Arrays reused for one query after the other.

    Attributes:
        shared: Terms shared with the query, as far as read; zero between queries, [ranks].
        local, places: The query prepared for `edit_distance`.
        seen: Zeros between queries, [distinct words].
        terms: The query's terms, rarest first, [longest query].
        unread_marks, unread_others: Marks of the terms from the i-th on, and how many of them
            have no mark, [longest query + 1].
        n_read: How many lists were read for each length, [longest + 1].
        hits: First ranks of packed words with a high counter, [ranks / 2 + 1].
        found, lengths, bounds: Ranks worth verifying, their lengths and bounds, [ranks + 1].
    """

    shared: NDArray[np.unsignedinteger]
    local: NDArray[np.unsignedinteger]
    places: NDArray[np.uint64]
    seen: NDArray[np.int32]
    terms: NDArray[np.int64]
    unread_marks: NDArray[np.uint32]
    unread_others: NDArray[np.int64]
    n_read: NDArray[np.int64]
    hits: NDArray[np.int64]
    found: NDArray[np.int32]
    lengths: NDArray[np.int32]
    bounds: NDArray[np.int32]


def search(
    index: Index, sentences: Sentences, queries: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the least distance and the first training sentence at it, each [query].

    Args:
        index: Of the training sentences.
        sentences: Training and test sentences, numbered together.
        queries: The sentences to look for. Neighbours in length are quick one after the other.
    """
    longest = int(sentences.lengths[queries].max())
    # Counters are compared with a threshold by carrying into their top bit, which must be free.
    counter = np.uint8 if longest < 2**7 else np.uint16 if longest < 2**15 else np.uint32
    n_distinct = len(index.first_term) - 1
    n_ranks = len(index.order)
    scratch = _Scratch(
        shared=np.zeros(n_ranks, counter),
        local=np.zeros(n_distinct, np.uint16 if longest < 2**16 else np.uint32),
        places=np.zeros((longest + 1, longest // 64 + 1), np.uint64),
        seen=np.zeros(n_distinct, np.int32),
        terms=np.empty(longest, np.int64),
        unread_marks=np.empty(longest + 1, np.uint32),
        unread_others=np.empty(longest + 1, np.int64),
        n_read=np.empty(len(index.first_row), np.int64),
        hits=np.empty(n_ranks // 2 + 1, np.int64),
        found=np.empty(n_ranks + 1, np.int32),
        lengths=np.empty(n_ranks + 1, np.int32),
        bounds=np.empty(n_ranks + 1, np.int32),
    )
    distances = np.empty(len(queries), np.int64)
    indices = np.empty(len(queries), np.int64)
    _search(sentences.ids, sentences.starts, queries, index, scratch, distances, indices)
    return distances, indices


@njit(cache=True, nogil=True)
def _search(ids, starts, queries, index, scratch, distances, indices):  # type: ignore[no-untyped-def]
    for q in range(len(queries)):
        x = ids[starts[queries[q]] : starts[queries[q] + 1]]
        length = len(x)
        prepare(x, scratch.local, scratch.places)
        n_terms = _list_terms(x, index, scratch)
        least, i = _share_nothing(length, index)
        # Nothing longer is ever read.
        n_lengths = min(least + _SLACK + n_terms, len(index.lowest) - 1) + 1
        scratch.n_read[:] = 0
        n_read, peak = _read(length, n_terms, 0, least, int(_GUESS * length), index, scratch)
        if peak > 1:
            n_found = _collect(length, n_terms, 0, least, max(1, peak - 2), index, scratch)
            least, i = _verify(length, least, i, n_found, _PROBES, index, scratch)
        _read(length, n_terms, n_read, least, least + _SLACK, index, scratch)
        n_found = _collect(length, n_terms, 0, least - 1, 1, index, scratch)
        known = least
        least, i = _verify(length, least, i, n_found, n_found, index, scratch)
        if least == known:  # nothing is nearer; an earlier sentence may be as near
            n_found = _collect(length, n_terms, least, least, 1, index, scratch)
            least, i = _verify(length, least, i, n_found, n_found, index, scratch)
        distances[q], indices[q] = least, i
        scratch.shared[: index.first_rank[n_lengths]] = 0
        forget(x, scratch.local, scratch.places)


@njit(cache=True, nogil=True)
def _share_nothing(length, index):  # type: ignore[no-untyped-def]
    """Return the least max(|x|, |y|), a distance nobody exceeds, and the first y that has it."""
    fitting = min(length, len(index.lowest) - 1)
    if index.first_rank[fitting + 1] > 0:
        return length, index.lowest[fitting]
    return np.searchsorted(index.first_rank, 1) - 1, np.int64(index.order[0])


@njit(cache=True, nogil=True)
def _list_terms(x, index, scratch):  # type: ignore[no-untyped-def]
    """List the terms of x that occur in training, rarest first, and return their number."""
    n_terms = 0
    for word in x:
        term = index.first_term[word] + scratch.seen[word]
        scratch.seen[word] += 1
        if term < index.first_term[word + 1]:
            scratch.terms[n_terms] = term
            n_terms += 1
    for word in x:
        scratch.seen[word] = 0
    terms = scratch.terms[:n_terms]
    terms[:] = terms[np.argsort(index.list_starts[terms + 1] - index.list_starts[terms])]
    scratch.unread_marks[n_terms], scratch.unread_others[n_terms] = 0, 0
    for k in range(n_terms - 1, -1, -1):
        bit = index.bits[terms[k]]
        mark = np.uint32(1) << np.uint32(bit) if bit < N_MARKED else np.uint32(0)
        scratch.unread_marks[k] = scratch.unread_marks[k + 1] | mark
        scratch.unread_others[k] = scratch.unread_others[k + 1] + (bit == N_MARKED)
    return n_terms


@njit(cache=True, nogil=True)
def _read(length, n_terms, n_read, least, goal, index, scratch):  # type: ignore[no-untyped-def]
    """Count shared terms until sentences not met are all further than ``goal``.

    Returns the number of lists read in all, and the highest count met now.
    """
    shared = scratch.shared
    longest = len(index.lowest) - 1
    peak = 0
    while n_read < n_terms and goal + n_terms - n_read >= length:
        # Shorter sentences are too far by their length alone; longer ones if not met before.
        shortest_left = min(max(length - least, 0), longest + 1)
        longest_left = min(least + _SLACK + n_terms - n_read, longest)
        term = scratch.terms[n_read]
        ranks = index.ranks[index.list_starts[term] : index.list_starts[term + 1]]
        first = np.searchsorted(ranks, index.first_rank[shortest_left])
        last = np.searchsorted(ranks, index.first_rank[longest_left + 1])
        for k in range(first, last):
            count = shared[ranks[k]] + 1
            shared[ranks[k]] = count
            peak = max(peak, count)
        n_read += 1
        scratch.n_read[: longest_left + 1] = n_read
    return n_read, peak


@njit(cache=True, nogil=True)
def _collect(length, n_terms, low, high, floor, index, scratch):  # type: ignore[no-untyped-def]
    """List the ranks of low ≤ bound ≤ high that share at least ``floor`` of the terms read."""
    shared, marks = scratch.shared, index.marks
    hits, found, lengths, bounds = scratch.hits, scratch.found, scratch.lengths, scratch.bounds
    packed = shared.view(np.uint64)
    width = 8 * shared.itemsize
    ones = _ALL // ((_ONE << np.uint64(width)) - _ONE)  # a 1 in every counter of a packed word
    tops = ones << np.uint64(width - 1)
    per_word = 64 // width
    n_found = 0
    for n in range(max(length - high, 0), min(length + high, len(index.lowest) - 1) + 1):
        n_read = scratch.n_read[n]
        larger = max(length, n)
        need = max(larger - high - (n_terms - n_read), floor)
        if need > n_read:
            continue
        # Three passes, each a short loop of independent reads: words of counters that reach the
        # need, ranks in them whose marks make up for the rest, and the bounds of those.
        carry = ones * np.uint64((1 << (width - 1)) - need)
        n_hits = 0
        for k in range(index.first_rank[n] // per_word, index.first_rank[n + 1] // per_word, 4):
            over = (packed[k] + carry) | (packed[k + 1] + carry)
            over |= (packed[k + 2] + carry) | (packed[k + 3] + carry)
            if over & tops != _ZERO:
                for j in range(k, k + 4):
                    hits[n_hits] = j * per_word
                    n_hits += (packed[j] + carry) & tops != _ZERO
        unread = scratch.unread_marks[n_read]
        most = larger - scratch.unread_others[n_read]  # the bound if nothing is shared
        n_new = n_found
        for k in range(n_hits):
            for j in range(per_word):
                rank = np.uint64(hits[k] + j)
                found[n_new] = rank
                n_new += most - shared[rank] - _count_bits(marks[rank] & unread) <= high
        for k in range(n_found, n_new):
            rank = found[k]
            bound = max(most - shared[rank] - _count_bits(marks[rank] & unread), abs(length - n))
            if bound >= low and shared[rank] >= floor:
                found[n_found], lengths[n_found], bounds[n_found] = rank, n, bound
                n_found += 1
    return n_found


@njit(cache=True, nogil=True)
def _verify(length, least, i, n_found, most, index, scratch):  # type: ignore[no-untyped-def]
    """Measure up to ``most`` of the ranks found, and return the least distance and its sentence."""
    found, bounds = scratch.found, scratch.bounds
    heads = np.zeros(least + 2, np.int64)
    for k in range(n_found):
        heads[bounds[k] + 1] += 1
    for bound in range(least + 1):
        heads[bound + 1] += heads[bound]
    sequence = np.empty(n_found, np.int32)
    for k in range(n_found):
        sequence[heads[bounds[k]]] = k
        heads[bounds[k]] += 1
    for k in sequence[:most]:
        rank, bound = found[k], bounds[k]
        if bound > least:
            break
        if bound == least and index.order[rank] >= i:
            continue
        n = scratch.lengths[k]
        row = index.first_row[n] + (rank - index.first_rank[n]) * n
        d = distance(length, scratch.local, scratch.places, index.rows, row, row + n, least)
        if d < least or (d == least and index.order[rank] < i):
            least, i = d, np.int64(index.order[rank])
    return least, i


@njit(cache=True, nogil=True, inline="always")
def _count_bits(word):  # type: ignore[no-untyped-def]
    """Return the number of ones; LLVM knows this pattern as one instruction."""
    word = np.uint64(word)
    word -= (word >> _ONE) & np.uint64(0x5555555555555555)
    pairs = np.uint64(0x3333333333333333)
    word = (word & pairs) + ((word >> np.uint64(2)) & pairs)
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))
