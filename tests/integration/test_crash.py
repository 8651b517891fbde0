"""A training that is killed at any moment ends as if nothing had happened, bit for bit."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from crashing import finish, kill, killed_state, start, state, wait_for
from train_toys import fresh_seed, write_config, write_corpus

from switchout.nmt.batches import BatchPlan
from switchout.nmt.checkpoint import check, read_tensors, step_folders
from switchout.runs.config import Config
from switchout.runs.config_file import load_config, to_toml
from switchout.runs.train import train

NOISE = """
[augment.source]
policy = "switchout"
tau = 1.0
[augment.target]
policy = "raml"
tau = 1.2
"""
STEPS = 40


@pytest.fixture(scope="module")
def config(tmp_path_factory) -> Config:
    folder = tmp_path_factory.mktemp("crash")
    corpus = write_corpus(folder / "corpus")
    path = write_config(folder / "c.toml", corpus, extra=NOISE, train='schedule = "constant"')
    config = load_config(path, overrides=[f"train.steps={STEPS}", "train.save_every=5"])
    # Once in this process: what is compiled now, every fork has.
    train(load_config(path, overrides=["train.steps=1"]), folder / "warm")
    return config


@pytest.fixture(scope="module")
def undisturbed(config, tmp_path_factory):
    """The final states of runs that were left alone, by number of processes."""
    known = {}

    def of(world: int):
        if world not in known:
            out = tmp_path_factory.mktemp("undisturbed") / "run"
            finish(start(config, out, world=world))
            known[world] = state(out)
        return known[world]

    return of


def epoch_steps(config: Config) -> int:
    sides = [(Path(config.data.corpus) / f"train.{x}").read_text() for x in ("xx", "yy")]
    src, tgt = ([len(line.split()) for line in text.splitlines()] for text in sides)
    tokens = config.train.batch_tokens
    return BatchPlan(np.array(src), np.array(tgt), seed=0, batch_tokens=tokens).batches_per_epoch


def crash(config, undisturbed, tmp_path, *, world: int, kills: int) -> None:
    rng, total, attempt = random.Random(fresh_seed()), Counter(), 0
    epoch = epoch_steps(config)
    assert 3 * epoch < STEPS
    wanted = undisturbed(world)
    while sum(total.values()) < kills:
        left = kills - sum(total.values())
        ended, done = killed_state(
            config, tmp_path / f"run{attempt}", world=world, kills=left, rng=rng, epoch=epoch
        )
        assert ended == wanted
        total.update(done)
        attempt += 1
    print(dict(total))


def test_killed_run_equals_the_undisturbed_one(config, undisturbed, tmp_path):
    crash(config, undisturbed, tmp_path, world=1, kills=6)


@pytest.mark.slow
@pytest.mark.parametrize(("world", "kills"), [(1, 40), (2, 20), (3, 20)])
def test_many_kills_equal_the_undisturbed_run(config, undisturbed, tmp_path, world, kills):
    crash(config, undisturbed, tmp_path, world=world, kills=kills)


def test_the_comparison_can_fail(config, undisturbed, tmp_path):
    """Another seed gives another state in every part."""
    other = config.model_copy(update={"seed": 4})
    finish(start(other, tmp_path / "run"))
    ended, wanted = state(tmp_path / "run"), undisturbed(1)
    for part in ("parameters", "optimizer", "examples", "kept", "metrics"):
        assert ended[part] != wanted[part]


def test_kill_during_a_write_leaves_only_whole_checkpoints(config, tmp_path):
    rng, out = random.Random(0), tmp_path / "run"
    for _ in range(3):
        team = start(config, out)
        assert wait_for("checkpoint write", team, out, rng, 1)
        kill(team, rng)
        for folder in [*step_folders(out / "resume"), *step_folders(out / "checkpoints")]:
            check(folder)


@pytest.mark.parametrize(
    "damage",
    [
        "flip",
        pytest.param("truncate", marks=pytest.mark.slow),
        pytest.param("delete", marks=pytest.mark.slow),
    ],
)
def test_damaged_resume_checkpoint_costs_time_only(config, undisturbed, tmp_path, damage):
    out = tmp_path / "run"
    team = start(config, out)
    assert wait_for("epoch boundary", team, out, random.Random(0), 2 * epoch_steps(config))
    kill(team, random.Random(0))
    newest = step_folders(out / "resume")[-1]
    path = newest / "optimizer.safetensors"
    if damage == "truncate":
        path.write_bytes(path.read_bytes()[:-7])
    elif damage == "flip":
        content = bytearray(path.read_bytes())
        content[-3] ^= 0x10
        path.write_bytes(content)
    else:
        path.unlink()
    finish(start(config, out))
    assert state(out) == undisturbed(1)
    assert f"{newest.name}/optimizer.safetensors" in Path(f"{out}.log").read_text()


@pytest.mark.slow
def test_stop_request_of_one_process_stops_all_at_the_same_step(config, undisturbed, tmp_path):
    out = tmp_path / "run"
    team = start(config, out, world=2)
    assert wait_for("epoch boundary", team, out, random.Random(0), epoch_steps(config))
    os.kill(team[1].pid, signal.SIGTERM)
    finish(team)
    result = json.loads((out / "result.json").read_text())
    assert result["state"] == "stopped"
    assert 0 < result["steps"] < STEPS
    finish(start(config, out, world=2))
    assert state(out) == undisturbed(2)


def seen(path: Path) -> list[str]:
    """What the model saw, each step's examples in one order; steps made twice are told once."""
    return sorted(set(path.read_text().splitlines()), key=lambda line: json.loads(line)[:2])


def test_other_world_size_sees_the_same_and_learns_the_same(config, tmp_path):
    """World size 1 -> 2 -> 1 within a run: ids bitwise, parameters to rounding."""
    alone, changing = tmp_path / "alone", tmp_path / "changing"
    finish(start(config, alone, trace=tmp_path / "alone.jsonl"))
    for world, steps in ((1, 12), (2, 26), (1, STEPS)):
        shorter = config.train.model_copy(update={"steps": steps})
        part = config.model_copy(update={"train": shorter})
        finish(start(part, changing, world=world, trace=tmp_path / "changing.jsonl"))
    assert seen(tmp_path / "alone.jsonl") == seen(tmp_path / "changing.jsonl")
    a, b = state(alone), state(changing)
    assert a["examples"] == b["examples"]
    theirs = read_tensors(step_folders(changing / "resume")[-1], "model")
    for name, value in read_tensors(step_folders(alone / "resume")[-1], "model").items():
        assert (value - theirs[name]).abs().max() < 1e-4
    log = Path(f"{changing}.log").read_text()
    assert "world 1 -> 2" in log
    assert "to rounding only" in log


@pytest.mark.slow
def test_torchrun_trains_as_forked_processes_do(config, undisturbed, tmp_path):
    (tmp_path / "c.toml").write_text(to_toml(config))
    out = tmp_path / "run"
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
    command = ["-m", "switchout", "train", str(tmp_path / "c.toml"), "--out", str(out)]
    subprocess.run([*torchrun, *command], check=True)
    assert state(out) == undisturbed(2)
