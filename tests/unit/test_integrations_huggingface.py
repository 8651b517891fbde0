"""The Hugging Face Trainer, small and real: what the model reads, and what it does not.

Workers, several processes and more tokenizers: tests/integrations (make test-integrations).
"""

from __future__ import annotations

from collections import Counter

import pytest
import scipy.stats

import switchout as so
import toy_tokenizers as toys
import trainers
from switchout.errors import SwitchOutError
from switchout.pieces import Pieces
from switchout.policies.whole_words import WholeWords, WordBook

pytest.importorskip("transformers")
torch = pytest.importorskip("torch")
datasets = pytest.importorskip("datasets")
from torch.utils.data import Subset  # noqa: E402

from switchout.integrations.huggingface import (  # noqa: E402
    EpochCallback,
    SwitchRows,
    switch_out,
)
from switchout.integrations.policy_maker import column_rows  # noqa: E402

SETTINGS = {"tau_x": 1.0, "tau_y": 1.1, "seed": 5}
TEXTS = [{"input_ids": ["Guten", "Tag"], "labels": ["good", "day"]}]


@pytest.fixture(scope="module")
def marian(tmp_path_factory):
    return toys.marian(tmp_path_factory.mktemp("marian"))


@pytest.fixture(scope="module")
def train(marian):
    return trainers.tokenised(marian, 48)


@pytest.fixture(scope="module")
def dev(marian):
    return trainers.tokenised(marian, 16, first=200)


def test_every_row_that_the_model_reads_is_at_its_address(marian, train, dev, tmp_path):
    trainer = trainers.make(marian, train, dev, tmp_path)
    switch_out(trainer, **SETTINGS)
    result = trainer.train()
    assert result.training_loss > 0
    expected = trainers.policies(marian, train, **SETTINGS)
    for epoch in range(3):
        assert trainer.pairs_of(epoch) == trainers.switched_pairs(train, *expected, 5, epoch)
    for _, batch in trainer.seen:  # made from the new labels, shifted
        for y, decoder in zip(batch["labels"], batch["decoder_input_ids"], strict=True):
            n = int((y != -100).sum())
            assert decoder[1:n].tolist() == y[: n - 1].tolist()


def test_evaluation_reads_what_it_reads_without_us(marian, train, dev, tmp_path):
    plain = trainers.make(marian, train, dev, tmp_path / "a")
    plain.evaluate()
    trainer = trainers.make(marian, train, dev, tmp_path / "b", num_train_epochs=1)
    switch_out(trainer, **SETTINGS)
    trainer.train()
    trainer.evaluate()
    assert trainers.digest(trainer.evaluated) == trainers.digest(plain.evaluated)


def test_a_run_resumed_in_the_middle_of_an_epoch_reads_the_same_and_ends_the_same(
    marian, train, tmp_path
):
    steps = {"save_strategy": "steps", "save_steps": 9}  # 6 batches an epoch: in the second
    whole = trainers.make(marian, train, None, tmp_path, **steps)
    switch_out(whole, **SETTINGS)
    whole.train()
    rest = trainers.make(marian, train, None, tmp_path, **steps)
    switch_out(rest, **SETTINGS)
    rest.train(resume_from_checkpoint=str(tmp_path / "checkpoint-9"))
    assert len(rest.seen) == 9
    assert trainers.digest(rest.batches()) == trainers.digest(whole.batches()[9:])
    assert trainers.weights(rest.model) == trainers.weights(whole.model)


def test_a_training_set_that_replaces_the_switched_one_is_refused(marian, train, dev, tmp_path):
    trainer = trainers.make(marian, train, None, tmp_path, num_train_epochs=1)
    switch_out(trainer, **SETTINGS)
    trainer.train_dataset = dev
    with pytest.raises(SwitchOutError, match=r"train_dataset was replaced after switch_out") as no:
        trainer.train()
    assert "\n" not in str(no.value)
    assert trainer.seen == []
    switch_out(trainer, **SETTINGS)
    trainer.train()
    policies = trainers.policies(marian, dev, **SETTINGS)
    assert trainer.pairs_of(0) == trainers.switched_pairs(dev, *policies, 5, 0)
    trainer.train_dataset = dev
    trainer.remove_callback(EpochCallback)
    trainer.train()


