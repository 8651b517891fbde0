"""Decoder-only models: the prompt stays, and a changed completion is the same in ids and labels.

TRL's trainer itself: tests/integrations/test_trl.py.
"""

from __future__ import annotations

import pickle
from collections import Counter

import numpy as np
import pytest
import scipy.stats

import switchout as so
import toy_tokenizers as toys
from switchout.errors import SwitchOutError

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
from switchout.integrations.huggingface import SwitchRows, switch_out  # noqa: E402
from switchout.integrations.torch import Switched  # noqa: E402

WORDS = so.Words(90)
SOURCE, TARGET = so.SwitchOut(WORDS, tau=1.0), so.RAML(WORDS, tau=1.1)
FRAME = 2  # words of the instruction


def rows(n=60):
    rng = np.random.default_rng(1)
    made = []
    for _ in range(n):
        prompt = [10, 11, *rng.integers(4, 90, rng.integers(1, 9)).tolist()]
        completion = [*rng.integers(4, 90, rng.integers(1, 9)).tolist(), 2]
        made.append({"input_ids": prompt + completion, "labels": [-100] * len(prompt) + completion})
    return made


def instruction(row):
    return [i < FRAME for i in range(len(row["input_ids"]))]


@pytest.mark.parametrize("kind", [list, np.array, torch.tensor])
def test_a_changed_completion_is_the_same_in_both_columns(kind):
    old = rows()
    data = [{name: kind(column) for name, column in row.items()} for row in old]
    new = list(Switched(data, target=TARGET, seed=5, one_text=True))
    assert isinstance(new[0]["input_ids"], type(data[0]["input_ids"]))
    labels = TARGET.sample_lists([r["labels"] for r in old], seed=5, example_ids=range(60))
    for row, made, wanted in zip(old, new, labels, strict=True):
        n_prompt = row["labels"].count(-100)
        assert list(made["labels"]) == wanted
        assert list(made["input_ids"]) == row["input_ids"][:n_prompt] + wanted[n_prompt:]
    assert [list(made["labels"]) for made in new] != [row["labels"] for row in old]


def test_the_prompt_changes_only_where_the_user_lets_it():
    old = rows()
    train = Switched(old, SOURCE, TARGET, seed=5, one_text=True, frozen_x=instruction)
    masks = [np.array(instruction(r)) | (np.array(r["labels"]) != -100) for r in old]
    ids = SOURCE.sample_lists(
        [r["input_ids"] for r in old], seed=5, example_ids=range(60), frozen=masks
    )
    changed = 0
    for row, made, prompt in zip(old, pickle.loads(pickle.dumps(train)), ids, strict=True):
        n_prompt = row["labels"].count(-100)
        assert made["input_ids"][:FRAME] == [10, 11]
        assert made["input_ids"][:n_prompt] == prompt[:n_prompt]
        assert made["input_ids"][n_prompt:] == made["labels"][n_prompt:]
        assert made["labels"][:n_prompt] == [-100] * n_prompt
        changed += made["input_ids"][:n_prompt] != row["input_ids"][:n_prompt]
    assert changed > 5


def test_the_number_of_changed_words_follows_algorithm_1():
    n, words = 12_000, 5
    row = {"input_ids": [10, 11, *range(20, 25), 2], "labels": [-100, -100, *range(20, 25), 2]}
    new = Switched([row] * n, target=TARGET, seed=2, one_text=True).__getitems__(range(n))
    changes = Counter(
        sum(a != b for a, b in zip(row["input_ids"], made["input_ids"], strict=True))
        for made in new
    )
    expected = TARGET.change_probabilities(words) * n
    observed = [changes[k] for k in range(words + 1)]
    assert scipy.stats.chisquare(observed, expected).pvalue > 0.001
    too_many = np.append(0.0, TARGET.change_probabilities(words + 1)[2:]) * n  # prompt counted
    too_many[0] = n - too_many.sum()
    assert scipy.stats.chisquare(observed, too_many).pvalue < 1e-9


def whole_words():
    from switchout.pieces import Pieces
    from switchout.policies.whole_words import WholeWords, WordBook

    book = WordBook(Pieces(["</s>", "▁a", "▁b"]), [[1, 2, 0]])
    return WholeWords(book, so.RAML(book.words, tau=1.0))


@pytest.mark.parametrize(
    ("change", "settings", "message"),
    [
        ({}, {"source": SOURCE}, "the source is the whole prompt.* frozen_x="),
        ({"labels": [4, 5]}, {"target": TARGET}, "no label is -100.* frozen_y="),
        ({"labels": [-100, 6]}, {"target": TARGET}, "row 0 .*'labels' must be the ids of 'input_i"),
        ({"labels": [-100]}, {"target": TARGET, "frozen_y": list}, "row 0 .*'labels' must be"),
        ({}, {"target": whole_words()}, "whole words change lengths"),
        ({}, {"source": SOURCE, "frozen_x": lambda row: [True]}, "gave 1 places for a row of 2"),
    ],
)
def test_mistakes_are_one_clear_line(change, settings, message):
    row = {"input_ids": [4, 5], "labels": [-100, 5]} | change
    with pytest.raises(SwitchOutError, match=message) as caught:
        _ = Switched([row], seed=1, one_text=True, **settings)[0]
    assert "\n" not in str(caught.value)


