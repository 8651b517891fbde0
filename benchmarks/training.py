"""Training speed: ours by part, and beside eole and JoeyNMT in one run.

    python benchmarks/training.py
    EOLE_PYTHON=…/bin/python JOEYNMT_PYTHON=…/bin/python python benchmarks/training.py --rounds 3
    … python benchmarks/training.py --best

Each tool trains the same Transformer (2+2 layers, d 128, 4 heads, d_inner 256, dropout 0.15, label
smoothing 0.1, Adam) on the same pairs with a word vocabulary, batches of 1,024 tokens, one thread.
The peers live in environments of their own (tested: eole 0.6.4, JoeyNMT 2.3.0, torch 2.13.0).

Measured are target tokens per second of CPU time between two lengths of training, so that start-up
cancels and other users of the machine disturb little; rounds are interleaved, medians printed.
``--best`` gives each tool the whole machine and counts wall time: one and two threads (and, ours,
two processes), batches of 1,024 and 4,096 tokens; each tool's fastest setting is compared.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

os.environ["OMP_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"

SHORT, LONG = 40, 240  # steps of 1,024 tokens


class Setting(NamedTuple):
    """What of the machine a tool may use, and how large its batches are."""

    threads: int = 1
    batch_tokens: int = 1024
    processes: int = 1

    def steps(self, of_1024: int) -> int:
        return of_1024 * 1024 // self.batch_tokens

    def __str__(self) -> str:
        return f"{self.processes} x {self.threads} threads, {self.batch_tokens} tokens"


class Cost(NamedTuple):
    """What a training took."""

    cpu: float
    wall: float
    tokens: float


def write_text(folder: Path, pairs: int) -> None:
    """Write the training text and vocabularies that every tool reads."""
    from switchout.corpora import open_corpus
    from switchout.corpora.codec import Codec

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
        tokens = Codec.word(lines, min_count=2).vocabulary.tokens
        (folder / f"vocab.{side}").write_text("".join(token + "\n" for token in tokens))


def our_config(folder: Path, steps: int, augment: str = "", batch_tokens: int = 1024) -> str:
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
batch_tokens = {batch_tokens}
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

    from switchout.nmt.machine import prepare_cpu
    from switchout.runs.config_file import load_config
    from switchout.runs.folder import open_run
    from switchout.runs.preparing import prepare_run
    from switchout.runs.train import make_trainer

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


def run_tool(command: list[str], folder: Path, setting: Setting) -> tuple[float, float, str]:
    """Run a command; return its CPU and wall seconds and what it said."""
    threads = str(setting.threads)
    environment = {**os.environ, "OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env=environment
    )
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    text = done.stdout + done.stderr
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{text[-3000:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, wall, text


OURS = """
from pathlib import Path
from switchout.runs.config_file import load_config
from switchout.runs.folder import open_run
from switchout.runs.preparing import prepare_run
from switchout.runs.train import make_trainer
from switchout.nmt.machine import prepare_cpu, processes
config = load_config("c.toml")
prepare_cpu(config.train.threads)
with processes("cpu") as team:
    if team.is_first:
        prepare_run(config, Path("ours"))
    team.from_first(0, "cpu")
    trainer = make_trainer(open_run(Path("ours")), "cpu", team)
    for step in range(config.train.steps):
        trainer.update(*trainer.batches(step))
    if team.is_first:
        print("tokens", trainer.progress.tokens)
