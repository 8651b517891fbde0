"""Writes ids.json: what a few policies make of a few sentences. Run it only to add cases."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np

import switchout as so


def cases():
    rng = np.random.default_rng(20181031)
    words = so.Words(1000)
    marian = so.Words(1000, special_ids=(0, 1, 999))
    table = so.SimilarityTable.from_dictionary({i: [i + 1, i + 2] for i in range(2, 900)}, marian)
    policies = [
        so.SwitchOut(words, tau=1.0),
        so.SwitchOut(words, tau=math.inf),
        so.SwitchOut(marian, rate=0.3),
        so.RAML(words, tau=1 / 0.9),
        so.Hamming(words, tau=0.15),
        so.WordDropout(words, rate=0.2),
        so.Similar(marian, table, tau=1.0),
        so.Chain(so.SwitchOut(words, tau=2.0), so.WordDropout(words, rate=0.2)),
        so.SwitchOut(so.Words(1000, draw_ids=range(500, 600)), tau=5.0),
    ]
    for number, policy in enumerate(policies):
        tokens = rng.integers(0, 999, (4, 12))
        ids = [number, 1 << 31, 1 << 33, (1 << 64) - 1]
        address = {"seed": 7 + number * (1 << 60), "epoch": number, "side": "source"}
        result = policy.sample(tokens, example_ids=np.array(ids, np.uint64), **address)
        yield {
            "policy": policy.to_dict(),
            "tokens": tokens.tolist(),
            "example_ids": ids,
            "address": address,
            "result": result.tolist(),
        }


if __name__ == "__main__":
    origin = (
        "written by tests/golden/make_ids.py with switchout 0.1.0; checked against four backends"
    )
    text = json.dumps({"origin": origin, "cases": list(cases())})
    (Path(__file__).parent / "ids.json").write_text(text + "\n")
