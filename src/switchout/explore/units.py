"""Pieces beside whole words: the same policy once on the pieces of a tokenizer, once on words.

On pieces most changed words are invented: they occur nowhere in the corpus.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from switchout.corpora.codec import Codec
from switchout.corpora.text import split_words
from switchout.corpora.vocabulary import BOS, EOS, PAD, UNK
from switchout.explore.playground import policy_of
from switchout.explore.question import SideQuestion
from switchout.pieces import Pieces
from switchout.policies import WordDropout
from switchout.policies.whole_words import WholeWords, WordBook

N_DRAWS = 100  # for the share of invented words
N_SHOWN = 6


@dataclass(frozen=True)
class UnitWord:
    """A word of a sample: new to the sentence, and perhaps to the corpus."""

    text: str
    is_new: bool
    is_invented: bool


@dataclass(frozen=True)
class UnitAnswer:
    """What one unit of change does.

    Attributes:
        unit: ``piece`` or ``word``.
        samples: The first draws, as words.
        new_words: New words per sentence, over `N_DRAWS` draws.
        invented: Share of the new words that occur nowhere in the corpus.
    """

    unit: str
    samples: list[list[UnitWord]]
    new_words: float
    invented: float


class UnitBook:
    """A codec of pieces with the words of a corpus.

    Args:
        codec: Of pieces.
        rows: The corpus as ids.
    """

    def __init__(self, codec: Codec, rows: Iterable[Sequence[int]]):
        self.codec = codec
        specials = frozenset((PAD, BOS, EOS, UNK))
        self.words = WordBook(Pieces(codec.vocabulary.tokens, specials), rows)
        texts = (codec.decode(word) for word in self.words.tuples)
        self.known = {word for text in texts for word in split_words(text)}


def compare_units(question: SideQuestion, book: UnitBook, **address: Any) -> list[UnitAnswer]:
    """Return the answer on pieces and the one on words; none where the unit makes no difference.

    Args:
        question: The sentence and its policy.
        book: Pieces and words.
        address: ``seed``, ``epoch``, ``side`` of the draws.
    """
    pieces = policy_of(question, book.codec.vocabulary.words())
    words = policy_of(question, book.words.words)
    if pieces is None or words is None or isinstance(pieces, WordDropout):
        return []  # a dropped word leaves one null id, whatever the unit
    rows = [book.codec.encode(question.line)] * N_DRAWS
    examples = range(N_DRAWS)
    by_piece = pieces.sample_lists(rows, example_ids=examples, **address)
    by_word = WholeWords(book.words, words).sample_lists(rows, example_ids=examples, **address)
    return [_answer("piece", by_piece, book, rows), _answer("word", by_word, book, rows)]


def _answer(
    unit: str, drawn: Sequence[Any], book: UnitBook, rows: Sequence[list[int]]
) -> UnitAnswer:
    old = Counter(split_words(book.codec.decode(rows[0])))
    n_new = n_invented = 0
    shown = []
    for i, row in enumerate(drawn):
        if i >= N_SHOWN and row == rows[0]:
            continue  # nothing new, and most draws of a cold policy
        words = split_words(book.codec.decode(row))
        new = Counter(words) - old
        n_new += new.total()
        n_invented += sum(n for word, n in new.items() if word not in book.known)
        if i < N_SHOWN:
            shown.append([UnitWord(w, w in new, w in new and w not in book.known) for w in words])
    return UnitAnswer(unit, shown, n_new / len(drawn), n_invented / n_new if n_new else 0.0)