class Hidden(trainers.Rows):
    """A set around another, under a name that says nothing."""


def columns(data):
    return data.select_columns(["input_ids", "attention_mask", "labels"])


@pytest.mark.parametrize(
    ("rows", "is_streamed", "is_warned"),
    [
        (lambda trainer, clean: columns(clean), False, True),
        (lambda trainer, clean: trainers.Rows(list(columns(clean))), False, True),
        (lambda trainer, clean: columns(clean), True, True),
        (lambda trainer, clean: trainer.train_dataset, False, False),
        (lambda trainer, clean: Hidden(trainer.train_dataset), False, False),
        (lambda trainer, clean: Subset(trainer.train_dataset, range(24)), False, False),
    ],
    ids=["clean", "global", "stream", "own", "wrapped", "subset"],
)
def test_a_loader_of_its_own_without_noise_is_told(
    marian, train, tmp_path, caplog, rows, is_streamed, is_warned
):
    clean, settings = columns(train), dict(SETTINGS)
    if is_streamed:
        clean = train.add_column("id", list(range(len(train)))).to_iterable_dataset()
        settings |= {"draw": "vocabulary", "id_column": "id"}
    trainer = trainers.make(marian, clean, None, tmp_path, kind=trainers.OwnLoader, max_steps=2)
    switch_out(trainer, **settings)
    next(iter(trainer.train_dataset))  # a look at the rows is no training
    trainer.own_loader = torch.utils.data.DataLoader(
        rows(trainer, train), batch_size=8, collate_fn=trainer.data_collator
    )
    trainer.train()
    messages = [r.getMessage() for r in caplog.records if r.name.startswith("switchout")]
    assert len(messages) == is_warned
    assert not is_warned or "own get_train_dataloader reads another data set" in messages[0]


def test_a_loader_made_before_the_second_noise_is_told(marian, train, tmp_path, caplog):
    data = columns(train)
    trainer = trainers.make(marian, data, None, tmp_path, kind=trainers.OwnLoader, max_steps=2)
    switch_out(trainer, **SETTINGS)
    trainer.own_loader = torch.utils.data.DataLoader(
        trainer.train_dataset, batch_size=8, collate_fn=trainer.data_collator
    )
    trainer.train()
    assert not caplog.records
    switch_out(trainer, **SETTINGS | {"seed": 6})
    trainer.train()
    (record,) = caplog.records
    assert "own get_train_dataloader reads another data set" in record.getMessage()


@pytest.mark.parametrize(
    ("is_streamed", "steps"),
    [
        (False, {}),
        (False, {"dataloader_num_workers": 2}),
        (False, {"train_sampling_strategy": "group_by_length"}),
        (True, {}),
        (True, {"dataloader_num_workers": 2}),
    ],
    ids=str,
)
def test_the_trainers_own_loaders_are_not_suspected(
    marian, train, tmp_path, caplog, is_streamed, steps
):
    data, settings = train, dict(SETTINGS)
    if is_streamed:
        data = train.add_column("id", list(range(len(train)))).to_iterable_dataset(num_shards=2)
        settings |= {"draw": "vocabulary", "id_column": "id"}
    trainer = trainers.make(marian, data, None, tmp_path, max_steps=2, **steps)
    switch_out(trainer, **settings)
    trainer.train()
    assert not [r for r in caplog.records if r.name.startswith("switchout")]


@pytest.mark.parametrize("is_streamed", [False, True])
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, None),
        ({"seed": 6}, "checkpoint: seed 6 (was 5)"),
        ({"tau_x": 2.0}, "checkpoint: source SwitchOut(tau=2.0), words"),
        ({"tau_y": None}, "checkpoint: target as it is (was RAML(tau=1.1), words"),
    ],
    ids=str,
)
def test_a_resume_with_other_noise_is_warned_of(
    marian, train, tmp_path, caplog, changes, said, is_streamed
):
    """Once; and a checkpoint that the resumed run writes is of the new noise."""
    steps = {"max_steps": 8, "save_strategy": "steps", "save_steps": 2}
    settings = {**SETTINGS, "draw": "vocabulary", "id_column": "id" if is_streamed else None}
    data = train.add_column("id", list(range(len(train))))
    data = data.to_iterable_dataset() if is_streamed else data

    def resume(checkpoint, changes):
        caplog.clear()
        trainer = trainers.make(marian, data, None, tmp_path, **steps)
        switch_out(trainer, **settings | changes)
        trainer.train(resume_from_checkpoint=checkpoint and str(tmp_path / checkpoint))
        return [r.getMessage() for r in caplog.records if r.name.startswith("switchout")]

    assert resume(None, {}) == []
    messages = resume("checkpoint-4", changes)
    assert len(messages) == (said is not None)
    assert all("goes on with other noise than its checkpoint" in line for line in messages)
    assert said is None or said in messages[0]
    assert resume("checkpoint-6", changes) == []


