"""What to do to a corpus: plain data that travels to any worker, and the work on one chunk."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from switchout.errors import SwitchOutError, did_you_mean
from switchout.policies.factory import make_policy
from switchout.sampling.address import Address
from switchout.sampling.rule import Rule
from switchout.text.counts import SIDES, Counts, SideCounts
from switchout.text.encode import encode_lines, load_encoder
from switchout.text.formats import Chunk, Part, Written
from switchout.text.lexicon import Lexicon
from switchout.text.native import Kernel
from switchout.text.rewriter import EVERY_LINE, Rewriter, Rewritten
from switchout.text.streams import CHUNK_BYTES, Output
from switchout.words import Words

NO_WORDS = Lexicon(())
kept_pairs = Kernel("passes", "kept_pairs", n_results=0)
POLICIES = ["switchout", "raml", "hamming", "word_dropout"]


class Format(Protocol):
    """How pairs are read and written; see `formats`."""

    @property
    def suffixes(self) -> tuple[str, ...]: ...
    @property
    def inputs(self) -> list[str]: ...
    def renamed(self, names: dict[str, str]) -> Format: ...
    def chunks(self, part: Part, chunk_bytes: int, digests: Any = None) -> Any: ...
    def cut(self, part_bytes: int, digests: Any = None) -> list[Part]: ...
    def open_output(self, path: str, *, sync: bool) -> Output: ...
    def write(self, outputs: list[Any], chunk: Chunk, written: Written) -> None: ...
    def join(self, parts: list[Any], path: str) -> None: ...


@dataclass(frozen=True)
class Noise:
    """What happens to one side; without policy it stays as it is.

    Attributes:
        policy: One of `POLICIES`, or None.
        tau, rate: Temperature, or share of changed words; exactly one of them.
        lexicon: The known words.
        null_word: What word dropout leaves behind.
        encoder: File of the tokenizer that splits raw text into pieces; None: split already.
    """

    policy: str | None = None
    tau: float | None = None
    rate: float | None = None
    lexicon: Lexicon = NO_WORDS
    null_word: str = "<unk>"
    encoder: str | None = None

    @property
    def signature(self) -> str:
        """The part of a signature that describes this side."""
        if self.policy is None:
            return "none"
        how = f"tau={self.tau:g}" if self.tau is not None else f"rate={self.rate:g}"
        null = f",null={self.null_word}" if self.policy == "word_dropout" else ""
        encoded = ",encoded" if self.encoder else ""
        return f"{self.policy}({how}{null}),vocab={self.lexicon.digest}{encoded}"

    def check(self, side: str) -> None:
        """Refuse a wrong policy or parameter before any word is known."""
        self._rule(side, Words(2, special_ids=()))

    def with_lexicon(self, lexicon: Lexicon, side: str) -> Noise:
        """Return the same noise with words to draw from."""
        if len(lexicon.known) < 2:
            raise SwitchOutError(
                f"the vocabulary of the {side} holds {len(lexicon.known)} word(s) that may be drawn"
                f" ({lexicon.n_special} special): at least two are needed"
            )
        return replace(self, lexicon=lexicon)

    def rule(self, side: str) -> Rule | None:
        """Return the policy's rule for sampling."""
        return None if self.policy is None else self._rule(side, self.lexicon.words)

    def _rule(self, side: str, words: Words) -> Rule:
        xy = "x" if side == "source" else "y"
        if self.policy not in POLICIES:
            near = did_you_mean(str(self.policy), POLICIES)
            raise SwitchOutError(f"--policy-{xy}: no policy {self.policy!r}{near}")
        if (self.tau is None) == (self.rate is None):
            raise SwitchOutError(f"the {side} takes either --tau-{xy} or --rate-{xy}, not both")
        try:
            return make_policy(self.policy, words, tau=self.tau, rate=self.rate).rule
        except (ValueError, TypeError) as error:
            raise SwitchOutError(f"{side}: {error}") from None


@dataclass(frozen=True)
class Job:
    """A corpus, the noise of each side, and the address of the randomness."""

    format: Format
    source: Noise
    target: Noise
    seed: int
    epoch: int = 0
    copies: int = 1
    keep_original: bool = False
    count_all: bool = False
    chunk_bytes: int = CHUNK_BYTES

    @cached_property
    def signature(self) -> str:
        """One line that identifies what is done, whatever the data."""
        from importlib.metadata import version

        original = "+original" if self.keep_original else ""
        return (
            f"source:{self.source.signature}|target:{self.target.signature}|seed:{self.seed}"
            f"|epoch:{self.epoch}|copies:{self.copies}{original}|switchout:{version('switchout')}"
        )

    def rewriters(self) -> tuple[Rewriter, Rewriter]:
        """Return what rewrites the source and what rewrites the target; check all settings."""
        if self.copies < 1:
            raise SwitchOutError(f"--copies must be at least 1, got {self.copies}")
        first = self.epoch * self.copies  # copy k of epoch e is addressed as epoch e·copies + k
        try:
            Address(self.seed, self.epoch)
            Address(self.seed, first + self.copies - 1)
        except (ValueError, TypeError) as error:
            raise SwitchOutError(str(error)) from None
        source, target = (
            Rewriter(
                noise.lexicon,
                noise.rule(side),
                Address(self.seed, first, side),
                copies=self.copies,
                keep_original=self.keep_original,
                null_word=noise.null_word.encode(),
                count_all=self.count_all,
            )
            for side, noise in zip(SIDES, (self.source, self.target), strict=True)
        )
        return source, target

    def work(
        self, chunk: Chunk, rewriters: tuple[Rewriter, Rewriter]
    ) -> tuple[Chunk, Written, Counts]:
        """Return a chunk together with its rewritten lines and their counts."""
        counts = Counts(read=chunk.n_lines)
        chunk = self._encoded(chunk)
        keep, last_is_kept = EVERY_LINE, True
        source, target = chunk.sides
        if source is not None and target is not None:
            keep = np.empty(chunk.n_lines, np.bool_)
            kept_pairs(source, target, keep, counts.dropped)
            last_is_kept = bool(keep[-1])
        kept = np.flatnonzero(keep) if keep.size else np.arange(chunk.n_lines)
        written: list[Rewritten | None] = [None, None]
        for i, (name, rewriter) in enumerate(zip(SIDES, rewriters, strict=True)):
            lines = chunk.sides[i]
            if lines is not None:
                side = rewriter.rewrite(lines, chunk.first_line, keep)
                counts.sides[name] = SideCounts()
                counts.sides[name].add(side)
                counts.written = side.ends.size
                written[i] = side
        rows = np.repeat(kept, self.copies + self.keep_original)
        return chunk, Written((written[0], written[1]), rows, last_is_kept), counts

    def _encoded(self, chunk: Chunk) -> Chunk:
        sides = list(chunk.sides)
        for i, noise in enumerate((self.source, self.target)):
            lines = sides[i]
            if noise.encoder is not None and lines is not None:
                encoder = load_encoder(noise.encoder)
                sides[i] = encode_lines(lines, encoder, name=SIDES[i], first_line=chunk.first_line)
        return chunk._replace(sides=(sides[0], sides[1]))
