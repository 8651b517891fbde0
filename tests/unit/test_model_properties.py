"""The network: invariances, causality, parameter count, loss and dropout against plain formulas."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from switchout.errors import SwitchOutError
from switchout.nmt import dropout, output_loss
from switchout.nmt.dropout import Dropout, drop_add, dropout_keys
from switchout.nmt.model import ModelSpec, Transformer
from switchout.nmt.output_loss import OutputLoss

SPEC = ModelSpec(
    src_size=31, tgt_size=29, layers=2, heads=5, d_head=4, d_model=12, d_inner=14, init=0.3
)
SPECS = {
    "pre": SPEC,
    "post": replace(SPEC, norm="post"),
    "tied": replace(SPEC, tied=True),
    "one vocabulary": replace(SPEC, src_size=29, tied="all"),
}
specs = pytest.mark.parametrize("spec", SPECS.values(), ids=list(SPECS))


def sentences(spec: ModelSpec) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Three sentences of different lengths; one holds PAD as a dropped word."""
    generator = torch.Generator().manual_seed(3)
    src = torch.randint(4, 29, (3, 8), generator=generator)
    tgt = torch.randint(4, 29, (3, 7), generator=generator)
    src[2, 1] = 0
    tgt[:, 0] = 1
    lengths, tgt_lengths = torch.tensor([8, 3, 5]), torch.tensor([4, 7, 5])
    labels = torch.randint(4, 29, (3, 7), generator=generator)
    for row in range(3):
        src[row, lengths[row] :] = 0
        tgt[row, tgt_lengths[row] :] = 0
        labels[row, tgt_lengths[row] :] = 0
    return src, lengths, tgt, labels


@specs
@pytest.mark.parametrize("noise", [None, dropout_keys(5, step=2, example_ids=np.arange(3))])
def test_sentence_has_the_same_logits_in_any_batch(spec: ModelSpec, noise: torch.Tensor) -> None:
    model = Transformer(spec, seed=1)
    src, lengths, tgt, _ = sentences(spec)
    together = model(src, lengths, tgt, keys=noise)
    for row, (n, m) in enumerate([(8, 4), (3, 7), (5, 5)]):
        keys = None if noise is None else noise[row : row + 1]
        one = slice(row, row + 1)
        alone = model(src[one, :n], lengths[one], tgt[one, :m], keys=keys)
        torch.testing.assert_close(alone[0], together[row, :m], rtol=1e-5, atol=1e-5)


@specs
def test_prediction_depends_on_no_later_target_word(spec: ModelSpec) -> None:
    model = Transformer(spec, seed=1)
    src, lengths, tgt, _ = sentences(spec)
    embedded: list[torch.Tensor] = []
    model.tgt_embedding.register_forward_hook(lambda m, i, out: embedded.append(out))
    logits = model(src, lengths, tgt)
    for t in range(tgt.shape[1]):
        (by_input,) = torch.autograd.grad(logits[:, t, 2:].sum(), embedded[0], retain_graph=True)
        touched = by_input.abs().sum(dim=-1) > 0  # [B, T]
        assert touched[:, : t + 1].all()
        assert not touched[:, t + 1 :].any()


@specs
def test_source_padding_is_unseen_but_a_dropped_word_is_seen(spec: ModelSpec) -> None:
    model = Transformer(spec, seed=1)
    src, lengths, tgt, _ = sentences(spec)
    embedded: list[torch.Tensor] = []
    model.src_embedding.register_forward_hook(lambda m, i, out: embedded.append(out))
    logits = model(src, lengths, tgt)
    (by_input,) = torch.autograd.grad(logits[..., 2:].square().sum(), embedded[0])
    seen = by_input.abs().sum(dim=-1) > 0
    assert seen.tolist() == (torch.arange(8) < lengths[:, None]).tolist()


@specs
def test_parameters_number_as_the_formula_says(spec: ModelSpec) -> None:
    d, inner, hidden = spec.d_model, spec.heads * spec.d_head, spec.d_inner
    attention, norm, feed_forward = 4 * d * inner, 2 * d, 2 * d * hidden + d + hidden
    layers = spec.layers * (3 * attention + 5 * norm + 2 * feed_forward)
    tables = {False: spec.src_size + 2 * spec.tgt_size, True: spec.src_size + spec.tgt_size}
    rows = tables.get(spec.tied, spec.tgt_size) if spec.tied != "all" else spec.tgt_size
    last_norms = 2 * norm if spec.norm == "pre" else 0
    count = sum(weight.numel() for weight in Transformer(spec).parameters())
    assert count == rows * d + layers + last_norms


