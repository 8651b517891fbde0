"""Decoding one word at a time, with the keys and values of earlier words kept.

The K beams of a sentence share one cache: beam and step number a place in it, nothing is ever
moved, and a mask says which places are a beam's own past. So choosing beams costs no copy of keys
and values, and attention is one matrix product per head instead of K products with a vector.
The source's keys and values exist once per sentence; its beams are the "time" of their queries.
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from switchout.nmt.model import Cached, Transformer, length_mask


class Decoder:
    """What one model knows of a batch of sentences while their translations grow.

    Args:
        src, src_lengths: [batch, time], [batch].
        beam: Number of translations that grow together for a sentence.
        steps: How many words there can be, BOS included.
    """

    def __init__(
        self, model: Transformer, src: Tensor, src_lengths: Tensor, *, beam: int, steps: int
    ):
        memory = model.encode(src, src_lengths)
        self.model, self.beam, self.done = model, beam, 0
        self.mask = length_mask(src_lengths, src.shape[1])
        self.memory: list[Cached] = []  # per layer
        self.own: list[Tensor] = []  # per layer [2, B, H, steps * K, E]
        spec = model.spec
        for layer in model.decoder:
            k, v = layer.cross.split(layer.cross.kv(memory))
            self.memory.append((k, v))
            shape = (2, len(src), spec.heads, steps * beam, spec.d_head)
            self.own.append(memory.new_empty(shape))

    def step(self, words: Tensor, ancestors: Tensor | None) -> tuple[Tensor, Tensor]:
        """Add one word to every beam.

        Args:
            words: [B, K] ids, BOS first.
            ancestors: Additive mask [B, 1, K, (words before + 1) * K]; None: all, as with one beam.

        Returns:
            Log-probabilities of the next word, [B, K, V]; the last layer's queries to the source.
        """
        model = self.model
        self.done += 1
        x = model.embed(model.tgt_embedding, words, self.done - 1, self.done)
        for layer, own, memory in zip(model.decoder, self.own, self.memory, strict=True):
            past = own[:, :, :, : self.done * self.beam]
            x, q = layer.step(x, past, ancestors, memory, self.mask)
        return F.log_softmax(model.logits(model.decoder_norm(x)).float(), dim=-1), q

    def attention(self, q: Tensor) -> Tensor:
        """[B, H, K, E] queries of the last layer -> [B, K, S], the mean over the heads."""
        scores = q @ self.memory[-1][0].transpose(-1, -2) / self.model.spec.d_head**0.5
        return (scores if self.mask is None else scores + self.mask).softmax(dim=-1).mean(dim=1)

    def keep(self, rows: Tensor) -> None:
        """Go on with these sentences only."""
        if self.mask is not None:
            self.mask = self.mask[rows]
        self.memory = [(k[rows], v[rows]) for k, v in self.memory]
        used = self.done * self.beam
        for i, own in enumerate(self.own):
            self.own[i] = own.new_empty((2, len(rows), *own.shape[2:]))
            self.own[i][:, :, :, :used] = own[:, rows, :, :used]
