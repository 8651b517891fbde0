"""Training speed: ours by part, and beside eole and JoeyNMT in one run.

    python benchmarks/training.py
    EOLE_PYTHON=…/bin/python JOEYNMT_PYTHON=…/bin/python python benchmarks/training.py --rounds 3

Each tool trains the same Transformer (2+2 layers, d 128, 4 heads, d_inner 256, dropout 0.15, label
smoothing 0.1, Adam) on the same pairs with a word vocabulary, batches of 1,024 tokens, one thread.
The peers live in environments of their own (tested: eole 0.6.4, JoeyNMT 2.3.0, torch 2.13.0).

Measured are target tokens per second of CPU time between two lengths of training, so that start-up
cancels and other users of the machine disturb little; rounds are interleaved, medians printed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"

BATCH_TOKENS = 1024
SHORT, LONG = 40, 240  # steps


def write_text(folder: Path, pairs: int) -> None:
    """Write the training text and vocabularies that every tool reads."""
    from switchout.corpora import open_corpus
    from switchout.corpora.vocabulary import Vocabulary

    try:
        corpus = open_corpus("multi30k-de-en", train_pairs=pairs)
        train, dev = corpus.pairs("train"), corpus.pairs("dev")
    except ValueError:
        print("Multi30k is not here (SWITCHOUT_DATA): using the phrasebook", file=sys.stderr)
        corpus = open_corpus("phrasebook")
        train, dev = corpus.pairs("train"), corpus.pairs("dev")
    for name, both in (("train", train), ("dev", dev), ("test", dev)):
        for side, lines in zip(("src", "tgt"), both, strict=True):
            (folder / f"{name}.{side}").write_text("".join(line + "\n" for line in lines))
    for side, lines in zip(("src", "tgt"), train, strict=True):
        tokens = Vocabulary.count(lines, min_count=2).tokens
        (folder / f"vocab.{side}").write_text("".join(token + "\n" for token in tokens))


def our_config(folder: Path, steps: int, augment: str = "") -> str:
    return f"""
[data]
corpus = "{folder}"
source = "src"
target = "tgt"
[vocabulary]
min_count = 2
[model]
dropout = 0.15
tied = true
{augment}
[train]
steps = {steps}
batch_tokens = {BATCH_TOKENS}
clip = 5.0
checkpoint_every = 1000000
tensorboard = false
"""


AUGMENT = """
[augment.source]
policy = "switchout"
tau = 1.0
[augment.target]
policy = "raml"
tau = 1.1
"""


def parts_of_a_step(folder: Path, *, steps: int) -> None:
    """Print where the CPU time of our own step goes, dropout and both policies on."""
    import torch

    from switchout.experiments.config_file import load_config
    from switchout.experiments.run import open_run, prepare_run
    from switchout.experiments.train import make_trainer
    from switchout.nmt.cpu import prepare_cpu

    prepare_cpu(1)
    (folder / "parts.toml").write_text(our_config(folder, steps, AUGMENT))
    prepare_run(load_config(folder / "parts.toml"), folder / "parts")
    trainer = make_trainer(open_run(folder / "parts"), "cpu")
    spent = {"batches": 0.0, "augmentation": 0.0, "model": 0.0, "whole step": 0.0}

    def timed(name: str, function: Callable) -> Callable:
        def call(*args, **kwargs):
            start = time.process_time()
            result = function(*args, **kwargs)
            spent[name] += time.process_time() - start
            return result

        return call

    for step in range(10):
        trainer.update(*trainer.batches(step))
    trainer.augmented = timed("augmentation", trainer.augmented)
    trainer._forward_backward = timed("model", trainer._forward_backward)
    make, update = timed("batches", trainer.batches), trainer.update
    tokens, start = 0, time.process_time()
    for step in range(10, 10 + steps):
        tokens += update(*make(step)).tokens
    spent["whole step"] = time.process_time() - start
    spent["model"] -= spent["augmentation"]
    spent["clip, Adam, sums"] = 2 * spent["whole step"] - sum(spent.values())
    print(f"\nour step, {steps} of them, torch {torch.__version__}, one thread")
    for name, seconds in spent.items():
        share = seconds / spent["whole step"]
        print(f"  {name:<18}{1e3 * seconds / steps:9.2f} ms {share:8.2%}")
    outside = spent["batches"] + spent["augmentation"]
    print(f"  outside model and optimizer: {outside / spent['whole step']:.2%}")
    print(f"  {tokens / spent['whole step']:,.0f} target tokens per CPU second")


def cpu_seconds(command: list[str], folder: Path) -> tuple[float, str]:
    """Run a command; return the CPU time it took and what it said."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    text = done.stdout + done.stderr
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{text[-3000:]}")
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, text


def switchout(folder: Path, steps: int) -> tuple[float, float]:
    """Return CPU seconds and target tokens of a training of ours."""
    (folder / "c.toml").write_text(our_config(folder, steps))
    script = (
        "import json, sys; from switchout.experiments.config_file import load_config;"
        "from switchout.experiments.run import prepare_run, open_run;"
        "from switchout.experiments.train import make_trainer;"
        "from switchout.nmt.cpu import prepare_cpu; from pathlib import Path; prepare_cpu(1);"
        "f = Path('ours'); c = load_config('c.toml'); prepare_run(c, f);"
        "t = make_trainer(open_run(f), 'cpu');"
        "[t.update(*t.batches(s)) for s in range(c.train.steps)];"
        "print('tokens', t.progress.tokens)"
    )
    seconds, text = cpu_seconds([sys.executable, "-c", script], folder)
    return seconds, float(re.search(r"tokens (\d+)", text)[1])


