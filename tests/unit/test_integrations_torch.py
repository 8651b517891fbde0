"""A switched training set: every item at its address, whatever loads it."""

from __future__ import annotations

import json
import warnings
from collections import namedtuple

import numpy as np
import pytest

import switchout as so
from switchout.errors import SwitchOutError

torch = pytest.importorskip("torch")
from torch.utils.data import (  # noqa: E402
    ConcatDataset,
    DataLoader,
    IterableDataset,
    Subset,
    random_split,
)

from switchout.integrations.torch import Switched  # noqa: E402

WORDS = so.Words(90)
SOURCE, TARGET = so.SwitchOut(WORDS, tau=1.0), so.RAML(WORDS, tau=1.1)


def rows(n: int = 40) -> list[dict[str, list[int]]]:
    rng = np.random.default_rng(1)

    def ids() -> list[int]:
        return [*rng.integers(4, 90, rng.integers(1, 12)).tolist(), 2]

    return [{"input_ids": ids(), "labels": ids(), "other": ["kept"]} for _ in range(n)]


def expected(data, epoch: int) -> list[tuple[list[int], list[int]]]:
    ids = range(len(data))
    x = SOURCE.sample_lists([r["input_ids"] for r in data], seed=5, example_ids=ids, epoch=epoch)
    y = TARGET.sample_lists([r["labels"] for r in data], seed=5, example_ids=ids, epoch=epoch)
    return list(zip(x, y, strict=True))


def fields(batch):
    return [(row["input_ids"], row["labels"]) for row in batch]


@pytest.mark.parametrize(("workers", "persistent"), [(0, False), (2, False), (2, True)])
def test_every_item_is_at_its_address(workers, persistent):
    data = rows()
    train = Switched(data, SOURCE, TARGET, seed=5)
    loader = DataLoader(
        train, batch_size=7, collate_fn=fields, num_workers=workers, persistent_workers=persistent
    )
    for epoch in (0, 1, 2):
        train.set_epoch(epoch)
        assert [pair for batch in loader for pair in batch] == expected(data, epoch)
    assert data == rows()


def test_items_one_by_one_and_from_behind():
    train = Switched(rows(), SOURCE, TARGET, seed=5)
    train.set_epoch(3)
    assert fields(train) == expected(rows(), 3)
    assert train[-1] == train[len(train) - 1]
    assert train[torch.tensor(4)] == train[4] == train[np.int64(4)]
    assert train[0]["other"] == ["kept"]
    with pytest.raises(IndexError, match="row 40: the training set has 40 rows"):
        train[len(train)]
    with pytest.raises(TypeError, match=r"a row number or a slice, got \[0, 1\]"):
        train[[0, 1]]
    with pytest.raises(TypeError, match=r"a row number or a slice, got tensor"):
        train[torch.tensor([0, 1])]


def test_the_noise_in_words():
    words = so.Words(90, draw_ids=[5, 6, 7])
    policies = [so.SwitchOut(WORDS, rate=np.float32(0.25)), so.SwitchOut(words, rate=0.25)]
    first, second = (Switched(rows(), policy, seed=np.int64(5)).noise for policy in policies)
    assert json.loads(json.dumps(first)) == first
    assert first["seed"] == 5
    assert first["source"].startswith("SwitchOut(rate=0.25), words ")
    assert first["target"] == "as it is"
    assert first["source"] != second["source"]


def test_a_slice_is_a_list_of_rows():
    train = Switched(rows(), SOURCE, TARGET, seed=5)
    train.set_epoch(3)
    assert fields(train[:2]) == expected(rows(), 3)[:2]
    assert fields(train[-1:2:-7]) == expected(rows(), 3)[-1:2:-7]
    assert train[4:4] == []
    with pytest.raises(IndexError):
        train[-len(train) - 1]


@pytest.mark.parametrize("kind", [tuple, list, namedtuple("Row", "x y")._make])
def test_tuples_of_tensors(kind):
    data = [kind((torch.tensor(r["input_ids"]), torch.tensor(r["labels"]))) for r in rows()]
    train = Switched(data, SOURCE, TARGET, seed=5, source_key=0, target_key=1)
    assert type(train[0]) is type(data[0])
    made = [(x.tolist(), y.tolist()) for x, y in train]
    assert made == expected(rows(), 0)


def test_one_side_alone_and_frozen_places():
    train = Switched(rows(), target=TARGET, seed=5, frozen_y=lambda row: [1] * len(row["labels"]))
    assert list(train) == rows()
    train = Switched(rows(), SOURCE, seed=5)
    assert [row["labels"] for row in train] == [row["labels"] for row in rows()]
    assert [row["input_ids"] for row in train] == [x for x, _ in expected(rows(), 0)]


class Stream(IterableDataset):
    def __iter__(self):
        yield from rows()


