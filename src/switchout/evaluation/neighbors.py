"""The nearest training sentence of every test sentence, by word error rate, exactly.

WER(x) = min over training sentences y of Levenshtein(x, y) / |x|, on words.

* Words are split at ASCII spaces; a run of spaces separates like one.
* Of several nearest sentences the first counts.
* Empty lines: an empty test sentence counts as one word long, so its WER is the length of the
  shortest training sentence; an empty training line is a sentence at WER 1 from every other.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from switchout.core import compiled
from switchout.errors import SwitchOutError
from switchout.evaluation.word_ids import number_words
from switchout.files import atomic, read_lines

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
    sentences = number_words([*train, *test])
    ids, starts = sentences.ids, sentences.starts
    index = compiled.make_index(ids, starts, len(train), sentences.n_distinct)

    lengths = sentences.lengths[len(train) :]
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
