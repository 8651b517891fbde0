"""What to do to a corpus: plain data that travels to any worker, and the work on one chunk."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from switchout.core import compiled
from switchout.ranges import CHUNK_BYTES as CHUNK_BYTES_RANGE
from switchout.ranges import COPIES, EPOCH, SEED
from switchout.text.encode import encode_lines, load_encoder
from switchout.text.formats import Chunk, Part, Written
from switchout.text.rewriter import Copies, Rewriter, Rewritten, check_last_epoch
from switchout.text.side_noise import SIDES, SideNoise
from switchout.text.streams import CHUNK_BYTES, Output
from switchout.text.tally import SideTally, Tally


class Format(Protocol):
    """How pairs are read and written; see `formats`."""

    @property
    def suffixes(self) -> tuple[str, ...]: ...
    @property
    def sides(self) -> tuple[str, ...]: ...
    @property
    def inputs(self) -> list[str]: ...
    def renamed(self, names: dict[str, str]) -> Format: ...
    def chunks(self, part: Part, chunk_bytes: int, digests: Any = None) -> Any: ...
    def cut(self, part_bytes: int, digests: Any = None) -> list[Part]: ...
    def open_output(self, path: str, *, sync: bool) -> Output: ...
    def write(self, outputs: list[Any], chunk: Chunk, written: Written) -> None: ...
    def join(self, parts: list[Any], path: str) -> None: ...


@dataclass(frozen=True)
class Augmentation:
    """A corpus, the noise of each side, and the address of the randomness."""

    format: Format
    source: SideNoise
    target: SideNoise
    seed: int
    epoch: int = 0
    copies: int = 1
    keep_original: bool = False
    count_known: bool = False
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

    def check(self) -> None:
        """Refuse numbers out of range."""
        SEED.check(self.seed, "seed")
        EPOCH.check(self.epoch, "epoch")
        COPIES.check(self.copies, "copies")
        check_last_epoch(self.epoch, self.copies)
        CHUNK_BYTES_RANGE.check(self.chunk_bytes, "chunk_bytes")

    def rewriters(self) -> tuple[Rewriter, Rewriter]:
        """Return what rewrites the source and what rewrites the target."""
        source, target = (
            Rewriter(noise, count_known=self.count_known) for noise in (self.source, self.target)
        )
        return source, target

    def work(
        self, chunk: Chunk, rewriters: tuple[Rewriter, Rewriter]
    ) -> tuple[Chunk, Written, Tally]:
        """Return a chunk together with its rewritten lines and their counts."""
        counts = Tally(read=chunk.n_lines)
        chunk = self._encoded(chunk)
        keep, last_is_kept = None, True
        source, target = chunk.sides
        if source is not None and target is not None:
            keep = np.empty(chunk.n_lines, np.bool_)
            compiled.kept_pairs(*source, *target, keep, counts.dropped)
            last_is_kept = bool(keep[-1])
        kept = np.arange(chunk.n_lines) if keep is None else np.flatnonzero(keep)
        # Copy k of epoch e is addressed as epoch e x copies + k.
        first_epoch = self.epoch * self.copies
        copies = Copies(self.seed, first_epoch, self.copies, self.keep_original)
        written: list[Rewritten | None] = [None, None]
        for i, (name, rewriter) in enumerate(zip(SIDES, rewriters, strict=True)):
            lines = chunk.sides[i]
            if lines is not None:
                side = rewriter.rewrite(lines, chunk.first_line, copies, keep)
                counts.sides[name] = SideTally()
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
