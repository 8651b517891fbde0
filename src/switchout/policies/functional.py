"""SwitchOut as one function."""

from __future__ import annotations

from typing import Any

from switchout.policies.switchout import rule_of
from switchout.sampling.address import Address
from switchout.sampling.backends import Array, backend_of
from switchout.sampling.corrupt import corrupt
from switchout.words import Words, check_words


def switch_out(
    tokens: Array,
    *,
    tau: float,
    words: Words,
    seed: int,
    example_ids: Any,
    epoch: int = 0,
    frozen: Array | None = None,
    side: str = "source",
    lengths: Any = None,
    out: Array | None = None,
) -> Array:
    """Replace about n words per sentence, where p(n) ∝ exp(-n / tau).

    Algorithm 1 of the paper: draw a count per sentence, choose each word with probability
    count / length, put another word there, uniformly. Special tokens are never replaced, never
    drawn and never counted.

    Args:
        tokens: Word ids, [batch, time], of NumPy, PyTorch, TensorFlow or JAX; left as they are.
        tau: Temperature. 0 returns a copy of ``tokens``; infinity makes n uniform on 0..length.
        words: Which ids are words.
        seed, example_ids, epoch: Address of the randomness: the same address gives the same ids,
            whatever the batch, padding or framework. example_ids: [batch] integers.
        frozen: Further positions to leave alone, bool [batch, time].
        side: "source" or "target": independent randomness.
        lengths: Number of words of each sentence, if known [batch]; trusted, saves a pass.
        out: Where to write instead of a new array; may be ``tokens`` itself.

    Returns:
        Ids of the same shape, type, dtype and device as ``tokens``.

    Example:
        >>> import numpy as np
        >>> x = np.array([[1, 7, 9, 2, 0]])          # <s> a b </s> <pad>
        >>> switch_out(x, tau=0.0, words=Words(10), seed=0, example_ids=[0])
        array([[1, 7, 9, 2, 0]])
    """
    if backend_of(tokens).is_compiling():
        from switchout.sampling.torch_graph import sample_in_graph  # imports torch

        return sample_in_graph(
            words, tokens, tau=tau, seed=seed, example_ids=example_ids, epoch=epoch,
            frozen=frozen, side=side,
        )  # fmt: skip
    return corrupt(
        tokens, rule_of(tau), words=check_words(words), address=Address(seed, epoch, side),
        example_ids=example_ids, frozen=frozen, lengths=lengths, out=out,
    )  # fmt: skip
