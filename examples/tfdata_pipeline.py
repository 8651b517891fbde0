"""tf.data: noise inside the pipeline, the same rows for any batch size and any parallelism.

python examples/tfdata_pipeline.py
"""

from __future__ import annotations

import tensorflow as tf

import switchout as so
from switchout.corpora import open_corpus

ids: dict[str, int] = {"<pad>": 0}
german, english = (side[:200] for side in open_corpus("phrasebook").pairs("train"))
x, y = (tf.ragged.constant([[ids.setdefault(w, len(ids)) for w in s.split()] for s in side],
                           dtype=tf.int64) for side in (german, english))  # fmt: skip
words = so.Words(len(ids), (0,))
pair = so.Pair(so.SwitchOut(words, tau=1.0), so.RAML(words, tau=1.1))
rows = tf.data.Dataset.from_tensor_slices((x, y)).map(lambda a, b: (a, b)).enumerate()


def one_epoch(epoch: tf.Tensor) -> tf.data.Dataset:
    """Number the rows first, shuffle and batch, then switch: the number is the example's id."""
    data = rows.shuffle(1000, seed=1).padded_batch(32, padded_shapes=((), ([None], [None])))
    return data.map(lambda i, ab: pair.sample(*ab, seed=1, example_ids=i, epoch=epoch))


seen = 0
for batch_x, _ in tf.data.Dataset.range(2).flat_map(one_epoch):
    seen += len(batch_x)
print(seen, "rows in two epochs; the last batch has shape", tuple(batch_x.shape))