@pytest.mark.parametrize("is_streamed", [False, True])
def test_a_second_train_is_told_that_its_noise_repeats(
    marian, train, tmp_path, caplog, is_streamed
):
    settings = {**SETTINGS, "draw": "vocabulary", "id_column": "id" if is_streamed else None}
    data = train.add_column("id", list(range(len(train))))
    data = data.to_iterable_dataset() if is_streamed else data
    steps = {"max_steps": 6, "save_strategy": "steps", "save_steps": 3}
    trainer = trainers.make(marian, data, None, tmp_path, **steps)

    def again(seed, **how):
        caplog.clear()
        if seed is not None:
            switch_out(trainer, **settings | {"seed": seed})
        trainer.seen.clear()
        trainer.train(**how)
        return [r.getMessage() for r in caplog.records if r.name.startswith("switchout")]

    def is_noise_of(seed):
        policies = trainers.policies(marian, train, draw="vocabulary", **SETTINGS)
        return trainer.pairs_of(0) == trainers.switched_pairs(train, *policies, seed, 0)

    assert again(5) == []
    assert is_noise_of(5)
    assert again(None, resume_from_checkpoint=str(tmp_path / "checkpoint-3")) == []
    (line,) = again(None)
    assert "train() was called before on this trainer" in line
    assert "call switch_out again with another seed" in line
    assert is_noise_of(5)
    assert again(6) == []
    assert is_noise_of(6)
    assert len(again(5)) == 1  # the same cell of a notebook, run again
    assert is_noise_of(5)


def test_a_trainer_that_makes_its_model_anew_may_repeat_its_noise(marian, train, tmp_path, caplog):
    """Such a train() is another run, as the trials of a hyper-parameter search are."""
    trainer = trainers.make(marian, train, None, tmp_path, max_steps=2)
    trainer.model_init = lambda: trainer.model
    switch_out(trainer, **SETTINGS)
    trainer.train()
    trainer.train()
    assert not [r for r in caplog.records if r.name.startswith("switchout")]


def test_an_epoch_that_is_ended_early_counts(marian, train, tmp_path):
    trainer = trainers.make(marian, train, None, tmp_path)
    switch_out(trainer, **SETTINGS)
    trainer.stop_epoch_after = 2
    trainer.add_callback(trainers.EarlyEnd(2))
    trainer.train()
    policies = trainers.policies(marian, train, **SETTINGS)
    for epoch in range(3):
        pairs = trainer.pairs_of(epoch)
        assert len(pairs) == 16
        assert set(pairs) <= set(trainers.switched_pairs(train, *policies, 5, epoch))


def test_the_number_of_changed_words_follows_algorithm_1(marian):
    row = trainers.tokenised(marian, 1)[0]
    n = 12_000
    rows = [{"input_ids": row["input_ids"], "labels": row["labels"]}] * n
    words = so.Words.from_tokenizer(marian)
    from switchout.integrations.torch import Switched

    policy = so.SwitchOut(words, tau=1.0)
    switched = Switched(rows, policy, seed=2)
    old, length = row["input_ids"], len(row["input_ids"]) - 1
    assert old[-1] == marian.eos_token_id
    new = [made["input_ids"] for made in switched.__getitems__(range(n))]
    changes = Counter(sum(a != b for a, b in zip(old, made, strict=True)) for made in new)
    probabilities = policy.change_probabilities(length)
    few = [*probabilities[:4], probabilities[4:].sum()]
    counts = [changes[k] for k in range(4)]
    counts.append(n - sum(counts))
    assert scipy.stats.chisquare(counts, [p * n for p in few]).pvalue > 0.001


