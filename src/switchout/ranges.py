"""The range of every number that a user gives, in one place.

Options, keys of a configuration, arguments of functions and environment variables are checked here:
not a number, infinite, negative, absurdly large, ``true`` for 1, seeds beyond 64 bits.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import Any

from switchout.errors import SwitchOutError


@dataclass(frozen=True)
class Whole:
    """Whole numbers from ``least`` to ``most``.

    Example:
        >>> WORKERS.check(4, "--workers")
        4
        >>> WORKERS.check(0, "--workers")
        Traceback (most recent call last):
        switchout.errors.SwitchOutError: --workers must be a whole number from 1 to 1,024, got 0
    """

    least: int
    most: int

    def check(self, value: Any, name: str = "") -> int:
        """Return ``value`` as an int (NumPy's are taken, too), or refuse it by ``name``."""
        try:
            number = operator.index(value)
        except TypeError:
            number = None
        if number is None or _is_bool(value) or not self.least <= number <= self.most:
            raise _refusal(name, f"a whole number from {self}", value)
        return number

    def parse(self, text: str, name: str = "") -> int:
        """Return what ``text``, an option or an environment variable, says."""
        try:
            number = int(text)
        except ValueError:  # thousands of digits, too
            raise _refusal(name, f"a whole number from {self}", text) from None
        return self.check(number, name)

    def __str__(self) -> str:
        return f"{_short(self.least)} to {_short(self.most)}"


@dataclass(frozen=True)
class Real:
    """Numbers from ``least`` to ``most``, never nan.

    Args:
        least, most: Bounds; ``math.inf`` as ``most`` allows it.
        above: ``least`` itself is refused.
        below: ``most`` itself is refused.

    Example:
        >>> RATE.check(0.1, "--rate-x")
        0.1
        >>> TAU.check(float("nan"), "--tau-x")
        Traceback (most recent call last):
        switchout.errors.SwitchOutError: --tau-x must be a number from 0 to inf, got nan
    """

    least: float
    most: float
    above: bool = False
    below: bool = False

    def check(self, value: Any, name: str = "") -> float:
        """Return ``value`` as a float, or refuse it by ``name``."""
        try:
            number = float("nan" if isinstance(value, str | bytes) else value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        is_inside = self.least <= number <= self.most  # never true of nan
        is_open_end = (self.above and number == self.least) or (self.below and number == self.most)
        if not is_inside or is_open_end or _is_bool(value):
            raise _refusal(name, f"a number {self}", value)
        return number

    def parse(self, text: str, name: str = "") -> float:
        """Return what ``text``, an option or an environment variable, says."""
        try:
            number = float(text)
        except ValueError:
            raise _refusal(name, f"a number {self}", text) from None
        return self.check(number, name)

    def __str__(self) -> str:
        low = f"above {self.least:g}" if self.above else f"from {self.least:g}"
        return f"{low} to {'below ' if self.below else ''}{self.most:g}"


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")


def _refusal(name: str, expected: str, value: Any) -> SwitchOutError:
    shown = repr(value) if isinstance(value, str) else str(value)
    short = shown if len(shown) <= 40 else f"{shown[:40]}…"
    return SwitchOutError(f"{name} must be {expected}, got {short}".strip())


def _short(number: int) -> str:
    power = number.bit_length()
    return f"2^{power} - 1" if power > 30 and number == 2**power - 1 else f"{number:,}"


SEED = Whole(0, 2**64 - 1)
EPOCH = Whole(0, 2**32 - 1)
EXAMPLE = Whole(0, 2**64 - 1)  # number of a line or example
TAU = Real(0, math.inf)
RATE = Real(0, 1)
SHARE = Real(0, 1, below=True)  # dropout, betas, label smoothing

WORKERS = Whole(1, 1024)  # threads or processes
PROCESSES = Whole(1, 2**20)  # of a distributed run
PENALTY = Real(0, 100)  # words^penalty stays a number
RESAMPLES = Whole(100, 1_000_000)
SOME_RESAMPLES = Whole(0, 1_000_000)  # 0: none
COPIES = Whole(1, 10_000)
COUNT = Whole(1, 2**40)  # of lines, words: more than any corpus has
STEPS = Whole(1, 10**9)  # of training: years
COUNT_OR_NONE = Whole(0, 2**40)
SIZE = Whole(1, 2**24)  # of a layer, a beam, a table: what has to be in memory
CHUNK_BYTES = Whole(1 << 10, 1 << 30)
PART_BYTES = Whole(1 << 10, 1 << 40)
POSITIVE = Real(0, 1e30, above=True)
AMOUNT = Real(0, 1e30)
RATIO = Real(1, 1e9)
BEAM = Whole(1, 1000)  # also of the best translations that are shown
RATIO_OF_PAIRS = Real(0.01, 1000)  # synthetic pairs per real pair
GPUS = Real(0, 1024)
SEEDS = Whole(1, 10_000)  # runs per row
