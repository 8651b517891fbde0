"""Small corpora and models for the tests of training: digits to copy or to reverse."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


class ListPairs:
    """Pairs of id sequences in memory, with the face of `EncodedPairs`."""

    def __init__(self, src: list[NDArray[np.int64]], tgt: list[NDArray[np.int64]]):
        self._src, self._tgt = src, tgt
        self.src_lengths = np.array([len(x) for x in src])
        self.tgt_lengths = np.array([len(y) for y in tgt])
        self.example_ids = np.arange(len(src)) * 10  # not the index: ids are addresses

    def src(self, i: int) -> NDArray[np.int64]:
        return self._src[i]

    def tgt(self, i: int) -> NDArray[np.int64]:
        return self._tgt[i]

    def __len__(self) -> int:
        return len(self._src)


def digit_pairs(n: int, *, seed: int, reverse: bool = False, longest: int = 8) -> ListPairs:
    """Random sequences over ids 4..13 and their copies, or reversals."""
    rng = np.random.default_rng(seed)
    src = [rng.integers(4, 14, size=rng.integers(1, longest + 1)) for _ in range(n)]
    return ListPairs(src, [x[::-1] if reverse else x for x in src])


def write_corpus(folder: Path, *, n_train: int = 60, n_dev: int = 10, seed: int = 0) -> Path:
    """A corpus of spelled digits xx -> yy, three splits."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(seed)
    for split, n in (("train", n_train), ("dev", n_dev), ("test", n_dev)):
        rows = [rng.integers(0, 10, size=rng.integers(2, 9)) for _ in range(n)]
        for language, letter in (("xx", "a"), ("yy", "b")):
            lines = [" ".join(f"{letter}{digit}" for digit in row) for row in rows]
            (folder / f"{split}.{language}").write_text("".join(x + "\n" for x in lines))
    return folder


def write_config(path: Path, corpus: Path, *, extra: str = "", train: str = "") -> Path:
    """A configuration that trains in a second."""
    path.write_text(
        f"""
seed = 3
[data]
corpus = "{corpus}"
source = "xx"
target = "yy"
[model]
layers = 1
heads = 2
d_head = 8
d_model = 16
d_inner = 32
dropout = 0.1
tied = true
{extra}
[search]
beam = 2
[train]
steps = 24
batch_tokens = 64
warmup = 5
checkpoint_every = 10
save_every = 4
log_every = 1
dev_bleu = false
tensorboard = false
{train}
"""
    )
    return path


def fresh_seed() -> int:
    """A new seed each time: no threshold is tuned to one run. Pytest shows it on failure."""
    seed = int.from_bytes(os.urandom(4), "little")
    print(f"seed {seed}")
    return seed