def test_whole_words_in_training(marian, train, tmp_path):
    trainer = trainers.make(marian, train, None, tmp_path, num_train_epochs=1)
    switch_out(trainer, unit="word", **SETTINGS)
    trainer.train()
    (_, _, source, _), (_, _, target, _) = trainer.train_dataset._switch.sides
    assert isinstance(source, WholeWords)
    assert source.max_length == 64
    assert trainer.pairs_of(0) == trainers.switched_pairs(train, source, target, 5, 0)
    lengths = [(len(a["input_ids"]), len(b["input_ids"]))
               for a, b in zip(train, trainer.train_dataset, strict=True)]  # fmt: skip
    assert any(a != b for a, b in lengths)
    for row in trainer.train_dataset:
        assert row["attention_mask"] == [1] * len(row["input_ids"])


@pytest.mark.parametrize("kind", ["datasets", "list", "torch"])
def test_any_map_style_set(marian, train, tmp_path, kind):
    rows = [dict(row) for row in train]
    data = {"datasets": train, "list": rows, "torch": trainers.Rows(rows)}[kind]
    trainer = trainers.make(marian, data, None, tmp_path, num_train_epochs=1)
    switch_out(trainer, **SETTINGS)
    trainer.train()
    policies = trainers.policies(marian, train, **SETTINGS)
    assert trainer.pairs_of(0) == trainers.switched_pairs(train, *policies, 5, 0)


def test_what_is_drawn(marian, train, tmp_path):
    for draw, rows in (("corpus", train["input_ids"]), ("vocabulary", None)):
        trainer = trainers.make(marian, train, None, tmp_path)
        switch_out(trainer, tau_x=1.0, seed=5, draw=draw)
        ((_, _, policy, _),) = trainer.train_dataset._switch.sides
        assert policy == so.SwitchOut(so.Words.from_tokenizer(marian, rows), tau=1.0)
    trainer = trainers.make(marian, train, None, tmp_path)
    dropout = so.WordDropout(so.Words.from_tokenizer(marian), rate=0.2, null_id=1)
    switch_out(trainer, dropout, rate_y=0.1, seed=5)
    (_, _, source, _), (_, _, target, _) = trainer.train_dataset._switch.sides
    assert source is dropout
    assert target == so.RAML(so.Words.from_tokenizer(marian, train["labels"]), rate=0.1)


def test_columns_are_read_the_same_from_tables_and_rows(train):
    wanted = list(train["input_ids"])
    for data in (train, train.select(range(40)).shuffle(seed=1), [dict(row) for row in train]):
        rows = [list(map(int, row)) for row in column_rows(data, "input_ids")]
        assert rows == [list(row["input_ids"]) for row in data]
    assert len(wanted) == 48


def test_map_and_streams(marian, train):
    (source, target), ids = trainers.policies(marian, train, **SETTINGS), range(len(train))
    want = source.sample_lists(list(train["input_ids"]), seed=5, example_ids=ids, epoch=2)
    switch = SwitchRows(source, target, seed=5, epoch=2)
    made = train.map(switch, batched=True, batch_size=7, with_indices=True)
    assert list(made["input_ids"]) == want
    numbered = train.add_column("id", list(ids)).to_iterable_dataset(num_shards=3)
    switch = SwitchRows(source, target, seed=5, epoch=2, id_column="id")
    shuffled = numbered.shuffle(seed=1, buffer_size=16).map(switch, batched=True, batch_size=5)
    assert {row["id"]: row["input_ids"] for row in shuffled} == dict(enumerate(want))
    with pytest.raises(SwitchOutError, match=r"with_indices=True.*id_column"):
        train.map(SwitchRows(source, seed=5), batched=True)
    for data, settings in ((train, {"with_indices": True}), (numbered, {})):
        switch = SwitchRows(source, seed=5, id_column="id" if data is numbered else None)
        with pytest.raises(SwitchOutError, match=r"one by one: use .*batched=True"):
            next(iter(data.map(switch, **settings)))
    with pytest.raises(SwitchOutError, match="epoch must be a whole number"):
        SwitchRows(source, seed=5, epoch=-1)
    with pytest.raises(SwitchOutError, match="no column 'nr', only 'input_ids'"):
        SwitchRows(source, seed=5, id_column="nr")({"input_ids": [[5]]})


