"""Checkpoints: whole or absent, damage named, no code run when read."""

from __future__ import annotations

import errno
import json
import logging
import os
import pickle
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest
import torch

from switchout.errors import SwitchOutError
from switchout.files import Draft
from switchout.files.writing import sweep
from switchout.nmt import checkpoint
from switchout.nmt.checkpoint import (
    DamagedCheckpoint,
    check,
    newest_good,
    prune,
    read_facts,
    read_tensors,
    step_folders,
    write_checkpoint,
)
from switchout.runs.folder import weights_folder


def write(parent: Path, step: int) -> Path:
    folder = parent / f"step-{step}"
    weights = {"w": torch.arange(100.0) + step, "odd/name.x": torch.tensor(step)}
    write_checkpoint(folder, {"model": weights}, {"step": step, "loss": 0.1 + 0.2})
    return folder


def test_round_trip_is_bitwise(tmp_path):
    folder = write(tmp_path, 7)
    tensors = read_tensors(folder, "model")
    assert torch.equal(tensors["w"], torch.arange(100.0) + 7)
    assert tensors["odd/name.x"].item() == 7
    assert read_facts(folder)["loss"] == 0.1 + 0.2


def test_only_safetensors_and_json_are_written(tmp_path):
    names = {path.suffix for path in write(tmp_path, 7).iterdir()}
    assert names == {".safetensors", ".json"}


def test_rewriting_a_step_replaces_it(tmp_path):
    write(tmp_path, 7)
    folder = tmp_path / "step-7"
    write_checkpoint(folder, {"model": {"w": torch.zeros(1)}}, {"step": 7})
    assert read_tensors(folder, "model")["w"].tolist() == [0.0]


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


DAMAGES = {
    "bit flipped": lambda f: flip(f / "model.safetensors"),
    "truncated": lambda f: os.truncate(f / "model.safetensors", 50),
    "emptied": lambda f: os.truncate(f / "model.safetensors", 0),
    "file missing": lambda f: (f / "model.safetensors").unlink(),
    "facts flipped": lambda f: flip(f / "facts.json"),
    "manifest missing": lambda f: (f / "manifest.json").unlink(),
    "manifest truncated": lambda f: os.truncate(f / "manifest.json", 10),
    "manifest not a table": lambda f: (f / "manifest.json").write_text("[1]"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_damaged_checkpoint_is_named_and_the_last_good_one_used(tmp_path, caplog, damage):
    good, bad = write(tmp_path, 9), write(tmp_path, 10)
    damage(bad)
    with caplog.at_level(logging.WARNING):
        assert newest_good(tmp_path) == good
    assert "step-10" in caplog.text
    # Set aside, or it would count as one of the newest when old ones are deleted.
    assert step_folders(tmp_path) == [good]


def test_without_a_good_checkpoint_there_is_none(tmp_path):
    assert newest_good(tmp_path / "absent") is None
    flip(write(tmp_path, 1) / "model.safetensors")
    assert newest_good(tmp_path) is None


def test_steps_are_ordered_as_numbers(tmp_path):
    for step in (9, 10, 100):
        write(tmp_path, step)
    (tmp_path / "step-best").mkdir()
    assert [f.name for f in step_folders(tmp_path)] == ["step-9", "step-10", "step-100"]
    prune(tmp_path, keep=2)
    assert [f.name for f in step_folders(tmp_path)] == ["step-10", "step-100"]


@pytest.mark.parametrize("at", range(1, 6))
def test_failed_write_leaves_nothing_and_the_last_good_one(tmp_path, monkeypatch, at):
    """ENOSPC shows up in any write or sync of the new checkpoint."""
    good, real, calls = write(tmp_path, 1), os.fsync, []

    def full(handle):
        calls.append(handle)
        if len(calls) == at:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(handle)

    monkeypatch.setattr(os, "fsync", full)
    if at == 5:  # the parent's sync comes after the rename: whole, if perhaps not yet durable
        with pytest.raises(SwitchOutError, match=r"step-2: cannot be written \(No space"):
            write(tmp_path, 2)
        check(tmp_path / "step-2")
        return
    with pytest.raises(SwitchOutError, match=r"step-2: cannot be written \(No space"):
        write(tmp_path, 2)
    assert list(tmp_path.iterdir()) == [good]
    assert newest_good(tmp_path) == good


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small file system needs root")
def test_full_disk_leaves_the_last_good_one(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("cannot mount a tmpfs here")
    try:
        good = write(disk, 1)
        with pytest.raises((OSError, SwitchOutError), match="No space left"):
            write_checkpoint(disk / "step-2", {"model": {"w": torch.zeros(10**6)}}, {"step": 2})
        assert list(disk.iterdir()) == [good]
        assert newest_good(disk) == good
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_leftover_of_a_kill_is_ignored_and_removed(tmp_path):
    good = write(tmp_path, 1)
    half = Draft(tmp_path / "step-2", is_folder=True)
    (half.path / "model.safetensors").write_bytes(b"half")
    sweep(tmp_path, again=True)
    assert half.path.exists()  # its writer lives
    half.release()
    assert newest_good(tmp_path) == good
    sweep(tmp_path, again=True)
    assert list(tmp_path.iterdir()) == [good]


class Bomb:
    def __reduce__(self):
        return Path.touch, (Path(os.environ["BOMB"]),)


@pytest.mark.parametrize("name", ["model.safetensors", "facts.json", "manifest.json"])
def test_pickle_bomb_does_nothing(tmp_path, monkeypatch, name):
    """Even with a manifest that vouches for it."""
    monkeypatch.setenv("BOMB", str(tmp_path / "exploded"))
    folder, content = write(tmp_path, 1), pickle.dumps(Bomb())
    (folder / name).write_bytes(content)
    if name != "manifest.json":
        manifest = json.loads((folder / "manifest.json").read_text())
        manifest[name] = sha256(content).hexdigest()
        (folder / "manifest.json").write_text(json.dumps(manifest))

    def read_all():
        check(folder)
        read_facts(folder)
        read_tensors(folder, "model")

    with pytest.raises(SwitchOutError, match=name.split(".")[0]):
        read_all()
    assert not (tmp_path / "exploded").exists()
    pickle.loads(content)  # the bomb is live
    assert (tmp_path / "exploded").exists()


def test_other_format_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "FORMAT", 99)
    folder = write(tmp_path, 1)
    monkeypatch.undo()
    with pytest.raises(DamagedCheckpoint, match="format 99"):
        read_facts(folder)


def test_weights_folder_is_what_the_result_names_else_the_newest(tmp_path):
    with pytest.raises(SwitchOutError, match="no weights"):
        weights_folder(tmp_path)
    write(tmp_path / "checkpoints", 5)
    newest = write(tmp_path / "checkpoints", 10)
    assert weights_folder(tmp_path) == newest
    (tmp_path / "result.json").write_text('{"weights": "checkpoints/step-5"}')
    assert weights_folder(tmp_path) == tmp_path / "checkpoints" / "step-5"
