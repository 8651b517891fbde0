"""From a line to its words and back."""

from __future__ import annotations

import re
from collections.abc import Iterable

JOINER = "￭"  # stands where the text had no space
_WORD_OR_MARK = re.compile(r"\w+|[^\w ]")


def split_words(line: str) -> list[str]:
    """Return the words of a tokenised line: split at ASCII spaces, a final ``\\r`` ignored.

    No-break and other Unicode spaces belong to a word, as they do in Moses-tokenised text.
    """
    words = line.rstrip("\r").split(" ")
    return [word for word in words if word] if "" in words else words


def split_punctuation(line: str) -> list[str]:
    """Return words and punctuation marks; a joiner marks those that had no space before them.

    Example:
        >>> split_punctuation("Ja, gern!")
        ['Ja', '￭,', 'gern', '￭!']
    """
    tokens: list[str] = []
    end = -1
    for match in _WORD_OR_MARK.finditer(line.replace(JOINER, " ").rstrip("\r")):
        is_glued = match.start() == end
        tokens.append(JOINER + match.group() if is_glued else match.group())
        end = match.end()
    return tokens


def join_punctuation(tokens: Iterable[str]) -> str:
    """Undo `split_punctuation`."""
    return " ".join(tokens).replace(" " + JOINER, "").removeprefix(JOINER)
