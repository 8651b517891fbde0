"""A run folder as the trainer leaves it, around a model trained here in a few seconds."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import torch

from switchout.corpora.codec import Codec
from switchout.nmt.checkpoint import write_checkpoint
from switchout.nmt.dropout import dropout_keys
from switchout.nmt.model import ModelSpec, Transformer

WORDS = 24


def sentences(n: int, *, seed: int) -> tuple[list[str], list[str]]:
    """Reversal of the sentence with every word renamed: s3 s7 -> t7 t3."""
    rng = np.random.default_rng(seed)
    drawn = [rng.integers(WORDS, size=rng.integers(1, 9)) for _ in range(n)]
    return [" ".join(f"s{i}" for i in s) for s in drawn], [
        " ".join(f"t{i}" for i in s[::-1]) for s in drawn
    ]


def padded(rows: list[list[int]]) -> torch.Tensor:
    width = max(map(len, rows))
    return torch.tensor([row + [0] * (width - len(row)) for row in rows])


def make_run(folder: Path, *, seed: int, steps: int = 150) -> Path:
    """Train to reverse and rename, write what ``switchout train`` writes, return the folder."""
    torch.set_num_threads(1)
    src, tgt = sentences(steps * 32, seed=seed)
    codecs = (
        Codec.word([" ".join(f"s{i}" for i in range(WORDS))]),
        Codec.word([" ".join(f"t{i}" for i in range(WORDS + 3))]),
    )
    spec = ModelSpec(
        src_size=len(codecs[0].vocabulary),
        tgt_size=len(codecs[1].vocabulary),
        layers=1,
        heads=3,
        d_head=16,
        d_model=40,
        d_inner=56,
        init=0.15,
        tied=True,
        max_length=40,
    )
    model = Transformer(spec, seed=seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.004, betas=(0.9, 0.98))
    for step in range(steps):
        rows = range(step * 32, step * 32 + 32)
        src_ids = padded([[*codecs[0].encode(src[i]), 2] for i in rows])
        lengths = (src_ids != 0).sum(dim=1)
        words = [codecs[1].encode(tgt[i]) for i in rows]
        keys = dropout_keys(seed, step=step, example_ids=np.arange(32))
        tgt_in, labels = padded([[1, *w] for w in words]), padded([[*w, 2] for w in words])
        optimizer.zero_grad()
        loss, n = model.loss(src_ids, lengths, tgt_in, labels, label_smoothing=0.1, keys=keys)
        (loss / n).backward()
        optimizer.step()
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text('[data]\ncorpus = "toy"\n')
    for codec, side in zip(codecs, ("src", "tgt"), strict=True):
        codec.save(folder, side)
    weights = {"model": dict(model.named_parameters())}
    write_checkpoint(
        folder / "checkpoints" / f"step-{steps}", weights, {"model": spec.to_dict(), "step": steps}
    )
    result = {"selected_step": steps, "weights": f"checkpoints/step-{steps}"}
    (folder / "result.json").write_text(json.dumps(result))
    return folder
