"""A folder of runs and a client for it, as the tests of ``switchout explore`` need them."""

from __future__ import annotations

import json
import random
from pathlib import Path

from fastapi.testclient import TestClient
from made_runs import make_config, spoiled, write_corpus

from switchout.corpora.codec import Codec
from switchout.explore.app import make_app
from switchout.explore.site import Site
from switchout.runs.config import Augment, Config, Side
from switchout.runs.config_file import to_toml
from switchout.runs.job import corpus_of

OURS = "http://127.0.0.1:8765"


def write_run(folder: Path, config: Config, *, wrong: float, state: str = "done") -> Path:
    """Leave a run as `switchout train` does, its translations with this share of wrong words."""
    folder.mkdir(parents=True)
    corpus = corpus_of(config)
    (folder / "config.toml").write_text(to_toml(config))
    (folder / "signature.json").write_text(json.dumps({"data_hash": corpus.data_hash}))
    for side in ("src", "tgt"):
        Codec.word(corpus.pairs("train")[0]).save(folder, side)
    for step in (10, 20):
        add_metrics(folder, step=step, perplexity=90.0 / step)
    for step, perplexity, bleu in ((10, 4.5, 30.0), (20, 3.25, 40.5)):
        add_metrics(folder, step=step, dev_perplexity=perplexity, dev_bleu=bleu)
    if state == "done":
        lines = spoiled(corpus.pairs("test")[1], wrong, random.Random(folder.name))
        (folder / "test.hyp").write_text("".join(line + "\n" for line in lines))
        result = {"state": "done", "steps": 20, "dev_perplexity": 3.25, "test_bleu": 50 - wrong}
        (folder / "result.json").write_text(json.dumps(result))
    return folder


def add_metrics(folder: Path, **record: float) -> None:
    """Append a record, as training does."""
    with (folder / "metrics.jsonl").open("a") as handle:
        handle.write(json.dumps(record) + "\n")


def write_runs(root: Path) -> Path:
    """Two seeds without noise, two with SwitchOut, and one that is not finished."""
    config = make_config(write_corpus(root.parent / "corpus"))
    noisy = Augment(source=Side(policy="switchout", tau=1.5))
    for seed in (1, 2):
        plain = config.model_copy(update={"seed": seed})
        write_run(root / f"plain-{seed}", plain, wrong=0.3)
        better = plain.model_copy(update={"augment": noisy})
        write_run(root / "sweep" / f"noisy-{seed}", better, wrong=0.1)
    write_run(root / "young", config.model_copy(update={"seed": 9}), wrong=0, state="young")
    return root


def client(runs: Path) -> TestClient:
    """A browser's place: what comes back is never an exception but an answer."""
    return TestClient(make_app(Site(runs)), base_url=OURS, raise_server_exceptions=False)
