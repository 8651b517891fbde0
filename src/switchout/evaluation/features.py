"""What is known of a test sentence before anyone translates it: the quantities to bucket by.

None looks at an output, so a sentence is in the same bucket for every system.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from switchout.errors import SwitchOutError, did_you_mean
from switchout.evaluation.metrics import Array
from switchout.evaluation.neighbors import find_neighbors

# What each is, and one unit of its trend.
TITLES = {
    "wer": ("WER to the nearest training sentence", "1.0 of WER"),
    "length": ("words of the reference", "word"),
    "rarest": ("training occurrences of the rarest source word", "factor of ten"),
    "unknown": ("unknown source words", "unknown word"),
}
NEEDS = {
    "wer": "wer=, or train= and sources=",
    "rarest": "train= and sources=",
    "unknown": "sources= and one of train=, known=",
}


@dataclass(frozen=True)
class Feature:
    """A number per test sentence.

    Attributes:
        name: One of wer, length, rarest, unknown.
        values: [sentence].
    """

    name: str
    values: Array

    @property
    def title(self) -> str:
        return TITLES[self.name][0]

    @property
    def unit(self) -> str:
        """The step of `scale` that a slope refers to."""
        return TITLES[self.name][1]

    @property
    def scale(self) -> Array:
        """The values as a trend sees them: frequencies by order of magnitude."""
        return np.log10(1 + self.values) if self.name == "rarest" else self.values


def words_of(line: str) -> list[str]:
    """Split at ASCII spaces; a run of spaces separates like one."""
    return [word for word in line.split(" ") if word]


def count_words(lines: Sequence[str]) -> Counter[str]:
    """Return how often each word occurs."""
    counts: Counter[str] = Counter()
    for line in lines:
        counts.update(words_of(line))
    return counts


def features_of(
    references: Sequence[str],
    *,
    by: Sequence[str] = (),
    wer: Array | None = None,
    sources: Sequence[str] | None = None,
    train: Sequence[str] | None = None,
    known: Collection[str] | None = None,
    workers: int = 1,
) -> list[Feature]:
    """Return the features named, or all that the material allows.

    Args:
        references: One line per test sentence.
        by: Names of `TITLES`.
        wer: Of the nearest training sentence, if known already, [sentence].
        sources: Source side of the test set.
        train: Source side of the training set.
        known: Known source words; by default those of ``train``.
        workers: Threads of the search for neighbours.
    """
    makers: dict[str, Callable[[], Feature]] = {"length": lambda: length(references)}
    if sources is not None and train is not None:
        counts = count_words(train)
        makers["wer"] = lambda: Feature("wer", find_neighbors(train, sources, workers=workers).wer)
        makers["rarest"] = lambda: rarest(sources, counts)
        makers["unknown"] = lambda: unknown(sources, counts)
    if sources is not None and known is not None:
        makers["unknown"] = lambda: unknown(sources, known)
    if wer is not None:
        makers["wer"] = lambda: Feature("wer", wer)
    for name in by:
        if name not in TITLES:
            raise SwitchOutError(f"buckets by {name!r}: unknown{did_you_mean(name, list(TITLES))}")
        if name not in makers:
            raise SwitchOutError(f"buckets by {name} need {NEEDS[name]}")
    return [makers[name]() for name in TITLES if name in (by or makers)]


def length(references: Sequence[str]) -> Feature:
    """Words per reference."""
    return Feature("length", np.array([len(words_of(line)) for line in references], dtype=float))


def rarest(sources: Sequence[str], counts: Counter[str]) -> Feature:
    """Training occurrences of the rarest word; a line without words has nothing rare in it.

    Example:
        >>> rarest(["a b", "a", ""], count_words(["a a", "a b"])).values.tolist()
        [1.0, 3.0, 3.0]
    """
    most = max(counts.values(), default=0)
    values = [min((counts[word] for word in words_of(line)), default=most) for line in sources]
    return Feature("rarest", np.array(values, dtype=float))


def unknown(sources: Sequence[str], known: Collection[str]) -> Feature:
    """Words of the source that are not known, counted with repetition."""
    values = [sum(word not in known for word in words_of(line)) for line in sources]
    return Feature("unknown", np.array(values, dtype=float))
