"""Killed at any moment, again and again: what is left at the end is what an undisturbed run leaves.

Kills are SIGKILL: nothing can be tidied up. Every test prints how many it made.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crashing import finish, killed_state, start, state
from train_toys import fresh_seed, write_config
from train_toys import write_corpus as write_toy

from switchout.nmt.batches import BatchPlan
from switchout.nmt.checkpoint import digest, read_tensors, step_folders
from switchout.runs.config import Config
from switchout.runs.config_file import load_config
from switchout.runs.train import train
from switchout.text import augment_files

forking = multiprocessing.get_context("fork")
WORDS = [f"w{i}" for i in range(300)]
NOISE = """
[augment.source]
policy = "switchout"
tau = 1.0
[augment.target]
policy = "raml"
tau = 1.2
"""


# --- train


@pytest.fixture(scope="module")
def config(tmp_path_factory) -> Config:
    folder = tmp_path_factory.mktemp("kills")
    path = write_config(
        folder / "c.toml", write_toy(folder / "corpus"), extra=NOISE, train='schedule = "constant"'
    )
    train(load_config(path, overrides=["train.steps=1"]), folder / "warm")
    return load_config(path, overrides=["train.steps=40", "train.save_every=5"])


@pytest.mark.faults
@pytest.mark.parametrize("part", range(4))
def test_train(config, tmp_path, part):
    rng, made = random.Random(fresh_seed()), Counter()
    lengths = [
        np.array([len(line.split()) for line in text.splitlines()])
        for text in ((Path(config.data.corpus) / f"train.{x}").read_text() for x in ("xx", "yy"))
    ]
    plan = BatchPlan(*lengths, seed=0, batch_tokens=config.train.batch_tokens)
    finish(start(config, tmp_path / "undisturbed"))
    wanted = state(tmp_path / "undisturbed")
    while sum(made.values()) < 25:
        out = tmp_path / f"run{len(list(tmp_path.iterdir()))}"
        left = 25 - sum(made.values())
        ended, done = killed_state(
            config, out, world=1, kills=left, rng=rng, epoch=plan.batches_per_epoch
        )
        assert ended == wanted
        made.update(done)
    print(f"train: {sum(made.values())} kills, {dict(made)}")


# --- augment --parts


def write_corpus(folder: Path, n_lines: int = 4000) -> Path:
    rng = np.random.default_rng(3)
    for name in ("src", "tgt"):
        lines = [" ".join(rng.choice(WORDS, rng.integers(0, 20))) for _ in range(n_lines)]
        (folder / name).write_text("\n".join(lines))
    (folder / "vocab").write_text("".join(f"{word}\n" for word in WORDS))
    return folder


def augment(corpus: Path, out: Path, **how: Any) -> None:
    out.mkdir(exist_ok=True)
    augment_files(
        corpus / "src",
        corpus / "tgt",
        out_source=out / "x",
        out_target=out / "y",
        tau_x=1.0,
        tau_y=3.0,
        vocab_source=WORDS,
        vocab_target=WORDS,
        seed=9,
        **how,
    )


def augment_quietly(corpus: Path, out: Path, parts: Path, workers: int) -> None:
    os.setpgrp()  # so that all of it can be killed at once
    sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115
    augment(corpus, out, parts=parts, workers=workers, part_bytes=8_000, chunk_bytes=1 << 10)


def kill_all(pid: int, rng: random.Random) -> str:
    """Kill a driver alone, or with all that it started, as a machine that loses its power."""
    if rng.random() < 0.5:
        os.kill(pid, signal.SIGKILL)
        return "driver"
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    return "all"


def outputs(out: Path) -> tuple[bytes, bytes] | None:
    paths = [out / "x", out / "y"]
    return tuple(p.read_bytes() for p in paths) if all(p.exists() for p in paths) else None


def kill_augment(tmp_path: Path, kills: int) -> Counter[str]:
    rng, made, n = random.Random(fresh_seed()), Counter[str](), 0
    corpus = write_corpus(tmp_path)
    begun = time.monotonic()
    augment(corpus, tmp_path / "one")
    wanted = outputs(tmp_path / "one")
    augment(corpus, tmp_path / "two", parts=tmp_path / "two-parts", workers=2, part_bytes=8_000)
    usual = time.monotonic() - begun
    assert outputs(tmp_path / "two") == wanted
    while sum(made.values()) < kills:
        n += 1
        out, parts = tmp_path / f"out{n}", tmp_path / f"parts{n}"
        for _ in range(12):  # of one corpus
            if sum(made.values()) >= kills:
                break
            arguments = (corpus, out, parts, rng.choice([1, 2]))
            driver = forking.Process(target=augment_quietly, args=arguments)
            driver.start()
            time.sleep(rng.uniform(0, usual / 2))
            if driver.is_alive():
                made[kill_all(driver.pid, rng)] += 1
            driver.join()
        augment(corpus, out, parts=parts, workers=2, part_bytes=8_000, chunk_bytes=1 << 10)
        assert outputs(out) == wanted
        assert {path.name for path in out.iterdir()} == {"x", "y"}
    return made


def test_augment_parts_a_few_times(tmp_path):
    assert sum(kill_augment(tmp_path, 5).values()) == 5


@pytest.mark.faults
@pytest.mark.parametrize("part", range(2))
def test_augment_parts(tmp_path, part):
    made = kill_augment(tmp_path, 35)
    print(f"augment --parts: {sum(made.values())} kills, {dict(made)}")


def start_command(
    arguments: list[str], folder: Path, **environment: str
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "switchout", *arguments],
        cwd=folder,
        env=os.environ | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def kill_when(process: subprocess.Popen[bytes], is_time: Callable[[], bool], rng) -> bool:
    """Kill a command when its time has come; False if it ended before."""
    while not is_time():
        if process.poll() is not None:
            return False
        time.sleep(0.002)
    kill_all(process.pid, rng)
    process.wait()
    return True


@pytest.mark.faults
def test_augment_parts_on_ray(tmp_path):
    pytest.importorskip("ray")
    rng, kills = random.Random(fresh_seed()), 0
    corpus = write_corpus(tmp_path)
    augment(corpus, tmp_path / "one")
    out, parts = tmp_path / "out", tmp_path / "parts"
    out.mkdir()
    command = [
        *("augment", "--src", "src", "--tgt", "tgt", "--out-src", "out/x", "--out-tgt", "out/y"),
        *("--tau-x", "1", "--tau-y", "3", "--vocab-src", "vocab", "--vocab-tgt", "vocab"),
        *("--seed", "9", "--engine", "ray", "--workers", "2", "--parts", "parts"),
        *("--part-mb", "0.008", "--chunk-kb", "1"),
    ]
    while kills < 6:
        had = len(list(parts.glob("0*.json"))) if parts.exists() else 0
        process = start_command(command, tmp_path)
        goal = had + rng.randint(1, 3)
        if not kill_when(process, lambda g=goal: len(list(parts.glob("0*.json"))) >= g, rng):
            break
        kills += 1
    assert start_command(command, tmp_path).wait(300) == 0
    assert outputs(out) == outputs(tmp_path / "one")
    print(f"augment --parts on Ray: {kills} kills")
    assert kills >= 3


# --- reproduce


def left_by(root: Path) -> dict[str, Any]:
    """What the runs of a table leave, bit for bit."""
    found = {}
    for path in sorted(root.glob("*/record.json")):
        folder = path.parent
        result = json.loads((folder / "result.json").read_text())
        found[folder.name] = {
            "numbers": [result[k] for k in ("dev_perplexity", "test_bleu", "selected_step")],
            "translations": (folder / "test.hyp").read_bytes(),
            "weights": [
                digest(read_tensors(step, "model")) for step in step_folders(folder / "checkpoints")
            ],
        }
    return found


@pytest.mark.faults
def test_reproduce(tmp_path):
    rng, kills, n = random.Random(fresh_seed()), Counter[str](), 0
    write_config(tmp_path / "toy.toml", write_toy(tmp_path / "toy-xx-yy"), train="")
    command = [
        *("reproduce", "wer", "--corpus", "toy-xx-yy", "--preset", "toy.toml", "--seeds", "2"),
        *("--workers", "2", "--set", "train.steps=60", "--set", "train.save_every=5"),
    ]
    assert (
        start_command([*command, "--out", "whole"], tmp_path, SWITCHOUT_RUNS="whole-runs").wait(600)
        == 0
    )
    wanted = left_by(tmp_path / "whole-runs")
    assert len(wanted) == 4
    while sum(kills.values()) < 32:
        n += 1
        runs = tmp_path / f"runs{n}"
        again = [*command, "--out", f"out{n}"]
        for _ in range(12):  # of one table
            process = start_command(again, tmp_path, SWITCHOUT_RUNS=str(runs))
            moment, before = _moment(runs, rng), time.monotonic()
            wait = rng.uniform(0.5, 4)
            is_time = lambda m=moment, b=before, w=wait: m() or time.monotonic() - b > w + 20  # noqa: E731
            if not kill_when(process, is_time, rng):
                break
            kills["reproduce"] += 1
        last = start_command(again, tmp_path, SWITCHOUT_RUNS=str(runs))
        assert last.wait(600) == 0
        assert left_by(runs) == wanted
    print(f"reproduce: {sum(kills.values())} kills in {n} tables")


def _moment(runs: Path, rng: random.Random) -> Callable[[], bool]:
    """A moment that the last driver has not seen: one more saved state, or run, or mere time."""

    def seen(pattern: str) -> int:
        return max([int(p.name[5:]) for p in runs.glob(pattern)], default=0)

    kind = rng.choice(["state", "checkpoint", "result", "time"])
    if kind == "time":
        end = time.monotonic() + rng.uniform(0.2, 6)
        return lambda: time.monotonic() > end
    if kind == "result":
        before = len(list(runs.glob("*/result.json")))
        return lambda: len(list(runs.glob("*/result.json"))) > before
    pattern = "*/resume/step-*" if kind == "state" else "*/checkpoints/step-*"
    had = sum(1 for _ in runs.glob(pattern)), seen(pattern)
    return lambda: (sum(1 for _ in runs.glob(pattern)), seen(pattern)) != had
