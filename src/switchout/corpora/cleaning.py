"""Leaving out bad pairs, with a count per reason, and holding out dev and test pairs."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from switchout.corpora.text import split_words
from switchout.errors import SwitchOutError

Pairs = Iterable[tuple[str, str]]
TRAIN, DEV, TEST, LEAK = range(4)


@dataclass(frozen=True)
class Cleaning:
    """Which training pairs to leave out. Pairs with an empty side always go.

    Args:
        max_length: Most words of a side.
        max_ratio: Longest side over shortest side, in words.
        drop_duplicates: Keep only the first of equal pairs.
    """

    max_length: int | None = None
    max_ratio: float | None = None
    drop_duplicates: bool = False

    def clean(self, pairs: Pairs, drops: Counter[str]) -> Iterator[tuple[str, str]]:
        """Yield the good pairs; ``drops`` counts the others by reason.

        Args:
            pairs: Read once, or twice if duplicates are dropped.
            drops: Counts are added here.
        """
        firsts = first_occurrences(pairs) if self.drop_duplicates else None
        for number, (src, tgt) in enumerate(pairs):
            reason = self._fault(src, tgt)
            if reason is None and firsts is not None and not firsts[number]:
                reason = "duplicate"
            if reason is None:
                yield src, tgt
            else:
                drops[reason] += 1

    def _fault(self, src: str, tgt: str) -> str | None:
        lengths = len(split_words(src)), len(split_words(tgt))
        if min(lengths) == 0:
            return "empty side"
        if self.max_length is not None and max(lengths) > self.max_length:
            return "too long"
        if self.max_ratio is not None and max(lengths) > self.max_ratio * min(lengths):
            return "length ratio"
        return None


def first_occurrences(pairs: Pairs) -> NDArray[np.bool_]:
    """Return which pairs were not seen before, [pairs]; 64-bit hashes stand for the text."""
    hashes = np.fromiter((_hash(f"{src}\n{tgt}") for src, tgt in pairs), dtype=np.uint64)
    is_first = np.zeros(len(hashes), dtype=np.bool_)
    is_first[np.unique(hashes, return_index=True)[1]] = True
    return is_first


@dataclass(frozen=True)
class HeldOut:
    """The pairs of one label; re-iterable, as the pairs below it are."""

    pairs: Pairs
    labels: NDArray[np.uint8]
    label: int

    def __iter__(self) -> Iterator[tuple[str, str]]:
        for pair, label in zip(self.pairs, self.labels, strict=True):
            if label == self.label:
                yield pair


def hold_out(pairs: Pairs, *, dev: int, test: int) -> tuple[dict[str, Pairs], int]:
    """Split pairs into train, dev and test such that train shares no sentence with the others.

    Dev and test are chosen by the hash of the target sentence: the same pairs whatever the order,
    most of the same when the corpus has grown. What else shares a sentence with them is left out.

    Args:
        pairs: All pairs, re-iterable.
        dev, test: How many to hold out.

    Returns:
        The splits, and how many pairs were left out because they share a side.
    """
    hashes = np.fromiter((_hash(line) for pair in pairs for line in pair), dtype=np.uint64).reshape(
        -1, 2
    )
    chosen = _choose(hashes, dev + test)
    if chosen is None:
        raise SwitchOutError(
            f"cannot hold out {dev:,} dev and {test:,} test pairs of {len(hashes):,}: ask for fewer"
        )
    held = hashes[chosen]
    labels = np.where(np.isin(hashes, held).any(axis=1), LEAK, TRAIN).astype(np.uint8)
    labels[chosen[:dev]], labels[chosen[dev:]] = DEV, TEST
    if not (labels == TRAIN).any():
        raise SwitchOutError(f"nothing left to train on after holding out {dev + test:,} pairs")
    splits = {"train": TRAIN, "dev": DEV, "test": TEST}
    held_out: dict[str, Pairs] = {s: HeldOut(pairs, labels, label) for s, label in splits.items()}
    return held_out, int((labels == LEAK).sum())


def _choose(hashes: NDArray[np.uint64], n: int) -> NDArray[np.int64] | None:
    """Take pairs in the order of their target's hash, no sentence twice; None if too few."""
    seen: set[int] = set()
    chosen: list[int] = []
    for i in np.lexsort((hashes[:, 0], hashes[:, 1])):
        if len(chosen) == n:
            break
        sides = set(hashes[i].tolist())
        if seen.isdisjoint(sides):
            seen |= sides
            chosen.append(int(i))
    return np.array(chosen, dtype=np.int64) if len(chosen) == n else None


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