def eole(folder: Path, steps: int) -> tuple[float, float]:
    """The same with eole."""
    config = {
        "data": {
            "corpus_1": {"path_src": "train.src", "path_tgt": "train.tgt"},
        },
        "src_vocab": "vocab.src",
        "tgt_vocab": "vocab.tgt",
        "overwrite": True,
        "report_every": 20,
        "seed": 1,
        "model": {
            "architecture": "transformer",
            "layers": 2,
            "heads": 4,
            "hidden_size": 128,
            "transformer_ff": 256,
            "embeddings": {"word_vec_size": 128, "position_encoding_type": "SinusoidalInterleaved"},
            "share_decoder_embeddings": True,
        },
        "training": {
            "model_path": "eole_model",
            "world_size": 0,
            "gpu_ranks": [],
            "num_workers": 0,
            "train_steps": steps,
            "valid_steps": 10**6,
            "save_checkpoint_steps": 10**6,
            "batch_type": "tokens",
            "batch_size": BATCH_TOKENS,
            "batch_size_multiple": 1,
            "bucket_size": 30000,
            "optim": "adam",
            "learning_rate": 0.001,
            "label_smoothing": 0.1,
            "dropout": [0.15],
            "attention_dropout": [0.0],
            "max_grad_norm": 5.0,
            "compute_dtype": "fp32",
        },
    }
    (folder / "eole.yaml").write_text(json.dumps(config))  # JSON is YAML
    command = [os.environ["EOLE_PYTHON"], "-m", "eole.bin.main", "train", "-config", "eole.yaml"]
    seconds, text = cpu_seconds(command, folder)
    batches = [float(m) for m in re.findall(r"bsz:\s*\d+/\s*(\d+)/", text)]
    return seconds, statistics.mean(batches) * steps


def joeynmt(folder: Path, steps: int) -> tuple[float, float]:
    """The same with JoeyNMT, which tells no batch sizes: one epoch over enough pairs."""
    lines = {side: (folder / f"train.{side}").read_text().split("\n") for side in ("src", "tgt")}
    tgt_tokens, pairs = 0, 0
    while tgt_tokens < steps * 0.9 * BATCH_TOKENS and pairs < len(lines["tgt"]) - 1:
        tgt_tokens += len(lines["tgt"][pairs].split(" ")) + 1
        pairs += 1
    for side, text in lines.items():
        (folder / f"joey.{side}").write_text("\n".join(text[:pairs]) + "\n")
        words = (folder / f"vocab.{side}").read_text().split("\n")[4:-1]
        (folder / f"joey.vocab.{side}").write_text(
            "\n".join(["<unk>", "<pad>", "<s>", "</s>", *words]) + "\n"
        )
    (folder / "joey.yaml").write_text(json.dumps(_joeynmt_config()))
    command = [os.environ["JOEYNMT_PYTHON"], "-m", "joeynmt", "train", "joey.yaml", "--skip-test"]
    return cpu_seconds(command, folder)[0], tgt_tokens


def _joeynmt_config() -> dict:
    def side(language: str) -> dict:
        return {
            "lang": language,
            "level": "word",
            "max_length": 200,
            "lowercase": False,
            "voc_file": f"joey.vocab.{language}",
        }

    stack = {
        "type": "transformer",
        "num_layers": 2,
        "num_heads": 4,
        "embeddings": {"embedding_dim": 128, "scale": True, "dropout": 0.15},
        "hidden_size": 128,
        "ff_size": 256,
        "dropout": 0.15,
        "layer_norm": "pre",
    }
    return {
        "name": "speed",
        "model_dir": "joey_model",
        "use_cuda": False,
        "data": {
            "train": "joey",
            "dev": "dev",
            "dataset_type": "plain",
            "src": side("src"),
            "trg": side("tgt"),
        },
        "testing": {"beam_size": 1, "eval_metrics": ["bleu"]},
        "training": {
            "optimizer": "adam",
            "learning_rate": 0.001,
            "adam_betas": [0.9, 0.98],
            "scheduling": "warmupinversesquareroot",
            "learning_rate_warmup": 200,
            "clip_grad_norm": 5.0,
            "batch_size": BATCH_TOKENS,
            "batch_type": "token",
            "normalization": "tokens",
            "epochs": 1,
            "validation_freq": 10**6,
            "logging_freq": 50,
            "label_smoothing": 0.1,
            "overwrite": True,
        },
        "model": {"tied_softmax": True, "encoder": stack, "decoder": dict(stack)},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--pairs", type=int, default=8000, help="training pairs")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_text(folder, arguments.pairs)
        parts_of_a_step(folder, steps=60)
        tools: dict[str, Callable] = {"switchout": switchout}
        for tool, variable in ((eole, "EOLE_PYTHON"), (joeynmt, "JOEYNMT_PYTHON")):
            if variable in os.environ:
                tools[tool.__name__] = tool
            else:
                print(f"{tool.__name__}: {variable} is not set, left out", file=sys.stderr)
        speeds: dict[str, list[float]] = {tool: [] for tool in tools}
        for _ in range(arguments.rounds):
            for tool, run in tools.items():
                short, long = run(folder, SHORT), run(folder, LONG)
                speeds[tool].append((long[1] - short[1]) / (long[0] - short[0]))
        print("\ntarget tokens per CPU second, one thread")
        ours = statistics.median(speeds["switchout"])
        for tool, values in speeds.items():
            speed = statistics.median(values)
            print(f"  {tool:<12}{speed:9,.0f}   ours is {ours / speed:.2f} times as fast")


if __name__ == "__main__":
    main()
