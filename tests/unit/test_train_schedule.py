"""Learning rates against the formulas they are named after."""

from __future__ import annotations

import pytest

from switchout.nmt.schedule import Schedule


@pytest.mark.parametrize("step", [1, 100, 3999, 4000, 4001, 100_000])
def test_noam_is_equation_3_of_vaswani(step):
    schedule = Schedule("noam", learning_rate=1.0, warmup=4000, d_model=512)
    wanted = 512**-0.5 * min(step**-0.5, step * 4000**-1.5)
    assert schedule.rate(step) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize(
    ("step", "falls"), [(1, 0), (7999, 0), (8000, 1), (8999, 1), (9000, 2), (99_999, 92)]
)
def test_paper_schedule_falls_every_1000_steps_from_8000(step, falls):
    assert Schedule("steps", learning_rate=0.001).rate(step) == pytest.approx(0.001 * 0.97**falls)


def test_linear_rises_to_its_peak_and_falls_to_zero():
    schedule = Schedule("linear", learning_rate=0.5, warmup=10, total=100)
    rates = [schedule.rate(step) for step in range(1, 102)]
    assert rates[9] == max(rates) == 0.5
    assert rates[:10] == sorted(rates[:10])
    assert rates[9:] == sorted(rates[9:], reverse=True)
    assert rates[99] > 0
    assert rates[100] == 0


def test_constant_stays_after_warmup():
    schedule = Schedule("constant", learning_rate=0.1, warmup=2)
    assert [schedule.rate(step) for step in (1, 2, 3, 999)] == [0.05, 0.1, 0.1, 0.1]
