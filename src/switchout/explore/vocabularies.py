"""The vocabularies to choose from: embedded, of the user's corpus, of a run, or an uploaded file.

Uploaded ones live in memory, the last few of them; nothing is written down.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterator
from functools import lru_cache
from threading import Lock
from typing import Literal

from switchout.corpora.codec import Codec
from switchout.corpora.encoded import EncodedPairs
from switchout.corpora.vocabulary import SPECIALS, Vocabulary, words_of
from switchout.errors import SwitchOutError, did_you_mean, is_installed
from switchout.explore.catalogue import Catalogue
from switchout.explore.corpus_lines import CorpusLines
from switchout.explore.question import MOST_VOCABULARY
from switchout.explore.units import UnitBook

MOST_UPLOADS = 8
N_PIECES = 800  # of the embedded corpus, a side
MOST_ROWS = 20_000  # of a run's training text, whose words are counted
Side = Literal["source", "target"]


class Vocabularies:
    """Codecs by name.

    Args:
        embedded: The lines of the embedded corpus.
        corpus: The user's own lines, if any.
        catalogue: The runs.
    """

    def __init__(self, embedded: CorpusLines, corpus: CorpusLines | None, catalogue: Catalogue):
        self._lines = {"embedded": embedded} | ({"corpus": corpus} if corpus else {})
        self._catalogue = catalogue
        self._uploaded: OrderedDict[str, Codec] = OrderedDict()
        self._lock = Lock()
        self._counted = lru_cache(maxsize=4)(self._count)
        self._of_run = lru_cache(maxsize=16)(self._load)
        self._learned = lru_cache(maxsize=2)(self._learn)
        self.book = lru_cache(maxsize=8)(self._book)

    def names(self) -> dict[str, str]:
        """Return what each name stands for, in the order of a menu."""
        labels = {name: lines.title for name, lines in self._lines.items()}
        if is_installed("sentencepiece"):
            labels["pieces"] = f"embedded phrasebook, {N_PIECES} pieces"
        uploaded = {name: f"file, {len(c.vocabulary):,} ids" for name, c in self._uploaded.items()}
        runs = {f"run:{name}": f"run {name}" for name in self._catalogue.names()}
        return labels | uploaded | runs

    def codec(self, name: str, side: Side) -> Codec:
        """Return the codec of a name."""
        if name in self._lines:
            return self._counted(name, side)
        if name == "pieces":
            return self._learned(side)
        if name.startswith("run:"):
            return self._of_run(name.removeprefix("run:"), side)
        with self._lock:
            if name in self._uploaded:
                return self._uploaded[name]
        known = [*self._lines, "pieces", *self._uploaded]
        raise SwitchOutError(f"no vocabulary {name[:200]!r}{did_you_mean(name, known)}")

    def upload(self, text: str) -> str:
        """Keep a file of one word a line and return its name."""
        codec = Codec(parse_vocabulary(text))
        name = "file-" + hashlib.sha256(text.encode()).hexdigest()[:12]
        with self._lock:
            self._uploaded[name] = codec
            while len(self._uploaded) > MOST_UPLOADS:
                self._uploaded.popitem(last=False)
        return name

    def _count(self, name: str, side: Side) -> Codec:
        lines = self._lines[name].of(side)
        if not lines:
            raise SwitchOutError(f"the corpus has no {side} side: choose another vocabulary")
        return Codec.word(lines)

    def _learn(self, side: Side) -> Codec:
        return Codec.sentencepiece(self._lines["embedded"].of(side), size=N_PIECES)

    def _book(self, name: str, side: Side) -> UnitBook | None:
        """Return the words behind a vocabulary of pieces; None for any other."""
        codec = self.codec(name, side)
        if codec.kind != "sentencepiece":
            return None
        return UnitBook(codec, self._rows(name, side, codec))

    def _rows(self, name: str, side: Side, codec: Codec) -> Iterator[list[int]]:
        if not name.startswith("run:"):
            return map(codec.encode, self._lines["embedded"].of(side))
        folder = self._catalogue.folder(name.removeprefix("run:"))
        pairs = EncodedPairs(folder / "encoded" / "train")
        row = pairs.src if side == "source" else pairs.tgt
        return (row(i).tolist() for i in range(min(len(pairs), MOST_ROWS)))

    def _load(self, run: str, side: Side) -> Codec:
        return Codec.load(self._catalogue.folder(run), "src" if side == "source" else "tgt")


def parse_vocabulary(text: str) -> Vocabulary:
    """Return the vocabulary of an uploaded file: a word a line, or a word and its count.

    Example:
        >>> parse_vocabulary("<unk>\\nhaus\\t12\\nhund 3\\n").tokens
        ['<pad>', '<s>', '</s>', '<unk>', 'haus', 'hund']
    """
    lines = text.removesuffix("\n").split("\n")
    if len(lines) > MOST_VOCABULARY:
        raise SwitchOutError(f"{len(lines):,} words; a vocabulary has {MOST_VOCABULARY:,} at most")
    drawable = [word for word in words_of(lines, name="vocabulary") if word not in SPECIALS]
    if len(drawable) < 2:
        raise SwitchOutError("at least two words are needed to draw from")
    return Vocabulary([*SPECIALS, *drawable])
