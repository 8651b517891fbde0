"""Student's t distribution for any real number of degrees of freedom (base install: no SciPy)."""

from __future__ import annotations

import math


def two_sided_p(t: float, df: float) -> float:
    """Return P(|T| ≥ |t|).

    Example:
        >>> round(two_sided_p(2.0, 10), 6)
        0.073388
    """
    return _incomplete_beta(df / (df + t * t), df / 2, 0.5)


def quantile(probability: float, df: float) -> float:
    """Return the t with P(T ≤ t) = probability, for probability ≥ 0.5, by bisection.

    Example:
        >>> round(quantile(0.975, 4), 4)
        2.7764
    """
    tail = 2 * (1 - probability)
    low, high = 0.0, 1.0
    while two_sided_p(high, df) > tail:
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if two_sided_p(middle, df) > tail else (low, middle)
    return high


def _incomplete_beta(x: float, a: float, b: float) -> float:
    """Regularised I_x(a, b) by Lentz's continued fraction (DLMF 8.17.22)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):  # the fraction converges fast on the other side
        return 1 - _incomplete_beta(1 - x, b, a)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(log_front + a * math.log(x) + b * math.log1p(-x)) / a
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    fraction = d
    for m in range(1, 100_000):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / (1 + term * d)
            c = 1 + term / c
            fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return front * fraction
