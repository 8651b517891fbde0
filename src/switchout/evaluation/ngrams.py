"""BLEU's n-gram matches of a whole corpus at once: sacrebleu's statistics, several times as fast.

An n-gram of a sentence gets an integer: the number of (its first n−1 words in that sentence, last
word) among all such pairs in the references. Equal numbers mean equal n-grams of the same sentence,
so matching is a search in a sorted array, and nothing is hashed or approximated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ORDER = 4

Ints = NDArray[np.int64]


class ReferenceNgrams:
    """The n-grams of tokenised references, ready to be matched by any number of outputs.

    Example:
        >>> ReferenceNgrams(["a b c", "d"]).match(["a b a", ""]).tolist()
        [[3, 3, 2, 1, 0, 0, 3, 2, 1, 0], [0, 1, 0, 0, 0, 0, 0, 0, 0, 0]]
    """

    def __init__(self, references: Sequence[str]):
        words = [line.split() for line in references]
        vocabulary = dict.fromkeys(word for line in words for word in line)
        self._ids = {word: i for i, word in enumerate(vocabulary)}
        text = self._flatten(words)
        self._lengths = text.lengths
        self._orders: list[_Order] = []
        starts, numbers = np.arange(len(text.ids)), text.sentences
        for n in range(1, ORDER + 1):
            starts, numbers = text.fitting(starts, numbers, n)
            keys, first, numbers, counts = np.unique(
                self._keys(text, starts, numbers, n),
                return_index=True,
                return_inverse=True,
                return_counts=True,
            )
            self._orders.append(_Order(keys, counts, text.sentences[starts[first]]))

    def match(self, hypotheses: Sequence[str]) -> Ints:
        """Return [sentence, (length, reference length, 4 matches, 4 totals)]."""
        text = self._flatten([line.split() for line in hypotheses])
        matches = []
        starts, numbers = np.arange(len(text.ids)), text.sentences
        for n, order in enumerate(self._orders, start=1):
            starts, numbers = text.fitting(starts, numbers, n)
            found, numbers = order.find(self._keys(text, starts, numbers, n))
            starts = starts[found]  # what does not match has no longer match either
            matches.append(order.clipped_matches(numbers, len(self._lengths)))
        totals = [np.maximum(text.lengths - n, 0) for n in range(ORDER)]
        return np.stack([text.lengths, self._lengths, *matches, *totals], axis=1)

    def _flatten(self, words: Sequence[list[str]]) -> _Text:
        unknown = len(self._ids)  # a word of no reference; its keys are found nowhere
        ids = [self._ids.get(word, unknown) for line in words for word in line]
        lengths = np.array([len(line) for line in words], dtype=np.int64)
        return _Text(np.array(ids, dtype=np.int64), lengths)

    def _keys(self, text: _Text, starts: Ints, numbers: Ints, n: int) -> Ints:
        """One integer for (number of the first n−1 words, n-th word)."""
        return numbers * (len(self._ids) + 1) + text.ids[starts + n - 1]


class _Text:
    """Sentences of word ids, one after the other."""

    def __init__(self, ids: Ints, lengths: Ints):
        self.ids, self.lengths = ids, lengths
        self.sentences = np.repeat(np.arange(len(lengths)), lengths)
        self._ends = np.repeat(np.cumsum(lengths), lengths)

    def fitting(self, starts: Ints, numbers: Ints, n: int) -> tuple[Ints, Ints]:
        """Keep the starts from which n words fit into the sentence."""
        fits = starts + n <= self._ends[starts]
        return starts[fits], numbers[fits]


@dataclass(frozen=True)
class _Order:
    """The reference n-grams of one order: sorted keys, their counts and sentences."""

    keys: Ints
    counts: Ints
    sentences: Ints

    def find(self, keys: Ints) -> tuple[NDArray[np.bool_], Ints]:
        """Return which keys occur, and the numbers of those that do."""
        if len(self.keys) == 0:
            return np.zeros(len(keys), dtype=bool), np.zeros(0, dtype=np.int64)
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        found = self.keys[places] == keys
        return found, places[found]

    def clipped_matches(self, numbers: Ints, n_sentences: int) -> Ints:
        """Return matches per sentence; none counts more often than the reference has it."""
        clipped = np.minimum(np.bincount(numbers, minlength=len(self.counts)), self.counts)
        sums = np.bincount(self.sentences, weights=clipped, minlength=n_sentences)
        return sums.astype(np.int64)
