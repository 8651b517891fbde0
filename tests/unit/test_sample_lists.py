"""Ragged rows: the same ids as the padded batch, back in the type that they had."""

from __future__ import annotations

import math

import numpy as np
import pytest

import switchout as so

WORDS = so.Words(50)
POLICIES = [
    so.SwitchOut(WORDS, tau=2.0),
    so.SwitchOut(WORDS, rate=0.3),
    so.RAML(WORDS, tau=1.0),
    so.Hamming(WORDS, tau=0.4),
    so.WordDropout(WORDS, rate=0.3),
    so.Chain(so.SwitchOut(WORDS, tau=2.0), so.WordDropout(WORDS, rate=0.2)),
]


def ragged(n: int = 60) -> list[list[int]]:
    rng = np.random.default_rng(3)
    rows = [rng.integers(0, 50, size).tolist() for size in rng.integers(0, 15, n)]
    rows[5] = [-100, 7, 8, -100]
    return rows


@pytest.mark.parametrize("policy", POLICIES, ids=repr)
@pytest.mark.parametrize("padding", ["right", "left"])
def test_lists_become_what_the_padded_batch_becomes(policy, padding):
    rows, ids = ragged(), list(range(100, 160))
    width = max(map(len, rows))
    block = np.zeros((len(rows), width), np.int64)  # 0 is special: padding
    at = [slice(0, len(r)) if padding == "right" else slice(width - len(r), width) for r in rows]
    for i, row in enumerate(rows):
        block[i, at[i]] = row
    new = policy.sample(block, seed=9, example_ids=ids, epoch=2, side="target")
    lists = policy.sample_lists(rows, seed=9, example_ids=ids, epoch=2, side="target")
    assert lists == [new[i, at[i]].tolist() for i in range(len(rows))]
    assert lists != rows
    assert rows == ragged()


def test_default_side_is_the_policys():
    rows, ids = ragged(), np.arange(60)
    raml = so.RAML(WORDS, tau=2.0)
    made = raml.sample_lists(rows, seed=1, example_ids=ids)
    assert made == raml.sample_lists(rows, seed=1, example_ids=ids, side="target")
    assert made != raml.sample_lists(rows, seed=1, example_ids=ids, side="source")


def test_frozen_positions_stay():
    rows = ragged()
    masks = [
        None if i % 3 == 0 else [j % 2 == 0 for j in range(len(r))] for i, r in enumerate(rows)
    ]
    policy = so.SwitchOut(WORDS, tau=float("inf"))
    new = policy.sample_lists(rows, seed=1, example_ids=range(60), frozen=masks)
    for old, made, mask in zip(rows, new, masks, strict=True):
        if mask is not None:
            assert made[::2] == old[::2]
    assert new != policy.sample_lists(rows, seed=1, example_ids=range(60))


def test_every_type_comes_back(framework):
    rows = [framework.array(np.array(row, np.int64)) for row in ragged() if row]
    policy, ids = so.SwitchOut(WORDS, tau=2.0), range(len(rows))
    new = policy.sample_lists(rows, seed=1, example_ids=ids)
    plain = policy.sample_lists([row for row in ragged() if row], seed=1, example_ids=ids)
    assert [type(row) for row in new] == [type(row) for row in rows]
    assert [np.asarray(row).tolist() for row in new] == plain
    assert all(a.dtype == b.dtype for a, b in zip(rows, new, strict=True))
    assert policy.sample_lists([(5, 6), [7]], seed=1, example_ids=[0, 1])[0].__class__ is tuple


def test_an_id_that_a_small_type_cannot_hold_is_refused():
    policy = so.SwitchOut(so.Words(50_000, draw_ids=[40_000, 40_001]), tau=math.inf)
    rows = [np.full(20, 5, np.int16)] * 9
    with pytest.raises(ValueError, match=r"int16 cannot hold the id 40,00[01]: use int32"):
        policy.sample_lists(rows, seed=1, example_ids=range(9))


def test_small_types_and_nothing_at_all():
    row = np.array([5, 6, 7], np.int16)
    policy = so.SwitchOut(WORDS, tau=2.0)
    assert policy.sample_lists([row], seed=1, example_ids=[1])[0].dtype == np.int16
    assert policy.sample_lists([], seed=1, example_ids=[]) == []
    assert policy.sample_lists([[], []], seed=1, example_ids=[0, 1]) == [[], []]


@pytest.mark.parametrize(
    ("rows", "settings", "error", "message"),
    [
        ([[5.5]], {}, TypeError, "rows\\[0\\] must hold integers"),
        ([[5], [[6]]], {}, TypeError, "rows\\[1\\] must be one-dimensional, got list \\[\\[6"),
        ([1, 5, 6], {}, TypeError, "rows\\[0\\] must be one-dimensional, got int 1"),
        (np.array([1, 5]), {}, TypeError, "rows\\[0\\] must be one-dimensional, got int64 1"),
        ([["5", "6"]], {}, TypeError, "rows\\[0\\] must hold integers"),
        ([[5], [50]], {}, ValueError, "id 50 at \\[1, 0\\] is not below size 50"),
        ([[5], [6]], {"example_ids": [1]}, ValueError, "example_ids"),
        ([[5], [6]], {"frozen": [None]}, ValueError, "frozen must have a mask for each"),
        ([[5], [6]], {"frozen": [None, [True, False]]}, ValueError, "frozen\\[1\\] has 2"),
        ([[5], [6]], {"frozen": [None, [1]]}, TypeError, "True and False"),
    ],
    ids=str,
)
def test_bad_rows_are_refused(rows, settings, error, message):
    settings = {"example_ids": [0, 1][: len(rows)]} | settings
    with pytest.raises(error, match=message):
        so.SwitchOut(WORDS, tau=1.0).sample_lists(rows, seed=1, **settings)
