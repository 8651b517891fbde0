"""A parallel corpus: named splits of sentence pairs, and how it is scored."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Literal

from switchout.corpora.text import find_file
from switchout.errors import SwitchOutError

Side = Literal["source", "target"]
Tokenizer = Literal["space", "punctuation"]
BleuTokenizer = Literal["none", "13a"]
SPLITS = ("train", "dev", "test", "synthetic")


@dataclass(frozen=True)
class BleuSpec:
    """How a corpus is scored: sacrebleu's tokenizer and case.

    Args:
        tokenize: ``none`` for text that is tokenised already, ``13a`` for plain text.
        lowercase: Whether upper and lower case count as equal.
    """

    tokenize: BleuTokenizer = "13a"
    lowercase: bool = False


@dataclass(frozen=True)
class Corpus:
    """Sentence pairs by split. Nothing is read before it is asked for.

    Args:
        name: Registry name, or the folder.
        source, target: Language codes.
        splits: Re-iterable (source, target) lines of ``train``, ``dev``, ``test`` and, where there
            is back-translated text, ``synthetic``.
        bleu: How translations of it are scored.
        train_pairs: Use only the first so many training pairs.
        folder: Where its files are, if it has any.
        tokenizer: How its lines become words: ``space`` if they are tokenised already.
    """

    name: str
    source: str
    target: str
    splits: Mapping[str, Iterable[tuple[str, str]]]
    bleu: BleuSpec
    train_pairs: int | None = None
    folder: Path | None = None
    tokenizer: Tokenizer = "space"

    @property
    def where(self) -> Path | str:
        """What an error about it names: its folder, or its name."""
        return self.folder or self.name

    def stream(self, split: str) -> Iterator[tuple[str, str]]:
        """Yield the (source, target) lines of a split."""
        if split not in self.splits:
            raise SwitchOutError(
                f"{self.where}: no split {split!r}: expected {split}.{self.source} and "
                f"{split}.{self.target} (it has: {', '.join(self.splits)})"
            )
        if split != "train" or self.train_pairs is None:
            return iter(self.splits[split])
        if self.train_pairs > self.n_train:
            raise SwitchOutError(
                f"{self.where}: train_pairs = {self.train_pairs:,}, but train has "
                f"only {self.n_train:,} pairs"
            )
        return islice(iter(self.splits["train"]), self.train_pairs)

    def pairs(self, split: str) -> tuple[list[str], list[str]]:
        """Return the lines of a split, as they are: source lines, target lines."""
        src, tgt = [], []
        for src_line, tgt_line in self.stream(split):
            src.append(src_line)
            tgt.append(tgt_line)
            if split in ("dev", "test") and "<unk>" in tgt_line.split(" "):
                raise SwitchOutError(
                    f"{self.where}: line {len(tgt)} of the {split} references has "
                    "<unk>: references must be the real text"
                )
        if not src:
            raise SwitchOutError(f"{self.where}: split {split!r} is empty")
        return src, tgt

    def lines(self, split: str, side: Side) -> Iterator[str]:
        """Yield the lines of one side of a split."""
        column = ("source", "target").index(side)
        return (pair[column] for pair in self.stream(split))

    def seen_in_train(self) -> dict[str, tuple[int, int]]:
        """Return how many source sentences of dev and test stand in train too, and of how many."""
        splits = [split for split in ("dev", "test") if split in self.splits]
        held_out = {split: list(self.lines(split, "source")) for split in splits}
        wanted = {line for lines in held_out.values() for line in lines}
        found = {line for line in self.lines("train", "source") if line in wanted}
        return {
            split: (sum(line in found for line in lines), len(lines))
            for split, lines in held_out.items()
        }

    def vocabulary_files(self) -> tuple[Path, Path] | None:
        """Return ``vocab.<lang>`` of both languages, if both came with the corpus."""
        if self.folder is None:
            return None
        src, tgt = (find_file(self.folder, f"vocab.{x}") for x in (self.source, self.target))
        return (src, tgt) if src and tgt else None

    @cached_property
    def data_hash(self) -> str:
        """Hash of the texts used: languages, and every line of every split, in order."""
        digest = hashlib.sha256(f"{self.source} {self.target}\n".encode())
        for split in self.splits:
            digest.update(f"{split}\n".encode())
            for src, tgt in self.stream(split):
                digest.update(f"{src}\n{tgt}\n".encode())
        return digest.hexdigest()

    @cached_property
    def n_train(self) -> int:
        """Counting reads train to its end, so a fault behind ``train_pairs`` is noticed too."""
        return sum(1 for _ in self.splits["train"])
