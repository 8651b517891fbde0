"""CTranslate2, C++ and several times faster on a CPU: a model written for it, and search by it.

The folder is exact but for rounding: heads x d_head as they are, source and target vocabularies
apart (converters for other toolkits share them), our positions written out, -inf for words that are
never predicted. Its beam search has the same definition as ours, except at the length limit, where
it leaves a hypothesis unfinished and ours ends it with EOS. Sums differ in their last bits, so ties
may too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from switchout.corpora.codec import Codecs
from switchout.corpora.vocabulary import BOS, PAD
from switchout.errors import SwitchOutError, needs
from switchout.nmt.model import Attention, FeedForward, Transformer
from switchout.nmt.search import Hypothesis, SearchOptions, default_limit
from switchout.nmt.translate import BATCH_WORDS

Tokens = tuple[list[str], list[str]]  # by id, of source and target
QUANTIZATIONS = ("int8", "int8_float32", "int16", "float16")


def tokens_of(codecs: Codecs) -> Tokens:
    """Return the vocabularies as CTranslate2 wants them."""
    return codecs[0].vocabulary.tokens, codecs[1].vocabulary.tokens


def import_ctranslate2() -> Any:
    """Return the module, or say how to get it."""
    with needs("ctranslate2"):
        import ctranslate2
    return ctranslate2


def write_ctranslate2(
    model: Transformer, folder: Path, tokens: Tokens, *, quantization: str | None = None
) -> None:
    """Write ``model`` into an existing ``folder`` as CTranslate2 reads it.

    Args:
        tokens: Of source and target, specials included, in the order of their ids.
        quantization: Of the stored weights; None keeps float32.
    """
    specs, shape, is_pre = import_ctranslate2().specs, model.spec, model.spec.norm == "pre"
    common = {"pre_norm": is_pre, "head_dim": shape.d_head}
    encoder = specs.TransformerEncoderSpec(shape.layers, shape.heads, **common)
    decoder = specs.TransformerDecoderSpec(
        shape.layers, shape.heads, alignment_layer=-1, alignment_heads=shape.heads, **common
    )
    _embedding(encoder.embeddings[0], model.src_embedding)
    _embedding(decoder.embeddings, model.tgt_embedding)
    for side in (encoder, decoder):
        side.position_encodings.encodings = _array(model.positions)
    for ours, theirs in zip(model.encoder, encoder.layer, strict=True):
        _attention(theirs.self_attention, ours.norms[0], ours.attention)
        _feed_forward(theirs.ffn, ours.norms[1], ours.feed_forward)
    for ours, theirs in zip(model.decoder, decoder.layer, strict=True):
        _attention(theirs.self_attention, ours.norms[0], ours.attention)
        _attention(theirs.attention, ours.norms[1], ours.cross)
        _feed_forward(theirs.ffn, ours.norms[2], ours.feed_forward)
    if is_pre:
        _norm(encoder.layer_norm, model.encoder_norm)
        _norm(decoder.layer_norm, model.decoder_norm)
    decoder.projection.weight = _array(model.output.weight)
    decoder.projection.bias = np.zeros(shape.tgt_size, dtype=np.float32)
    decoder.projection.bias[[PAD, BOS]] = -np.inf

    spec = specs.TransformerSpec(encoder, decoder)
    spec.config.add_source_eos = True
    spec.config.layer_norm_epsilon = model.decoder[0].norms[0].eps
    spec.register_source_vocabulary(tokens[0])
    spec.register_target_vocabulary(tokens[1])
    spec.validate()
    spec.optimize(quantization=quantization)
    spec.save(str(folder))


class CTranslate2Searcher:
    """Searches with an exported model; see `switchout.nmt.translate.Searcher`."""

    def __init__(
        self,
        folder: Path,
        tokens: Tokens,
        *,
        max_words: int,
        device: str = "cpu",
    ):
        try:
            self.translator = import_ctranslate2().Translator(
                str(folder), device=device, intra_threads=torch.get_num_threads()
            )
        except (RuntimeError, ValueError) as error:
            raise SwitchOutError(f"{folder}: CTranslate2 cannot load it ({error})") from None
        self.src_tokens = tokens[0]
        self.tgt_ids = {token: id for id, token in enumerate(tokens[1])}
        self.max_words = max_words

    def search(
        self, sentences: Sequence[list[int]], options: SearchOptions, done: Callable[[int], None]
    ) -> list[list[Hypothesis]]:
        """See `Searcher`."""
        found: list[list[Hypothesis]] = [[] for _ in sentences]
        # CTranslate2 takes one length limit a call, ours follows from the length of the source.
        by_length = sorted(range(len(sentences)), key=lambda i: -len(sentences[i]))
        for length, group in groupby(by_length, key=lambda i: len(sentences[i])):
            same = list(group)
            limit = min(int(default_limit(torch.tensor(length + 1))), self.max_words)
            results = self._translate([sentences[i] for i in same], options, limit)
            for i, result in zip(same, results, strict=True):
                found[i] = self._hypotheses(result)
            done(len(same))
        return found

    def _translate(
        self, sentences: list[list[int]], options: SearchOptions, limit: int
    ) -> list[Any]:
        # In a batch, beam search of CTranslate2 4.8 returns for the first word of a sentence the
        # attention of another sentence.
        alone = options.need_attention and options.beam > 1
        results: list[Any] = self.translator.translate_batch(
            [[self.src_tokens[id] for id in ids] for ids in sentences],
            max_batch_size=1 if alone else BATCH_WORDS,
            batch_type="examples" if alone else "tokens",
            beam_size=options.beam,
            length_penalty=options.length_penalty,
            num_hypotheses=options.n_best,
            max_input_length=0,
            max_decoding_length=limit,
            min_decoding_length=0,
            return_scores=True,
            return_attention=options.need_attention,
            return_end_token=True,  # so that, as with us, EOS counts in the length
        )
        return results

    def _hypotheses(self, result: Any) -> list[Hypothesis]:
        found = []
        for i, tokens in enumerate(result.hypotheses):
            ids = [self.tgt_ids[token] for token in tokens if token != "</s>"]
            looks = torch.tensor(result.attention[i]) if result.attention else None
            found.append(Hypothesis(ids, result.scores[i], looks))
        return found


def _attention(spec: Any, norm: nn.LayerNorm, attention: Attention) -> None:
    _norm(spec.layer_norm, norm)
    inner = [attention.qkv] if hasattr(attention, "qkv") else [attention.q, attention.kv]
    for theirs, ours in zip(spec.linear, [*inner, attention.out], strict=True):
        theirs.weight = _array(ours.weight)


def _feed_forward(spec: Any, norm: nn.LayerNorm, feed_forward: FeedForward) -> None:
    _norm(spec.layer_norm, norm)
    for theirs, ours in ((spec.linear_0, feed_forward.inner), (spec.linear_1, feed_forward.out)):
        theirs.weight, theirs.bias = _array(ours.weight), _array(ours.bias)


def _norm(spec: Any, norm: nn.LayerNorm) -> None:
    spec.gamma, spec.beta = _array(norm.weight), _array(norm.bias)


def _embedding(spec: Any, table: nn.Embedding) -> None:
    spec.weight, spec.multiply_by_sqrt_depth = _array(table.weight), True


def _array(tensor: Tensor) -> Any:
    return tensor.detach().float().cpu().numpy()
