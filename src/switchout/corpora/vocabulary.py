"""Words and their ids: the four specials first, then the words.

* ``<pad> <s> </s> <unk>`` are 0, 1, 2, 3 in every vocabulary, whatever order its file had.
* Text never becomes a special by its spelling: a word ``</s>`` in a sentence is unknown.
* ``<pad>`` doubles as the null word of word dropout (id 0, a zero embedding that is never trained).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import repeat
from pathlib import Path

from switchout.corpora.splitting import split_words
from switchout.corpora.text import stream_lines, write_lines
from switchout.errors import SwitchOutError
from switchout.files import atomic
from switchout.words import Words

PAD, BOS, EOS, UNK = 0, 1, 2, 3
SPECIALS = ("<pad>", "<s>", "</s>", "<unk>")


class Vocabulary:
    """A list of distinct tokens; the position is the id.

    Example:
        >>> v = Vocabulary.count(["b a b", "b c"], min_count=2)
        >>> v.tokens
        ['<pad>', '<s>', '</s>', '<unk>', 'b']
        >>> v.ids(["b", "a", "</s>"])
        [4, 3, 3]
    """

    def __init__(self, tokens: Iterable[str]):
        self.tokens = list(tokens)
        self.entries = len(self.tokens)  # lines of the file it came from: we may have added <pad>
        if tuple(self.tokens[: len(SPECIALS)]) != SPECIALS:
            raise SwitchOutError(f"a vocabulary starts with {' '.join(SPECIALS)}")
        self._ids = {token: id for id, token in enumerate(self.tokens)}
        if len(self._ids) != len(self.tokens):
            twice = next(t for id, t in enumerate(self.tokens) if self._ids[t] != id)
            raise SwitchOutError(f"vocabulary has {twice!r} twice: every token must be distinct")
        for special in SPECIALS:
            del self._ids[special]

    @classmethod
    def count(
        cls, lines: Iterable[str], *, min_count: int = 1, max_size: int | None = None
    ) -> Vocabulary:
        """Count the words of tokenised lines; see `from_counts`."""
        counts: Counter[str] = Counter()
        for line in lines:
            counts.update(split_words(line))
        return cls.from_counts(counts, min_count=min_count, max_size=max_size)

    @classmethod
    def from_counts(
        cls, counts: Counter[str], *, min_count: int = 1, max_size: int | None = None
    ) -> Vocabulary:
        """Keep the words seen ``min_count`` times, the most frequent first, ties in code order.

        Args:
            counts: How often each word was seen.
            min_count: Rarer words become ``<unk>``.
            max_size: At most so many ids, the four specials included.
        """
        if max_size is not None and max_size <= len(SPECIALS):
            raise SwitchOutError(
                f"max_size = {max_size} leaves no room for words beside the 4 specials"
            )
        words = [w for w, n in counts.items() if n >= min_count and w not in SPECIALS]
        words.sort(key=lambda word: (-counts[word], word))
        if not words:
            raise SwitchOutError(
                f"vocabulary is empty: no word occurs {min_count} times (lower min_count, or check "
                "that the corpus is not empty)"
            )
        return cls([*SPECIALS, *words][:max_size])

    @classmethod
    def load(cls, path: Path | str) -> Vocabulary:
        """Read one token a line; ``<unk> <s> </s>`` (Stanford) or our four specials come first."""
        path = Path(path)
        tokens = list(stream_lines(path))
        head = [token for token in tokens[: len(SPECIALS)] if token in SPECIALS]
        for special in ("<unk>", "<s>", "</s>"):
            if special not in head:
                raise SwitchOutError(
                    f"{path}:1: no {special} among the first {len(SPECIALS)} lines; a vocabulary "
                    f"file starts with <unk> <s> </s> or with {' '.join(SPECIALS)}"
                )
        seen: dict[str, int] = {}
        for number, token in enumerate(tokens, 1):
            if token in seen:
                raise SwitchOutError(
                    f"{path}:{number}: {token!r} stands already in line {seen[token]}; "
                    "every token must be distinct"
                )
            if not token or " " in token or token.endswith("\r"):
                raise SwitchOutError(
                    f"{path}:{number}: expected one token without spaces, got {token!r}"
                )
            seen[token] = number
        vocabulary = cls([*SPECIALS, *(token for token in tokens if token not in SPECIALS)])
        vocabulary.entries = len(tokens)
        return vocabulary

    def save(self, path: Path | str) -> None:
        """Write one token a line, in the order of their ids."""
        with atomic(path) as partial:
            write_lines(partial, self.tokens)

    def __len__(self) -> int:
        return len(self.tokens)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.tokens == other.tokens

    __hash__ = None  # type: ignore[assignment]  # compared by content, which a dict must not rely on

    def ids(self, tokens: Iterable[str]) -> list[int]:
        """Return the id of each token, `UNK` for a stranger."""
        return list(map(self._ids.get, tokens, repeat(UNK)))

    def words(self, *, unk_is_word: bool = False) -> Words:
        """Return which ids a policy may replace and draw; the paper counts ``<unk>`` as a word."""
        specials = (PAD, BOS, EOS) if unk_is_word else (PAD, BOS, EOS, UNK)
        return Words(len(self), special_ids=specials)
