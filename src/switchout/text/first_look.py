"""A look at the first lines: is the text split the way the vocabulary wants it, and are its words
those of the vocabulary?
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence

from switchout.corpora.tags import find_tags
from switchout.corpora.text import Marks
from switchout.errors import SwitchOutError
from switchout.policies.factory import warn_if_too_much
from switchout.text.lexicon import Lexicon
from switchout.text.side_noise import SideNoise

log = logging.getLogger(__name__)

LINES = 1000  # to look at
MARKERS = ("▁", "Ġ")  # how the pieces of sentencepiece and of byte-level BPE begin a word
_SHARE = 0.05  # of a piece vocabulary that begins a word
_LEAST = 100  # words, below which there is nothing to say of what is known


def look_at(text: bytes, noise: SideNoise) -> float | None:
    """Refuse raw text where pieces are expected; return the share of words that are known.

    None: it is not known before the text is split, or nothing is changed.

    Warn of raw text, of pairs, of what is no UTF-8, of a foreign vocabulary, and of noise that
    leaves little of a sentence.
    """
    policy = noise.made()
    if policy is None:
        return None
    warn_if_too_much(policy, noise.side)
    _warn_of_pairs(text, noise.side)
    if noise.encoder is not None:  # which refuses what is no UTF-8
        return None
    if (line := line_of_no_utf8(text)) is not None:
        warn_of_no_utf8(f"{noise.side}: line {line + 1}")
    words = text.split()
    marker = _marker(noise.lexicon)
    if marker is None:
        warn_if_untokenised(words, noise.side)
    elif words and not any(word.startswith(marker) for word in words):
        raise SwitchOutError(
            f"the {noise.side} is not split into the pieces of {noise.lexicon.name}: no word of its"
            f" first lines begins with {marker.decode()!r}; encode= splits raw text"
        )
    _warn_of_tags(text, noise)
    return _known_share(words, noise)


class FirstLook:
    """The same look, once, where lines come in calls: as soon as their words say something."""

    def __init__(self, noise: SideNoise) -> None:
        self._noise = noise
        self._lines: list[str] = []  # not looked at yet
        self._n_words = 0
        self._is_done = False

    def add(self, sentences: Sequence[str]) -> None:
        """Take in the lines of a call."""
        if self._is_done:
            return
        self._lines += sentences[:LINES]
        self._n_words += sum(len(sentence.split()) for sentence in sentences[:LINES])
        if self._n_words >= _LEAST:
            look_at("\n".join(self._lines).encode(), self._noise)
            self._is_done, self._lines = True, []


def line_of_no_utf8(text: bytes) -> int | None:
    """Return the number, from 0, of the first line that is not valid UTF-8.

    Example:
        >>> line_of_no_utf8("blau\\ngrün\\n".encode("latin-1")), line_of_no_utf8(b"blau")
        (1, None)
    """
    try:
        text.decode()
    except UnicodeDecodeError as error:
        return text.count(b"\n", 0, error.start)
    return None


def warn_of_no_utf8(where: str) -> None:
    """Warn of words that stay as they are: to look for them in all lines would cost half as much
    again as to change the words, so bytes are bytes, but no vocabulary can name such a word.
    """
    log.warning(
        "warning: %s: not valid UTF-8; words with such bytes stay as they are and are in no"
        " vocabulary. Is the file in Latin-1? iconv -f latin1 -t utf8 FILE converts it", where,
    )  # fmt: skip


def _warn_of_pairs(text: bytes, side: str) -> None:
    """Warn of a tab in most lines: words of two languages would take each other's place."""
    lines = text.split(b"\n")
    if sum(b"\t" in line for line in lines) > len(lines) / 2:
        log.warning(
            "warning: %s: most of the first lines hold a tab, as source<tab>target does, and both"
            " parts are changed as one text: --pairs FILE reads pairs, --out-pairs FILE writes"
            " them (in Python: pairs=, out_pairs=)", side,
        )  # fmt: skip


def _marker(lexicon: Lexicon) -> bytes | None:
    """Return how the pieces of a vocabulary begin a word; None for a vocabulary of words."""
    entries = b"\n" + b"\n".join(lexicon.known)
    for marker in (m.encode() for m in MARKERS):
        if entries.count(b"\n" + marker) > _SHARE * len(lexicon.known):
            return marker
    return None


def _warn_of_tags(text: bytes, noise: SideNoise) -> None:
    """Warn of tags at an end of many lines: as words they can be replaced."""
    lines = [line.split() for line in text.decode(errors="replace").split("\n")]
    for tag, pattern in find_tags(lines, lambda word: word.encode() in noise.lexicon.known):
        log.warning(
            "warning: %s: %r looks like a tag, but is a word like others, to be replaced and"
            " drawn: --special-regex '%s' leaves it alone (in Python: special_pattern=)",
            noise.side, tag, pattern,
        )  # fmt: skip


def _known_share(words: list[bytes], noise: SideNoise) -> float | None:
    """Return it; warn where text and vocabulary hardly meet, as those of two languages do.

    A small vocabulary does not hold most of a text either. But most of it occurs in the text.
    """
    counts = Counter(words)
    shared = [word for word in noise.lexicon.known if word in counts]
    n_known = sum(counts[word] for word in shared)
    share = n_known / len(words) if words else None
    if share is None or share >= 0.5 or len(words) < _LEAST:
        return share
    known = set(shared)
    unknown = next(word for word, _ in counts.most_common() if word not in known)
    is_small = 2 * len(shared) >= len(noise.lexicon.known)
    log.warning(
        "warning: %s: only %d%% of the words of the first lines are in %s (%r is not): %s",
        noise.side, int(100 * share), noise.lexicon.name,
        unknown.decode(errors="replace"),
        "the others are never changed. Is it the vocabulary of the whole corpus?" if is_small
        else "does the vocabulary belong to the other side, or to another language?",
    )  # fmt: skip
    return share


def warn_if_untokenised(words: list[bytes], name: str) -> None:
    """Warn of punctuation that sticks to the words of a side, or of a file."""
    marks = Marks.of(word.decode(errors="replace") for word in words)
    if not marks.is_raw:
        return
    log.warning(
        "warning: %s: %d%% of %s punctuation marks stick to a word, such as %r: the text looks"
        " untokenised, and 'word' and 'word.' count as two words; tokenise it first (for example by"
        " sacremoses), or let a subword model split it (augment --encode)",
        name, 100 * len(marks.glued) // marks.n_marks, f"{marks.n_marks:,}",
        marks.glued[0],
    )  # fmt: skip
