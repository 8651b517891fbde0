"""One side's words and law around the kernel: chunks of lines in, rewritten lines out."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from switchout.errors import SwitchOutError
from switchout.ranges import EPOCH
from switchout.sampling import laws
from switchout.sampling.address import Address as Where
from switchout.sampling.philox import MAX_BLOCKS
from switchout.sampling.rule import Rule
from switchout.text.arrays import (
    COUNTS,
    PADDING,
    Address,
    Bytes,
    Ints,
    Law,
    Lines,
    Progress,
    longest_line,
    make_scratch,
)
from switchout.text.native import Kernel
from switchout.text.side_noise import SideNoise

EVERY_LINE: npt.NDArray[np.bool_] = np.empty(0, np.bool_)
_rewrite = Kernel("kernel", "rewrite", n_results=len(Progress._fields))
_SPARE = 8  # arrays kept for later chunks
_ROWS_AT_ONCE = 64  # lengths to which a rate is solved together


class Rewritten(NamedTuple):
    """Lines written by a `Rewriter`."""

    data: Bytes
    size: int  # bytes of ``data`` in use
    ends: Ints  # [lines written], without the gap behind each
    changes: npt.NDArray[np.int32]  # [lines written]; -1: an original
    n_words: int  # counted only on demand
    n_known: int


@dataclass(frozen=True)
class Copies:
    """Which changed copies are made of each line, and where their randomness is."""

    seed: int
    epoch: int = 0  # of copy 0; copy k is one epoch further
    count: int = 1
    with_original: bool = False  # each line itself comes before its copies


def check_last_epoch(epoch: int, copies: int) -> None:
    """Refuse an epoch whose copies have no address: copy k of epoch e is epoch e · copies + k."""
    last = (EPOCH.most + 1) // copies - 1
    if epoch > last:
        raise SwitchOutError(f"epoch must be at most {last:,} for {copies} copies, got {epoch:,}")


class Rewriter:
    """Applies the noise of one side; safe to share between threads.

    Args:
        noise: How words are hit and what they become.
        count_all: Count the words of all lines, at some cost.
    """

    def __init__(self, noise: SideNoise, *, count_all: bool = False) -> None:
        self.noise, self.count_all = noise, count_all
        made = noise.made()
        rule = Rule(tau=0.0) if made is None else made.rule
        self._table = noise.lexicon.table(noise.null_word.encode(errors="replace"))
        thresholds = None if made is None else rule.thresholds(noise.lexicon.words)
        self._threshold = COUNTS if thresholds is None else thresholds[0]
        self._null_id = len(noise.lexicon.known) if rule.null_id >= 0 else -1
        self._rate = rule.rate
        self._tau = rule.tau if thresholds is None and rule.rate is None else 0.0
        self._lengths: set[int] = set()
        self._spare: deque[Bytes] = deque(maxlen=_SPARE)
        self._law = self._make_law(1023)

    def rewrite(
        self,
        lines: Lines,
        first_example: int,
        copies: Copies,
        keep: npt.NDArray[np.bool_] = EVERY_LINE,
    ) -> Rewritten:
        """Return the lines, changed; line i is example ``first_example + i``."""
        n_lines = lines.ends.size
        per_line = copies.count + copies.with_original
        n_bytes = (int(lines.ends[-1]) + lines.gap - int(lines.starts[0])) if n_lines else 0
        scratch = make_scratch(longest_line(lines))
        longest = scratch.known.size
        law = self._law  # another thread may put a shorter one there meanwhile
        if longest >= law.row_size.size:
            law = self._law = self._make_law(longest)
        out = self._room(n_bytes * per_line * 9 // 8 + 4096 + PADDING)
        ends = np.empty(n_lines * per_line, np.int64)
        changes = np.empty(n_lines * per_line, np.int32)
        where = Where(copies.seed, copies.epoch, self.noise.side)
        address = Address(*map(np.uint64, (where.seed, where.epoch, where.stream)))
        line = size = emitted = n_words = n_known = 0
        while True:
            done = Progress(*_rewrite(
                lines, keep, first_example, self._table, law, address,
                copies.count, copies.with_original, self.count_all,
                scratch, line, out, size, ends, changes, emitted,
            ))  # fmt: skip
            line, size, emitted = done.line, done.size, done.emitted
            n_words, n_known = n_words + done.n_words, n_known + done.n_known
            if line == n_lines:
                break
            if done.problem >= 0:
                law = self._law = self._with_rows(done.problem, law.row_size.size - 1)
            else:
                out = np.concatenate([out, np.empty_like(out)])
        return Rewritten(out, size, ends[:emitted], changes[:emitted], n_words, n_known)

    def take_back(self, done: Rewritten) -> None:
        """Use the memory again: fresh memory costs more than what is written to it."""
        self._spare.append(done.data)

    def _room(self, n_bytes: int) -> Bytes:
        try:
            out = self._spare.pop()
        except IndexError:
            out = np.empty(0, np.uint8)
        return out if out.size >= n_bytes else np.empty(n_bytes, np.uint8)

    def _make_law(self, longest: int) -> Law:
        """Return the law for lines of up to ``longest`` words."""
        if longest >= MAX_BLOCKS - 1:
            raise SwitchOutError(
                f"a line of {2 * longest:,} bytes is too long: at most {MAX_BLOCKS - 2:,} words"
            )
        longest = (1 << longest.bit_length()) - 1
        if self._rate is None:
            table = laws.shared_table(self._tau, longest)
            start, row_size = table.start, table.size
        else:
            known = np.array(sorted(self._lengths | {0}))
            table = laws.rate_table(self._rate, known)
            start, row_size = np.zeros(longest + 1, np.int64), np.zeros(longest + 1, np.int64)
            start[known], row_size[known] = table.start[known], table.size[known]
        return Law(
            table.cumulative, start, row_size, self._rate is None, self._threshold, self._null_id
        )

    def _with_rows(self, length: int, longest: int) -> Law:
        """Solve the rate for a length and its neighbours, which will come soon."""
        first = length // _ROWS_AT_ONCE * _ROWS_AT_ONCE
        self._lengths = self._lengths | set(range(first, first + _ROWS_AT_ONCE))
        return self._make_law(max(longest, *self._lengths))
