"""What to do to a corpus: plain data that travels to any worker; and one pass that does it.

A pass reads chunks, rewrites them on some threads and writes them in order. The core runs without
the interpreter's lock, so threads do what processes would, with no copy of the vocabulary and
nothing to send.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from switchout.core import compiled
from switchout.errors import SwitchOutError
from switchout.ranges import CHUNK_BYTES as CHUNK_BYTES_RANGE
from switchout.text.first_look import LINES, look_at
from switchout.text.formats import Chunk, CorpusFormat, Part, Written
from switchout.text.relay import Relay
from switchout.text.rewriter import Copies, Rewriter, Rewritten
from switchout.text.side_noise import SIDES, SideNoise
from switchout.text.streams import CHUNK_BYTES, all_or_nothing
from switchout.text.tally import SideTally, Tally

Done = tuple[Chunk, Written, Tally]


@dataclass(frozen=True)
class Augmentation:
    """A corpus, the noise of each side, and the copies to make of each line."""

    format: CorpusFormat
    source: SideNoise
    target: SideNoise
    copies: Copies
    count_known: bool = False
    chunk_bytes: int = CHUNK_BYTES

    @property
    def noises(self) -> tuple[SideNoise, SideNoise]:
        """The noise of the source and of the target."""
        return self.source, self.target

    @cached_property
    def signature(self) -> str:
        """One line that identifies what is done, whatever the data."""
        from importlib.metadata import version

        return (
            f"source:{self.source.signature}|target:{self.target.signature}"
            f"|{self.copies.signature}|switchout:{version('switchout')}"
        )

    def check(self) -> None:
        """Refuse numbers out of range."""
        self.copies.check()
        CHUNK_BYTES_RANGE.check(self.chunk_bytes, "chunk_bytes")

    def run(
        self,
        paths: list[str],
        *,
        part: Part | None = None,
        workers: int = 1,
        sync: bool = False,
        digests: Any = None,
        on_chunk: Callable[[Chunk], None] | None = None,
    ) -> Tally:
        """Augment one part of a corpus, or all of it, into the files ``paths``.

        Args:
            paths: Output files, in the format's order.
            part: Which lines; None: all.
            workers: Threads, this one among them.
            sync: Whether the content must be on the disk before the files get their names.
            digests: Take in the content of the input files as it is read.
            on_chunk: Called after each chunk.
        """
        rewriters = [Rewriter(noise, count_known=self.count_known) for noise in self.noises]
        total = Tally()
        chunks = self._chunks(part or Part(), digests, total)
        outputs = [self.format.open_output(path, sync=sync) for path in paths]

        def write(done: Done) -> None:
            chunk, written, counts = done
            self.format.write(outputs, chunk, written)
            for rewriter, side in zip(rewriters, written.sides, strict=True):
                if side is not None:
                    rewriter.take_back(side)
            total.merge(counts)
            if on_chunk is not None:
                on_chunk(chunk)

        with all_or_nothing(outputs):
            Relay(chunks, partial(self._work, rewriters=rewriters), write).run(workers)
            if part is None and total.read == 0:
                raise self.empty()
        return total

    def empty(self) -> SwitchOutError:
        """Return what to say of a corpus without a line: somebody has lost it on the way."""
        names = ["standard input" if path == "-" else path for path in self.format.inputs]
        return SwitchOutError(f"{' and '.join(names)}: is empty, nothing to augment")

    def _chunks(self, part: Part, digests: Any, total: Tally) -> Iterator[Chunk]:
        """Yield the chunks of a part, after a look at the first lines of the corpus."""
        for chunk in self.format.chunks(part, self.chunk_bytes, digests):
            if chunk.first_line == 0:
                for lines, noise in zip(chunk.sides, self.noises, strict=True):
                    if lines is not None:
                        known = look_at(lines.first(LINES), noise)
                        total.sides[noise.side] = SideTally(known=known)
            yield chunk

    def _work(self, chunk: Chunk, rewriters: list[Rewriter]) -> Done:
        """Return a chunk together with its rewritten lines and their counts."""
        counts = Tally(read=chunk.n_lines)
        sides = [
            None if lines is None else noise.split(lines, chunk.first_line)
            for noise, lines in zip(self.noises, chunk.sides, strict=True)
        ]
        keep, last_is_kept = None, True
        source, target = sides
        if source is not None and target is not None:
            keep = np.empty(chunk.n_lines, np.bool_)
            compiled.kept_pairs(*source, *target, keep, counts.dropped)
            last_is_kept = bool(keep[-1])
        written: list[Rewritten | None] = [None, None]
        for i, (lines, rewriter) in enumerate(zip(sides, rewriters, strict=True)):
            if lines is not None:
                side = rewriter.rewrite(lines, chunk.first_line, self.copies, keep)
                counts.sides[SIDES[i]] = SideTally.of(side)
                counts.written = side.ends.size
                written[i] = side
        kept = np.arange(chunk.n_lines) if keep is None else np.flatnonzero(keep)
        rows = np.repeat(kept, self.copies.per_line)
        return chunk, Written((written[0], written[1]), rows, last_is_kept), counts
