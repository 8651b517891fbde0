"""The model and its trainer learn what they must be able to learn, whatever the seed."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from train_toys import ListPairs, digit_pairs, fresh_seed

from switchout.nmt.batches import make_batch
from switchout.nmt.model import ModelSpec, Transformer
from switchout.nmt.schedule import Schedule
from switchout.nmt.search import SearchOptions, translate_ids
from switchout.nmt.trainer import Trainer, UpdateSpec


def learn(pairs: ListPairs, *, seed: int, steps: int, dropout: float = 0.0) -> Transformer:
    spec = ModelSpec(
        14, 14, layers=1, heads=4, d_head=16, d_model=64, d_inner=128, dropout=dropout, init=0.1
    )
    model = Transformer(spec, seed=seed)
    schedule = Schedule("linear", 0.004, warmup=100, total=steps)
    update = UpdateSpec(seed=seed, schedule=schedule, batch_tokens=512, clip=1.0)
    trainer = Trainer(model, pairs, spec=update)
    for step in range(steps):
        trainer.update(*trainer.batches(step))
    return model


def exact_matches(model: Transformer, pairs: ListPairs) -> float:
    batch = make_batch(pairs, np.arange(len(pairs)))
    src, lengths = torch.from_numpy(batch.src), torch.from_numpy(batch.src_lengths)
    found = translate_ids([model], src, lengths, SearchOptions(beam=1))
    return np.mean([h[0].ids == pairs.tgt(i).tolist() for i, h in enumerate(found)])


@pytest.mark.parametrize(("reverse", "steps"), [(False, 300), (True, 600)], ids=["copy", "reverse"])
def test_learns_to_copy_and_to_reverse(reverse, steps):
    seed = fresh_seed()
    model = learn(digit_pairs(2000, seed=seed, reverse=reverse), seed=seed, steps=steps)
    unseen = digit_pairs(300, seed=seed + 1, reverse=reverse)
    assert exact_matches(model, unseen) > 0.99


def test_overfits_32_pairs_that_have_no_rule():
    seed = fresh_seed()
    src, tgt = digit_pairs(32, seed=seed, longest=6), digit_pairs(32, seed=seed + 1, longest=6)
    pairs = ListPairs(
        [np.array([4 + i % 10, 4 + i // 10, *src.src(i)]) for i in range(32)], tgt._tgt
    )
    model = learn(pairs, seed=seed, steps=150)
    assert exact_matches(model, pairs) == 1.0
