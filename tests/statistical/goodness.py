"""The chi-square test that the statistical tests share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy import stats

LIMIT = 1e-6  # a true law fails once in a million; a wrong one is far below


def p_value(draws: Iterable[Any], support: Sequence[Any], q: np.ndarray) -> float:
    """Return the p-value of ``draws`` under the law ``q`` on ``support``.

    Members expected fewer than 10 times are merged, also with what lies outside the support.
    """
    counts = Counter(draws)
    n = counts.total()
    observed = np.array([counts[s] for s in support], dtype=float)
    is_cell = q * n >= 10
    expected = np.append(q[is_cell], 1 - q[is_cell].sum()) * n
    observed = np.append(observed[is_cell], n - observed[is_cell].sum())
    if expected[-1] < 1e-6 * n:  # nothing may fall here
        if observed[-1] > 0:
            return 0.0
        expected, observed = expected[:-1], observed[:-1]
    statistic = ((observed - expected) ** 2 / expected).sum()
    return float(stats.chi2.sf(statistic, len(expected) - 1))
