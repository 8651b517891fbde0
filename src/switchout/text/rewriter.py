"""One side's words and law around the compiled core: chunks of lines in, changed lines out."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from switchout.core import compiled
from switchout.errors import SwitchOutError
from switchout.ranges import COPIES, EPOCH, SEED
from switchout.sampling import laws
from switchout.sampling.address import MAX_BLOCKS, Address
from switchout.sampling.rule import Rule
from switchout.text.lines import PADDING, Bytes, Ints, Lines
from switchout.text.side_noise import SideNoise

_NO_ROOM = -2  # other problems are lengths without a row: see text.h
_SPARE = 8  # arrays kept for later chunks
_ROWS_AT_ONCE = 64  # lengths to which a rate is solved together
_USUAL = 1023  # words, for which the first law is made


class Rewritten(NamedTuple):
    """Lines written by a `Rewriter`."""

    data: Bytes
    size: int  # bytes of ``data`` in use
    ends: Ints  # [lines written], without the gap behind each
    changes: npt.NDArray[np.int32]  # [lines written]; -1: an original
    n_words: int
    n_known: int  # counted only on demand


@dataclass(frozen=True)
class Copies:
    """Which changed copies are made of each line, and where their randomness is."""

    seed: int
    epoch: int = 0
    count: int = 1
    with_original: bool = False  # each line itself comes before its copies

    @property
    def per_line(self) -> int:
        """How many lines are written for each line."""
        return self.count + self.with_original

    @property
    def first_epoch(self) -> int:
        """Epoch of the address of copy 0; copy k is one epoch further."""
        return self.epoch * self.count

    @property
    def signature(self) -> str:
        """The part of a signature that describes the copies."""
        original = "+original" if self.with_original else ""
        return f"seed:{self.seed}|epoch:{self.epoch}|copies:{self.count}{original}"

    def check(self) -> None:
        """Refuse numbers out of range, and an epoch whose copies have no address."""
        SEED.check(self.seed, "seed")
        EPOCH.check(self.epoch, "epoch")
        COPIES.check(self.count, "copies")
        last = (EPOCH.most + 1) // self.count - 1
        if self.epoch > last:
            raise SwitchOutError(
                f"epoch must be at most {last:,} for {self.count} copies, got {self.epoch:,}"
            )


class Rewriter:
    """Applies the noise of one side; safe to share between threads.

    Args:
        noise: How words are hit and what they become.
        count_known: Count the known words of all lines, too, at some cost.
    """

    def __init__(self, noise: SideNoise, *, count_known: bool = False) -> None:
        self.noise, self.count_known = noise, count_known
        made = noise.made()
        self._rule = Rule(tau=0.0) if made is None else made.rule
        self._stream = Address(0, 0, noise.side).stream
        self._spare: deque[Bytes] = deque(maxlen=_SPARE)
        lengths = frozenset({0})  # with a row of their own, where a rate is given
        # One value: other threads may put another one here meanwhile.
        self._served = self._compile(_USUAL, lengths), _USUAL, lengths

    def __reduce__(self) -> tuple[object, ...]:
        """What is compiled is not sent to other processes: they make their own."""
        return partial(Rewriter, count_known=self.count_known), (self.noise,)

    def rewrite(
        self,
        lines: Lines,
        first_example: int,
        copies: Copies,
        keep: npt.NDArray[np.bool_] | None = None,
    ) -> Rewritten:
        """Return the lines, changed; line i is example ``first_example + i``.

        Args:
            lines: What to change.
            first_example: Number of line 0.
            copies: How often to write each line, and where the randomness is.
            keep: [lines] Which of them to write; None: all.
        """
        n_lines = lines.ends.size
        per_line = copies.per_line
        n_bytes = (int(lines.ends[-1]) + lines.gap - int(lines.starts[0])) if n_lines else 0
        core = self._for(int((lines.ends - lines.starts).max(initial=0)) // 2 + 1)
        out = self._room(max(n_bytes, 0) * per_line * 9 // 8 + 4096 + PADDING)
        ends = np.empty(n_lines * per_line, np.int64)
        changes = np.empty(n_lines * per_line, np.int32)
        where = (copies.seed, copies.first_epoch, self._stream, first_example)
        address = np.array(where, np.uint64)
        progress = np.zeros(6, np.int64)
        while True:
            compiled.rewrite(
                core, *lines, keep, address, copies.count, copies.with_original,
                out, ends, changes, progress,
            )  # fmt: skip
            line, size, emitted, n_words, n_known, problem = progress.tolist()
            if line == n_lines:
                return Rewritten(out, size, ends[:emitted], changes[:emitted], n_words, n_known)
            if problem == _NO_ROOM:
                out = np.concatenate([out, np.empty_like(out)])
            else:
                core = self._with_row(problem)

    def take_back(self, done: Rewritten) -> None:
        """Use the memory again: fresh memory costs more than what is written to it."""
        self._spare.append(done.data)

    def _room(self, n_bytes: int) -> Bytes:
        try:
            out = self._spare.pop()
        except IndexError:
            out = np.empty(0, np.uint8)
        return out if out.size >= n_bytes else np.empty(n_bytes, np.uint8)

    def _for(self, n_words: int) -> compiled.Rewriter:
        """Return what serves lines of up to ``n_words``."""
        if n_words >= MAX_BLOCKS - 1:
            raise SwitchOutError(
                f"a line of {2 * n_words:,} bytes is too long: at most {MAX_BLOCKS - 2:,} words"
            )
        core, longest, lengths = self._served
        if n_words > longest and self._rule.tau is not None:
            longest = (1 << n_words.bit_length()) - 1
            core = self._compile(longest, lengths)
            self._served = core, longest, lengths
        return core

    def _with_row(self, length: int) -> compiled.Rewriter:
        """Solve the rate for a length and its neighbours, which will come soon."""
        first = length // _ROWS_AT_ONCE * _ROWS_AT_ONCE
        _, longest, lengths = self._served
        lengths |= set(range(first, first + _ROWS_AT_ONCE))
        core = self._compile(longest, lengths)
        self._served = core, longest, lengths
        return core

    def _compile(self, longest: int, lengths: frozenset[int]) -> compiled.Rewriter:
        rule, has_row, lexicon = self._rule, None, self.noise.lexicon
        limits = rule.thresholds(lexicon.words) if rule.probabilities is not None else None
        if limits is not None:
            law = compiled.make_constant_law(*limits, rule.null_id)
        elif rule.rate is not None:
            table = laws.rate_table(rule.rate, np.array(sorted(lengths)))
            law = compiled.make_count_law(*table, rule.null_id)
            has_row = np.zeros(table.start.size, np.uint8)
            has_row[sorted(lengths)] = 1
        else:
            row = laws.shared_table(float(rule.tau), longest).cumulative
            law = compiled.make_count_law(row, None, None, rule.null_id)
        null_word = self.noise.null_word.encode(errors="replace")
        return compiled.make_rewriter(lexicon.compiled, law, has_row, null_word, self.count_known)
