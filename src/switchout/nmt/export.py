"""A model as a CTranslate2 folder, its specification filled in directly.

Exact but for rounding: heads x d_head as they are, source and target vocabularies apart (converters
for other toolkits share them), our positions written out, -inf for words that are never predicted.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor, nn

from switchout.corpora.vocabulary import BOS, PAD
from switchout.errors import SwitchOutError
from switchout.nmt.model import Attention, FeedForward, Transformer

QUANTIZATIONS = ("int8", "int8_float32", "int16", "float16")


def import_ctranslate2() -> Any:
    """Return the module, or say how to get it."""
    try:
        import ctranslate2
    except ImportError:
        raise SwitchOutError(
            "ctranslate2 is not installed: pip install 'switchout[serve]'"
        ) from None
    return ctranslate2


def write_ctranslate2(
    model: Transformer,
    folder: Path,
    *,
    src_tokens: Sequence[str],
    tgt_tokens: Sequence[str],
    quantization: str | None = None,
) -> None:
    """Write ``model`` into an existing ``folder`` as CTranslate2 reads it.

    Args:
        src_tokens, tgt_tokens: The vocabularies, specials included, in the order of their ids.
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
    spec.register_source_vocabulary(list(src_tokens))
    spec.register_target_vocabulary(list(tgt_tokens))
    spec.validate()
    spec.optimize(quantization=quantization)
    spec.save(str(folder))


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
