"""Vocabulary files: the words of each kind of file, and how a tokenizer splits raw text into them.

* One word a line, or ``word number`` (counts or scores) a line; a sentencepiece ``.model``; a
  Hugging Face ``tokenizer.json``. The order of the file is the order of the ids.
* The last two can also encode: raw text becomes pieces with blanks between them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from switchout.errors import SwitchOutError, needs
from switchout.files import read_json
from switchout.pieces import Pieces
from switchout.text.lines import Lines

Encoder = Callable[[list[str]], list[list[str]]]


def read_vocabulary(path: str | Path) -> tuple[list[bytes], set[str]]:
    """Return the entries of a vocabulary file in order, and those that its format calls special."""
    if str(path).endswith(".json"):
        return _hugging_face(path)
    if str(path).endswith((".model", ".spm")):
        return _sentencepiece(path)
    from switchout.corpora.vocabulary import read_words

    return [word.encode() for word in read_words(path)], set()


def encode_lines(lines: Lines, path: str, *, name: str, first_line: int) -> Lines:
    """Return lines as the pieces of a tokenizer's file; what follows a line (newline, tab) stays.

    Args:
        lines: Raw text.
        path: The tokenizer.
        name, first_line: Whose lines these are, and the number of the first, for messages.
    """
    texts = []
    for i, text in enumerate(lines.texts()):
        try:
            texts.append(text.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise SwitchOutError(
                f"{name}: line {first_line + i + 1}: not valid UTF-8 ({error.reason})"
            ) from None
    gaps = lines._replace(starts=lines.ends, ends=lines.ends + lines.gap).texts()
    encoded = [" ".join(pieces).encode() for pieces in _load_encoder(path)(texts)]
    return Lines.joined([line + gap for line, gap in zip(encoded, gaps, strict=True)], lines.gap)


@lru_cache(maxsize=8)
def _load_encoder(path: str) -> Encoder:
    """Return the function that splits sentences into pieces."""
    if path.endswith((".model", ".spm")):
        model = _load_sentencepiece(path)
        return lambda texts: list(model.encode(texts, out_type=str))
    if not path.endswith(".json"):
        raise SwitchOutError(
            f"{path}: cannot encode text; give a sentencepiece .model or a tokenizer.json"
        )
    with needs("tokenizers", where=path):
        from tokenizers import Tokenizer
    tokenizer = Tokenizer.from_str(Path(path).read_text("utf-8"))
    tokenizer.no_truncation()  # a file may keep what it was trained with: lines would lose words
    tokenizer.no_padding()
    return lambda texts: [
        encoded.tokens for encoded in tokenizer.encode_batch(texts, add_special_tokens=False)
    ]


def _load_sentencepiece(path: str | Path) -> Any:
    """Return the processor of a sentencepiece model."""
    with needs("sentencepiece", where=str(path)):
        from sentencepiece import SentencePieceProcessor
    try:
        return SentencePieceProcessor(model_file=str(path))
    except (RuntimeError, OSError) as error:
        raise SwitchOutError(f"{path}: no sentencepiece model ({error})") from None


def _sentencepiece(path: str | Path) -> tuple[list[bytes], set[str]]:
    return _entries(Pieces.of(_load_sentencepiece(path)))


def _hugging_face(path: str | Path) -> tuple[list[bytes], set[str]]:
    try:
        described = read_json(path)
        vocabulary = described["model"]["vocab"]
        if isinstance(vocabulary, list):  # Unigram: [[piece, score], …]
            vocabulary = {piece: i for i, (piece, _) in enumerate(vocabulary)}
        added = {token["content"]: token for token in described.get("added_tokens", [])}
        ids = vocabulary | {word: token["id"] for word, token in added.items()}
        special = {
            ids[word] for word in (*added, described["model"].get("unk_token")) if word in ids
        }
        pieces = Pieces.from_vocabulary(ids, special)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, SwitchOutError):
            raise
        raise SwitchOutError(f"{path}: no tokenizer.json of Hugging Face ({error!r})") from None
    return _entries(pieces)


def _entries(pieces: Pieces) -> tuple[list[bytes], set[str]]:
    """Return the names in the order of their ids, and those of no words; ids may lack a name."""
    names = [name.encode() for name in pieces.names if name is not None]
    return names, {name for i in pieces.special if (name := pieces.names[i]) is not None}
