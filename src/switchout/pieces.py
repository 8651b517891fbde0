"""What the ids of a tokenizer are: their names, and which of them are no words.

Specials are more than a tokenizer's list of specials. Language codes, Marian's ``>>eng<<``,
placeholders, byte pieces and ids without a name are no words either: replaced or drawn they would
tell the model to write another language, or nothing at all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np
import numpy.typing as npt

# Names that are never words: <pad>, <2de>, <0x0A>, <extra_id_0>, <|endoftext|>, ｟tag｠, >>eng<<,
# __de__, [PAD], [unused7], fairseq's madeupword0003, eole's averyunlikelytoken3.
_NO_WORD = re.compile(
    r"▁?(<[^<>\s]+>|｟.*｠|>>.+<<|__\w+__|\[[A-Z]{3,}\]|\[unused\d+\]"
    r"|madeupword\d+|averyunlikelytoken\d+)"
)


class Pieces:
    """The names of a vocabulary's ids, and the ids that are no words.

    Args:
        names: The name of each id, in order; None: an id without a name.
        special: Ids that are no words, besides those whose name says so.

    Example:
        >>> pieces = Pieces(["<s>", "▁the", "▁dog", ">>eng<<", None])
        >>> sorted(pieces.special)
        [0, 3, 4]
    """

    def __init__(self, names: Sequence[str | None], special: Set[int] = frozenset()):
        self.names = tuple(names)
        unnamed = {
            i for i, name in enumerate(self.names) if name is None or _NO_WORD.fullmatch(name)
        }
        self.special = frozenset(unnamed | special)

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    def of(cls, tokenizer: Any) -> Pieces:
        """Return the pieces of a Hugging Face, ``tokenizers`` or sentencepiece tokenizer."""
        if hasattr(tokenizer, "get_piece_size") and hasattr(tokenizer, "id_to_piece"):
            return _of_sentencepiece(tokenizer)
        if hasattr(tokenizer, "all_special_ids") and hasattr(tokenizer, "get_vocab"):
            return _of_transformers(tokenizer)
        if hasattr(tokenizer, "get_added_tokens_decoder") and hasattr(tokenizer, "get_vocab"):
            return _of_tokenizers(tokenizer)
        raise TypeError(
            "expected a tokenizer of transformers, tokenizers or sentencepiece,"
            f" got {type(tokenizer).__name__}"
        )

    @classmethod
    def from_vocabulary(
        cls, vocabulary: Mapping[str, int], special: Set[int] = frozenset(), size: int = 0
    ) -> Pieces:
        """Return the pieces of a vocabulary; ids may have holes and lie beyond ``size``."""
        n_ids = max(size, 1 + max([*vocabulary.values(), *special], default=-1))
        names: list[str | None] = [None] * n_ids
        for name, i in vocabulary.items():
            names[i] = name
        return cls(names, special)

    def seen_in(self, rows: Any) -> npt.NDArray[np.int64]:
        """Return the words that occur in rows of ids, sorted; negative ids are no words."""
        seen = np.zeros(len(self) + 1, bool)
        for i, row in enumerate(rows):
            ids = as_ids(row, i)
            if ids.size and int(ids.max()) >= len(self):
                raise ValueError(f"id {ids.max()} is not below the vocabulary's size {len(self)}")
            seen[np.maximum(ids, -1)] = True
        seen[[*self.special, -1]] = False
        return np.flatnonzero(seen)


def as_ids(row: Any, i: int, name: str = "rows") -> npt.NDArray[np.int64]:
    """Return row number ``i`` of ``name`` as an array; what is no row of integers is a TypeError.

    Example:
        >>> as_ids([5, 6, 2], 0)
        array([5, 6, 2])
    """
    ids = np.asarray(row)
    if ids.ndim != 1:
        raise TypeError(f"{name}[{i}] must be one-dimensional, got {in_short(row)}")
    if ids.size and ids.dtype.kind not in "iu":
        raise TypeError(f"{name}[{i}] must hold integers, got {in_short(row)}")
    return ids.astype(np.int64, copy=False)


def in_short(value: Any) -> str:
    """Return what a value is and how it begins, in one line."""
    return f"{type(value).__name__} {' '.join(str(value).split())[:40]}"


def _of_transformers(tokenizer: Any) -> Pieces:
    vocabulary = tokenizer.get_vocab()
    special = set(tokenizer.all_special_ids) | set(tokenizer.added_tokens_decoder)
    codes = getattr(tokenizer, "supported_language_codes", None) or ()
    special |= {vocabulary[code] for code in codes if code in vocabulary}
    return Pieces.from_vocabulary(vocabulary, special, len(tokenizer))


def _of_tokenizers(tokenizer: Any) -> Pieces:
    vocabulary = tokenizer.get_vocab(with_added_tokens=True)
    special = set(tokenizer.get_added_tokens_decoder())
    model = json.loads(tokenizer.to_str())["model"]
    if model.get("unk_token") in vocabulary:
        special.add(vocabulary[model["unk_token"]])
    if model.get("unk_id") is not None:  # of a Unigram model
        special.add(model["unk_id"])
    return Pieces.from_vocabulary(vocabulary, special)


def _of_sentencepiece(model: Any) -> Pieces:
    names = [model.id_to_piece(i) for i in range(model.get_piece_size())]
    ordinary = 1
    types = _piece_types(model.serialized_model_proto())
    return Pieces(names, {i for i, kind in enumerate(types) if kind != ordinary})


def _piece_types(model: bytes) -> Iterator[int]:
    """Yield the type of each piece: 1 is an ordinary one, 4 a symbol that the user defined.

    sentencepiece has no question for the latter, and they are what people make language tags of.
    A model is a protocol buffer; its field 1 are the pieces, whose field 3 is the type.
    """
    for field, value in _fields(model):
        if field == 1:
            yield next((kind for f, kind in _fields(value) if f == 3), 1)


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Yield number and value of the fields of a protocol buffer's message."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        kind = key & 7
        size = 0
        if kind == 0:
            value, at = _varint(data, at)
            yield key >> 3, value
            continue
        if kind == 2:
            size, at = _varint(data, at)
        else:
            size = {1: 8, 5: 4}[kind]
        yield key >> 3, data[at : at + size]
        at += size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
