"""A look at the first lines: is the text split the way the vocabulary wants it?"""

from __future__ import annotations

import logging

from switchout.corpora.text import Marks
from switchout.errors import SwitchOutError
from switchout.text.lexicon import Lexicon
from switchout.text.side_noise import SideNoise

log = logging.getLogger(__name__)

LINES = 1000  # to look at
MARKERS = ("▁", "Ġ")  # how the pieces of sentencepiece and of byte-level BPE begin a word
_SHARE = 0.05  # of a piece vocabulary that begins a word


def look_at(text: bytes, noise: SideNoise) -> None:
    """Refuse raw text where pieces are expected; warn of punctuation that sticks to words."""
    if noise.policy is None or noise.encoder is not None:
        return
    words = text.split()
    marker = _marker(noise.lexicon)
    if marker is None:
        _warn_if_untokenised(words, noise.side)
    elif words and not any(word.startswith(marker) for word in words):
        raise SwitchOutError(
            f"the {noise.side} is not split into the pieces of {noise.lexicon.name}: no word of its"
            f" first lines begins with {marker.decode()!r}; encode splits raw text"
        )


def _marker(lexicon: Lexicon) -> bytes | None:
    """Return how the pieces of a vocabulary begin a word; None for a vocabulary of words."""
    entries = b"\n" + b"\n".join(lexicon.known)
    for marker in (m.encode() for m in MARKERS):
        if entries.count(b"\n" + marker) > _SHARE * len(lexicon.known):
            return marker
    return None


def _warn_if_untokenised(words: list[bytes], side: str) -> None:
    marks = Marks.of(word.decode(errors="replace") for word in words)
    if not marks.is_raw:
        return
    log.warning(
        "%s: %d%% of %s punctuation marks stick to a word, such as %r: the text looks untokenised,"
        " and 'word' and 'word.' count as two words; tokenise it, or encode it by a subword model",
        side, 100 * len(marks.glued) // marks.n_marks, f"{marks.n_marks:,}",
        marks.glued[0],
    )  # fmt: skip
