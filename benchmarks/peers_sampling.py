"""The paper's two listings and eole's transform, as our own ports: to measure, not to use.

Each keeps the logic of its original, with the smallest changes that make it run on today's
libraries; docs/algorithm.md names what is wrong with each and the tests measure how far their laws
are from Algorithm 1. ``tau`` is the listings' own: it multiplies, so it is an inverse temperature.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


def paper_pytorch(sents: Any, tau: float, bos: int, eos: int, pad: int, vocab_size: int) -> Any:
    """Appendix A.6 with the length counted over words; float logits, bool masks."""
    mask = sents.eq(bos) | sents.eq(eos) | sents.eq(pad)
    return _paper_pytorch(sents, mask, (~mask).float().sum(dim=1), tau, vocab_size)


def paper_pytorch_as_printed(
    sents: Any, tau: float, bos: int, eos: int, pad: int, vocab_size: int
) -> Any:
    """Appendix A.6 as printed: the "length" is the number of special tokens."""
    mask = sents.eq(bos) | sents.eq(eos) | sents.eq(pad)
    return _paper_pytorch(sents, mask, mask.float().sum(dim=1), tau, vocab_size)


def _paper_pytorch(sents: Any, mask: Any, lengths: Any, tau: float, vocab_size: int) -> Any:
    import torch

    logits = torch.arange(sents.size(1), dtype=torch.float32).mul_(-1).unsqueeze(0)
    logits = logits.expand_as(sents).contiguous().masked_fill_(mask, -float("inf"))
    probs = torch.nn.functional.softmax(logits.mul_(tau), dim=1)
    num_words = torch.distributions.Categorical(probs, validate_args=False).sample()
    corrupt_pos = num_words.float().div_(lengths).unsqueeze(1).expand_as(sents).contiguous()
    # as printed, the probability exceeds 1 and bernoulli refuses it: clamped
    corrupt_pos = torch.bernoulli(corrupt_pos.clamp_(max=1).masked_fill_(mask, 0)).bool()
    corrupt_val = torch.empty(int(corrupt_pos.sum()), dtype=torch.int64).random_(1, vocab_size)
    corrupts = torch.zeros_like(sents).masked_scatter_(corrupt_pos, corrupt_val)
    return sents.add(corrupts).remainder_(vocab_size)


def paper_tensorflow(sents: Any, tau: Any, bos: int, eos: int, pad: int, vocab_size: int) -> Any:
    """Appendix A.5 in TensorFlow 2; wrap it in ``tf.function`` to run it as a graph."""
    import tensorflow as tf

    mask = tf.reduce_any(tf.stack([sents == bos, sents == eos, sents == pad]), axis=0)
    batch_size, n_steps = tf.unstack(tf.shape(sents))
    logits = -tf.range(tf.cast(n_steps, tf.float32), dtype=tf.float32) * tau
    logits = tf.tile(logits[None], [batch_size, 1])
    logits = tf.where(mask, tf.fill([batch_size, n_steps], -float("inf")), logits)
    num_words = tf.cast(tf.random.categorical(logits, 1)[:, 0], tf.float32)
    lengths = tf.reduce_sum(1.0 - tf.cast(mask, tf.float32), axis=1)
    probs = tf.tile((num_words / lengths)[:, None], [1, n_steps])
    probs = tf.where(mask, tf.zeros_like(probs), probs)
    pos = tf.random.uniform([batch_size, n_steps]) < probs
    val = tf.random.uniform([batch_size, n_steps], minval=1, maxval=vocab_size, dtype=sents.dtype)
    return tf.math.floormod(sents + tf.where(pos, val, tf.zeros_like(val)), vocab_size)


def paper_jax(key: Any, sents: Any, tau: Any, bos: int, eos: int, pad: int, vocab_size: int) -> Any:
    """The same lines in JAX; jit it."""
    import jax
    import jax.numpy as jnp

    count_key, position_key, value_key = jax.random.split(key, 3)
    mask = (sents == bos) | (sents == eos) | (sents == pad)
    logits = jnp.where(mask, -jnp.inf, -jnp.arange(sents.shape[1]) * tau)
    num_words = jax.random.categorical(count_key, logits, axis=1)
    probs = jnp.where(mask, 0.0, (num_words / (~mask).sum(axis=1))[:, None])
    pos = jax.random.uniform(position_key, sents.shape) < probs
    val = jax.random.randint(value_key, sents.shape, 1, vocab_size, dtype=sents.dtype)
    return (sents + jnp.where(pos, val, 0)) % vocab_size


def eole_switchout(
    tokens: Sequence[str], tau: float, vocabulary: Callable[[], Sequence[str]]
) -> list[str]:
    """What OpenNMT-py, eole and mammoth do to one side of one pair.

    ``vocabulary`` returns the list of tokens: in eole a property of a C++ object, built anew at
    every access.
    """
    words = vocabulary()
    weights = np.exp(-tau * np.arange(len(tokens)))
    distance = int(np.random.choice(len(tokens), p=weights / weights.sum()))  # noqa: NPY002
    switched = list(tokens)
    for position in random.sample(range(len(tokens)), k=distance):
        word = random.choice(words)
        while word == switched[position]:
            word = random.choice(words)
        switched[position] = word
    return switched
