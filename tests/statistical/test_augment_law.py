"""The text output follows Algorithm 1: counts of changes and replaced values, on both sides.

Oracle: p(n) ∝ exp(-n / tau) on 0..L, changes given n are Binomial(L, n / L), values are uniform
over the other words. Wrong samplers, made by changing tau or the words, must be rejected.
"""

from __future__ import annotations

import numpy as np
import pytest
from goodness import LIMIT, p_value
from scipy import stats

from switchout.text import augment_lines

WORDS = ["one", "two", "three", "four", "five", "six", "seven"]


def law_of_changes(tau: float, length: int, most: int | None = None) -> np.ndarray:
    """Return P(k words changed) for k = 0..length, with n up to ``most``."""
    n = np.arange((length if most is None else most) + 1)
    p = np.exp(-n / tau)
    k = np.arange(length + 1)
    return (p / p.sum()) @ stats.binom.pmf(k[None, :], length, n[:, None] / length)


def outputs(tau: float, length: int, n_lines: int, side: str) -> tuple[np.ndarray, np.ndarray]:
    """Return word numbers before and after, [lines, length]."""
    rng = np.random.default_rng(length)
    before = rng.integers(0, len(WORDS), (n_lines, length))
    lines = [" ".join(WORDS[i] for i in row) for row in before]
    number = {word: i for i, word in enumerate(WORDS)}
    if side == "source":
        done = augment_lines(lines, tau_x=tau, vocab_source=WORDS, seed=11)
    else:
        done = augment_lines(None, lines, tau_y=tau, vocab_target=WORDS, seed=11)
    return before, np.array([[number[word] for word in line.split()] for line in done])


@pytest.mark.parametrize("side", ["source", "target"])
@pytest.mark.parametrize("tau", [0.5, 3.0])
@pytest.mark.parametrize(("length", "n_lines"), [(1, 40_000), (6, 40_000), (25, 20_000)])
def test_changes_and_values_follow_algorithm_1(side, tau, length, n_lines):
    before, after = outputs(tau, length, n_lines, side)
    changes = (before != after).sum(axis=1)
    support = range(length + 1)
    assert p_value(changes.tolist(), support, law_of_changes(tau, length)) > LIMIT
    steps = ((after - before) % len(WORDS))[before != after]
    uniform = np.full(len(WORDS) - 1, 1 / (len(WORDS) - 1))
    assert p_value(steps.tolist(), range(1, len(WORDS)), uniform) > LIMIT
    # Negative controls: tau inverted, n < L, own word drawable.
    assert p_value(changes.tolist(), support, law_of_changes(1 / tau, length)) < LIMIT
    if length == 1:
        assert p_value(changes.tolist(), support, law_of_changes(tau, length, most=0)) < LIMIT
    own = np.full(len(WORDS), 1 / len(WORDS))
    assert p_value(steps.tolist(), range(len(WORDS)), own) < LIMIT


@pytest.mark.parametrize("side", ["source", "target"])
@pytest.mark.parametrize("tau", [0.5, 3.0])
def test_lines_of_5000_words_follow_algorithm_1(side, tau):
    length, n_lines = 5000, 400
    before, after = outputs(tau, length, n_lines, side)
    changes = (before != after).sum(axis=1)
    law = law_of_changes(tau, length, most=200)  # the rest has no weight
    assert p_value(changes.tolist(), range(length + 1), law) > LIMIT
    wrong = law_of_changes(1 / tau, length, most=200)
    assert p_value(changes.tolist(), range(length + 1), wrong) < LIMIT
    is_late = np.nonzero(before != after)[1] >= length // 2
    assert p_value(is_late.tolist(), [False, True], np.full(2, 0.5)) > LIMIT


def test_special_and_unknown_words_do_not_count_towards_the_length():
    tau, n_lines = 3.0, 20_000
    lines = ["one <unk> two other <s> three"] * n_lines
    done = augment_lines(lines, tau_x=tau, vocab_source=[*WORDS, "<unk>", "<s>"], seed=2)
    rows = np.array([line.split() for line in done])
    original = np.array(lines[0].split())
    changed = rows != original
    assert not changed[:, [1, 3, 4]].any()
    assert set(rows[changed]) <= set(WORDS)
    counts = changed.sum(axis=1).tolist()
    assert p_value(counts, range(4), law_of_changes(tau, 3)) > LIMIT
    assert p_value(counts, range(4), law_of_changes(tau, 6)[:4]) < LIMIT  # specials counted