def test_a_streamed_training_set(marian, train, tmp_path):
    ids = range(len(train))
    stream = train.add_column("id", list(ids)).to_iterable_dataset()
    trainer = trainers.make(marian, stream, None, tmp_path, max_steps=12)
    policies = trainers.policies(marian, train, draw="vocabulary", **SETTINGS)
    switch_out(trainer, id_column="id", draw="vocabulary", **SETTINGS)
    trainer.train()
    both = [trainers.switched_pairs(train, *policies, 5, epoch) for epoch in (0, 1)]
    made = [pair for _, batch in trainer.seen for pair in trainers.pairs(batch)]
    assert sorted(made) == sorted(both[0] + both[1])


def tiny_tokenizer():
    tokenizers, transformers = (pytest.importorskip(n) for n in ("tokenizers", "transformers"))
    model = tokenizers.models.WordLevel({"<unk>": 0, "<pad>": 1}, unk_token="<unk>")
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizers.Tokenizer(model))


@pytest.mark.parametrize(
    ("change", "settings", "message"),
    [
        ({}, {"tau_x": 1.0, "unit": "words"}, "unit='words' is unknown .did you mean 'word'"),
        ({}, {"tau_x": 1.0, "draw": "all"}, "draw='all' is unknown"),
        ({}, {}, "nothing to switch: .* takes tau_x and tau_y"),
        ({"train_dataset": []}, {"tau_x": 1.0}, "the training set is empty"),
        (
            {"train_dataset": [{"input_ids": [0]}]},
            {"tau_x": 1.0},
            "the training set must have .* words, got 0",
        ),
        ({"train_dataset": TEXTS}, {"tau_x": 1.0}, "'input_ids': rows.0. must hold integers"),
        ({"train_dataset": TEXTS}, {"tau_x": 1.0, "unit": "word"}, "rows.0. must hold integers"),
        ({}, {"tau_x": 1.0, "source_key": "ids"}, "column 'ids'.* no such column"),
        ({"train_dataset": None}, {"tau_x": 1.0}, "no training set"),
        ({"processing_class": None}, {"tau_x": 1.0}, "give tokenizer="),
        ({"processing_class": tiny_tokenizer}, {"tau_x": 1.0}, "none of the .* ids are words"),
        ({"beyond": True}, {"tau_x": 1.0}, "column 'input_ids': id 9999 is not below"),
        ({"stream": True}, {"tau_x": 1.0}, "cannot be read before training: use draw='voc"),
        ({"stream": True}, {"tau_x": 1.0, "draw": "vocabulary"}, "id_column"),
    ],
)
def test_mistakes_are_one_clear_line(marian, train, tmp_path, change, settings, message):
    trainer = trainers.make(marian, train, None, tmp_path)
    if change.pop("beyond", False):
        trainer.train_dataset = [*train, {"input_ids": [9999], "labels": [5]}]
    if change.pop("stream", False):
        trainer.train_dataset = train.to_iterable_dataset()
    for name, value in change.items():
        setattr(trainer, name, value() if callable(value) else value)
    with pytest.raises(SwitchOutError, match=message) as caught:
        switch_out(trainer, seed=1, **settings)
    assert "\n" not in str(caught.value)


def test_shifted_labels_of_the_rows_own_are_refused(marian, train, tmp_path):
    shifted = train.add_column("decoder_input_ids", [[0, *y[:-1]] for y in train["labels"]])
    trainer = trainers.make(marian, shifted, None, tmp_path)
    with pytest.raises(SwitchOutError, match="remove it, the collator makes it"):
        switch_out(trainer, **SETTINGS)
    assert trainer.train_dataset is shifted
    switch = SwitchRows(None, trainers.policies(marian, train, **SETTINGS)[1], seed=5)
    with pytest.raises(SwitchOutError, match="remove it, the collator makes it"):
        switch(shifted[:2], [0, 1])


