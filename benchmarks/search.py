"""Search speed beside JoeyNMT and CTranslate2: same model size, same sentences, one thread each.

Weights are random and no hypothesis may end early, so everybody decodes the same number of words:
this compares the machinery, not the models. Rounds are interleaved, times are CPU times, medians
are printed. JoeyNMT runs in its own environment:

    JOEYNMT_PYTHON=/path/to/venv/bin/python python benchmarks/search.py
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

JOEYNMT = """
import json, sys, time, types
import torch
import joeynmt
from joeynmt.model import build_model
from joeynmt.search import beam_search, transformer_greedy
from joeynmt.vocabulary import Vocabulary

torch.set_num_threads(1)
task = json.loads(sys.stdin.readline())
special = types.SimpleNamespace(unk_token="<unk>", pad_token="<pad>", bos_token="<s>",
    eos_token="</s>", sep_token=None, unk_id=0, pad_id=1, bos_id=2, eos_id=3, sep_id=None,
    lang_tags=[])
tokens = ["<unk>", "<pad>", "<s>", "</s>"] + [f"w{i}" for i in range(task["size"] - 4)]
side = {"type": "transformer", "num_layers": task["layers"], "num_heads": task["heads"],
    "embeddings": {"embedding_dim": task["d_model"], "scale": True},
    "hidden_size": task["d_model"], "ff_size": task["d_inner"], "dropout": 0.0,
    "layer_norm": "pre"}
config = {"initializer": "xavier_uniform", "embed_initializer": "xavier_uniform",
    "bias_initializer": "zeros", "tied_softmax": True, "encoder": side, "decoder": dict(side)}
model = build_model(config, Vocabulary(tokens, special), Vocabulary(tokens, special)).eval()
print(json.dumps({"version": joeynmt.__version__, "torch": torch.__version__,
    "parameters": sum(p.numel() for p in model.parameters())}), flush=True)
for line in sys.stdin:
    ids = torch.tensor(task["sentences"])
    start, n = time.process_time(), 0
    for batch in ids.split(task["batch"]):
        lengths = torch.full((len(batch),), ids.shape[1])
        mask = torch.ones(len(batch), 1, ids.shape[1], dtype=torch.bool)
        with torch.no_grad():
            out, _, _, _ = model(return_type="encode", src=batch, src_length=lengths, src_mask=mask)
            options = {"max_output_length": task["steps"], "min_output_length": task["steps"],
                "model": model, "encoder_output": out, "encoder_hidden": None, "src_mask": mask}
            if task["beam"] == 1:
                found, _, _ = transformer_greedy(**options)
            else:
                found, _, _ = beam_search(beam_size=task["beam"], alpha=1.0, **options)
        n += len(found) * len(found[0])
    print(json.dumps({"seconds": time.process_time() - start, "words": n}), flush=True)
"""


class JoeyNMT:
    """A process that repeats the task whenever it is told to."""

    def __init__(self, python: str, task: dict, stack: ExitStack):
        self.process = stack.enter_context(
            subprocess.Popen(
                [python, "-c", JOEYNMT],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        )
        stack.callback(self.process.stdin.close)
        self.facts = self._ask(task)

    def _ask(self, message: object) -> dict:
        print(json.dumps(message), file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit("JoeyNMT failed: run its script by hand to see why")
        return json.loads(answer)

    def __call__(self) -> tuple[float, int]:
        answer = self._ask("go")
        return answer["seconds"], answer["words"]


def ours(task: dict, folder: Path) -> dict[str, Callable[[], tuple[float, int]]]:
    """Return our search, and CTranslate2's with the same weights, as timed functions."""
    import torch

    from switchout.corpora.vocabulary import EOS
    from switchout.nmt.ctranslate2 import write_ctranslate2
    from switchout.nmt.machine import prepare_cpu
    from switchout.nmt.model import ModelSpec, Transformer
    from switchout.nmt.search import SearchOptions, translate_ids

    prepare_cpu(1)
    spec = ModelSpec(
        src_size=task["size"],
        tgt_size=task["size"],
        layers=task["layers"],
        heads=task["heads"],
        d_head=task["d_model"] // task["heads"],
        d_model=task["d_model"],
        d_inner=task["d_inner"],
        tied=True,
        init=0.1,
    )
    model = Transformer(spec)
    model.output.weight.data[EOS] = 0  # an average logit: nothing ends before the limit
    ids = torch.tensor(task["sentences"])

    def by_torch() -> tuple[float, int]:
        start, words = time.process_time(), 0
        for batch in ids.split(task["batch"]):
            lengths = torch.full((len(batch),), ids.shape[1])
            found = translate_ids(
                [model], batch, lengths, SearchOptions(task["beam"]), max_length=task["steps"]
            )
            words += sum(len(best.ids) for best, *_ in found)
        return time.process_time() - start, words

    runs: dict[str, Callable[[], tuple[float, int]]] = {"switchout": by_torch}
    try:
        import ctranslate2
    except ImportError:
        return runs
    tokens = ["<pad>", "<s>", "</s>", "<unk>", *(f"w{i}" for i in range(task["size"] - 4))]
    write_ctranslate2(model, folder, (tokens, tokens))
    translator = ctranslate2.Translator(str(folder), intra_threads=1)
    text = [[tokens[i] for i in row[:-1]] for row in task["sentences"]]

    def by_ctranslate2() -> tuple[float, int]:
        start = time.process_time()
        found = translator.translate_batch(
            text,
            max_batch_size=task["batch"],
            beam_size=task["beam"],
            length_penalty=1,
            max_decoding_length=task["steps"],
            min_decoding_length=task["steps"],
        )
        return time.process_time() - start, sum(len(r.hypotheses[0]) for r in found)

    runs[f"ctranslate2 {ctranslate2.__version__}"] = by_ctranslate2
    return runs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sentences", type=int, default=128)
    arguments = parser.parse_args()
    import numpy as np

    rng = np.random.default_rng(0)
    for d_model, beam in ((128, 1), (128, 5), (256, 5)):
        task = {"size": 8000, "layers": 3, "heads": 4, "d_model": d_model, "d_inner": 2 * d_model}
        task |= {"beam": beam, "steps": 20, "batch": 64}
        words = rng.integers(4, 8000, size=(arguments.sentences, 15))
        words[:, -1] = 2
        task["sentences"] = words.tolist()
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            runs = ours(task, folder)
            if python := os.environ.get("JOEYNMT_PYTHON"):
                joey = JoeyNMT(python, task, stack)
                runs[f"joeynmt {joey.facts['version']} (torch {joey.facts['torch']})"] = joey
            measure(runs, title=f"d_model {d_model}, beam {beam}", rounds=arguments.rounds)


def measure(runs: dict, *, title: str, rounds: int) -> None:
    """Interleave the runs and print words per CPU-second, and how many times slower than ours."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    words = {}
    for i in range(rounds + 1):
        for name, run in runs.items():
            seconds, words[name] = run()
            if i:  # the first round warms up
                times[name].append(seconds)
    base = statistics.median(times["switchout"])
    print(title)
    for name, all_seconds in times.items():
        seconds = statistics.median(all_seconds)
        speed = words[name] / seconds
        print(
            f"  {name:<34}{seconds:8.3f} s {speed:10,.0f} words/s  {seconds / base:5.2f} x our time"
        )


if __name__ == "__main__":
    main()
