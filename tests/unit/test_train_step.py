"""One update: what its gradient is, what noise touches, and that its state is all there is."""

from __future__ import annotations

import math
import os
from contextlib import suppress

import numpy as np
import pytest
import torch

from switchout.nmt.checkpoint import digest
from switchout.nmt.machine import Processes, check_bfloat16, prepare_cpu
from switchout.nmt.model import ModelSpec, Transformer
from switchout.nmt.schedule import Schedule
from switchout.nmt.trainer import NonFiniteLoss, Trainer, UpdateSpec, perplexity

WORDS = 14
CACHE = "ONEDNN_PRIMITIVE_CACHE_CAPACITY"


class Pairs:
    def __init__(self, n=24, seed=0):
        rng = np.random.default_rng(seed)
        self._src = [rng.integers(4, WORDS, size=rng.integers(1, 7)) for _ in range(n)]
        self._tgt = [rng.integers(4, WORDS, size=rng.integers(1, 7)) for _ in range(n)]
        self.src_lengths = np.array([len(x) for x in self._src])
        self.tgt_lengths = np.array([len(y) for y in self._tgt])
        self.example_ids = np.arange(n) * 3 + 1

    def src(self, i):
        return self._src[i]

    def tgt(self, i):
        return self._tgt[i]

    def __len__(self):
        return len(self._src)


class Shift:
    """Noise that anyone can check: every word becomes the next one, on both sides."""

    def sample(self, x, y, *, seed, example_ids, epoch):
        assert example_ids.shape == (len(x),)
        return tuple(torch.where(ids >= 4, (ids - 3) % (WORDS - 4) + 4, ids) for ids in (x, y))


class Null:
    """Word dropout of every word."""

    def sample(self, x, y, *, seed, example_ids, epoch):
        return tuple(torch.where(ids >= 4, 0, ids) for ids in (x, y))


def trainer_of(*, noise=None, processes=Processes(), rate=0.01, dropout=0.2, tied=True, **spec):
    shape = ModelSpec(
        WORDS, WORDS, layers=1, heads=2, d_head=4, d_model=8, d_inner=8, dropout=dropout, tied=tied
    )
    update = {"seed": 1, "batch_tokens": 40, "label_smoothing": 0.1, **spec}
    return Trainer(
        Transformer(shape, seed=2),
        Pairs(),
        spec=UpdateSpec(schedule=Schedule("constant", rate), **update),
        noise=noise,
        processes=processes,
    )


def gradient(trainer, step=0):
    trainer.update(*trainer.batches(step))
    return trainer.flat.grad.clone()


def test_gradient_is_that_of_the_mean_loss_per_target_token():
    trainer, plain = trainer_of(dropout=0.0, clip=0.0), trainer_of(dropout=0.0)
    [batch] = plain.batches(0)[1]
    src, tgt = torch.from_numpy(batch.src), torch.from_numpy(batch.tgt)
    lengths = torch.from_numpy(batch.src_lengths)
    loss, n = plain.model.loss(src, lengths, tgt[:, :-1], tgt[:, 1:], label_smoothing=0.1)
    assert n == batch.tgt_lengths.sum()
    (loss / n).backward()
    torch.testing.assert_close(gradient(trainer), plain.flat.grad)


@pytest.mark.parametrize("device_tokens", [1, 7, 20, 1000])
def test_accumulated_gradient_is_the_gradient(device_tokens):
    whole, parts = trainer_of(), trainer_of(device_tokens=device_tokens)
    torch.testing.assert_close(gradient(parts), gradient(whole))


class Recorded(Processes):
    """A process group of one that notes what it would have summed."""

    def sum_(self, tensor):
        object.__setattr__(self, "summed", tensor.clone())


@pytest.mark.parametrize("world", [2, 3, 40])
def test_shares_of_all_ranks_sum_to_the_whole(world):
    """With 40 ranks most have nothing to do, and join the sum with zeros."""
    alone, total = Recorded(), 0
    trainer_of(processes=alone).update(*trainer_of().batches(0))
    for rank in range(world):
        share = Recorded(rank, world)
        trainer = trainer_of(processes=share)
        with suppress(NonFiniteLoss):  # nothing divided by no tokens, since nothing was summed
            trainer.update(*trainer.batches(0))
        total = total + share.summed
    torch.testing.assert_close(total, alone.summed)