def test_switching_twice_is_refused(marian, train, tmp_path):
    trainer = trainers.make(marian, train, None, tmp_path)
    switch_out(trainer, **SETTINGS)
    with pytest.raises(SwitchOutError, match="switched already"):
        switch_out(trainer, **SETTINGS)
    part = torch.utils.data.Subset(trainer.train_dataset, range(8))
    with pytest.raises(SwitchOutError, match="switched already"):
        switch_out(trainers.make(marian, part, None, tmp_path), **SETTINGS)
    streamed = train.add_column("id", list(range(len(train)))).to_iterable_dataset()
    trainer = trainers.make(marian, streamed, None, tmp_path, max_steps=12)
    switch_out(trainer, id_column="id", draw="vocabulary", **SETTINGS)
    with pytest.raises(SwitchOutError, match="switched already"):
        switch_out(trainer, id_column="id", draw="vocabulary", **SETTINGS)


def beyond(kind, marian, train):
    """A policy that draws the id behind the last one of the model."""
    words = so.Words(len(marian) + 1)
    if kind == "chain":
        return so.Chain(so.SwitchOut(so.Words.from_tokenizer(marian), tau=1.0),
                        so.SwitchOut(words, tau=3.0))  # fmt: skip
    if kind == "dropout":
        return so.WordDropout(words, rate=0.1, null_id=len(marian))
    if kind == "whole words":
        pieces = Pieces([*Pieces.of(marian).names, "▁beyond"], Pieces.of(marian).special)
        book = WordBook(pieces, [*train["input_ids"], [len(marian)]])
        return WholeWords(book, so.SwitchOut(book.words, tau=1.0))
    return so.SwitchOut(words, tau=3.0)


@pytest.mark.parametrize("kind", ["switchout", "chain", "dropout", "whole words"])
@pytest.mark.parametrize("side", ["source", "target"])
def test_a_policy_beyond_the_embedding_is_refused(marian, train, tmp_path, kind, side):
    trainer = trainers.make(marian, train, None, tmp_path)
    line = rf"policy of the {side} draws ids up to {len(marian)}, the model has {len(marian)}:"
    with pytest.raises(SwitchOutError, match=line):
        switch_out(trainer, seed=1, **{side: beyond(kind, marian, train)})
    assert trainer.train_dataset is train
    trainer.model.resize_token_embeddings(len(marian) + 1)
    switch_out(trainer, seed=1, **{side: beyond(kind, marian, train)})


def test_without_a_model_the_tokenizer_says_how_many_ids_there_are(marian, train, tmp_path):
    trainer = trainers.make(marian, train, None, tmp_path)
    trainer.model = None
    with pytest.raises(SwitchOutError, match=f"the tokenizer has {len(marian)}:"):
        switch_out(trainer, beyond("switchout", marian, train), seed=1)
    unreached = so.Words(len(marian) + 9, draw_ids=[5, 6, 7])  # larger, but never drawn
    switch_out(trainer, so.SwitchOut(unreached, tau=1.0), seed=1)


def test_a_tau_without_a_side_a_model_and_words_are_refused(marian, train, tmp_path):
    trainer = trainers.make(marian, train, None, tmp_path)
    with pytest.raises(TypeError, match=r"unknown setting 'tau': .* takes tau_x for the source"):
        switch_out(trainer, tau=1.0, seed=1)
    with pytest.raises(SwitchOutError, match="expected a Trainer with its data, got MarianMTModel"):
        switch_out(trainer.model, tau_x=1.0, seed=1)
    with pytest.raises(TypeError, match=r"the source must be a policy such as so.SwitchOut"):
        switch_out(trainer, so.Words.from_tokenizer(marian), seed=1)


def test_a_policy_and_a_temperature_for_one_side_are_refused(marian, train, tmp_path):
    policy = so.SwitchOut(so.Words.from_tokenizer(marian), tau=1.0)
    for settings in ({"source": policy, "tau_x": 2.0}, {"target": policy, "rate_y": 0.1}):
        trainer = trainers.make(marian, train, None, tmp_path)
        with pytest.raises(SwitchOutError, match="not both"):
            switch_out(trainer, seed=1, **settings)
        assert trainer.train_dataset is train


def test_one_line_says_how_much_will_change(marian, train, tmp_path, caplog):
    caplog.set_level("INFO", "switchout")
    switch_out(trainers.make(marian, train, None, tmp_path), tau_x=1.0, rate_y=0.1, seed=1)
    (record,) = caplog.records
    assert "source SwitchOut(tau=1.0), 2.3% of the words change" in record.getMessage()
    assert "target RAML(rate=0.1), 10.0% of the words change" in record.getMessage()
