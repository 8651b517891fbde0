"""The Trainer in all the ways that people run it: the same rows and, on one process, weights."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from transformers import DataCollatorForSeq2Seq

import switchout as so
import toy_tokenizers as toys
import trainers
from examples import run_example
from switchout.integrations.huggingface import EpochCallback, switch_out
from switchout.integrations.torch import Switched

SETTINGS = {"tau_x": 1.0, "tau_y": 1.1, "seed": 5}
N = 48


@pytest.fixture(scope="module")
def marian(tmp_path_factory):
    return toys.marian(tmp_path_factory.mktemp("marian"))


@pytest.fixture(scope="module")
def train(marian):
    return trainers.tokenised(marian, N)


def run(tokenizer, train, folder, *, resume=None, **settings):
    # No dropout: loaders with workers that live on draw fewer of torch's random numbers.
    trainer = trainers.make(tokenizer, train, None, folder, dropout=0.0, **settings)
    switch_out(trainer, **SETTINGS)
    result = trainer.train(resume_from_checkpoint=resume)
    assert torch.isfinite(torch.tensor(result.training_loss))
    return trainer


@pytest.fixture(scope="module")
def plain(marian, train, tmp_path_factory):
    """One process, no workers: what all others are compared with."""
    return run(marian, train, tmp_path_factory.mktemp("plain"))


def rows_are_right(trainer, tokenizer, train, epochs=3):
    policies = trainers.policies(tokenizer, train, **SETTINGS)
    for epoch in range(epochs):
        assert trainer.pairs_of(epoch) == trainers.switched_pairs(train, *policies, 5, epoch)


WORKERS = [
    {"dataloader_num_workers": 2},
    {"dataloader_num_workers": 2, "dataloader_persistent_workers": True},
    {"dataloader_num_workers": 2, "dataloader_prefetch_factor": 4},
]


@pytest.mark.parametrize("settings", WORKERS, ids=str)
def test_workers_change_nothing(marian, train, plain, tmp_path, settings):
    trainer = run(marian, train, tmp_path, **settings)
    rows_are_right(trainer, marian, train)
    assert trainers.digest(trainer.batches()) == trainers.digest(plain.batches())
    assert trainers.weights(trainer.model) == trainers.weights(plain.model)


@pytest.mark.parametrize(
    "settings",
    [
        {"gradient_accumulation_steps": 4},  # 6 batches an epoch: the last step has two
        {"train_sampling_strategy": "group_by_length"},
        {"max_steps": 18, "num_train_epochs": 1},
        {"dataloader_num_workers": 2, "gradient_accumulation_steps": 2},
    ],
    ids=str,
)
def test_other_ways_to_train_read_the_same_rows(marian, train, tmp_path, settings):
    rows_are_right(run(marian, train, tmp_path, **settings), marian, train)


@pytest.mark.parametrize("settings", [{}, *WORKERS[:2]], ids=str)
def test_a_resume_in_the_middle_of_an_epoch(marian, train, plain, tmp_path, settings):
    steps = {"save_strategy": "steps", "save_steps": 9, **settings}
    whole = run(marian, train, tmp_path, **steps)
    rest = run(marian, train, tmp_path, resume=str(tmp_path / "checkpoint-9"), **steps)
    assert trainers.digest(rest.batches()) == trainers.digest(whole.batches()[9:])
    assert trainers.weights(rest.model) == trainers.weights(plain.model)


def test_without_the_callback_a_resumed_epoch_is_wrong(marian, train, tmp_path):
    """Why the callback is not optional."""
    steps = {"save_strategy": "steps", "save_steps": 9}
    whole = run(marian, train, tmp_path, **steps)
    rest = trainers.make(marian, train, None, tmp_path, dropout=0.0, **steps)
    switch_out(rest, **SETTINGS)
    rest.remove_callback(EpochCallback)
    rest.train(resume_from_checkpoint=str(tmp_path / "checkpoint-9"))
    assert trainers.digest(rest.batches()[:3]) != trainers.digest(whole.batches()[9:12])


def test_two_processes(marian, train, tmp_path):
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2",
               "--master-port", "29517", str(Path(__file__).with_name("two_processes.py")),
               str(tmp_path)]  # fmt: skip
    paths = [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "CUDA_VISIBLE_DEVICES": ""},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    parts = [json.loads((tmp_path / f"rank-{rank}.json").read_text()) for rank in (0, 1)]
    policies = trainers.policies(marian, train, **SETTINGS)
    for epoch in range(3):
        want = trainers.switched_pairs(train, *policies, 5, epoch)
        made = [tuple(map(tuple, pair)) for part in parts for pair in part[str(epoch)]]
        assert sorted(made) == want


@pytest.mark.parametrize("family", ["marian", "nllb", "mbart", "t5"])
@pytest.mark.parametrize("unit", ["piece", "word"])
def test_every_family_of_tokenizers(family, unit, tmp_path):
    tokenizer = toys.tokenizer_of(family, tmp_path)
    data = trainers.tokenised(tokenizer, N)
    trainer = trainers.make(tokenizer, data, None, tmp_path, num_train_epochs=1)
    switch_out(trainer, unit=unit, **SETTINGS)
    trainer.train()
    (_, _, source, _), (_, _, target, _) = trainer.train_dataset._switch.sides
    assert trainer.pairs_of(0) == trainers.switched_pairs(data, source, target, 5, 0)
    special = set(so.Words.from_tokenizer(tokenizer).special_ids)
    for old, new in zip(data, trainer.train_dataset, strict=True):
        for key in ("input_ids", "labels"):
            kept = [i for i in old[key] if i in special]
            assert [i for i in new[key] if i in special] == kept
            assert unit == "word" or len(old[key]) == len(new[key])


def test_cost_of_a_pair(marian, train, capsys):
    """Next to fetching and collating; measured in one run."""
    data = trainers.tokenised(marian, 512).select_columns(["input_ids", "attention_mask", "labels"])
    collate = DataCollatorForSeq2Seq(marian)
    switched = Switched(data, *trainers.policies(marian, data, **SETTINGS), seed=5)
    seconds = {}
    for name, rows in (("plain", data), ("switched", switched)):
        times = []
        for _ in range(3):
            start = time.process_time()
            for first in range(0, 512, 32):
                collate(rows.__getitems__(list(range(first, first + 32))))
            times.append(time.process_time() - start)
        seconds[name] = min(times) / 512
    ours = seconds["switched"] - seconds["plain"]
    with capsys.disabled():
        print(f"\nHugging Face: {ours * 1e6:.1f} µs a pair; fetch and collate "
              f"{seconds['plain'] * 1e6:.1f} µs")  # fmt: skip
    assert ours < 2 * seconds["plain"]


def test_the_example_runs(tmp_path):
    assert "eval_loss" in run_example("nllb_finetune.py", tmp_path)