def test_clipping_scales_a_long_gradient_down():
    norm = float(gradient(trainer_of()).norm())
    assert float(gradient(trainer_of(clip=norm / 2)).norm()) == pytest.approx(norm / 2, rel=1e-5)
    assert float(gradient(trainer_of(clip=norm * 2)).norm()) == pytest.approx(norm, rel=1e-5)


def test_adam_is_torchs_adam_over_the_plain_parameters():
    flat, plain = trainer_of(), trainer_of()
    flat.update(*flat.batches(0))
    flat.update(*flat.batches(1))
    model = Transformer(plain.model.spec, seed=2)
    names = dict(model.named_parameters())
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, betas=(0.9, 0.98), eps=1e-9)
    for step in range(2):
        plain.flat.load({name: p.detach() for name, p in names.items()})
        plain.flat.zero_grad()
        [batch] = plain.batches(step)[1]
        _, tokens = plain._forward_backward(batch)
        for name, p in plain.model.named_parameters():
            names[name].grad = p.grad / tokens
        optimizer.step()
    for name, value in flat.flat.state().items():
        torch.testing.assert_close(value, names[name].detach(), rtol=1e-5, atol=1e-7)


def test_noise_ends_after_its_steps():
    clean, noisy = trainer_of(), trainer_of(noise=Shift(), noise_steps=1)
    for step, is_noisy in ((0, True), (1, False), (2, False)):
        [batch], [same] = noisy.batches(step)[1], clean.batches(step)[1]
        seen, wanted = noisy.augmented(batch), clean.augmented(same)
        assert all(map(torch.equal, seen, wanted)) != is_noisy


@pytest.mark.parametrize("noise", [None, Shift(), Null()], ids=["clean", "shift", "null"])
@pytest.mark.parametrize("tied", [False, True])
def test_null_embedding_is_zero_and_never_trained(noise, tied):
    trainer = trainer_of(noise=noise, tied=tied, rate=0.1)
    for step in range(5):
        trainer.update(*trainer.batches(step))
    for table in (trainer.model.src_embedding, trainer.model.tgt_embedding):
        assert torch.count_nonzero(table.weight[0]) == 0
        assert torch.count_nonzero(table.weight[4]) > 0


def test_augmented_target_is_decoder_input_and_label():
    trainer = trainer_of(noise=Shift())
    [batch] = trainer.batches(0)[1]
    src, tgt_in, labels = trainer.augmented(batch)
    assert torch.equal(tgt_in[:, 1:], torch.where(labels[:, :-1] == 0, 0, tgt_in[:, 1:]))
    clean = torch.from_numpy(batch.tgt)
    words = clean[:, 1:] >= 4
    assert torch.equal(labels[words], (clean[:, 1:][words] - 3) % (WORDS - 4) + 4)
    assert not torch.equal(src, torch.from_numpy(batch.src))


def test_dropped_target_word_is_still_the_label():
    trainer = trainer_of(noise=Null())
    [batch] = trainer.batches(0)[1]
    _, tgt_in, labels = trainer.augmented(batch)
    clean = torch.from_numpy(batch.tgt)
    assert torch.equal(labels, clean[:, 1:])
    assert not (tgt_in >= 4).any()


def test_augmentation_leaves_the_data_alone():
    trainer = trainer_of(noise=Shift())
    [batch] = trainer.batches(0)[1]
    before = batch.src.copy(), batch.tgt.copy()
    trainer.update("", [batch])
    assert np.array_equal(batch.src, before[0])
    assert np.array_equal(batch.tgt, before[1])


def test_perplexity_is_exp_of_the_mean_loss_without_noise_smoothing_and_dropout():
    trainer = trainer_of(noise=Shift())
    pairs, total, tokens = trainer.pairs, 0.0, 0
    for i in range(len(pairs)):
        src = torch.tensor([[*pairs.src(i), 2]])
        tgt = torch.tensor([[1, *pairs.tgt(i), 2]])
        logits = trainer.model(src, torch.tensor([src.shape[1]]), tgt[:, :-1])
        log_p = logits.log_softmax(-1)[0, torch.arange(tgt.shape[1] - 1), tgt[0, 1:]]
        total, tokens = total - float(log_p.sum().detach()), tokens + len(log_p)
    wanted = math.exp(total / tokens)
    for batch_tokens in (10, 100, 10_000):
        measured = perplexity(trainer.model, pairs, batch_tokens=batch_tokens)
        assert measured == pytest.approx(wanted, rel=1e-5)


