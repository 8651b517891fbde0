"""Batches: who is in which step, and how ranks and parts share it."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from switchout.corpora.vocabulary import BOS, EOS
from switchout.nmt.batches import BatchPlan, make_batch, prefetch, split


class Pairs:
    def __init__(self, lengths):
        self.src_lengths = np.array([a for a, _ in lengths])
        self.tgt_lengths = np.array([b for _, b in lengths])
        self.example_ids = np.arange(len(lengths)) + 100

    def src(self, i):
        return np.arange(self.src_lengths[i]) + 4

    def tgt(self, i):
        return np.arange(self.tgt_lengths[i]) + 50

    def __len__(self):
        return len(self.src_lengths)


@pytest.fixture
def pairs():
    rng = np.random.default_rng(0)
    return Pairs(rng.integers(1, 30, size=(500, 2)).tolist())


def plan_of(pairs, *, seed=5, batch_tokens=128):
    return BatchPlan(pairs.src_lengths, pairs.tgt_lengths, seed=seed, batch_tokens=batch_tokens)


def test_every_epoch_holds_every_pair_once(pairs):
    plan = plan_of(pairs)
    for epoch in range(3):
        steps = range(epoch * plan.batches_per_epoch, (epoch + 1) * plan.batches_per_epoch)
        visits = [plan.at(step) for step in steps]
        assert {e for e, _ in visits} == {epoch}
        assert sorted(np.concatenate([i for _, i in visits])) == list(range(len(pairs)))


@pytest.mark.parametrize("batch_tokens", [1, 31, 128, 4096, 10**6])
def test_no_batch_exceeds_its_tokens_unless_it_is_one_sentence(pairs, batch_tokens):
    plan = plan_of(pairs, batch_tokens=batch_tokens)
    for step in range(plan.batches_per_epoch):
        batch = make_batch(pairs, plan.at(step)[1])
        cells = len(batch.src) * max(batch.src.shape[1], batch.tgt.shape[1] - 1)
        assert cells <= batch_tokens or len(batch.src) == 1


def test_cut_is_greedy(pairs):
    """No batch could have taken the next sentence too: the oracle is the plain loop."""
    lengths = np.sort(np.maximum(pairs.src_lengths, pairs.tgt_lengths) + 1)
    sizes, rows = [], 0
    for length in lengths:
        if rows and (rows + 1) * length > 128:
            sizes.append(rows)
            rows = 0
        rows += 1
    sizes.append(rows)
    plan = plan_of(pairs)
    assert sorted(sizes) == sorted(len(plan.at(s)[1]) for s in range(plan.batches_per_epoch))


def test_order_depends_on_seed_and_epoch_only(pairs):
    plan, other, steps = plan_of(pairs), plan_of(pairs), plan_of(pairs).batches_per_epoch
    forward = [plan.at(step)[1].tolist() for step in range(2 * steps)]
    backward = [other.at(step)[1].tolist() for step in reversed(range(2 * steps))][::-1]
    assert forward == backward
    assert forward[:steps] != forward[steps:]
    assert forward[:steps] != [plan_of(pairs, seed=6).at(s)[1].tolist() for s in range(steps)]


def test_batches_are_not_the_same_groups_every_epoch(pairs):
    plan = plan_of(pairs)
    groups = [
        {frozenset(plan.at(e * plan.batches_per_epoch + s)[1].tolist()) for s in range(40)}
        for e in range(2)
    ]
    assert len(groups[0] & groups[1]) < 5


def test_batch_marks_begin_and_end(pairs):
    batch = make_batch(Pairs([(2, 1), (1, 3)]), np.array([0, 1]))
    assert batch.src.tolist() == [[4, 5, EOS], [4, EOS, 0]]
    assert batch.tgt.tolist() == [[BOS, 50, EOS, 0, 0], [BOS, 50, 51, 52, EOS]]
    assert batch.src_lengths.tolist() == [3, 2]
    assert batch.tgt_lengths.tolist() == [2, 4]


def test_parts_hold_the_batch_and_fit(pairs):
    batch = make_batch(pairs, np.arange(20))
    parts = split(batch, 100)
    assert np.concatenate([p.example_ids for p in parts]).tolist() == batch.example_ids.tolist()
    assert all(p.src.size <= 100 and p.tgt[:, 1:].size <= 100 for p in parts)
    assert split(batch, None) == [batch]


def test_prefetch_keeps_order_and_runs_one_thread():
    names = set()

    def make(step):
        names.add(threading.current_thread().name)
        return step * step

    assert list(prefetch(make, range(3, 50))) == [s * s for s in range(3, 50)]
    assert names == {"prefetch_0"}


def test_prefetch_hands_errors_to_the_caller():
    def make(step):
        if step == 2:
            raise ZeroDivisionError
        return step

    with pytest.raises(ZeroDivisionError):
        list(prefetch(make, range(5)))


def test_prefetch_stops_its_thread_when_left_early():
    before = threading.active_count()
    steps = prefetch(lambda step: step, range(10**9))
    assert next(steps) == 0
    steps.close()
    assert threading.active_count() == before
