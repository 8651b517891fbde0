"""The Transformer of Vaswani et al. (2017), as the paper uses it, in order of explanation.

* heads x d_head is independent of d_model: attention projects d_model -> heads * d_head -> d_model.
* Matrices start uniform in [-init, init], biases at 0, gains at 1 (the paper's appendix A.4).
* PAD (id 0) has a zero embedding that is never trained, so it is the null word of word dropout.
  Masks come from lengths, never from ids: a dropped word can still be attended to.
* PAD and BOS are never predicted: their logits are -inf, in training as in search.
* Dropout happens if ``keys`` is given, and only then; ``train()`` and ``eval()`` change nothing.
  It acts on the embeddings and on the output of each sublayer, as in Vaswani et al., section 5.4.

Shapes: B sentences, S source words, T target words, K beams, H heads, E channels of a head.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from switchout.corpora.vocabulary import BOS, PAD
from switchout.errors import SwitchOutError
from switchout.nmt.dropout import Dropout
from switchout.nmt.output_loss import OutputLoss

Cached = tuple[Tensor, Tensor]  # keys and values, each [B, H, time, E]


@dataclass(frozen=True)
class ModelSpec:
    """All that defines the network's shape; plain values, so it is its own JSON.

    Args:
        src_size, tgt_size: Vocabulary sizes.
        tied: True: target embedding = output projection; "all": the source embedding too.
        norm: "pre": normalise the input of each sublayer; "post": its sum with the residual.
        max_length: Longest sentence, in ids, that has a position.
    """

    src_size: int
    tgt_size: int
    layers: int
    heads: int
    d_head: int
    d_model: int
    d_inner: int
    dropout: float = 0.1
    init: float = 0.035
    tied: bool | Literal["all"] = False
    norm: Literal["pre", "post"] = "pre"
    max_length: int = 512

    def __post_init__(self) -> None:
        if self.d_model % 2:
            raise SwitchOutError(f"model.d_model = {self.d_model}: must be even, for the positions")
        if self.tied == "all" and self.src_size != self.tgt_size:
            raise SwitchOutError(
                f"model.tied = 'all' needs one vocabulary for both sides, but they have "
                f"{self.src_size} and {self.tgt_size} words"
            )

    def to_dict(self) -> dict[str, Any]:
        """Return a dict for JSON; ``ModelSpec(**d)`` inverts it."""
        return asdict(self)


class Attention(nn.Module):  # type: ignore[misc]
    """Multi-head attention without biases; self-attention has one projection for q, k and v."""

    def __init__(self, spec: ModelSpec, *, is_self: bool):
        super().__init__()
        self.heads, self.d_head = spec.heads, spec.d_head
        inner = spec.heads * spec.d_head
        if is_self:
            self.qkv = nn.Linear(spec.d_model, 3 * inner, bias=False)
        else:
            self.q = nn.Linear(spec.d_model, inner, bias=False)
            self.kv = nn.Linear(spec.d_model, 2 * inner, bias=False)
        self.out = nn.Linear(inner, spec.d_model, bias=False)

    def split(self, x: Tensor) -> tuple[Tensor, ...]:
        """[B, T, n * H * E] -> n tensors [B, H, T, E], views."""
        parts = x.unflatten(-1, (-1, self.heads, self.d_head))
        return tuple(parts.permute(2, 0, 3, 1, 4).unbind(0))

    def attend(self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None) -> Tensor:
        """[B, H, T, E] queries, [B, H, S, E] keys and values -> [B, T, d_model]."""
        return self.merge(_attention(q, k, v, attn_mask=mask))

    def attend_causally(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """As `attend`, each position seeing itself and those before it."""
        return self.merge(_attention(q, k, v, is_causal=True))

    def merge(self, x: Tensor) -> Tensor:
        """[B, H, T, E] -> [B, T, d_model]."""
        projected: Tensor = self.out(x.transpose(1, 2).flatten(2))
        return projected


def _attention(q: Tensor, k: Tensor, v: Tensor, **how: Any) -> Tensor:
    """PyTorch's kernel; on a CPU always in float32, where it is ten times as fast."""
    if not q.is_cpu:
        return F.scaled_dot_product_attention(q, k, v, **how)
    with torch.autocast("cpu", enabled=False):
        return F.scaled_dot_product_attention(q.float(), k.float(), v.float(), **how)


class FeedForward(nn.Module):  # type: ignore[misc]
    def __init__(self, spec: ModelSpec):
        super().__init__()
        self.inner = nn.Linear(spec.d_model, spec.d_inner)
        self.out = nn.Linear(spec.d_inner, spec.d_model)

    def forward(self, x: Tensor) -> Tensor:
        projected: Tensor = self.out(F.relu(self.inner(x)))
        return projected


