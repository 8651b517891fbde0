"""Words and their ids: the four specials first, then the words.

* ``<pad> <s> </s> <unk>`` are 0, 1, 2, 3 in every vocabulary, whatever order its file had.
* Text never becomes a special by its spelling: a word ``</s>`` in a sentence is unknown.
* ``<pad>`` doubles as the null word of word dropout (id 0, a zero embedding that is never trained).
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from itertools import repeat
from pathlib import Path
from typing import NoReturn

from switchout.corpora.text import write_lines
from switchout.errors import SwitchOutError
from switchout.files import atomic, read_lines
from switchout.words import Words

PAD, BOS, EOS, UNK = 0, 1, 2, 3
SPECIALS = ("<pad>", "<s>", "</s>", "<unk>")
_WHITE = r" \t\r\f\v"  # a no-break space belongs to a word
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?inf|nan"
_ENTRY = re.compile(rf"[{_WHITE}]*([^{_WHITE}]+)(?:[{_WHITE}]+(?:{_NUMBER}))?[{_WHITE}]*")


class Vocabulary:
    """A list of distinct tokens; the position is the id.

    Example:
        >>> v = Vocabulary.from_counts(Counter("babc"), min_count=2)
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
        """Take the words of a file, in its order; our four specials come first, whatever it has."""
        tokens = read_words(path)
        vocabulary = cls([*SPECIALS, *(token for token in tokens if token not in SPECIALS)])
        vocabulary.entries = len(tokens)
        return vocabulary

    def save(self, path: Path | str) -> None:
        """Write one token a line, in the order of their ids."""
        with atomic(path) as partial:
            write_lines(partial, self.tokens)

    @property
    def sha256(self) -> str:
        """Hash of all tokens in order: by it a shortened or changed file is noticed."""
        return hashlib.sha256("\n".join(self.tokens).encode()).hexdigest()

    def __len__(self) -> int:
        return len(self.tokens)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.tokens == other.tokens

    __hash__ = None  # type: ignore[assignment]  # compared by content, which a dict must not rely on

    def ids(self, tokens: Iterable[str]) -> list[int]:
        """Return the id of each token, `UNK` for a stranger."""
        return list(map(self._ids.get, tokens, repeat(UNK)))

    def words(self, *, unk_is_word: bool = False, special_pattern: str | None = None) -> Words:
        """Return which ids a policy may replace and draw.

        Args:
            unk_is_word: The paper counts ``<unk>`` as a word.
            special_pattern: A regular expression; words that it matches whole are left alone, too.
        """
        specials = [PAD, BOS, EOS] if unk_is_word else [PAD, BOS, EOS, UNK]
        if special_pattern is not None:
            is_special = re.compile(special_pattern).fullmatch
            tokens = enumerate(self.tokens[len(SPECIALS) :], len(SPECIALS))
            specials += [id for id, token in tokens if is_special(token)]
        return Words(len(self), special_ids=specials)


def read_words(path: Path | str) -> list[str]:
    """Return the words of a vocabulary file: a word a line, or a word and its count.

    So write ``switchout data prepare``, ``train`` and ``augment``, and many other programs. In a
    file that begins with our four specials, as a run has it, a line is a word as it stands.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "vocab"
        >>> _ = path.write_text("the 42\\na 17\\n")
        >>> read_words(path)
        ['the', 'a']
    """
    return words_of(read_lines(path), name=str(path))


def words_of(lines: list[str], *, name: str) -> list[str]:
    """Return the same for the lines of a vocabulary; ``name`` is for messages."""
    is_ours = tuple(lines[: len(SPECIALS)]) == SPECIALS
    entries = map(_ENTRY.fullmatch, lines)
    words = lines if is_ours else [entry[1] if entry else "" for entry in entries]
    distinct, together = set(words), "".join(words)
    if len(distinct) < len(words) or "" in distinct or " " in together or "\r" in together:
        _refuse_entry(lines, words, name)
    if not distinct - set(SPECIALS):
        raise SwitchOutError(f"{name}: no word in it; expected a vocabulary, a word a line")
    return words


def _refuse_entry(lines: list[str], words: list[str], name: str) -> NoReturn:
    """Name the first line that is no word, or a word that was there before."""
    seen: dict[str, int] = {}
    for number, word in enumerate(words, 1):
        if not word or " " in word or "\r" in word:
            line = lines[number - 1]
            raise SwitchOutError(
                f"{name}:{number}: expected one word, or a word and a number, got {line[:60]!r}"
            )
        if (first := seen.setdefault(word, number)) != number:
            raise SwitchOutError(
                f"{name}:{number}: {word!r} stands already in line {first}; "
                "every word must be distinct"
            )
    raise AssertionError("no entry to refuse")
