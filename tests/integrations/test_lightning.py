"""Lightning: every row at its epoch's address, with workers and after a resume."""

from __future__ import annotations

import lightning
import numpy as np
import pytest
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from torch.utils.data import DataLoader

import switchout as so
from examples import run_example
from switchout.integrations.lightning import EpochCallback
from switchout.integrations.torch import Switched

WORDS = so.Words(60)
SOURCE, TARGET = so.SwitchOut(WORDS, tau=1.0), so.RAML(WORDS, tau=1.1)
N, BATCH = 48, 8


def rows():
    rng = np.random.default_rng(1)
    return [(rng.integers(4, 60, 9).tolist(), rng.integers(4, 60, 7).tolist()) for _ in range(N)]


def collate(batch):
    x, y = zip(*batch, strict=True)
    return torch.tensor(x), torch.tensor(y)


class Model(lightning.LightningModule):
    """A bag of words translates into another."""

    def __init__(self):
        super().__init__()
        self.embed = torch.nn.EmbeddingBag(60, 8)
        self.out = torch.nn.Linear(8, 60)
        self.seen = []

    def training_step(self, batch, index):
        x, y = batch
        self.seen.append((self.current_epoch, x.tolist(), y.tolist()))
        scores = self.out(self.embed(x))[:, None].expand(-1, y.shape[1], -1)
        loss = torch.nn.functional.cross_entropy(scores.reshape(-1, 60), y.reshape(-1))
        assert torch.isfinite(loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 1e-2)


def fit(
    folder, *, workers=0, persistent=False, callback=True, checkpoint=None, epochs=3, save=None
):
    lightning.seed_everything(1, verbose=False)
    train = Switched(rows(), SOURCE, TARGET, seed=5, source_key=0, target_key=1)
    loader = DataLoader(
        train, BATCH, collate_fn=collate, num_workers=workers, persistent_workers=persistent
    )
    model = Model()
    callbacks = [EpochCallback(train)] if callback else []
    if save:
        callbacks.append(ModelCheckpoint(folder, every_n_train_steps=save, save_top_k=-1))
    trainer = lightning.Trainer(
        max_epochs=3, logger=False, enable_checkpointing=bool(save), accelerator="cpu",
        enable_progress_bar=False, enable_model_summary=False, callbacks=callbacks,
    )  # fmt: skip
    trainer.fit(model, loader, ckpt_path=checkpoint)
    return model


def at_address(epoch):
    x, y = zip(*rows(), strict=True)
    address = {"seed": 5, "example_ids": range(N), "epoch": epoch}
    return list(
        zip(SOURCE.sample_lists(x, **address), TARGET.sample_lists(y, **address), strict=True)
    )


def seen_in(model, epoch):
    return [pair for e, x, y in model.seen if e == epoch for pair in zip(x, y, strict=True)]


@pytest.mark.parametrize(("workers", "persistent"), [(0, False), (2, False), (2, True)])
def test_every_row_is_at_its_address(tmp_path, workers, persistent):
    model = fit(tmp_path, workers=workers, persistent=persistent)
    for epoch in range(3):
        assert seen_in(model, epoch) == at_address(epoch)


def test_without_the_callback_every_epoch_is_the_first(tmp_path):
    model = fit(tmp_path, callback=False)
    assert seen_in(model, 1) == at_address(0)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("step", [6, 9])  # at the end of an epoch, and in the middle of one
def test_a_resumed_run_has_the_noise_of_its_epoch(tmp_path, step, workers):
    fit(tmp_path, save=3, workers=workers)
    (checkpoint,) = tmp_path.glob(f"*step={step}.ckpt")
    rest = fit(tmp_path, checkpoint=str(checkpoint), workers=workers)
    for epoch in (1, 2):
        seen = seen_in(rest, epoch)
        assert seen
        assert all(pair in at_address(epoch) for pair in seen)
    assert not seen_in(rest, 0)


def test_the_example_runs(tmp_path):
    assert "epoch 1 first row" in run_example("lightning_fit.py", tmp_path)