def test_text_without_a_prompt_is_switched_if_the_user_says_so():
    row = {"input_ids": list(range(4, 44)), "labels": list(range(4, 44))}
    settings = {"target": so.RAML(WORDS, rate=0.5), "seed": 1, "one_text": True}
    new = Switched([row], frozen_y=lambda row: None, **settings)[0]
    assert new["input_ids"] == new["labels"] != row["labels"]
    batch = SwitchRows(frozen_y=lambda row: None, **settings)(
        {name: [column] for name, column in row.items()}, [0]
    )
    assert batch == {name: [column] for name, column in new.items()}


@pytest.fixture(scope="module")
def tokenizer():
    return toys.gpt2()


def trainer_of(model, data, tokenizer, folder, **settings):
    arguments = transformers.TrainingArguments(
        str(folder), num_train_epochs=1, report_to="none", disable_tqdm=True, use_cpu=True,
        save_strategy="no", logging_strategy="no", dataloader_pin_memory=False, **settings,
    )  # fmt: skip
    collate = transformers.DataCollatorForSeq2Seq(tokenizer)
    return transformers.Trainer(
        model, arguments, train_dataset=data, data_collator=collate, processing_class=tokenizer
    )


def tokenised(tokenizer, n=24):
    made = []
    for german, english in zip(*(side[:n] for side in toys.text()), strict=True):
        prompt, completion = (tokenizer(text)["input_ids"] for text in (german, english))
        ids = [*prompt, *completion, tokenizer.eos_token_id]
        labels = [-100] * len(prompt) + ids[len(prompt) :]
        made.append({"input_ids": ids, "labels": labels})
    return made


def small(tokenizer):
    return {
        "vocab_size": len(tokenizer), "n_positions": 256, "n_embd": 16, "n_layer": 1, "n_head": 2,
        "pad_token_id": tokenizer.pad_token_id, "eos_token_id": tokenizer.eos_token_id,
        "bos_token_id": tokenizer.eos_token_id,
    }  # fmt: skip


def test_a_causal_model_is_recognised(tokenizer, tmp_path):
    data = tokenised(tokenizer)
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(**small(tokenizer)))
    trainer = trainer_of(model, data, tokenizer, tmp_path)
    with pytest.raises(SwitchOutError, match="frozen_x="):
        switch_out(trainer, tau_x=1.0, seed=3)
    with pytest.raises(SwitchOutError, match="unit='word' changes lengths"):
        switch_out(trainer, tau_y=1.0, unit="word", seed=3)
    switch_out(trainer, tau_x=1.0, tau_y=1.0, seed=3, frozen_x=instruction)
    assert np.isfinite(trainer.train().training_loss)
    (_, _, source, _), (_, _, target, _) = trainer.train_dataset._switch.sides
    prompts = [[i for i, j in zip(*r.values(), strict=True) if j == -100] for r in data]
    assert source == so.SwitchOut(so.Words.from_tokenizer(tokenizer, prompts), tau=1.0)
    labels = [row["labels"] for row in data]
    assert target == so.RAML(so.Words.from_tokenizer(tokenizer, labels), tau=1.0)
    for old, new in zip(data, trainer.train_dataset, strict=True):
        places = [i for i, label in enumerate(old["labels"]) if label != -100]
        assert [new["input_ids"][i] for i in places] == [new["labels"][i] for i in places]


def test_text_without_labels_is_refused(tokenizer, tmp_path):
    """Its collator makes the labels of what is in the row by then: noise, prompt and all."""
    data = [{"input_ids": row["input_ids"]} for row in tokenised(tokenizer)]
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(**small(tokenizer)))
    trainer = trainer_of(model, data, tokenizer, tmp_path)
    with pytest.raises(SwitchOutError, match="the training set has no column 'labels'"):
        switch_out(trainer, tau_x=1.0, seed=3)
    assert trainer.train_dataset is data


def test_labels_of_a_classifier_are_no_text(tokenizer, tmp_path):
    config = transformers.GPT2Config(**small(tokenizer), num_labels=3)
    for model, labels in (
        (transformers.GPT2ForSequenceClassification(config), lambda ids: 2),
        (transformers.GPT2ForTokenClassification(config), lambda ids: [1] * len(ids)),
    ):
        data = [
            {"input_ids": row["input_ids"], "labels": labels(row["input_ids"])}
            for row in tokenised(tokenizer)
        ]
        trainer = trainer_of(model, data, tokenizer, tmp_path)
        switch_out(trainer, tau_x=1.0, seed=3)
        new = list(trainer.train_dataset)
        assert [row["labels"] for row in new] == [row["labels"] for row in data]
        assert [row["input_ids"] for row in new] != [row["input_ids"] for row in data]
