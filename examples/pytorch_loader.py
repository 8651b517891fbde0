"""Plain PyTorch: a training set whose items are other ones every epoch, in any number of workers.

python examples/pytorch_loader.py
"""

from __future__ import annotations

import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

import switchout as so
from switchout.corpora import open_corpus
from switchout.integrations.torch import Switched

PAD, EOS = 0, 1


def numbered(lines: list[str]) -> tuple[list[list[int]], int]:
    """Return sentences as ids, and the number of ids; 0 and 1 are padding and the end."""
    ids: dict[str, int] = {}
    rows = [[ids.setdefault(w, len(ids) + 2) for w in line.split()] + [EOS] for line in lines]
    return rows, len(ids) + 2


def collate(batch: list[tuple[list[int], list[int]]]) -> tuple[torch.Tensor, torch.Tensor]:
    x, y = (pad_sequence([torch.tensor(r) for r in side], True, PAD) for side in zip(*batch))
    return x, y


german, english = (side[:512] for side in open_corpus("phrasebook").pairs("train"))
(x, n_x), (y, n_y) = numbered(german), numbered(english)

source = so.SwitchOut(so.Words(n_x, (PAD, EOS)), tau=1.0)
target = so.RAML(so.Words(n_y, (PAD, EOS)), tau=1.1)
train = Switched(list(zip(x, y)), source, target, seed=1, source_key=0, target_key=1)
loader = DataLoader(train, batch_size=32, shuffle=True, collate_fn=collate, num_workers=2)

model = torch.nn.ModuleDict({"in": torch.nn.EmbeddingBag(n_x, 32), "out": torch.nn.Linear(32, n_y)})
optimizer = torch.optim.Adam(model.parameters(), 1e-2)
for epoch in range(3):
    train.set_epoch(epoch)  # the one line that a loop of one's own must not forget
    for source_ids, target_ids in loader:
        scores = model["out"](model["in"](source_ids)).log_softmax(-1)
        loss = -scores.gather(1, target_ids).mean()  # a bag of words translates into another
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f} first row {train[0][0]}")
