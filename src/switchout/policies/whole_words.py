"""Whole words over pieces: all pieces of a word give way to all pieces of another, or none does.

A policy on pieces makes non-words: with 2.5 pieces a word, nine of ten words that it changes exist
nowhere in the corpus. Here the words of the corpus, tuples of pieces, are numbered; the exact
policy draws among the numbers; the pieces are put back. Lengths in pieces change, in words not.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np
import numpy.typing as npt

from switchout.pieces import Pieces, as_ids
from switchout.policies.lists import NO_WORD, like, to_mask
from switchout.policies.policy import Policy
from switchout.policies.word_dropout import WordDropout
from switchout.words import Words

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
MOST_PIECES_A_WORD = 8  # on average; more of them are sentences of a language without blanks
_AT_ONCE = 4096


class Cutter:
    """Finds where words begin in rows of pieces, by the marks of the tokenizer's family.

    ``▁`` or ``Ġ`` begins a word, ``##`` continues one, ``@@`` is continued, ``</w>`` ends one and
    ``￭`` joins. Punctuation behind a word is a word of its own, as in tokenised text.
    """

    def __init__(self, pieces: Pieces) -> None:
        names = [name or "" for name in pieces.names]
        mark = _mark(names)
        self.begins = np.array([_may_begin(name, mark) for name in names])
        self._ends = np.array([_may_end(name, mark) for name in names])
        self.is_punctuation = np.array([_is_punctuation(name, mark) for name in names])
        self._is_special = np.zeros(len(names), bool)
        self._is_special[list(pieces.special)] = True

    def cut(self, rows: Sequence[Any]) -> tuple[list[int], list[int], list[bool], Ints]:
        """Return all pieces in a row, where each unit begins, which are words, units of each row.

        A unit is a word, or one id that is none. The beginnings close with the number of pieces.
        """
        arrays = [as_ids(row, i) for i, row in enumerate(rows)]
        ids = np.concatenate([*arrays, np.empty(0, np.int64)])
        self._check(ids)
        row_ends = np.cumsum([len(array) for array in arrays])
        known = np.maximum(ids, 0)  # negative ids have no entry in the tables: they stand alone
        alone = (ids < 0) | self._is_special[known]
        first = np.ones(len(ids) + 1, bool)
        first[1:-1] = (self.begins[known[1:]] & self._ends[known[:-1]]) | alone[1:] | alone[:-1]
        first[row_ends] = True
        self._part_punctuation(first, known)
        starts = np.flatnonzero(first)
        ends_at = np.searchsorted(starts, row_ends)
        per_row = np.diff(ends_at, prepend=0)
        return ids.tolist(), starts.tolist(), (~alone[starts[:-1]]).tolist(), per_row

    def _check(self, ids: Ints) -> None:
        if ids.size and ids.max() >= len(self.begins):
            raise ValueError(
                f"id {ids.max()} is not below the vocabulary's size {len(self.begins)}"
            )

    def _part_punctuation(self, first: Bools, ids: Ints) -> None:
        starts = np.flatnonzero(first[:-1])
        if starts.size:
            letters = np.where(self.is_punctuation[ids], -1, np.arange(len(ids)))
            last_letter = np.maximum.reduceat(letters, starts)
            first[last_letter[last_letter >= starts] + 1] = True


class WordBook:
    """The words of a tokenised corpus, numbered; `words` is what a policy draws from.

    Args:
        pieces: The tokenizer's ids.
        rows: The corpus, rows of ids.
    """

    def __init__(self, pieces: Pieces, rows: Any) -> None:
        self.cutter = Cutter(pieces)
        found: set[tuple[int, ...]] = set()
        n_words = n_pieces = 0
        for some in _chunks(rows):
            ids, starts, is_word, _ = self.cutter.cut(some)
            words = [tuple(ids[a:b]) for a, b, w in _units(starts, is_word) if w]
            found.update(words)
            n_words, n_pieces = n_words + len(words), n_pieces + sum(map(len, words))
        if n_pieces > MOST_PIECES_A_WORD * max(n_words, 1):
            raise ValueError(
                f"a word of this corpus has {n_pieces / n_words:.0f} pieces on average: a language"
                " without blanks? Use unit='piece'"
            )
        self.tuples = sorted(found)
        self._numbers = {word: number for number, word in enumerate(self.tuples)}
        self.other = len(self.tuples)  # a word that is not in the book: replaced, never drawn
        drawable = [i for i, word in enumerate(self.tuples) if self._stands_alone(word)]
        if len(drawable) < 2:
            raise ValueError(f"the corpus must have at least two words, got {len(drawable)}")
        self.words = Words(self.other + 1, (), drawable)

    def _stands_alone(self, word: tuple[int, ...]) -> bool:
        """Without a mark in front it would become part of the word before it."""
        ids = list(word)
        return bool(self.cutter.begins[ids[0]] or self.cutter.is_punctuation[ids].all())

    def number(self, word: tuple[int, ...]) -> int:
        return self._numbers.get(word, self.other)


class WholeWords:
    """A policy on the words of a `WordBook`, for rows of pieces.

    Args:
        book: The words.
        policy: Any policy on ``book.words`` but word dropout, which drops pieces.
        max_length: Rows that grew beyond so many pieces lose whole words at their end, never the
            special ids there.

    Example:
        >>> import switchout as so
        >>> pieces = Pieces(["</s>", "▁a", "▁b", "c"])           # words: a, b, bc
        >>> book = WordBook(pieces, [[1, 2, 3, 0], [2, 0]])
        >>> book.tuples
        [(1,), (2,), (2, 3)]
        >>> policy = WholeWords(book, so.SwitchOut(book.words, tau=1.0))
        >>> policy.sample_lists([[1, 2, 3, 0]], seed=1, example_ids=[0])
        [[2, 1, 0]]
    """

    def __init__(self, book: WordBook, policy: Policy, max_length: int | None = None) -> None:
        if isinstance(policy, WordDropout):
            raise ValueError("word dropout leaves one null id behind: use it with unit='piece'")
        if getattr(policy, "words", book.words) != book.words:
            raise ValueError("the policy must draw from the words of the book: book.words")
        self.book, self.policy, self.max_length = book, policy, max_length
        self.default_side = policy.default_side

    def sample_lists(self, rows: Sequence[Any], **address: Any) -> list[Any]:
        """Return augmented rows; arguments as in `Policy.sample_lists`."""
        return [
            like(ids, row) for row, (ids, _) in zip(rows, self.sample(rows, **address), strict=True)
        ]

    def sample(
        self, rows: Sequence[Any], *, frozen: Sequence[Any] | None = None, **address: Any
    ) -> list[tuple[Ints, Ints]]:
        """Return for each row its new ids, and at which place of the old row each of them stands.

        The places let columns that belong to the ids (an attention mask) follow them.
        """
        ids, starts, is_word, per_row = self.book.cutter.cut(rows)
        spans = _units(starts, is_word)
        old = [self.book.number(tuple(ids[a:b])) if w else NO_WORD for a, b, w in spans]
        ends = np.cumsum(per_row).tolist()
        bounds = list(zip([0, *ends[:-1]], ends, strict=True))
        numbers = [old[a:b] for a, b in bounds]
        masks = None if frozen is None else self._frozen_words(frozen, rows, spans, bounds)
        new = list(chain(*self.policy.sample_lists(numbers, frozen=masks, **address)))
        results = []
        for row_start, row_end in bounds:
            units = [
                (ids[a:b] if new[i] == old[i] else self.book.tuples[new[i]], a, b, w)
                for i, (a, b, w) in enumerate(spans[row_start:row_end], row_start)
            ]
            results.append(self._joined(units))
        return results

    def _joined(self, units: list[Any]) -> tuple[Ints, Ints]:
        begin = units[0][1] if units else 0
        too_long = 0
        if self.max_length is not None and units:
            too_long = sum(len(pieces) for pieces, *_ in units) - max(
                self.max_length, units[-1][2] - begin
            )
        while too_long > 0:
            last = max(i for i, (*_, is_word) in enumerate(units) if is_word)
            too_long -= len(units.pop(last)[0])
        ids = [i for pieces, *_ in units for i in pieces]
        places = [
            min(a + k, b - 1) - begin for pieces, a, b, _ in units for k in range(len(pieces))
        ]
        return np.array(ids, np.int64), np.array(places, np.int64)

    def _frozen_words(
        self, frozen: Sequence[Any], rows: Sequence[Any], spans: list[Any], bounds: list[Any]
    ) -> list[list[bool]]:
        """A word is frozen if one of its pieces is."""
        block = to_mask(frozen, rows)
        flat = [flag for mask, row in zip(block, rows, strict=True) for flag in mask[: len(row)]]
        hit = [any(flat[a:b]) for a, b, _ in spans]
        return [hit[a:b] for a, b in bounds]


def _units(starts: list[int], is_word: list[bool]) -> list[tuple[int, int, bool]]:
    return list(zip(starts[:-1], starts[1:], is_word, strict=True))


def _chunks(rows: Any) -> Iterator[list[Any]]:
    rows = iter(rows)
    while some := list(islice(rows, _AT_ONCE)):
        yield some


def _mark(names: list[str]) -> str:
    counts = {mark: sum(name.startswith(mark) for name in names) for mark in ("▁", "Ġ", "##")}
    counts |= {mark: sum(name.endswith(mark) for name in names) for mark in ("@@", "</w>")}
    counts["￭"] = sum("￭" in name for name in names)
    mark = max(counts, key=lambda mark: counts[mark])
    if not counts[mark]:
        raise ValueError("this tokenizer does not mark where words begin: use unit='piece'")
    return mark


def _may_begin(name: str, mark: str) -> bool:
    if mark in ("##", "￭"):
        return not name.startswith(mark)
    return name.startswith(mark) if mark in ("▁", "Ġ") else True


def _may_end(name: str, mark: str) -> bool:
    if mark in ("@@", "￭"):
        return not name.endswith(mark)
    return name.endswith(mark) if mark == "</w>" else True


def _is_punctuation(name: str, mark: str) -> bool:
    """Return whether a piece has no letter, digit or part of one: punctuation, or a mark alone."""
    return all(unicodedata.category(c)[0] in "PSZ" for c in name.replace(mark, ""))
