"""Finished runs made up for tests: translations with a known share of wrong words."""

from __future__ import annotations

import json
import random
from pathlib import Path

from switchout.corpora.codec import Codec
from switchout.experiments.experiment import CorpusRows, Experiment, Row, save
from switchout.runs.config import Config
from switchout.runs.job import corpus_of, job_of

WORDS = [f"w{i}" for i in range(30)]
MACHINE = {"commit": "abc", "torch": "2", "processor": "x", "instructions": "AVX2"}


def write_corpus(folder: Path, *, n: int = 120) -> Path:
    """A corpus xx → yy whose sides are equal; every third sentence holds what HTML must escape."""
    folder.mkdir(parents=True)
    rng = random.Random(0)
    for split, size in (("train", n), ("dev", n), ("test", n)):
        lines = [" ".join(rng.choices(WORDS, k=rng.randint(4, 9))) for _ in range(size)]
        lines[::3] = [f"R&D <b> {line}" for line in lines[::3]]
        for language in ("xx", "yy"):
            (folder / f"{split}.{language}").write_text("".join(x + "\n" for x in lines))
    return folder


def make_config(corpus: Path, **train: object) -> Config:
    values = {"steps": 20, "checkpoint_every": 10, **train}
    data = {"corpus": str(corpus), "source": "xx", "target": "yy"}
    return Config.model_validate({"data": data, "train": values})


def spoiled(lines: list[str], share: float, rng: random.Random) -> list[str]:
    """Lines with about this share of words replaced by ``<unk>``."""
    return [" ".join("<unk>" if rng.random() < share else w for w in x.split()) for x in lines]


def finish_row(row: Row, root: Path, *, test: float, dev: float, last: float = 0.0) -> None:
    """Leave finished runs whose test and dev outputs (and test at the last step) are spoiled."""
    from switchout.evaluation.scores import score

    for config in row.configs():
        job, corpus = job_of(config, label="", root=root), corpus_of(config)
        rng = random.Random(f"{row.name} {config.seed}")
        job.folder.mkdir(parents=True)
        for side in ("src", "tgt"):
            Codec.word(corpus.pairs("train")[0]).save(job.folder, side)
        bleu = {}
        for name, split, share in (
            ("dev", "dev", dev),
            ("test", "test", test),
            ("test.step-20", "test", last),
            ("dev.step-20", "dev", last),
        ):
            references = corpus.pairs(split)[1]
            lines = spoiled(references, share, rng)
            (job.folder / f"{name}.hyp").write_text("".join(line + "\n" for line in lines))
            measured = score(lines, references, tokenize="13a", lowercase=False)
            bleu[name] = measured["bleu"]
        validations = [
            {"step": 10, "dev_perplexity": 3.0, "dev_bleu": bleu["dev"]},
            {"step": 20, "dev_perplexity": 4.0, "dev_bleu": bleu["dev"] - 1},
        ]
        result = {
            "signature": f"policy:x|seed:{config.seed}|key:{job.key}|version:switchout-0",
            "bleu_signature": measured["signature"],
            "state": "done",
            "seed": config.seed,
            "steps": 20,
            "selected_step": 10,
            "dev_perplexity": 3.0,
            "dev_bleu": bleu["dev"],
            "test_bleu": bleu["test"],
            "seconds": 3600.0,
            "cpu_seconds": 1800.0,
            "tokens_per_second": 100.0,
            "validations": validations,
        }
        chosen = {"step": 10, "dev_bleu": bleu["dev"], "test_bleu": bleu["test"]}
        last_step = {
            "step": 20,
            "dev_bleu": bleu["dev.step-20"],
            "test_bleu": bleu["test.step-20"],
        }
        rules = {
            "dev-perplexity": {**chosen, "is_selected": True},
            "dev-bleu": {**chosen, "is_selected": True},
            "last": {**last_step, "is_selected": False},
        }
        record = {"steps": 20, "rules": rules, "machine": MACHINE}
        (job.folder / "result.json").write_text(json.dumps(result))
        (job.folder / "record.json").write_text(json.dumps(record))


def make_experiment(kind: str, rows: list[Row], root: Path, out: Path) -> Experiment:
    experiment = Experiment(kind, (CorpusRows("toy", tuple(rows)),), "switchout reproduce …", root)
    save(experiment, out)
    return experiment
