"""Words of many sentences as integers: equal words get equal ids, different words different ids.

* A word is a non-empty run of characters between ASCII spaces; other white space is part of it.
* Ids count from 0 in order of first appearance. There are no special ids and no vocabulary file:
  the ids live for one comparison. (The vocabulary of a model is in `switchout.corpora`.)
* One pass over the UTF-8 bytes with a hash table (core/neighbors.h); bytes are compared, so a
  collision is harmless.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from switchout.core import compiled
from switchout.errors import SwitchOutError


@dataclass(frozen=True)
class Sentences:
    """Sentences of word ids, one after the other.

    Attributes:
        ids: Word ids, [words].
        starts: Where each sentence begins in ``ids``, and the end of the last, [sentences + 1].
        n_distinct: Number of different words; every id is below it.
    """

    ids: NDArray[np.int32]
    starts: NDArray[np.int64]
    n_distinct: int

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Words per sentence, [sentences]."""
        return np.diff(self.starts)


def number_words(lines: Sequence[str]) -> Sentences:
    """Split lines into words at ASCII spaces and number the words.

    Example:
        >>> sentences = number_words(["a rose is", "", " a  rose"])
        >>> sentences.ids.tolist(), sentences.starts.tolist()
        ([0, 1, 2, 0, 1], [0, 3, 3, 5])
    """
    text = "\n".join(lines)
    if text.count("\n") != max(len(lines) - 1, 0):
        line = next(i for i, line in enumerate(lines) if "\n" in line)
        raise SwitchOutError(f"sentence {line} holds a line break; give one sentence per string")
    content = (text + "\n" if lines else "").encode()  # the final break closes the last sentence
    ids = np.empty(len(content) // 2 + 1, np.int32)  # a word needs a byte and a separator
    starts = np.empty(len(lines) + 1, np.int64)
    n_distinct = compiled.number_words(content, ids, starts)
    return Sentences(ids[: starts[-1]].copy(), starts, n_distinct)
