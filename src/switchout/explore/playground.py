"""What a policy does to one sentence: samples, their probabilities, and the laws behind them.

Draw i of a side is example i of the seed: exactly what ``policy.sample`` and, at a temperature,
``so.switch_out`` return for that address.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from switchout.corpora.codec import Codec
from switchout.corpora.vocabulary import PAD, UNK
from switchout.errors import SwitchOutError
from switchout.explore.question import SideQuestion
from switchout.policies import Hamming, HammingPolicy, SwitchOut
from switchout.policies.factory import make_policy
from switchout.sampling.laws import Floats
from switchout.words import Words

N_DRAWS = 2_000  # for the sampled law, beside the exact one
LENGTHS = (1, 2, 3, 5, 8, 10, 15, 20, 30, 40, 60)  # of the untouched shares
NULL_WORD = "∅"  # what a dropped word looks like
MOST_BINS = 13  # counts of changed words shown one by one


@dataclass(frozen=True)
class DrawnWord:
    """A word of a sample; ``was`` is the word it replaced, ``is_known`` false for a stranger."""

    text: str
    was: str | None = None
    is_known: bool = True


@dataclass(frozen=True)
class Draw:
    """One draw, with the log-probability of exactly this sentence."""

    words: list[DrawnWord]
    n_changed: int
    log_probability: float


@dataclass(frozen=True)
class Law:
    """How probable each number of changed words is.

    Attributes:
        labels: "0", "1", …; the last one may stand for all the rest, as "12+".
        exact: Of the chosen policy, in closed form.
        sampled: Shares of `N_DRAWS` draws.
        algorithm1, maxent: Of Algorithm 1 and of the exact max-ent policy at the same temperature.
    """

    labels: list[str]
    exact: list[float]
    sampled: list[float]
    algorithm1: list[float]
    maxent: list[float]


@dataclass(frozen=True)
class Beside:
    """A policy beside the chosen one, at the same temperature and length.

    ``objective`` is J = -E[changes] + tau · entropy of the paper's equation 1, the greatest of all
    policies for the exact max-ent one.
    """

    name: str
    expected_changes: float
    untouched: float
    entropy: float
    objective: float


@dataclass(frozen=True)
class SideAnswer:
    """Everything about one side; see `play`.

    Attributes:
        policy: As Python would make it; empty: the side stays as it is.
        tau: The temperature at this length; None where the policy has none.
        n_words: Words that count; specials and unknown words do not.
        unknown: Words of the sentence that the vocabulary does not have: never changed.
        n_vocabulary: Words that may be drawn.
        untouched_by_length: (length, probability that nothing changes).
    """

    policy: str
    tau: float | None
    n_words: int
    unknown: list[str]
    n_vocabulary: int
    samples: list[Draw]
    expected_changes: float
    untouched: float
    entropy: float
    law: Law | None
    beside: list[Beside]
    untouched_by_length: list[tuple[int, float]]


def play(
    question: SideQuestion, codec: Codec, *, side: str, seed: int, epoch: int = 0, n_samples: int
) -> SideAnswer:
    """Return what the policy of a question does to its sentence.

    Example:
        >>> codec = Codec.word(["a b c d e"])
        >>> ask = SideQuestion(line="a b", policy="switchout", tau=0.0)
        >>> play(ask, codec, side="source", seed=1, n_samples=1).samples[0].log_probability
        0.0
    """
    tokens, ids = codec.tokens(question.line), codec.encode(question.line)
    words = codec.vocabulary.words()
    x = np.array([ids], np.int64).reshape(1, len(ids))
    policy = policy_of(question, words)
    if policy is None:
        return _untouched_side(tokens, ids, words)
    drawn = policy.sample(
        np.repeat(x, N_DRAWS, axis=0), seed=seed, example_ids=np.arange(N_DRAWS), epoch=epoch,
        side=side,
    )  # fmt: skip
    n_words = int(words.is_word(x).sum())
    shown = drawn[:n_samples]
    tau = temperature(policy, n_words)
    return SideAnswer(
        policy=repr(policy),
        tau=tau,
        n_words=n_words,
        unknown=_unknown(tokens, ids),
        n_vocabulary=len(words),
        samples=_samples(policy, shown, x, tokens, codec.vocabulary.tokens),
        expected_changes=float(policy.expected_changes(n_words)),
        untouched=policy.untouched(n_words),
        entropy=float(policy.entropy(n_words)),
        law=_law(policy, tau, n_words, (drawn != x).sum(axis=1)),
        beside=_beside(policy, tau, n_words),
        untouched_by_length=[(n, policy.untouched(n)) for n in LENGTHS],
    )


def policy_of(question: SideQuestion, words: Words) -> HammingPolicy | None:
    """Return the policy of a side; None where it stays as it is."""
    if question.policy == "none":
        return None
    try:
        policy = make_policy(
            question.policy, words, null_id=PAD,
            tau=question.strength.get("tau"), rate=question.strength.get("rate"),
        )  # fmt: skip
    except ValueError as error:
        raise SwitchOutError(f"{question.policy}: {error}") from None
    assert isinstance(policy, HammingPolicy)  # the four names that may be asked for are
    return policy


def temperature(policy: HammingPolicy, length: int) -> float | None:
    """Return tau at this length; None for a share of words that no temperature gives."""
    try:
        tau = float(policy.temperature(length))
    except ValueError:
        return None
    return tau if math.isfinite(tau) else None


def _untouched_side(tokens: list[str], ids: list[int], words: Words) -> SideAnswer:
    same = [DrawnWord(t, is_known=i != UNK) for t, i in zip(tokens, ids, strict=True)]
    return SideAnswer(
        policy="", tau=None, n_words=int(words.is_word(np.array(ids, np.int64)).sum()),
        unknown=_unknown(tokens, ids), n_vocabulary=len(words), samples=[Draw(same, 0, 0.0)],
        expected_changes=0.0, untouched=1.0, entropy=0.0, law=None, beside=[],
        untouched_by_length=[],
    )  # fmt: skip


def _unknown(tokens: list[str], ids: list[int]) -> list[str]:
    return list(dict.fromkeys(t for t, i in zip(tokens, ids, strict=True) if i == UNK))


def _samples(
    policy: HammingPolicy, drawn: Any, x: Any, tokens: list[str], vocabulary: Sequence[str]
) -> list[Draw]:
    log_probs = policy.log_prob(drawn, np.repeat(x, len(drawn), axis=0))
    old = x[0].tolist()
    samples = []
    for row, log_prob in zip(drawn.tolist(), log_probs.tolist(), strict=True):
        words = [
            DrawnWord(token, is_known=b != UNK)
            if a == b
            else DrawnWord(NULL_WORD if a == PAD else vocabulary[a], was=token)
            for a, b, token in zip(row, old, tokens, strict=True)
        ]
        samples.append(Draw(words, sum(w.was is not None for w in words), log_prob))
    return samples


def _law(
    policy: HammingPolicy, tau: float | None, length: int, changes: npt.NDArray[Any]
) -> Law | None:
    if length == 0:
        return None
    exact = policy.change_probabilities(length)
    sampled = np.bincount(changes, minlength=length + 1) / len(changes)
    labels = [str(n) for n in range(min(length, MOST_BINS) + 1)]
    if length > MOST_BINS:
        labels[-1] += "+"
    return Law(
        labels=labels,
        exact=_binned(exact),
        sampled=_binned(sampled),
        algorithm1=_law_of(SwitchOut, policy.words, tau, length),
        maxent=_law_of(Hamming, policy.words, tau, length),
    )


def _law_of(
    kind: type[SwitchOut] | type[Hamming], words: Words, tau: float | None, length: int
) -> list[float]:
    return [] if tau is None else _binned(kind(words, tau=tau).change_probabilities(length))


def _binned(probabilities: Floats) -> list[float]:
    """Return the first ones as they are and the rest in one."""
    if len(probabilities) <= MOST_BINS + 1:
        return [float(p) for p in probabilities]
    head = [float(p) for p in probabilities[:MOST_BINS]]
    return [*head, float(probabilities[MOST_BINS:].sum())]


def _beside(policy: HammingPolicy, tau: float | None, length: int) -> list[Beside]:
    """Return Algorithm 1 and the exact max-ent policies at the temperature of ``policy``."""
    if tau is None or length == 0:
        return []
    words = policy.words
    algorithm1 = SwitchOut(words, tau=tau)
    share = float(algorithm1.expected_changes(length)) / length
    named = {
        "Algorithm 1": algorithm1,
        "exact max-ent": Hamming(words, tau=tau),
        "max-ent, rescaled": Hamming.rescaled(words, tau),
        "max-ent, same changes": Hamming.for_rate(words, rate=share),
    }
    if not isinstance(policy, SwitchOut | Hamming):
        named = {f"{policy.name}, as chosen": policy, **named}
    return [_row(name, other, tau, length) for name, other in named.items()]


def _row(name: str, policy: HammingPolicy, tau: float, length: int) -> Beside:
    changes, entropy = float(policy.expected_changes(length)), float(policy.entropy(length))
    untouched = policy.untouched(length)
    return Beside(name, changes, untouched, entropy, tau * entropy - changes)
