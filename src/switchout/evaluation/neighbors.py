"""The nearest training sentence of every test sentence, by word error rate, exactly.

WER(x) = min over training sentences y of Levenshtein(x, y) / |x|, on words.

* Words are split at ASCII spaces; a run of spaces separates like one.
* Of several nearest sentences the first counts.
* Empty lines: an empty test sentence counts as one word long, so its WER is the length of the
  shortest training sentence; an empty training line is a sentence at WER 1 from every other.
* A training set too large for one index is searched in shards, on Ray. The nearest sentence of all
  is the nearest of the nearest of each shard, so the result does not depend on the shards.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from switchout.core import compiled
from switchout.engines.ray import start_ray
from switchout.errors import SwitchOutError
from switchout.files import atomic, read_lines

SHARD = 250_000  # training sentences; a task holds a few times their size in memory
_CHUNK = 64  # test sentences per call of the core: scratch is cheap, progress is smooth


@dataclass(frozen=True)
class Neighbors:
    """The nearest training sentence of every test sentence.

    Attributes:
        distances: Edits to the nearest training sentence, [test].
        indices: Which one, 0-based; of several the first, [test].
        lengths: Words of the test sentences, [test].
    """

    distances: NDArray[np.int64]
    indices: NDArray[np.int64]
    lengths: NDArray[np.int64]

    @property
    def wer(self) -> NDArray[np.float64]:
        """Word error rate, [test]. An empty test sentence counts as one word long."""
        wer: NDArray[np.float64] = self.distances / np.maximum(self.lengths, 1)
        return wer


def find_neighbors(
    train: Sequence[str],
    test: Sequence[str],
    *,
    workers: int = 1,
    advance: Callable[[int], None] = lambda n_done: None,
) -> Neighbors:
    """Find the training sentence nearest to every test sentence.

    Args:
        train, test: Sentences; words are split at ASCII spaces.
        workers: Threads.
        advance: Called with the number of test sentences just finished.

    Example:
        >>> found = find_neighbors(["a cat", "a black dog", "my dog"], ["the black dog", "a cat"])
        >>> found.wer.round(3).tolist(), found.indices.tolist()
        ([0.333, 0.0], [1, 0])
    """
    if not train:
        raise SwitchOutError("the training set is empty: there is no nearest sentence")
    ids, starts, n_distinct = number_words([*train, *test])
    index = compiled.make_index(ids, starts, len(train), n_distinct)

    lengths = np.diff(starts)[len(train) :]
    # Sentences of one length meet the same part of the index, which stays in the caches.
    order = np.argsort(lengths, kind="stable")
    chunks = [order[begin : begin + _CHUNK] for begin in range(0, len(order), _CHUNK)]
    distances, indices = np.empty_like(lengths), np.empty_like(lengths)

    def search(chunk: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        nearest, where = np.empty_like(chunk), np.empty_like(chunk)
        compiled.search(index, ids, starts, len(train) + chunk, nearest, where)
        return nearest, where

    with ThreadPoolExecutor(workers) as pool:  # the compiled search releases the GIL
        for chunk, (nearest, where) in zip(chunks, pool.map(search, chunks), strict=True):
            distances[chunk], indices[chunk] = nearest, where
            advance(len(chunk))
    return Neighbors(distances, indices, lengths)


def number_words(lines: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int64], int]:
    """Split lines into words at ASCII spaces and number the words in order of first appearance.

    The numbers live for one search. The core compares bytes, so a hash collision is harmless.

    Returns:
        Word ids [words], where each sentence begins in them and the last one ends
        [sentences + 1], and the number of different words.

    Example:
        >>> ids, starts, n_distinct = number_words(["a rose is", "", " a  rose"])
        >>> ids.tolist(), starts.tolist(), n_distinct
        ([0, 1, 2, 0, 1], [0, 3, 3, 5], 3)
    """
    text = "\n".join(lines)
    if text.count("\n") != max(len(lines) - 1, 0):
        line = next(i for i, line in enumerate(lines) if "\n" in line)
        raise SwitchOutError(f"sentence {line} holds a line break; give one sentence per string")
    content = (text + "\n" if lines else "").encode()  # the final break closes the last sentence
    ids = np.empty(len(content) // 2 + 1, np.int32)  # a word needs a byte and a separator
    starts = np.empty(len(lines) + 1, np.int64)
    n_distinct = compiled.number_words(content, ids, starts)
    return ids[: starts[-1]].copy(), starts, n_distinct


def find_neighbors_on_ray(
    train: Sequence[str],
    test: Sequence[str],
    *,
    workers: int | None = None,
    address: str | None = None,
    shard: int = SHARD,
    advance: Callable[[int], None] = lambda n_done: None,
) -> Neighbors:
    """Find what `find_neighbors` finds, with a Ray task per shard of the training set.

    Args:
        train, test: Sentences; words are split at ASCII spaces.
        workers: Processors to use; all by default.
        address: Of a running cluster; None starts Ray on this machine.
        shard: Training sentences per task, at most.
        advance: Called with the number of training sentences just searched.
    """
    if not train:
        raise SwitchOutError("the training set is empty: there is no nearest sentence")
    parts: list[Neighbors] = []
    with start_ray(address=address, workers=workers) as ray:
        n_tasks = workers or int(ray.cluster_resources().get("CPU", os.cpu_count() or 1))
        step = min(shard, -(-len(train) // n_tasks))
        task = ray.remote(_search_shard)
        queries = ray.put("\n".join(test))
        running: dict[object, int] = {}

        def finish_one() -> None:
            [done], _ = ray.wait(list(running))
            parts.append(ray.get(done))
            advance(running.pop(done))

        for begin in range(0, len(train), step):
            if len(running) == n_tasks:  # the object store is small: few shards under way
                finish_one()
            part = train[begin : begin + step]
            running[task.remote("\n".join(part), queries, len(test), begin)] = len(part)
        while running:
            finish_one()
    return reduce(merge, parts)


def merge(one: Neighbors, other: Neighbors) -> Neighbors:
    """Return the nearer of two neighbours for every test sentence, of equals the first index."""
    is_nearer = (other.distances < one.distances) | (
        (other.distances == one.distances) & (other.indices < one.indices)
    )
    return Neighbors(
        distances=np.where(is_nearer, other.distances, one.distances),
        indices=np.where(is_nearer, other.indices, one.indices),
        lengths=one.lengths,
    )


def _search_shard(train: str, test: str, n_test: int, begin: int) -> Neighbors:
    """Search one shard; sentences travel as one string, a list of them is slow to send."""
    found = find_neighbors(train.split("\n"), test.split("\n")[:n_test])
    return Neighbors(found.distances, found.indices + begin, found.lengths)


def write_neighbors(path: str | os.PathLike[str], found: Neighbors) -> None:
    """Write a line per test sentence: WER, tab, 0-based index of the training sentence."""
    lines = [f"{w:.9f}\t{i}\n" for w, i in zip(found.wer, found.indices, strict=True)]
    with atomic(path) as partial:
        partial.write_text("".join(lines), encoding="utf-8")


def read_wer(path: str | os.PathLike[str]) -> NDArray[np.float64]:
    """Return the WER of every test sentence from a file of `write_neighbors`, [test]."""
    wer = []
    for number, line in enumerate(read_lines(path), 1):
        first, tab, index = line.partition("\t")
        try:
            wer.append(float(first))
            is_valid = bool(tab) and int(index) >= 0 and 0 <= wer[-1] < math.inf
        except ValueError:
            is_valid = False
        if not is_valid:
            raise SwitchOutError(
                f"{path}:{number}: expected WER, tab, index of a training sentence; "
                "make the file with 'switchout neighbors'"
            )
    return np.array(wer, dtype=float)
