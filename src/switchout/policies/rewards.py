"""RAML with rewards that do not factorise over positions: edit distance and sentence BLEU.

Host-side functions on lists of sentences, before batching (the edit distance changes lengths).
Both return one sentence per sentence, already drawn by its reward: the trainer needs no weights.

* `raml_edit_distance` is exact (see `switchout.policies.edit_law`).
* `raml_bleu` is exact in the limit of many proposals, and says what it is for a finite number.
* The randomness is addressed like a policy's, by seed, example id, epoch and side, in the last two
  slots: neither batch nor order changes what a sentence becomes.
* Special ids stay where they are. Those before the first word and after the last (bos, eos) frame
  the sentence. A sentence without words comes back as it is, and no sentence becomes empty.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from switchout.core import compiled
from switchout.pieces import as_ids
from switchout.policies.edit_law import EditLaw
from switchout.policies.lists import to_block
from switchout.policies.policy import RulePolicy
from switchout.sampling.address import MAX_SLOTS, Address
from switchout.sampling.checks import check_example_ids
from switchout.sampling.laws import check_tau
from switchout.words import Words

Ids = NDArray[np.int64]
Sentences = Sequence[Sequence[int]]
_DRAW, _SEEDS = MAX_SLOTS - 1, MAX_SLOTS - 2  # slots


def raml_edit_distance(
    sentences: Sentences,
    words: Words,
    *,
    tau: float,
    seed: int,
    example_ids: Sequence[int],
    epoch: int = 0,
    side: str = "target",
    rescaled: bool = False,
) -> list[list[int]]:
    """Return one ŷ per sentence from q(ŷ | y) ∝ exp(-edits(ŷ, y) / tau), exactly.

    The support is every sentence of at least one word, of any length; ``edits`` is the Levenshtein
    distance in words. Such a law exists for tau < 1 / log W only. With ``rescaled`` the reward is
    (1 + log(W - 1)) times as large (Norouzi et al. 2016), and every tau in (0, 1] will do.

    Args:
        sentences: Ids.
        words: Which ids are words, and which of them may come in.
        tau: Temperature; 0 returns the sentences.
        seed, example_ids, epoch, side: Address of the randomness.
        rescaled: Whether the reward is scaled by the size of the vocabulary.

    Example:
        >>> raml_edit_distance([[5, 6, 7, 2]], Words(9), tau=0.0, seed=0, example_ids=[0])
        [[5, 6, 7, 2]]
    """
    address = Address(seed, epoch, side, _DRAW)
    ids = check_example_ids(example_ids, len(sentences))
    scale = 1.0 + math.log(len(words) - 1) if rescaled else 1.0
    limit = scale / math.log(len(words))
    if check_tau(tau) >= limit:
        raise ValueError(
            f"with {len(words)} words tau must be below {limit:.4f}, got {tau}: beyond it"
            " exp(-edits / tau) has no finite sum (rescaled=True allows every tau up to 1)"
        )
    weight = math.exp(-scale / tau) if tau > 0 else 0.0
    arrays = [_checked(s, words, i) for i, s in enumerate(sentences)]
    if weight == 0.0:
        return [y.tolist() for y in arrays]
    law = EditLaw(words.drawable(), weight, address)
    edited = []
    for y, example_id in zip(arrays, ids, strict=True):
        is_free = words.is_word(y)
        inside = np.flatnonzero(is_free)
        if inside.size == 0:
            edited.append(y.tolist())
            continue
        core = slice(inside[0], inside[-1] + 1)
        y_hat = law.draw(y[core], is_free[core], int(example_id))
        edited.append([*y[: core.start].tolist(), *y_hat.tolist(), *y[core.stop :].tolist()])
    return edited


def raml_bleu(
    sentences: Sentences,
    proposal: RulePolicy,
    *,
    tau: float,
    seed: int,
    example_ids: Sequence[int],
    epoch: int = 0,
    side: str = "target",
    n_proposals: int = 32,
    rescaled: bool = False,
) -> list[list[int]]:
    """Return one ŷ per sentence, nearly from q(ŷ | y) ∝ exp(BLEU(ŷ, y) / tau).

    Each sentence gets ``n_proposals`` draws of the policy; one of them is kept with probability
    proportional to exp(BLEU / tau) / (its exact probability under the policy). The law of what is
    kept tends to q on the policy's support as proposals are added, with an error of order
    1 / n_proposals; one proposal gives the policy itself.

    BLEU is between 0 and 1, so W^L unrelated sentences outweigh the few good ones unless tau is
    below about 1 / (L log W). With ``rescaled`` the reward is L (1 + log(W - 1)) BLEU, on the scale
    of the rescaled Hamming distance, and tau near 1 is usable.

    Args:
        sentences: Ids; BLEU is computed on the words among them.
        proposal: A policy with exact ``log_prob``: SwitchOut, Hamming, RAML.
        tau: Temperature; 0 keeps a proposal of highest BLEU.
        seed, example_ids, epoch, side: Address of the randomness.
        n_proposals: Draws per sentence.
        rescaled: Whether the reward is scaled by length and size of the vocabulary.

    Example:
        >>> from switchout import Hamming
        >>> policy = Hamming.rescaled(Words(9), tau=1.0)
        >>> raml_bleu([[5, 6, 7, 8, 2]], policy, tau=0.0, seed=0, example_ids=[0])
        [[5, 6, 7, 8, 2]]
    """
    check_tau(tau)
    if n_proposals < 1:
        raise ValueError(f"n_proposals must be at least 1, got {n_proposals}")
    address = Address(seed, epoch, side, _DRAW)
    ids = check_example_ids(example_ids, len(sentences))
    words = proposal.words
    arrays = [_checked(s, words, i) for i, s in enumerate(sentences)]
    x = to_block(arrays)
    draws = [
        proposal.sample(x, seed=s, example_ids=ids, epoch=address.epoch, side=side)
        for s in _seeds(address, n_proposals)
    ]
    log_probs = np.array([proposal.log_prob(x_hat, x) for x_hat in draws])  # [proposals, batch]
    kept = []
    for b, y in enumerate(arrays):
        is_word = words.is_word(y)
        reference = y[is_word]
        candidates = [x_hat[b, : len(y)] for x_hat in draws]
        bleu = np.array([sentence_bleu(c[is_word], reference) for c in candidates])
        scale = len(reference) * (1.0 + math.log(len(words) - 1)) if rescaled else 1.0
        weights = _importance(scale * bleu, log_probs[:, b], tau)
        u = _uniform(address, int(ids[b]))
        place = int(np.searchsorted(np.cumsum(weights), u * weights.sum(), side="right"))
        kept.append(candidates[min(place, n_proposals - 1)].tolist())
    return kept


def sentence_bleu(hypothesis: Sequence[int] | Ids, reference: Sequence[int] | Ids) -> float:
    """Return BLEU of one sentence between 0 and 1: four orders, one added to the counts above 1.

    The smoothing of Lin and Och 2004; sacrebleu's ``add-k`` with k = 1.

    Example:
        >>> sentence_bleu([5, 6, 7, 8], [5, 6, 7, 8])
        1.0
        >>> round(sentence_bleu([5, 6, 7, 9], [5, 6, 7, 8]), 4)
        0.658
    """
    if len(hypothesis) == 0 or len(reference) == 0:
        return 0.0
    ids = [np.ascontiguousarray(side, np.int64) for side in (hypothesis, reference)]
    correct = compiled.clipped_matches(ids[0], ids[1])
    if correct[0] == 0:
        return 0.0
    log_precision = math.log(correct[0] / len(hypothesis))
    for order in (2, 3, 4):
        total = max(0, len(hypothesis) - order + 1)
        log_precision += math.log((correct[order - 1] + 1) / (total + 1))
    brevity = min(0.0, 1.0 - len(reference) / len(hypothesis))
    return math.exp(brevity + log_precision / 4)


def _importance(
    reward: NDArray[np.float64], log_prob: NDArray[np.float64], tau: float
) -> NDArray[np.float64]:
    """Return exp(reward / tau) / probability, up to a factor, [proposals]."""
    best = reward - reward.max()
    if tau == 0:
        return np.asarray((best == 0) * np.exp(log_prob.min() - log_prob))
    log_weight = best / tau - log_prob
    return np.asarray(np.exp(log_weight - log_weight.max()))


def _checked(sentence: Sequence[int], words: Words, i: int) -> Ids:
    y = as_ids(sentence, i, "sentences")
    if y.size and y.max() >= words.size:
        raise ValueError(f"id {y.max()} is outside the vocabulary of {words.size} ids")
    return y


def _seeds(address: Address, n: int) -> list[int]:
    """Return n seeds that depend on the seed only."""
    return [_bits(address.seed, i, 0, _SEEDS << 24) for i in range(n)]


def _uniform(address: Address, example_id: int) -> float:
    bits = _bits(address.seed, example_id, address.epoch, address.stream)
    return (bits >> 11) * 2.0**-53


def _bits(seed: int, example_id: int, epoch: int, stream: int) -> int:
    """Return 64 random bits of one address."""
    w0, w1, _, _ = compiled.philox(seed, epoch, stream, example_id, 0)
    return w1 << 32 | w0
