"""Which ids of a vocabulary are words.

* A special id (bos, eos, pad, unk, language tags, any negative id) is never replaced, never drawn
  and never counted in a sentence's length.
* Special ids are kept as sorted ranges: a vocabulary has a few of them wherever they are, so the
  rank of a word is found by subtracting the ranges below it. There is no table of vocabulary size.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from switchout.core import compiled

MAX_SIZE = 1 << 24


class Words:
    """The ids that may be replaced and drawn.

    Args:
        size: Number of ids in the vocabulary; a batch may hold ids below it and negative ones.
        special_ids: Ids that are not words; negative ids never are.
        draw_ids: If given, replacements are drawn from these words only.

    Example:
        >>> words = Words(size=10, special_ids=(0, 9))
        >>> len(words), words.to_dict()
        (8, {'size': 10, 'special_ids': [0, 9], 'draw_ids': None})
    """

    __slots__ = (
        "_compiled",
        "_count",
        "draw_ids",
        "lowest",
        "range_starts",
        "range_stops",
        "size",
        "special_ids",
    )

    size: int
    special_ids: tuple[int, ...]
    draw_ids: npt.NDArray[np.int64]  # sorted; empty: every word may be drawn
    lowest: int  # every id below it is special: the negative ones and a range that starts at 0
    range_starts: npt.NDArray[np.int64]  # the special ranges above ``lowest``
    range_stops: npt.NDArray[np.int64]
    _compiled: Any  # made when it is first asked for
    _count: int  # what `len` returns, at every call of the samplers

    def __init__(
        self,
        size: int,
        special_ids: Iterable[int] = (0, 1, 2, 3),
        draw_ids: Iterable[int] | None = None,
    ) -> None:
        size = _integer(size, "size")
        if not 1 <= size <= MAX_SIZE:
            raise ValueError(f"size must be between 1 and 2^24, got {size}")
        specials = sorted({_integer(i, "special_ids") for i in special_ids})
        specials = [i for i in specials if i >= 0]
        if specials and specials[-1] >= size:
            raise ValueError(f"special id {specials[-1]} is not below size {size}")
        starts, stops = _ranges(specials)
        lowest = stops.pop(0) if starts and starts[0] == 0 else 0
        draw = _draw_array(draw_ids, size, frozenset(specials))
        set_once = object.__setattr__
        set_once(self, "_compiled", None)
        set_once(self, "size", size)
        set_once(self, "special_ids", tuple(specials))
        set_once(self, "draw_ids", draw)
        set_once(self, "lowest", lowest)
        set_once(self, "range_starts", np.array(starts[len(starts) - len(stops) :], np.int64))
        set_once(self, "range_stops", np.array(stops, np.int64))
        set_once(self, "_count", int(draw.size) or size - len(specials))
        if len(self) < 2:
            raise ValueError(
                f"at least two words must remain to draw from, got {len(self)}"
                f" (size {size}, {len(specials)} special ids)"
            )

    @classmethod
    def from_tokenizer(cls, tokenizer: Any, rows: Iterable[Any] | None = None) -> Words:
        """Return the words of a tokenizer of transformers, ``tokenizers`` or sentencepiece.

        Special tokens, added tokens, language codes (also Marian's ``>>eng<<``), byte pieces and
        ids without a name are no words.

        Args:
            tokenizer: The tokenizer, not its name.
            rows: Tokenised sentences, [rows of ids]: only words that occur there are drawn. Half of
                a vocabulary that two languages share never occurs on one of the two sides.

        Example:
            >>> from tokenizers import Tokenizer, models
            >>> names = ["<unk>", "a", "b", ">>eng<<", "c"]
            >>> ids = {name: i for i, name in enumerate(names)}
            >>> Words.from_tokenizer(Tokenizer(models.WordLevel(ids, unk_token="<unk>")))
            Words(size=5, special_ids=(0, 3))
        """
        from switchout.pieces import Pieces

        pieces = Pieces.of(tokenizer)
        n_words = len(pieces) - len(pieces.special)
        if n_words < 2:
            raise ValueError(
                f"the tokenizer has {n_words} words: all other of its {len(pieces)} ids are special"
            )
        return cls(len(pieces), pieces.special, None if rows is None else pieces.seen_in(rows))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("Words is immutable")

    def __reduce__(self) -> tuple[Any, ...]:
        draw = self.draw_ids.tolist() if self.draw_ids.size else None
        return Words, (self.size, self.special_ids, draw)

    @property
    def compiled(self) -> Any:
        """The same facts as the compiled core wants them."""
        if self._compiled is None:
            made = compiled.make_words(
                self.size, self.lowest, self.range_starts, self.range_stops, self.draw_ids
            )
            object.__setattr__(self, "_compiled", made)
        return self._compiled

    def __len__(self) -> int:
        """Return W, the number of words that may be drawn."""
        return self._count

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Words) and self.__reduce__() == other.__reduce__()

    def __hash__(self) -> int:
        return hash((self.size, self.special_ids, self.draw_ids.tobytes()))

    def __repr__(self) -> str:
        draw = f", draw_ids=<{self.draw_ids.size} words>" if self.draw_ids.size else ""
        return f"Words(size={self.size}, special_ids={self.special_ids}{draw})"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data from which ``Words(**data)`` makes an equal object."""
        draw = self.draw_ids.tolist() if self.draw_ids.size else None
        return {"size": self.size, "special_ids": list(self.special_ids), "draw_ids": draw}

    def is_word(self, ids: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Return where ``ids`` are words, same shape."""
        word = ids >= self.lowest
        for start, stop in zip(self.range_starts, self.range_stops, strict=True):
            word &= (ids < start) | (ids >= stop)
        return np.asarray(word)

    def is_drawable(self, ids: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Return where ``ids`` may be drawn as a replacement, same shape."""
        return np.isin(ids, self.draw_ids) if self.draw_ids.size else self.is_word(ids)

    def drawable(self) -> npt.NDArray[np.int64]:
        """Return all W drawable ids, sorted: for small vocabularies and tests."""
        if self.draw_ids.size:
            return self.draw_ids
        ids = np.arange(self.size)
        return ids[self.is_word(ids)]


def check_words(words: object) -> Words:
    """Return ``words``, or say what to write where somebody gave the size of the vocabulary.

    Example:
        >>> check_words(32000)
        Traceback (most recent call last):
        TypeError: words must be so.Words(size=…, special_ids=…), got 32000
    """
    if not isinstance(words, Words):
        raise TypeError(f"words must be so.Words(size=…, special_ids=…), got {words!r:.80}")
    return words


def _integer(value: object, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise TypeError(f"{name} must hold integers, got {value!r}")
    return int(value)


def _ranges(sorted_ids: list[int]) -> tuple[list[int], list[int]]:
    """Merge sorted ids into half-open ranges."""
    starts: list[int] = []
    stops: list[int] = []
    for i in sorted_ids:
        if stops and stops[-1] == i:
            stops[-1] = i + 1
        else:
            starts.append(i)
            stops.append(i + 1)
    return starts, stops


def _draw_array(
    draw_ids: Iterable[int] | None, size: int, specials: frozenset[int]
) -> npt.NDArray[np.int64]:
    if draw_ids is None:
        return np.empty(0, np.int64)
    draw = np.asarray(draw_ids if isinstance(draw_ids, np.ndarray) else list(draw_ids))
    if draw.size and draw.dtype.kind not in "iu":
        raise TypeError(f"draw_ids must hold integers, got {draw.dtype}")
    draw = np.unique(draw.astype(np.int64))
    if draw.size < 2:
        raise ValueError(f"draw_ids must name at least two words, got {draw.size}")
    if draw[0] < 0 or draw[-1] >= size:
        raise ValueError(f"draw_ids must lie between 0 and {size - 1}, got {draw[0]}..{draw[-1]}")
    special = next((int(i) for i in draw if int(i) in specials), None)
    if special is not None:
        raise ValueError(f"draw_ids holds the special id {special}")
    return draw
