"""Numbers out of range are refused by name, whatever they are called."""

from __future__ import annotations

import math

import numpy as np
import pytest

from switchout import ranges
from switchout.errors import SwitchOutError
from switchout.ranges import RATE, SEED, SHARE, TAU, WORKERS, Real, Whole

NASTY = [math.nan, math.inf, -math.inf, -1, 10**400, True, np.True_, "3", None, [1], 1j]


@pytest.mark.parametrize("value", [*NASTY, 2.0, 1e12])
def test_no_whole_range_takes_a_nasty_value(value):
    for name, limits in vars(ranges).items():
        if isinstance(limits, Whole):
            with pytest.raises(SwitchOutError, match=f"--{name} must be a whole number"):
                limits.check(value, f"--{name}")


@pytest.mark.parametrize("value", [*NASTY[:1], *NASTY[2:]])
def test_no_real_range_takes_a_nasty_value(value):
    for name, limits in vars(ranges).items():
        if isinstance(limits, Real):
            with pytest.raises(SwitchOutError, match=f"--{name} must be a number"):
                limits.check(value, f"--{name}")


def test_only_a_temperature_may_be_infinite():
    takes_infinity = [
        name for name, r in vars(ranges).items() if isinstance(r, Real) and r.most == math.inf
    ]
    assert takes_infinity == ["TAU"]
    assert TAU.check(math.inf) == math.inf


def test_the_ends_of_a_range():
    assert SEED.check(2**64 - 1) == 2**64 - 1
    assert SEED.check(np.uint64(2**63)) == 2**63
    with pytest.raises(SwitchOutError, match=r"from 0 to 2\^64 - 1, got 18446744073709551616"):
        SEED.check(2**64, "seed")
    assert RATE.check(1) == 1
    with pytest.raises(SwitchOutError, match="from 0 to below 1"):
        SHARE.check(1, "dropout")
    with pytest.raises(SwitchOutError, match="above 0"):
        ranges.POSITIVE.check(0)


@pytest.mark.parametrize("text", ["x", "", "1.5", "9" * 5000, "0", "-3", "100000"])
def test_text_is_parsed_or_refused_in_one_short_line(text):
    with pytest.raises(SwitchOutError, match="WORLD_SIZE must be a whole number") as caught:
        WORKERS.parse(text, "WORLD_SIZE")
    assert len(str(caught.value)) < 120
    assert WORKERS.parse(" 4 ", "WORLD_SIZE") == 4