class Sublayers(nn.Module):  # type: ignore[misc]
    """What both kinds of layers share: where the norm stands."""

    def __init__(self, spec: ModelSpec, *, count: int):
        super().__init__()
        self.is_pre = spec.norm == "pre"
        self.norms = nn.ModuleList(nn.LayerNorm(spec.d_model) for _ in range(count))

    def enter(self, i: int, x: Tensor) -> Tensor:
        """The input of sublayer i."""
        return self.norms[i](x) if self.is_pre else x

    def leave(self, i: int, x: Tensor) -> Tensor:
        """The residual stream after sublayer i, of which x is the sum."""
        return x if self.is_pre else self.norms[i](x)


class EncoderLayer(Sublayers):
    def __init__(self, spec: ModelSpec):
        super().__init__(spec, count=2)
        self.attention = Attention(spec, is_self=True)
        self.feed_forward = FeedForward(spec)

    def forward(self, x: Tensor, mask: Tensor | None, drop: Dropout) -> Tensor:
        own = self.attention
        q, k, v = own.split(own.qkv(self.enter(0, x)))
        x = self.leave(0, drop(own.attend(q, k, v, mask), x))
        return self.leave(1, drop(self.feed_forward(self.enter(1, x)), x))


class DecoderLayer(Sublayers):
    def __init__(self, spec: ModelSpec):
        super().__init__(spec, count=3)
        self.attention = Attention(spec, is_self=True)
        self.cross = Attention(spec, is_self=False)
        self.feed_forward = FeedForward(spec)

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None, drop: Dropout) -> Tensor:
        own, cross = self.attention, self.cross
        # Padding stands at the end, where no real position looks: causality is mask enough.
        x = self.leave(0, drop(own.attend_causally(*own.split(own.qkv(self.enter(0, x)))), x))
        (q,) = cross.split(cross.q(self.enter(1, x)))
        k, v = cross.split(cross.kv(memory))
        x = self.leave(1, drop(cross.attend(q, k, v, mask), x))
        return self.leave(2, drop(self.feed_forward(self.enter(2, x)), x))

    def step(
        self, x: Tensor, own: Tensor, ancestors: Tensor | None, memory: Cached, mask: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """The same for one word of K beams, with the keys and values of earlier words at hand.

        Args:
            x: [B, K, d_model].
            own: Keys and values, [2, B, H, words so far * K, E]; the last K places are filled here.
            ancestors: Additive mask [B, 1, K, words so far * K]: the words of each beam's own past.
            memory, mask: Keys and values [B, H, S, E] of the source, and its mask.

        Returns:
            [B, K, d_model], and the queries to the source, [B, H, K, E].
        """
        q, own[0, :, :, -x.shape[1] :], own[1, :, :, -x.shape[1] :] = self.attention.split(
            self.attention.qkv(self.enter(0, x))
        )
        x = self.leave(0, x + self.attention.attend(q, own[0], own[1], ancestors))
        (q,) = self.cross.split(self.cross.q(self.enter(1, x)))
        x = self.leave(1, x + self.cross.attend(q, *memory, mask))
        return self.leave(2, x + self.feed_forward(self.enter(2, x))), q


class Transformer(nn.Module):  # type: ignore[misc]
    """Encoder, decoder and their embeddings.

    Ids: ``src`` = words + EOS; ``tgt_in`` = BOS + words; ``labels`` = words + EOS; all right
    padded with 0. ``keys``: None, or one int64 key per sentence (see `dropout_keys`): with the
    same keys a sentence meets the same dropout masks in any batch.

    Example:
        >>> spec = ModelSpec(9, 9, layers=1, heads=2, d_head=4, d_model=6, d_inner=8)
        >>> src, lengths, tgt_in = torch.tensor([[4, 5, 2]]), torch.tensor([3]), torch.tensor([[1]])
        >>> Transformer(spec, seed=0)(src, lengths, tgt_in).shape
        torch.Size([1, 1, 9])
    """

    def __init__(self, spec: ModelSpec, *, seed: int = 0):
        super().__init__()
        self.spec = spec
        self.src_embedding = nn.Embedding(spec.src_size, spec.d_model, padding_idx=PAD)
        self.tgt_embedding = nn.Embedding(spec.tgt_size, spec.d_model, padding_idx=PAD)
        self.encoder = nn.ModuleList(EncoderLayer(spec) for _ in range(spec.layers))
        self.decoder = nn.ModuleList(DecoderLayer(spec) for _ in range(spec.layers))
        # After layers that norm their input, the last sum is still to be normed.
        is_pre = spec.norm == "pre"
        self.encoder_norm = nn.LayerNorm(spec.d_model) if is_pre else nn.Identity()
        self.decoder_norm = nn.LayerNorm(spec.d_model) if is_pre else nn.Identity()
        self.output = nn.Linear(spec.d_model, spec.tgt_size, bias=False)
        if spec.tied:
            self.output.weight = self.tgt_embedding.weight
        if spec.tied == "all":
            self.src_embedding.weight = self.tgt_embedding.weight
        self._initialise(torch.Generator().manual_seed(seed))
        self.positions: Tensor
        positions = sinusoids(spec.max_length, spec.d_model)  # [max_length, d_model]
        self.register_buffer("positions", positions, persistent=False)

    def _initialise(self, generator: torch.Generator) -> None:
        for name, weight in self.named_parameters():
            if weight.dim() == 2:
                nn.init.uniform_(weight, -self.spec.init, self.spec.init, generator=generator)
            elif name.endswith("bias"):
                nn.init.zeros_(weight)
        with torch.no_grad():
            for table in (self.src_embedding, self.tgt_embedding, self.output):
                table.weight[PAD] = 0

    def embed(self, table: nn.Embedding, ids: Tensor, start: int, end: int) -> Tensor:
        """[B, T] -> [B, T, d_model]: scaled words plus the positions from ``start`` to ``end``."""
        if end > self.spec.max_length:
            raise SwitchOutError(f"a sentence of {end} ids, max_length = {self.spec.max_length}")
        scaled: Tensor = table(ids) * math.sqrt(self.spec.d_model)
        return scaled + self.positions[start:end]

    def encode(self, src: Tensor, src_lengths: Tensor, *, keys: Tensor | None = None) -> Tensor:
        """[B, S] -> memory [B, S, d_model]; what stands at padded positions has no meaning."""
        return self._encode(src, length_mask(src_lengths, src.shape[1]), self._dropout(keys))

    def forward(
        self, src: Tensor, src_lengths: Tensor, tgt_in: Tensor, *, keys: Tensor | None = None
    ) -> Tensor:
        """[B, S], [B], [B, T] -> logits [B, T, tgt_size]."""
        return self.logits(self._decode(src, src_lengths, tgt_in, keys))

    def loss(
        self,
        src: Tensor,
        src_lengths: Tensor,
        tgt_in: Tensor,
        labels: Tensor,
        *,
        label_smoothing: float = 0.0,
        keys: Tensor | None = None,
    ) -> tuple[Tensor, int]:
        """Return the cross-entropy summed over labels other than PAD, and their number.

        Logits are computed where there is a label only. Smoothing spreads its share evenly over
        the words that can be predicted.
        """
        hidden = self._decode(src, src_lengths, tgt_in, keys)  # [B, T, d_model]
        real = labels != PAD
        wanted = labels[real]  # [n]
        loss = OutputLoss.apply(hidden[real], self.output.weight, wanted, label_smoothing)
        return loss, len(wanted)

    def logits(self, hidden: Tensor) -> Tensor:
        """[..., d_model] -> [..., tgt_size]."""
        logits: Tensor = self.output(hidden)
        logits[..., : BOS + 1] = -math.inf
        return logits

    def _dropout(self, keys: Tensor | None) -> Dropout:
        return Dropout(self.spec.dropout, keys)

    def _encode(self, src: Tensor, mask: Tensor | None, drop: Dropout) -> Tensor:
        x = drop(self.embed(self.src_embedding, src, 0, src.shape[1]))
        for layer in self.encoder:
            x = layer(x, mask, drop)
        normed: Tensor = self.encoder_norm(x)
        return normed

    def _decode(
        self, src: Tensor, src_lengths: Tensor, tgt_in: Tensor, keys: Tensor | None
    ) -> Tensor:
        drop, mask = self._dropout(keys), length_mask(src_lengths, src.shape[1])
        memory = self._encode(src, mask, drop)
        x = drop(self.embed(self.tgt_embedding, tgt_in, 0, tgt_in.shape[1]))
        for layer in self.decoder:
            x = layer(x, memory, mask, drop)
        normed: Tensor = self.decoder_norm(x)
        return normed


def sinusoids(length: int, d_model: int) -> Tensor:
    """Positions [length, d_model]: sines in the first half of the channels, then cosines."""
    rates = torch.exp(torch.arange(d_model // 2) * (-math.log(10000) / (d_model // 2)))
    angles = torch.arange(length)[:, None] * rates
    return torch.cat([angles.sin(), angles.cos()], dim=1)


def length_mask(lengths: Tensor, size: int) -> Tensor | None:
    """[B] -> additive mask [B, 1, 1, size], -inf beyond each length; None where it would be 0."""
    lengths = lengths.long()
    if lengths.device.type == "cpu" and int(lengths.min()) == size:
        return None
    beyond = torch.arange(size, device=lengths.device) >= lengths[:, None]
    mask = torch.zeros(beyond.shape, device=lengths.device).masked_fill(beyond, -math.inf)
    return mask[:, None, None]