@pytest.mark.parametrize(
    ("data", "policies", "message"),
    [
        (lambda: Switched(rows(), SOURCE, seed=1), (SOURCE,), "switched already"),
        (lambda: Subset(Switched(rows(), SOURCE, seed=1), [3]), (SOURCE,), "switched already"),
        (lambda: random_split(Switched(rows(), SOURCE, seed=1), [30, 10])[0], (SOURCE,), "already"),
        (
            lambda: Subset(ConcatDataset([rows(), Switched(rows(), SOURCE, seed=1)]), [3]),
            (SOURCE,),
            "switched already",
        ),
        (Stream, (SOURCE,), "has no row numbers"),
        (list, (SOURCE,), "empty"),
        (rows, (), "nothing to switch"),
        (lambda: [{"x": [1]}], (SOURCE,), "no column 'input_ids'; they have: 'x'"),
        (lambda: [([4, 5],)], (SOURCE,), "no column 'input_ids'; they have: 0"),
    ],
)
def test_a_set_that_cannot_be_switched_is_refused_at_once(data, policies, message):
    with pytest.raises(SwitchOutError, match=message):
        Switched(data(), *policies, seed=1)


def test_shifted_labels_of_the_rows_own_are_refused_where_labels_change():
    """Decoder inputs made from the old labels would not fit the new ones."""
    data = [{**row, "decoder_input_ids": [0, *row["labels"][:-1]]} for row in rows()]
    with pytest.raises(SwitchOutError, match="remove it, the collator makes it"):
        Switched(data, SOURCE, TARGET, seed=3)
    assert Switched(data, SOURCE, seed=3)[0]["labels"] == data[0]["labels"]


def test_rows_must_be_one_dimensional():
    train = Switched([{"input_ids": torch.tensor([[5, 6], [7, 8]])}], SOURCE, seed=1)
    with pytest.raises(TypeError, match=r"must be one-dimensional, got Tensor tensor\(\[\[5") as no:
        train[0]
    assert "\n" not in str(no.value)


def test_an_id_beyond_the_vocabulary_names_its_row():
    data = rows()
    data[17]["labels"][0] = 90
    train = Switched(data, SOURCE, TARGET, seed=1)
    with pytest.raises(SwitchOutError, match=r"row 17 of the training set: id 90 .* size 90"):
        train.__getitems__([3, 17, 5])


def test_an_epoch_for_each_row_is_refused():
    x = torch.full((2, 3), 5)
    with pytest.raises(ValueError, match="epoch must be one number for the whole batch"):
        SOURCE.sample(x, seed=1, example_ids=[0, 1], epoch=torch.tensor([0, 1]))
    SOURCE.sample(x, seed=1, example_ids=[0, 1], epoch=torch.tensor(1))


def test_the_same_noise_in_every_epoch_is_noticed():
    rows = [{"input_ids": [5, 6, 7], "labels": [8, 9]}] * 4
    policy = so.SwitchOut(so.Words(100), tau=1.0)
    forgotten = Switched(rows, policy, seed=1)
    list(DataLoader(forgotten, batch_size=2, collate_fn=list))
    with pytest.warns(UserWarning, match=r"every epoch has the same noise: call set_epoch"):
        list(DataLoader(forgotten, batch_size=2, collate_fn=list))
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # said once, and never where an epoch was set
        list(DataLoader(forgotten, batch_size=2, collate_fn=list))
        minded = Switched(rows, policy, seed=1)
        for epoch in range(3):
            minded.set_epoch(epoch)
            list(DataLoader(minded, batch_size=2, collate_fn=list))


@pytest.mark.parametrize(
    ("policies", "settings", "message"),
    [
        ((WORDS, WORDS), {}, r"the source must be a policy such as so.SwitchOut.*, got Words"),
        ((SOURCE, WORDS), {}, r"the target must be a policy"),
        ((SOURCE,), {"rate": 0.1}, r"unknown setting 'rate': .*so.SwitchOut\(words, rate=…\)"),
        ((SOURCE,), {"source_keys": 0}, r"unknown setting 'source_keys' .did you mean 'source_key"),
    ],
)
def test_arguments_that_are_no_policies_or_settings(policies, settings, message):
    with pytest.raises(TypeError, match=message):
        Switched(rows(), *policies, seed=1, **settings)


@pytest.mark.parametrize("seed", [2**64, -1, 1.5, "a", None])
def test_a_seed_is_checked_before_the_first_row(seed):
    with pytest.raises(SwitchOutError, match="seed must be a whole number"):
        Switched(rows(), SOURCE, seed=seed)


@pytest.mark.parametrize("epoch", ["a", 1.5, -1, None])
def test_an_epoch_is_a_whole_number(epoch):
    train = Switched(rows(), SOURCE, seed=1)
    with pytest.raises(SwitchOutError, match="epoch must be a whole number"):
        train.set_epoch(epoch)
