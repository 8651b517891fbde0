"""TRL's SFTTrainer, for real: prompts stay, completions change, evaluation reads what it read."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from datasets import Dataset
from transformers import GPT2Config, GPT2LMHeadModel
from trl import SFTConfig, SFTTrainer

import switchout as so
import toy_tokenizers as toys
import trainers
from examples import run_example
from switchout.errors import SwitchOutError
from switchout.integrations.huggingface import switch_out

N, SEED = 48, 5
INSTRUCTION, SIGN = "Translate to English:", " ="
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.role == 'assistant' %}{% generation"
    " %}{{ m.content }}<|im_end|>{% endgeneration %}{% else %}{{ m.content }}<|im_end|>{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


class Recorder(trainers.Recording, SFTTrainer):
    pass


@pytest.fixture(scope="module")
def tokenizer():
    made = toys.gpt2()
    made.add_special_tokens({"additional_special_tokens": ["<|im_start|>", "<|im_end|>"]})
    made.chat_template = TEMPLATE
    return made


def texts(kind, first=0, n=N):
    german, english = (side[first : first + n] for side in toys.text())
    if kind == "prompt":
        rows = [
            {"prompt": f"{INSTRUCTION} {a}{SIGN}", "completion": f" {b}"}
            for a, b in zip(german, english, strict=True)
        ]
    else:  # two questions and answers a row
        rows = [
            {"messages": [{"role": "system", "content": INSTRUCTION}, *turn(a, b), *turn("so", b)]}
            for a, b in zip(german, english, strict=True)
        ]
    return Dataset.from_list(rows)


def turn(question, answer):
    return [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]


def make(tokenizer, kind, folder, data=None, **settings):
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=len(tokenizer), n_positions=512, n_embd=16, n_layer=1, n_head=2,
        pad_token_id=tokenizer.pad_token_id, eos_token_id=tokenizer.eos_token_id,
        bos_token_id=tokenizer.eos_token_id, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
    )  # fmt: skip
    defaults = {"num_train_epochs": 3, "save_strategy": "no", "gradient_checkpointing": False}
    arguments = SFTConfig(
        str(folder), per_device_train_batch_size=8, report_to="none", disable_tqdm=True,
        use_cpu=True, bf16=False, learning_rate=1e-3, seed=1, dataloader_pin_memory=False,
        logging_strategy="no", assistant_only_loss=kind == "chat", **(defaults | settings),
    )  # fmt: skip
    return Recorder(
        GPT2LMHeadModel(config), arguments, train_dataset=texts(kind) if data is None else data,
        eval_dataset=texts(kind, 200, 16), processing_class=tokenizer,
    )  # fmt: skip


def read(trainer, epoch):
    """Sorted (ids, labels) without padding, as the model read them in an epoch."""
    made = []
    for batch in (batch for e, batch in trainer.seen if e == epoch):
        columns = (batch["input_ids"], batch["labels"], batch["attention_mask"].bool())
        for ids, labels, mask in zip(*columns, strict=True):
            made.append((tuple(ids[mask].tolist()), tuple(labels[mask].tolist())))
    return sorted(made)


def expected(tokenizer, clean, epoch):
    """The completion at its address (seed, epoch, row), made by hand from the policy alone."""
    policy = so.RAML(so.Words.from_tokenizer(tokenizer, clean["labels"]), tau=1.0)
    labels = list(clean["labels"])
    block = np.full((len(labels), max(map(len, labels))), -100)
    for i, row in enumerate(labels):
        block[i, : len(row)] = row
    new = policy.sample(block, seed=SEED, example_ids=range(len(labels)), epoch=epoch)
    made = []
    for ids, old, row in zip(clean["input_ids"], labels, new.tolist(), strict=True):
        row = row[: len(old)]
        made.append(
            (tuple(i if y == -100 else y for i, y in zip(ids, row, strict=True)), tuple(row))
        )
    return sorted(made)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("kind", ["prompt", "chat"])
def test_every_completion_that_the_model_reads_is_at_its_address(
    tokenizer, tmp_path, kind, workers
):
    trainer = make(tokenizer, kind, tmp_path, dataloader_num_workers=workers)
    clean = trainer.train_dataset
    switch_out(trainer, tau_y=1.0, seed=SEED)
    assert np.isfinite(trainer.train().training_loss)
    for epoch in range(3):
        assert read(trainer, epoch) == expected(tokenizer, clean, epoch)
    assert read(trainer, 0) != read(trainer, 1)


@pytest.mark.parametrize("kind", ["prompt", "chat"])
def test_the_prompt_and_places_without_a_label_stay(tokenizer, tmp_path, kind):
    trainer = make(tokenizer, kind, tmp_path)
    clean = trainer.train_dataset
    switch_out(trainer, rate_y=0.5, seed=SEED)
    changed = 0
    for old, new in zip(clean, trainer.train_dataset, strict=True):
        rows = zip(old["input_ids"], old["labels"], new["input_ids"], new["labels"], strict=True)
        for old_id, old_label, new_id, new_label in rows:
            if old_label == -100:
                assert (new_id, new_label) == (old_id, -100)
            else:
                assert new_id == new_label
                changed += new_id != old_id
                assert old_id not in tokenizer.all_special_ids or new_id == old_id
    assert changed > 100


def test_the_prompt_changes_where_the_user_says_so(tokenizer, tmp_path):
    trainer = make(tokenizer, "prompt", tmp_path)
    clean = trainer.train_dataset
    before, after = (len(tokenizer(text)["input_ids"]) for text in (INSTRUCTION, SIGN))

    def instruction(row):
        n_prompt = row["labels"].count(-100)
        return [not before <= i < n_prompt - after for i in range(len(row["labels"]))]

    with pytest.raises(SwitchOutError, match=r"the source is the whole prompt.* frozen_x="):
        switch_out(trainer, tau_x=1.0, seed=SEED)
    switch_out(trainer, rate_x=0.5, seed=SEED, frozen_x=instruction)
    texts_read = [tokenizer.decode(row["input_ids"]) for row in trainer.train_dataset]
    completions = [row["completion"] for row in clean]
    for text, completion in zip(texts_read, completions, strict=True):
        assert text.startswith(INSTRUCTION)
        assert text.endswith(f"{SIGN}{completion}")
    assert texts_read != [tokenizer.decode(row["input_ids"]) for row in clean]


def test_evaluation_reads_what_it_reads_without_us(tokenizer, tmp_path):
    plain = make(tokenizer, "prompt", tmp_path / "a")
    plain.evaluate()
    trainer = make(tokenizer, "prompt", tmp_path / "b", num_train_epochs=1)
    switch_out(trainer, tau_y=1.0, seed=SEED)
    trainer.train()
    trainer.evaluate()
    assert len(plain.evaluated) == 2
    assert trainers.digest(trainer.evaluated) == trainers.digest(plain.evaluated)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_resume_in_the_middle_of_an_epoch(tokenizer, tmp_path, workers):
    steps = {"save_strategy": "steps", "save_steps": 9, "dataloader_num_workers": workers}
    whole = make(tokenizer, "prompt", tmp_path, **steps)
    switch_out(whole, tau_y=1.0, seed=SEED)
    whole.train()
    rest = make(tokenizer, "prompt", tmp_path, **steps)
    switch_out(rest, tau_y=1.0, seed=SEED)
    rest.train(resume_from_checkpoint=str(tmp_path / "checkpoint-9"))
    assert len(rest.seen) == 9
    assert trainers.digest(rest.batches()) == trainers.digest(whole.batches()[9:])
    assert trainers.weights(rest.model) == trainers.weights(whole.model)


def test_a_streamed_set_with_an_id_column(tokenizer, tmp_path):
    stream = texts("prompt").add_column("id", list(range(N))).to_iterable_dataset()
    trainer = make(tokenizer, "prompt", tmp_path, stream, max_steps=6)
    whole = make(tokenizer, "prompt", tmp_path).train_dataset
    with pytest.raises(SwitchOutError, match="cannot be read before training"):
        switch_out(trainer, tau_y=1.0, seed=SEED, id_column="id")
    policy = so.RAML(so.Words.from_tokenizer(tokenizer, whole["labels"]), tau=1.0)
    switch_out(trainer, target=policy, seed=SEED, id_column="id")
    trainer.train()
    assert read(trainer, 0) == expected(tokenizer, whole, 0)


@pytest.mark.parametrize("strategy", ["bfd", "wrapped"])
def test_packing_is_refused(tokenizer, tmp_path, strategy):
    trainer = make(tokenizer, "prompt", tmp_path, packing=True, packing_strategy=strategy)
    with pytest.raises(SwitchOutError, match="packing=True makes one row of many") as caught:
        switch_out(trainer, tau_y=1.0, seed=SEED)
    assert "\n" not in str(caught.value)


def test_batches_without_padding(tokenizer, tmp_path):
    trainer = make(tokenizer, "prompt", tmp_path, padding_free=True, max_length=None)
    clean = trainer.train_dataset
    switch_out(trainer, tau_y=1.0, seed=SEED)
    flat = next(iter(trainer.get_train_dataloader()))
    starts = flat["cu_seq_lens_q"].tolist()
    rows = [flat["input_ids"][0, a:b] for a, b in pairwise(starts)]
    wanted = {ids for ids, _ in expected(tokenizer, clean, 0)}
    assert len(rows) == 8
    assert {tuple(row.tolist()) for row in rows} <= wanted


def test_a_loss_on_prompts_too_is_refused(tokenizer, tmp_path):
    trainer = make(tokenizer, "prompt", tmp_path, completion_only_loss=False)
    with pytest.raises(SwitchOutError, match=r"no label is -100.* frozen_y="):
        switch_out(trainer, tau_y=1.0, seed=SEED)


def test_the_example_runs(tmp_path):
    assert "eval_loss" in run_example("trl_sft.py", tmp_path)