def state_of(trainer):
    tensors = {f"{s}.{n}": t for s, named in trainer.tensors().items() for n, t in named.items()}
    facts = {k: v for k, v in trainer.facts().items() if "seconds" not in k}
    return digest(tensors), facts


@pytest.mark.parametrize("noise", [None, Shift()], ids=["clean", "noisy"])
@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_restored_state_continues_bitwise(noise, precision):
    straight = trainer_of(noise=noise, precision=precision)
    for step in range(9):
        straight.update(*straight.batches(step))
        if step == 4:
            tensors = {
                s: {n: t.clone() for n, t in v.items()} for s, v in straight.tensors().items()
            }
            facts = straight.facts()
    resumed = trainer_of(noise=noise, precision=precision)
    resumed.restore(tensors, facts)
    for step in range(5, 9):
        resumed.update(*resumed.batches(step))
    assert state_of(resumed) == state_of(straight)


def test_every_product_in_bfloat16_is_compiled_once(monkeypatch):
    """oneDNN reads the variable before its first product; who has set it is obeyed."""
    for given, kept in (("7", "7"), (None, "32768")):
        monkeypatch.setenv(CACHE, given or "")
        if given is None:
            monkeypatch.delenv(CACHE)
        prepare_cpu(1)
        assert os.environ[CACHE] == kept


@pytest.mark.parametrize("instruction", [None, "avx512_bf16", "amx_bf16"])
def test_bfloat16_without_instructions_for_it_is_told(instruction, monkeypatch, caplog):
    """It took 3.5 times as long as float32, without a word."""
    found = {"architecture": "x86_64", "avx512_bf16": False, "amx_bf16": False}
    if instruction:
        found[instruction] = True
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: found)
    check_bfloat16()
    assert ("three times as long" in caplog.text) == (instruction is None)


def test_state_without_the_moments_is_not_enough():
    """The control of the test above: it can fail."""
    straight = trainer_of()
    for step in range(5):
        straight.update(*straight.batches(step))
    resumed = trainer_of()
    zeros = {n: torch.zeros_like(t) for n, t in straight.tensors()["optimizer"].items()}
    resumed.restore({"model": straight.tensors()["model"], "optimizer": zeros}, straight.facts())
    for trainer in (straight, resumed):
        trainer.update(*trainer.batches(5))
    assert state_of(resumed) != state_of(straight)


def test_non_finite_loss_names_the_batch_and_changes_nothing():
    trainer = trainer_of()
    trainer.flat.values.fill_(math.nan)
    who, parts = trainer.batches(0)
    ids = trainer.pairs.example_ids[trainer.plan.at(0)[1]]
    with pytest.raises(
        NonFiniteLoss, match=rf"loss is nan at step 1 \(epoch 0, examples {ids[0]},"
    ):
        trainer.update(who, parts)
    assert trainer.progress.step == 0
    assert torch.count_nonzero(trainer.tensors()["optimizer"]["first"]) == 0


def test_state_of_an_older_version_is_read():
    """Which noted the scale of float16 losses, too."""
    old = trainer_of().facts() | {"loss_scale": 65536.0, "loss_scale_age": 3, "step": 5}
    trainer = trainer_of()
    trainer.restore(trainer.tensors(), old)
    assert trainer.progress.step == 5


@pytest.mark.parametrize("world", [1, 2, 3, 7])
def test_processes_share_the_global_batch(world):
    trainers = [trainer_of(processes=Processes(rank, world)) for rank in range(world)]
    shares = [part for trainer in trainers for part in trainer.batches(0)[1]]
    ids = np.concatenate([share.example_ids for share in shares])
    (whole,) = trainer_of().batches(0)[1]
    assert sorted(ids) == sorted(whole.example_ids)
    assert max(len(s.src) for s in shares) - min(len(s.src) for s in shares) <= 1


def test_stop_request_of_one_reaches_all():
    trainer = trainer_of()
    assert not trainer.update(*trainer.batches(0)).is_stop_wanted
    assert trainer.update(*trainer.batches(1), is_stop_wanted=True).is_stop_wanted


@pytest.mark.slow
def test_compiled_model_learns_the_same_to_rounding():
    plain, compiled = trainer_of(), trainer_of(is_compiled=True)
    for step in range(3):
        for trainer in (plain, compiled):
            trainer.update(*trainer.batches(step))
    torch.testing.assert_close(compiled.flat.values, plain.flat.values, rtol=1e-4, atol=1e-5)
