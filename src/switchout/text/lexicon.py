"""The words of one side, as bytes, ready for the compiled core.

Special words stay out of the hash table: text that holds one is left alone and not counted, and
none is ever drawn.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from switchout.core import compiled
from switchout.errors import SwitchOutError
from switchout.words import MAX_SIZE, Words

SPECIAL_WORDS = (
    "<pad>", "<s>", "</s>", "<unk>", "<bos>", "<eos>", "<blank>", "<mask>", "<blank_word>",
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]",
)  # fmt: skip


@dataclass(frozen=True)
class Lexicon:
    """Known words, in the order of their ranks.

    Attributes:
        known: The words that may be replaced and drawn.
        n_special: How many entries of the vocabulary are not words.
        name: Where the words come from, for messages.
    """

    known: tuple[bytes, ...]
    n_special: int = 0
    name: str = "vocabulary"

    @property
    def words(self) -> Words:
        """The same words as ids 0, 1, …, for a policy."""
        return Words(len(self.known), special_ids=())

    @cached_property
    def digest(self) -> str:
        """Hash of the known words in order."""
        return hashlib.sha256(b"\n".join(self.known)).hexdigest()[:16]

    @cached_property
    def compiled(self) -> compiled.Lexicon:
        """The hash table; made once in every process."""
        offsets = np.zeros(len(self.known) + 1, np.int64)
        np.cumsum([len(word) for word in self.known], out=offsets[1:])
        table, twin = compiled.make_lexicon(b"".join(self.known), offsets)
        if twin >= 0:
            word = self.known[twin].decode(errors="replace")
            raise SwitchOutError(f"{self.name}: the word {word!r} stands there twice")
        return table

    def __getstate__(self) -> dict[str, Any]:
        """The hash table is not sent to other processes: they make their own."""
        return {name: value for name, value in vars(self).items() if name != "compiled"}


NO_WORDS = Lexicon(())


def make_lexicon(
    entries: Iterable[bytes],
    *,
    special_words: Collection[str] = SPECIAL_WORDS,
    special_pattern: str | None = None,
    name: str = "vocabulary",
) -> Lexicon:
    """Return the lexicon of vocabulary entries; a pattern matches whole words."""
    entries = list(entries)
    specials = {word.encode() for word in special_words}
    if special_pattern is not None:
        try:
            pattern = re.compile(special_pattern.encode())
        except re.error as error:
            raise SwitchOutError(
                f"special pattern {special_pattern!r}: no regular expression ({error})"
            ) from None
        specials |= {word for word in entries if pattern.fullmatch(word)}
    known = tuple(word for word in entries if word not in specials)
    if b" ".join(known).split() != list(known):
        _refuse_white_space(entries, specials, name)
    if len(known) > MAX_SIZE:
        raise SwitchOutError(
            f"{name}: {len(known):,} words are more than {MAX_SIZE:,}; count fewer"
        )
    return Lexicon(known, len(entries) - len(known), name)


def word_bytes(word: str, name: str) -> bytes:
    """Return a word as UTF-8; refuse one that would break lines, columns or words apart."""
    try:
        encoded = word.encode()
    except UnicodeEncodeError:
        raise SwitchOutError(f"{name}: {word!r} is no text") from None
    if encoded.split() != [encoded]:
        raise SwitchOutError(f"{name}: {word!r} must be one word, without white space")
    return encoded


def _refuse_white_space(entries: list[bytes], specials: set[bytes], name: str) -> None:
    """Name the entry that, drawn, would add a line, a column or a word to the corpus."""
    for number, word in enumerate(entries, 1):
        if word not in specials and word.split() != [word]:
            raise SwitchOutError(
                f"{name}: entry {number} {word.decode(errors='replace')!r} is empty or holds white"
                " space; name it in special_words, or match it by special_pattern"
            )
