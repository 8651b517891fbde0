"""Beam search (greedy search is a beam of 1) over one model or several.

* A hypothesis ends with EOS; its score is log p(words, EOS) / n^length_penalty, where n counts EOS.
  Penalty 0: log-probability; 1, our default: its mean per word.
* A step takes the 2K best continuations of K beams. Those of the best K that end are finished,
  the best K that do not end go on. A sentence is done when K hypotheses are finished.
* It stops before that when no beam can overtake the n-best: log p only falls, so
  log p / limit^length_penalty bounds every continuation. This changes no result.
* At a sentence's length limit only EOS is allowed.
* Several models: mean of their log-probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from switchout.corpora.vocabulary import BOS, EOS
from switchout.errors import SwitchOutError
from switchout.nmt.model import Cached, Transformer, length_mask

_CLEAR_BELOW = 0.75  # share of rows still at work below which the others are cleared away


@dataclass(frozen=True)
class SearchOptions:
    """How to search; the module says what the numbers mean."""

    beam: int = 5  # our choice, as is the next: the paper names neither
    length_penalty: float = 1.0
    n_best: int = 1
    need_attention: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.n_best <= self.beam:
            raise SwitchOutError(
                f"n-best = {self.n_best}: must be between 1 and the beam, {self.beam}"
            )
        if not self.length_penalty >= 0:
            raise SwitchOutError(f"length penalty = {self.length_penalty}: must be 0 or more")


@dataclass(frozen=True)
class Hypothesis:
    """A translation: its word ids, score, and who looked where ([words + EOS, source time])."""

    ids: list[int]
    score: float
    attention: Tensor | None = None


def default_limit(src_lengths: Tensor) -> Tensor:
    """[batch] -> [batch]: the most words a translation may have, by its source only."""
    return 2 * src_lengths + 10


@torch.inference_mode()  # type: ignore[untyped-decorator]
def translate_ids(
    models: Sequence[Transformer],
    src_batch: Tensor,
    src_lengths: Tensor,
    options: SearchOptions = SearchOptions(),
    *,
    max_length: int | None = None,
) -> list[list[Hypothesis]]:
    """Return the n-best translations of every sentence, best first.

    Args:
        models: One, or an ensemble over the same vocabularies.
        src_batch: [batch, time] word ids + EOS, right padded with 0.
        src_lengths: [batch], EOS included.
        max_length: The most words of a translation; None: 2 × source length + 10.
    """
    limits = default_limit(src_lengths.cpu().long())
    if max_length is not None:
        limits = torch.full_like(limits, max_length)
    limits = limits.clamp(max=min(model.spec.max_length for model in models) - 1)
    beam, steps = options.beam, int(limits.max()) + 1
    decoders = [Decoder(m, src_batch, src_lengths, beam=beam, steps=steps) for m in models]
    search = _Search(decoders, limits.tolist(), options)
    words = torch.full((len(src_batch), beam), BOS, device=src_batch.device)
    while search.rows:
        words = search.step(words)
    return search.results()


class _Search:
    """A search under way; ``limits``: the most words of each sentence."""

    def __init__(self, decoders: list[Decoder], limits: list[int], options: SearchOptions):
        self.decoders, self.limits, self.options = decoders, limits, options
        self.beam = options.beam
        batch, device = len(limits), decoders[0].own[0].device
        self.found: list[list[Hypothesis]] = [[] for _ in limits]  # per sentence
        self.rows = list(range(batch))  # which sentence a row of the tensors is
        self.done = [False] * batch  # per sentence; its row may linger until the next clearing
        self.length = 0
        # All beams begin equal: only the first may have children.
        self.scores = torch.full((batch, self.beam), -math.inf, device=device)  # [B, K]
        self.scores[:, 0] = 0
        self.ids = torch.empty((batch, self.beam, 0), dtype=torch.long, device=device)  # [B, K, t]
        self.past = torch.empty((batch, self.beam, 0), dtype=torch.bool, device=device)
        self.looks: Tensor | None = None  # [B, K, t, S]
        self.own_place = torch.eye(self.beam, dtype=torch.bool, device=device)

    def step(self, words: Tensor) -> Tensor:
        """Add ``words`` [B, K] to the beams and return the next ones; rows may become fewer."""
        log_p = self._log_p(words)
        self._end_at_limit(log_p)
        size = log_p.shape[-1]
        candidates = log_p.add_(self.scores[:, :, None]).flatten(1)  # [B, K * V]
        best, index = candidates.topk(min(2 * self.beam, candidates.shape[1]))  # [B, 2K]
        parents, words = index // size, index % size
        is_end = words == EOS
        self._collect(best, parents, is_end & (best > -math.inf))
        self.scores, going = best.masked_fill(is_end, -math.inf).topk(self.beam)  # [B, K]
        parents, words = parents.gather(1, going), words.gather(1, going)
        self.ids = torch.cat([_pick(self.ids, parents), words[:, :, None]], dim=2)
        self.past = _pick(self.past, parents)
        self.looks = None if self.looks is None else _pick(self.looks, parents)
        self.length += 1
        return self._drop_done(words)

    def _log_p(self, words: Tensor) -> Tensor:
        """[B, K] -> mean over the models of the next word's log p, [B, K, V]."""
        self.past = torch.cat([self.past, self.own_place.expand(len(words), -1, -1)], dim=2)
        ancestors = None
        if self.beam > 1:
            outside = torch.zeros(self.past.shape, device=words.device)
            ancestors = outside.masked_fill(~self.past, -math.inf)[:, None]
        steps = [decoder.step(words, ancestors) for decoder in self.decoders]
        if self.options.need_attention:
            looks = [d.attention(q) for d, (_, q) in zip(self.decoders, steps, strict=True)]
            mean = torch.stack(looks).mean(dim=0)[:, :, None]  # [B, K, 1, S]
            self.looks = mean if self.looks is None else torch.cat([self.looks, mean], dim=2)
        return steps[0][0] if len(steps) == 1 else sum(log_p for log_p, _ in steps) / len(steps)

    def _end_at_limit(self, log_p: Tensor) -> None:
        full = [row for row, i in enumerate(self.rows) if self.limits[i] == self.length]
        if full:
            only_end = torch.full_like(log_p[full], -math.inf)
            only_end[:, :, EOS] = log_p[full][:, :, EOS]
            log_p[full] = only_end

    def _collect(self, best: Tensor, parents: Tensor, is_end: Tensor) -> None:
        """Note the hypotheses among the best K that end here."""
        norm = (self.length + 1) ** self.options.length_penalty
        for row, rank in is_end[:, : self.beam].nonzero().tolist():
            if self.done[self.rows[row]]:
                continue
            parent = int(parents[row, rank])
            looks = None if self.looks is None else self.looks[row, parent].clone()
            score = float(best[row, rank]) / norm
            found = self.found[self.rows[row]]
            found.append(Hypothesis(self.ids[row, parent].tolist(), score, looks))
            found.sort(key=lambda hypothesis: -hypothesis.score)

    def _drop_done(self, words: Tensor) -> Tensor:
        """Clear the rows of sentences that are done, if they are many; return the others' words."""
        for i, highest in zip(self.rows, self.scores.amax(dim=1).tolist(), strict=True):
            self.done[i] = self.done[i] or self._is_done(i, highest)
        alive = [row for row, i in enumerate(self.rows) if not self.done[i]]
        if len(alive) > _CLEAR_BELOW * len(self.rows):
            return words
        self.rows = [self.rows[row] for row in alive]
        rows = torch.tensor(alive, dtype=torch.long, device=words.device)
        self.scores, self.ids, self.past = self.scores[rows], self.ids[rows], self.past[rows]
        self.looks = None if self.looks is None else self.looks[rows]
        for decoder in self.decoders:
            decoder.keep(rows)
        return words[rows]

    def _is_done(self, i: int, highest: float) -> bool:
        found, n_best = self.found[i], self.options.n_best
        if len(found) >= self.beam or self.length > self.limits[i]:
            return True
        bound = highest / (self.limits[i] + 1) ** self.options.length_penalty
        return len(found) >= n_best and found[n_best - 1].score >= bound

    def results(self) -> list[list[Hypothesis]]:
        return [found[: self.options.n_best] for found in self.found]


class Decoder:
    """What one model knows of a batch of sentences while their translations grow.

    The K beams of a sentence share one cache of keys and values: beam and step number a place in
    it, nothing is ever moved, and a mask says which places are a beam's own past. So choosing beams
    costs no copy, and attention is one matrix product per head instead of K products with a vector.
    The source's keys and values exist once per sentence; its beams are the "time" of their queries.

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


def _pick(x: Tensor, parents: Tensor) -> Tensor:
    """[B, K, ...] -> [B, K, ...]: of every sentence the rows ``parents`` [B, K]."""
    return x[torch.arange(len(x), device=x.device)[:, None], parents]