@specs
def test_weights_start_uniform_in_the_range(spec: ModelSpec) -> None:
    model = Transformer(replace(spec, init=0.05, d_inner=400), seed=1)
    weight = model.encoder[0].feed_forward.inner.weight
    assert 0.0499 < weight.abs().max() <= 0.05
    assert abs(weight.std() - 0.05 / math.sqrt(3)) < 0.001
    again = Transformer(replace(spec, init=0.05, d_inner=400), seed=1)
    assert all(
        torch.equal(a, b) for a, b in zip(model.parameters(), again.parameters(), strict=True)
    )


@specs
def test_null_word_stays_zero_under_training(spec: ModelSpec) -> None:
    model = Transformer(spec, seed=1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    src, lengths, tgt, labels = sentences(spec)
    for _ in range(3):
        optimizer.zero_grad()
        loss, n = model.loss(src, lengths, tgt, labels, label_smoothing=0.1)
        (loss / n).backward()
        optimizer.step()
    assert not model.src_embedding.weight[0].any()
    assert not model.tgt_embedding.weight[0].any()
    assert model.tgt_embedding.weight[1].any()


@specs
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("at_once", [16, 5, 1])  # of the 16 words; 32 cells a row
def test_loss_and_gradient_are_those_of_the_cross_entropy(
    spec: ModelSpec, smoothing: float, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output_loss, "_CELLS", at_once * 32)
    src, lengths, tgt, labels = sentences(spec)
    ours, theirs = Transformer(spec, seed=1), Transformer(spec, seed=1)
    loss, n = ours.loss(src, lengths, tgt, labels, label_smoothing=smoothing)
    words = theirs(src, lengths, tgt)[..., 2:]  # PAD and BOS are not among the outcomes
    expected = F.cross_entropy(
        words.transpose(1, 2),
        labels - 2,
        ignore_index=-2,
        label_smoothing=smoothing,
        reduction="sum",
    )
    (loss / n).backward()
    (expected / n).backward()
    assert n == 16
    torch.testing.assert_close(loss, expected)
    for a, b in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(a.grad, b.grad, rtol=1e-4, atol=1e-6)


def test_loss_in_half_precision_has_sums_and_gradients_in_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of 200 blocks: added up in bfloat16 they would be off by far more than one product is."""
    monkeypatch.setattr(output_loss, "_CELLS", 10 * 32)
    generator = torch.Generator().manual_seed(3)
    hidden, weight = (torch.randn(n, 8, generator=generator) for n in (2000, 29))
    labels = torch.randint(2, 29, (2000,), generator=generator)
    found = []
    for is_half in (False, True):
        h, w = hidden.clone().requires_grad_(), weight.clone().requires_grad_()
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=is_half):
            loss = OutputLoss.apply(h, w, labels, 0.1)
        loss.backward()
        assert loss.dtype == h.grad.dtype == w.grad.dtype == torch.float32
        found.append((loss.detach(), h.grad, w.grad))
    for exact, half in zip(*found, strict=True):
        assert 0 < (half - exact).norm() / exact.norm() < 0.01


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_compiled_loss_equals_that_of_other_devices(smoothing: float) -> None:
    generator = torch.Generator().manual_seed(4)
    padded = torch.randn(50, 48, generator=generator)
    labels = torch.randint(2, 41, (50,), generator=generator)
    by_torch, by_core = padded.clone(), padded.clone()
    theirs = output_loss._loss(by_torch[:, :41], labels[:, None], smoothing)
    ours = output_loss._compiled_loss(by_core, 41, labels, smoothing)
    assert ours == pytest.approx(float(theirs), rel=1e-5)
    torch.testing.assert_close(by_core, by_torch, rtol=1e-4, atol=1e-6)


def test_model_equals_the_reference_layers_of_torch() -> None:
    """One encoder layer against torch's own, which knows heads * d_head = d_model only."""
    spec = replace(SPEC, heads=3, d_head=4, layers=1, norm="post")
    layer = Transformer(spec, seed=1).encoder[0]
    reference = torch.nn.TransformerEncoderLayer(12, 3, 14, dropout=0.0, batch_first=True).eval()
    state = {
        "self_attn.in_proj_weight": layer.attention.qkv.weight,
        "self_attn.in_proj_bias": torch.zeros(36),
        "self_attn.out_proj.weight": layer.attention.out.weight,
        "self_attn.out_proj.bias": torch.zeros(12),
        "linear1.weight": layer.feed_forward.inner.weight,
        "linear1.bias": layer.feed_forward.inner.bias,
        "linear2.weight": layer.feed_forward.out.weight,
        "linear2.bias": layer.feed_forward.out.bias,
        **{f"norm{i + 1}.weight": layer.norms[i].weight for i in range(2)},
        **{f"norm{i + 1}.bias": layer.norms[i].bias for i in range(2)},
    }
    reference.load_state_dict(state)
    x = torch.randn(2, 5, 12, generator=torch.Generator().manual_seed(0))
    ours = layer(x, None, lambda y, residual: y + residual)
    torch.testing.assert_close(ours, reference(x))


def test_dropout_zeroes_the_given_share_and_scales_the_rest() -> None:
    keys = dropout_keys(0, step=0, example_ids=np.arange(50)).numpy().view(np.uint64)
    dropped = drop_add(torch.ones(50, 20, 100), None, keys=keys, rate=0.3)
    share = (dropped == 0).float().mean(dim=2)  # [50, 20]
    assert sorted(dropped.unique().tolist()) == pytest.approx([0, 1 / 0.7])
    # 100,000 draws: five standard deviations are 0.0072; and no row or position is an exception.
    assert abs(share.mean() - 0.3) < 0.0072
    assert abs(share.var() - 0.3 * 0.7 / 100) < 0.0006


def test_dropout_masks_of_sentences_sites_and_steps_are_independent() -> None:
    x, masks = torch.ones(4, 100, 100), []
    for seed, step in ((0, 0), (0, 1), (1, 0)):
        drop = Dropout(0.5, dropout_keys(seed, step=step, example_ids=np.arange(4)))
        for _site in range(2):
            masks.extend(drop(x).flatten(1) - 1)
    correlation = torch.corrcoef(torch.stack(masks)) - torch.eye(24)
    assert correlation.abs().max() < 0.05  # five standard deviations of 10,000 pairs


@pytest.mark.parametrize("residual", [None, torch.full((3, 5, 4), 2.0)])
def test_dropout_kernel_equals_its_array_form(residual: torch.Tensor | None) -> None:
    keys = dropout_keys(7, step=1, example_ids=np.array([3, 2**40, 5])).numpy().view(np.uint64)
    x = torch.randn(3, 5, 4, generator=torch.Generator().manual_seed(0))
    kernel = drop_add(x, residual, keys=keys, rate=0.4)
    wide = None if residual is None else residual.double()
    arrays = drop_add(x.double(), wide, keys=keys, rate=0.4)
    torch.testing.assert_close(kernel.double(), arrays, rtol=1e-6, atol=1e-6)


def test_dropout_kernel_takes_a_half_beside_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """What autocast gives: a product in bfloat16 to be added to a stream in float32."""
    monkeypatch.setattr(dropout, "_drop_add_anywhere", None)  # the kernel alone
    keys = dropout_keys(7, step=1, example_ids=np.arange(3)).numpy().view(np.uint64)
    x = torch.randn(3, 5, 4, generator=torch.Generator().manual_seed(0)).bfloat16()
    residual = torch.full((3, 5, 4), 2.0)
    half = drop_add(x, residual, keys=keys, rate=0.4)
    assert half.dtype == torch.float32
    assert torch.equal(half, drop_add(x.float(), residual, keys=keys, rate=0.4))


def test_attention_on_a_cpu_is_in_float32_under_autocast() -> None:
    generator = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(2, 3, 5, 4, generator=generator).bfloat16() for _ in range(3))
    own = Transformer(SPEC, seed=1).encoder[0].attention
    own.merge = lambda x: x
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = own.attend(q, k, v, None), own.attend_causally(q, k, v)
    for is_causal, attended in enumerate(found):
        whole = F.scaled_dot_product_attention(
            q.float(), k.float(), v.float(), is_causal=bool(is_causal)
        )
        assert attended.dtype == torch.float32
        assert torch.equal(attended, whole)


def test_dropout_gradient_passes_where_the_value_did() -> None:
    x = torch.randn(3, 5, 4, generator=torch.Generator().manual_seed(0)).requires_grad_()
    residual = torch.zeros_like(x).requires_grad_()
    keys = dropout_keys(7, step=1, example_ids=np.arange(3))
    out = Dropout(0.5, keys)(x, residual)
    out.sum().backward()
    torch.testing.assert_close(out, x * x.grad)
    assert 0 < int((x.grad == 0).sum()) < 60
    assert torch.equal(residual.grad, torch.ones_like(x))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"tied": "all"}, "31 and 29"),
        ({"d_model": 11}, "even"),
    ],
)
def test_impossible_model_is_refused_by_name(change: dict[str, object], named: str) -> None:
    with pytest.raises(SwitchOutError, match=named):
        replace(SPEC, **change)


def test_sentence_beyond_the_positions_is_refused() -> None:
    model = Transformer(replace(SPEC, max_length=4))
    with pytest.raises(SwitchOutError, match="max_length = 4"):
        model.encode(torch.full((1, 5), 4), torch.tensor([5]))
