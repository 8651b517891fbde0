"""Raw text to space-separated pieces, by the tokenizer that the vocabulary comes from."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np

from switchout.errors import SwitchOutError
from switchout.text.arrays import PADDING, Lines
from switchout.text.lexicon import load_sentencepiece

Encoder = Callable[[list[str]], list[list[str]]]


@lru_cache(maxsize=8)
def load_encoder(path: str) -> Encoder:
    """Return the function that splits sentences into pieces."""
    if path.endswith((".model", ".spm")):
        model = load_sentencepiece(path)
        return lambda texts: list(model.encode(texts, out_type=str))
    if not path.endswith(".json"):
        raise SwitchOutError(
            f"{path}: cannot encode text; give a sentencepiece .model or a tokenizer.json"
        )
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise SwitchOutError(
            f"{path}: tokenizers is not installed: pip install 'switchout[subword]'"
        ) from None
    tokenizer = Tokenizer.from_str(Path(path).read_text("utf-8"))
    return lambda texts: [
        encoded.tokens for encoded in tokenizer.encode_batch(texts, add_special_tokens=False)
    ]


def encode_lines(lines: Lines, encoder: Encoder, *, name: str, first_line: int) -> Lines:
    """Return the lines as pieces; what follows each line (newline, tab) stays."""
    data = lines.data.tobytes()
    spans = list(zip(lines.starts.tolist(), lines.ends.tolist(), strict=True))
    texts = []
    for i, (start, end) in enumerate(spans):
        try:
            texts.append(data[start:end].decode("utf-8"))
        except UnicodeDecodeError as error:
            raise SwitchOutError(
                f"{name}: line {first_line + i + 1}: not valid UTF-8 ({error.reason})"
            ) from None
    encoded = [" ".join(pieces).encode() for pieces in encoder(texts)]
    gaps = [data[end : end + lines.gap] for _, end in spans]
    joined = b"".join(part for pair in zip(encoded, gaps, strict=True) for part in pair)
    sizes = np.array([len(line) for line in encoded], np.int64)
    ends = np.cumsum(sizes + lines.gap) - lines.gap
    padded = np.frombuffer(bytearray(joined + bytes(PADDING)), np.uint8)
    return Lines(padded, ends - sizes, ends, lines.gap)
