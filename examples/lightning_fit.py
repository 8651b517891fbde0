"""Lightning: a switched training set, and the callback that tells it the epoch.

python examples/lightning_fit.py
"""

from __future__ import annotations

import lightning
import torch
from torch.utils.data import DataLoader

import switchout as so
from switchout.corpora import open_corpus
from switchout.integrations.lightning import EpochCallback
from switchout.integrations.torch import Switched

ids: dict[str, int] = {"<pad>": 0}
german, english = (side[:512] for side in open_corpus("phrasebook").pairs("train"))
rows = [
    [[ids.setdefault(w, len(ids)) for w in s.split()] for s in pair]
    for pair in zip(german, english)
]
words = so.Words(len(ids), (0,))


def collate(batch: list[list[list[int]]]) -> list[torch.Tensor]:
    sides = ([torch.tensor(row) for row in side] for side in zip(*batch))
    return [torch.nn.utils.rnn.pad_sequence(side, batch_first=True) for side in sides]


class Model(lightning.LightningModule):
    """A bag of words translates into another."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.out = torch.nn.EmbeddingBag(len(ids), 32), torch.nn.Linear(32, len(ids))

    def training_step(self, batch: list[torch.Tensor], _: int) -> torch.Tensor:
        x, y = batch
        return -self.out(self.embed(x)).log_softmax(-1).gather(1, y).mean()

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.parameters(), 1e-2)


policies = so.SwitchOut(words, tau=1.0), so.RAML(words, tau=1.1)
train = Switched(rows, *policies, seed=1, source_key=0, target_key=1)
loader = DataLoader(train, batch_size=32, shuffle=True, collate_fn=collate)
trainer = lightning.Trainer(
    max_epochs=2, callbacks=[EpochCallback(train)], accelerator="cpu", logger=False,
    enable_checkpointing=False, enable_progress_bar=False,
)  # fmt: skip
trainer.fit(Model(), loader)
print("epoch", train.epoch, "first row", train[0])
