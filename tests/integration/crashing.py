"""Training in forked processes that are killed without warning.

Forking a process that has imported torch already starts a training in a tenth of a second; the
command line would need seconds for its imports, and there are many kills to make.
"""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import random
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from switchout.nmt.checkpoint import digest, read_facts, read_tensors, step_folders
from switchout.nmt.metrics import read_metrics
from switchout.nmt.trainer import Trainer
from switchout.runs.config import Config
from switchout.runs.train import train

forking = multiprocessing.get_context("fork")


def _work(config: Config, out: Path, rank: int, world: int, port: int, trace: Path | None) -> None:
    if world > 1:
        os.environ |= {
            "RANK": str(rank),
            "WORLD_SIZE": str(world),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(port),
        }
    logging.basicConfig(
        filename=os.devnull if rank else f"{out}.log", level=logging.INFO, force=True
    )
    if trace is not None:
        _note_examples(trace)
    train(config, out)


def _note_examples(path: Path) -> None:
    """Write down what this process trains on: step, id, source, decoder input, labels."""
    handle, augmented = path.open("a"), Trainer.augmented

    def noted(trainer: Trainer, batch: Any) -> Any:
        src, tgt_in, labels = augmented(trainer, batch)
        for row, example in enumerate(batch.example_ids.tolist()):
            n, m = int(batch.src_lengths[row]), int(batch.tgt_lengths[row])
            seen = [src[row, :n].tolist(), tgt_in[row, :m].tolist(), labels[row, :m].tolist()]
            handle.write(json.dumps([batch.step, example, *seen]) + "\n")
        handle.flush()
        return src, tgt_in, labels

    Trainer.augmented = noted  # type: ignore[method-assign]


def start(config: Config, out: Path, *, world: int = 1, trace: Path | None = None) -> list[Any]:
    """Fork the processes of a training."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    team = [
        forking.Process(target=_work, args=(config, out, rank, world, port, trace))
        for rank in range(world)
    ]
    for process in team:
        process.start()
    return team


def finish(team: list[Any]) -> None:
    """Wait for a training that nobody kills."""
    for process in team:
        process.join()
        assert process.exitcode == 0


def kill(team: list[Any], rng: random.Random) -> None:
    """Kill one process, and soon after, as torchrun does, the others."""
    rng.shuffle(team)
    for process in team:
        os.kill(process.pid, signal.SIGKILL)
        time.sleep(rng.choice([0, 0, 0.01]))
    for process in team:
        process.join()


def wait_for(moment: str, team: list[Any], out: Path, rng: random.Random, epoch: int) -> bool:
    """Wait until ``moment``; False if the training ended before it came."""
    is_there = {
        "any time": _after(rng.expovariate(2.0)),
        "checkpoint write": lambda: any(out.glob("*/.switchout-*.partial.step-*")),
        "epoch boundary": _boundary(out, epoch),
    }[moment]
    while not is_there():
        if not any(process.is_alive() for process in team):
            return False
        time.sleep(0.0005)
    return True


def _after(seconds: float) -> Callable[[], bool]:
    end = time.monotonic() + seconds
    return lambda: time.monotonic() > end


def _boundary(out: Path, epoch: int) -> Callable[[], bool]:
    """The last step of an epoch has been logged, and it is not one that was logged before."""
    path = out / "metrics.jsonl"

    def last() -> int:
        records = read_metrics(path)
        return records[-1]["step"] if records else 0

    before = last()
    return lambda: last() // epoch > before // epoch


def state(out: Path) -> dict[str, Any]:
    """Everything a run must end with, bit for bit."""
    newest = step_folders(out / "resume")[-1]
    facts = read_facts(newest)
    told = [
        {k: v for k, v in record.items() if k not in ("time", "tokens_per_second")}
        for record in read_metrics(out / "metrics.jsonl")
    ]
    return {
        "step": facts["trainer"]["step"],
        "parameters": digest(read_tensors(newest, "model")),
        "optimizer": digest(read_tensors(newest, "optimizer")),
        "examples": facts["trainer"]["stream"],
        "validations": facts["history"],
        "kept": [
            digest(read_tensors(folder, "model")) for folder in step_folders(out / "checkpoints")
        ],
        "metrics": told,
        "translations": (out / "test.hyp").read_text(),
    }


def killed_state(
    config: Config, out: Path, *, world: int, kills: int, rng: random.Random, epoch: int
) -> tuple[dict[str, Any], dict[str, int]]:
    """Kill a training ``kills`` times, then let it end; return its state, and kills by moment."""
    moments = ["any time", "checkpoint write", "epoch boundary"]
    done = dict.fromkeys(moments, 0)
    while sum(done.values()) < kills:
        moment = rng.choice(moments)
        team = start(config, out, world=world)
        if not wait_for(moment, team, out, rng, epoch):
            break  # it ended first
        kill(team, rng)
        done[moment] += 1
    finish(start(config, out, world=world))
    return state(out), done
