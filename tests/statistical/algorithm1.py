"""Algorithm 1 by the book: its exact law by enumeration, and samplers that get it wrong.

The law is written from the paper, with loops and fractions of floats, and shares nothing with the
package. Each wrong sampler is a mistake found in public code; the tests must reject all of them.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

BOS, EOS, PAD = 1, 2, 0
WORDS = (4, 5, 6)  # V without special ids
SENTENCE = (BOS, 4, 6, 5, EOS, PAD)
POSITIONS = (1, 2, 3)


def count_law(tau: float, length: int) -> np.ndarray:
    """p(n) ∝ exp(-n / tau), n = 0..length."""
    weights = np.array([1.0 if math.isinf(tau) else math.exp(-n / tau) for n in range(length + 1)])
    return weights / weights.sum()


def law(tau: float, sentence=SENTENCE, words=WORDS) -> tuple[list[tuple[int, ...]], np.ndarray]:
    """Every sentence that Algorithm 1 can make, and its probability."""
    positions = [i for i, token in enumerate(sentence) if token in words]
    length = len(positions)
    p_n = count_law(tau, length)
    support, probabilities = [], []
    for choice in itertools.product(words, repeat=length):
        new = list(sentence)
        for i, word in zip(positions, choice, strict=True):
            new[i] = word
        changed = sum(a != b for a, b in zip(new, sentence, strict=True))
        pattern = sum(
            p * (n / length) ** changed * (1 - n / length) ** (length - changed)
            for n, p in enumerate(p_n)
        )
        support.append(tuple(new))
        probabilities.append(pattern / (len(words) - 1) ** changed)
    return support, np.array(probabilities)


def wrong_samples(mistake: str, tau: float, n_samples: int, rng: np.random.Generator) -> np.ndarray:
    """Samples of `SENTENCE` from a sampler with one ``mistake``."""
    x = np.tile(np.array(SENTENCE), (n_samples, 1))
    length = len(POSITIONS)
    counted = len(SENTENCE) if mistake == "specials counted" else length
    p_n = count_law(1 / tau if mistake == "tau inverted" else tau, counted)
    if mistake == "n = 0 unreachable":
        p_n[0] = 0
    if mistake == "n = L unreachable":
        p_n[-1] = 0
    n = rng.choice(counted + 1, size=n_samples, p=p_n / p_n.sum())
    hit = rng.random((n_samples, length)) < (n / counted)[:, None]
    if mistake == "exactly n":
        hit = rng.permuted(np.tile(np.arange(length), (n_samples, 1)), axis=1) < n[:, None]
    drawable = (*WORDS, EOS) if mistake == "specials drawable" else WORDS
    for column, position in enumerate(POSITIONS):
        own = SENTENCE[position]
        choices = [w for w in drawable if w != own or mistake == "own word drawable"]
        drawn = rng.choice(choices, size=n_samples)
        x[:, position] = np.where(hit[:, column], drawn, own)
    return x


MISTAKES = (
    "tau inverted",
    "own word drawable",
    "specials counted",
    "specials drawable",
    "n = 0 unreachable",
    "n = L unreachable",
    "exactly n",
)