"""


def switchout(folder: Path, steps: int, setting: Setting) -> Cost:
    """Train with ours."""
    config = our_config(folder, setting.steps(steps), "", setting.batch_tokens)
    (folder / "c.toml").write_text(config + f"threads = {setting.threads}\n")
    (folder / "ours.py").write_text(OURS)
    shutil.rmtree(folder / "ours", ignore_errors=True)
    launcher = ["-m", "torch.distributed.run", f"--nproc-per-node={setting.processes}"]
    command = [sys.executable, *(launcher if setting.processes > 1 else []), "ours.py"]
    cpu, wall, text = run_tool(command, folder, setting)
    return Cost(cpu, wall, float(re.search(r"tokens (\d+)", text)[1]))


def eole(folder: Path, steps: int, setting: Setting) -> Cost:
    """The same with eole."""
    steps = setting.steps(steps)
    config = {
        "data": {
            "corpus_1": {"path_src": "train.src", "path_tgt": "train.tgt"},
        },
        "src_vocab": "vocab.src",
        "tgt_vocab": "vocab.tgt",
        "overwrite": True,
        "report_every": 10,
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
            "batch_size": setting.batch_tokens,
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
    cpu, wall, text = run_tool(command, folder, setting)
    batches = [float(m) for m in re.findall(r"bsz:\s*\d+/\s*(\d+)/", text)]
    return Cost(cpu, wall, statistics.mean(batches) * steps)


def joeynmt(folder: Path, steps: int, setting: Setting) -> Cost:
    """The same with JoeyNMT, which tells no batch sizes: one epoch over enough pairs."""
    lines = {side: (folder / f"train.{side}").read_text().split("\n") for side in ("src", "tgt")}
    tgt_tokens, pairs = 0, 0
    while tgt_tokens < steps * 0.9 * 1024 and pairs < len(lines["tgt"]) - 1:
        tgt_tokens += len(lines["tgt"][pairs].split(" ")) + 1
        pairs += 1
    for side, text in lines.items():
        (folder / f"joey.{side}").write_text("\n".join(text[:pairs]) + "\n")
        words = (folder / f"vocab.{side}").read_text().split("\n")[4:-1]
        (folder / f"joey.vocab.{side}").write_text(
            "\n".join(["<unk>", "<pad>", "<s>", "</s>", *words]) + "\n"
        )
    (folder / "joey.yaml").write_text(json.dumps(_joeynmt_config(setting.batch_tokens)))
    command = [os.environ["JOEYNMT_PYTHON"], "-m", "joeynmt", "train", "joey.yaml", "--skip-test"]
    cpu, wall, _ = run_tool(command, folder, setting)
    return Cost(cpu, wall, tgt_tokens)


def _joeynmt_config(batch_tokens: int) -> dict:
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
            "batch_size": batch_tokens,
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


def tools_here() -> dict[str, Callable[[Path, int, Setting], Cost]]:
    """Return ours and the peers whose environments are named."""
    tools: dict[str, Callable[[Path, int, Setting], Cost]] = {"switchout": switchout}
    for tool, variable in ((eole, "EOLE_PYTHON"), (joeynmt, "JOEYNMT_PYTHON")):
        if variable in os.environ:
            tools[tool.__name__] = tool
        else:
            print(f"{tool.__name__}: {variable} is not set, left out", file=sys.stderr)
    return tools


def one_thread_each(folder: Path, rounds: int) -> None:
    """Print target tokens per CPU second of all tools at the same setting."""
    tools = tools_here()
    speeds: dict[str, list[float]] = {tool: [] for tool in tools}
    for _ in range(rounds):
        for tool, run in tools.items():
            short, long = run(folder, SHORT, Setting()), run(folder, LONG, Setting())
            speeds[tool].append((long.tokens - short.tokens) / (long.cpu - short.cpu))
    print(f"\ntarget tokens per CPU second, one thread, {rounds} rounds")
    ours = statistics.median(speeds["switchout"])
    for tool, values in speeds.items():
        speed = statistics.median(values)
        rounded = ", ".join(f"{value:,.0f}" for value in values)
        print(f"  {tool:<12}{speed:9,.0f} ({rounded})   ours is {ours / speed:.2f} times as fast")


def each_at_its_best(folder: Path) -> None:
    """Print target tokens per wall second of all tools, each at its fastest setting."""
    best: dict[str, float] = {}
    print("\ntarget tokens per wall second, the machine to itself")
    for tool, run in tools_here().items():
        shapes = [(1, 1), (2, 1), (1, 2)] if tool == "switchout" else [(1, 1), (2, 1)]
        for threads, processes in shapes:
            for batch_tokens in (1024, 4096):
                setting = Setting(threads, batch_tokens, processes)
                short, long = run(folder, SHORT, setting), run(folder, LONG // 2, setting)
                speed = (long.tokens - short.tokens) / (long.wall - short.wall)
                print(f"  {tool:<12}{setting!s:<32}{speed:9,.0f}", flush=True)
                best[tool] = max(best.get(tool, 0.0), speed)
    for tool, speed in best.items():
        ratio = best["switchout"] / speed
        print(f"  {tool:<12}at its best {speed:9,.0f}   ours is {ratio:.2f} times as fast")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--pairs", type=int, default=8000, help="training pairs")
    parser.add_argument("--best", action="store_true", help="each tool at its fastest setting")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_text(folder, arguments.pairs)
        if arguments.best:
            each_at_its_best(folder)
            return
        parts_of_a_step(folder, steps=60)
        one_thread_each(folder, arguments.rounds)


if __name__ == "__main__":
    main()
