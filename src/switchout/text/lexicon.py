"""The words of one side, as bytes: read from a vocabulary file, ready for the kernel.

* One word a line, or ``word number`` (counts or scores) a line; a sentencepiece ``.model``; a
  Hugging Face ``tokenizer.json``. The order of the file is the order of the ids.
* Special words stay out of the hash table: text that holds one is left alone and not counted, and
  none is ever drawn.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from switchout.core import compiled
from switchout.errors import SwitchOutError
from switchout.files import read_json
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


def read_vocabulary(path: str | Path) -> tuple[list[bytes], set[str]]:
    """Return the entries of a vocabulary file in order, and those that its format calls special."""
    if str(path).endswith(".json"):
        return _hugging_face(path)
    if str(path).endswith((".model", ".spm")):
        return _sentencepiece(path)
    from switchout.corpora.vocabulary import read_words

    return [word.encode() for word in read_words(path)], set()


def load_sentencepiece(path: str | Path) -> Any:
    """Return the processor of a sentencepiece model."""
    try:
        from sentencepiece import SentencePieceProcessor
    except ImportError:
        raise SwitchOutError(
            f"{path}: sentencepiece is not installed: pip install 'switchout[subword]'"
        ) from None
    try:
        return SentencePieceProcessor(model_file=str(path))
    except (RuntimeError, OSError) as error:
        raise SwitchOutError(f"{path}: no sentencepiece model ({error})") from None


def _sentencepiece(path: str | Path) -> tuple[list[bytes], set[str]]:
    model = load_sentencepiece(path)
    pieces = [model.id_to_piece(i) for i in range(model.get_piece_size())]
    special = {
        piece
        for i, piece in enumerate(pieces)
        if model.is_control(i) or model.is_unknown(i) or model.is_unused(i) or model.is_byte(i)
    }
    return [piece.encode() for piece in pieces], special


def _hugging_face(path: str | Path) -> tuple[list[bytes], set[str]]:
    try:
        described = read_json(path)
        vocabulary = described["model"]["vocab"]
        if isinstance(vocabulary, list):  # Unigram: [[piece, score], …]
            vocabulary = {piece: i for i, (piece, _) in enumerate(vocabulary)}
        added = {token["content"]: token for token in described.get("added_tokens", [])}
        ids = vocabulary | {word: token["id"] for word, token in added.items()}
        special = {word for word, token in added.items() if token.get("special")}
        unknown = described["model"].get("unk_token")
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, SwitchOutError):
            raise
        raise SwitchOutError(f"{path}: no tokenizer.json of Hugging Face ({error!r})") from None
    words = sorted(ids, key=ids.__getitem__)
    return [word.encode() for word in words], special | ({unknown} if unknown else set())
