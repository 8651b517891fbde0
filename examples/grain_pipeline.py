"""grain: the transform right behind the source, then shuffle and repeat.

python examples/grain_pipeline.py
"""

from __future__ import annotations

import grain

import switchout as so
from switchout.corpora import open_corpus
from switchout.integrations.grain import SwitchOut

ids: dict[str, int] = {"<pad>": 0}
german, english = (side[:200] for side in open_corpus("phrasebook").pairs("train"))
rows = [
    {"x": [ids.setdefault(w, len(ids)) for w in a.split()],
     "y": [ids.setdefault(w, len(ids)) for w in b.split()]}
    for a, b in zip(german, english)
]  # fmt: skip
words = so.Words(len(ids), (0,))
switch = SwitchOut(
    len(rows), so.SwitchOut(words, tau=1.0), so.RAML(words, tau=1.1), seed=1,
    source_key="x", target_key="y",
)  # fmt: skip
data = grain.MapDataset.source(rows).map_with_index(switch).seed(1).shuffle().repeat(2)
changed = sum(row not in rows for row in data)
print(len(data), "rows in two epochs, of them changed:", changed)
