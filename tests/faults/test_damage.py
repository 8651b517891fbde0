"""Each file of a run, damaged in each way: named in one line, and mended where that can be done."""

from __future__ import annotations

import logging
import os
import random
import shutil
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import pytest
from damage import DAMAGES, VERBS, files_of
from train_toys import fresh_seed, write_config, write_corpus

from switchout.cli import run
from switchout.files import writing

SWEEP = 'base = "c.toml"\nseeds = [1, 2]\n[[config]]\nname = "only"\n'
PLAIN, TABLE = "plain", "of a table"  # a run of `train`, and one that a table has finished


@dataclass
class World:
    """Two finished runs, their copies, and what every verb makes of them undamaged."""

    root: Path
    runs: dict[str, Path]
    wanted: dict[tuple[str, str], object]

    def restore(self, kind: str) -> Path:
        victim = self.runs[kind]
        shutil.rmtree(victim)
        shutil.copytree(self.root / "copies" / kind, victim)
        return victim

    def cases(self) -> list[tuple[str, str, str, str]]:
        """All (kind of run, file, damage, verb)."""
        verbs = {PLAIN: ["train", "translate", "export"], TABLE: ["train", "report"]}
        return [
            (kind, name, damage, verb)
            for kind, folder in self.runs.items()
            for name in files_of(folder)
            for damage in DAMAGES
            for verb in verbs[kind]
        ]


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> World:
    root = tmp_path_factory.mktemp("damage")
    before = os.environ.get("SWITCHOUT_RUNS")
    os.environ["SWITCHOUT_RUNS"] = str(root / "runs")
    config = write_config(root / "c.toml", write_corpus(root / "corpus"), train="dev_bleu = true")
    config.write_text(config.read_text().replace("dev_bleu = false\n", ""))
    (root / "sweep.toml").write_text(SWEEP)
    assert run(["train", str(config), "--out", str(root / "runs" / "plain")]) == 0
    assert run(["sweep", str(root / "sweep.toml"), "--out", str(root / "table")]) == 0
    of_table = next(p.parent for p in sorted((root / "runs").glob("*/record.json")))
    found = World(root, {PLAIN: root / "runs" / "plain", TABLE: of_table}, {})
    # The run of the table has its own seed: the same command is then its own configuration.
    shutil.copy(of_table / "config.toml", root / "table.toml")
    for kind, folder in found.runs.items():
        shutil.copytree(folder, root / "copies" / kind)
        for verb in {case[3] for case in found.cases() if case[0] == kind}:
            code, found.wanted[kind, verb] = VERBS[verb](configuration(found, kind), folder)
            assert code == 0
    yield found
    if before is None:
        del os.environ["SWITCHOUT_RUNS"]
    else:
        os.environ["SWITCHOUT_RUNS"] = before


def configuration(world: World, kind: str) -> Path:
    return world.root / ("c.toml" if kind == PLAIN else "table.toml")


def is_named(name: str, said: str) -> bool:
    """A file is named by its name, or by that of the folder which is whole or not as one."""
    parts = Path(name).parts
    return parts[-1] in said or (len(parts) > 1 and f"{parts[0]}" in said)


def check(world: World, case: tuple[str, str, str, str], rng: random.Random, capsys, caplog) -> str:
    """Return what is wrong with how a verb takes a damage; empty: nothing."""
    kind, name, damage, verb = case
    victim = world.restore(kind)
    before = (victim / name).read_bytes()
    DAMAGES[damage](victim / name, rng)
    is_same = (victim / name).is_file() and (victim / name).read_bytes() == before
    caplog.clear()
    capsys.readouterr()
    writing._swept.clear()
    try:
        code, ended = VERBS[verb](configuration(world, kind), victim)
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    said = capsys.readouterr().err + caplog.text
    if code not in (0, 2):
        return f"exit code {code}"
    if code == 2 and "switchout: " not in said:
        return "no line that says why"
    if is_same:
        return "" if code == 0 else "refused though nothing was damaged"
    if code == 2:
        return "" if is_named(name, said) else f"does not name the file: {said[-200:]}"
    if (name, damage, verb) == ("record.json", "missing", "report"):
        return ""  # the last file to be written: such a run is not finished yet, and counted so
    if ended != world.wanted[kind, verb] and not is_named(name, said):
        return f"another outcome, and nothing said: {said[-200:]}"
    return ""


def all_of(world: World, cases: list[tuple[str, str, str, str]], capsys, caplog) -> None:
    rng = random.Random(fresh_seed())
    logging.getLogger().setLevel(logging.WARNING)
    wrong = {}
    for case in cases:
        if problem := check(world, case, rng, capsys, caplog):
            wrong[case] = problem
    print(f"{len(cases)} cases of damage, {len(wrong)} wrong")
    assert wrong == {}


def test_each_file_is_damaged_once(world, capsys, caplog):
    """A part of the matrix: every file, with one damage and one verb, always the same ones."""
    chosen = {}
    for case in world.cases():
        key = case[:2]
        if key not in chosen or crc32(repr(case).encode()) < crc32(repr(chosen[key]).encode()):
            chosen[key] = case
    all_of(world, list(chosen.values()), capsys, caplog)


@pytest.mark.faults
@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("kind", [PLAIN, TABLE])
def test_every_file_every_damage_every_verb(world, kind, damage, capsys, caplog):
    cases = [case for case in world.cases() if case[0] == kind and case[2] == damage]
    all_of(world, cases, capsys, caplog)


def test_the_check_can_fail(world, capsys, caplog, monkeypatch):
    """Other ids under the text's hash: seen, and caught where a verb does not look."""

    def other_ids(path: Path, rng: random.Random) -> None:
        path.write_bytes(path.read_bytes()[::-1])
        for name in ("resume", "checkpoints"):
            shutil.rmtree(path.parents[2] / name)
        (path.parents[2] / "result.json").unlink()

    monkeypatch.setitem(DAMAGES, "other ids", other_ids)
    case = (PLAIN, "encoded/train/example_ids", "other ids", "train")
    assert check(world, case, random.Random(0), capsys, caplog) == ""
    monkeypatch.setattr("switchout.runs.sealed._is", lambda path, value: True)
    wrong = check(world, case, random.Random(0), capsys, caplog)
    assert wrong.startswith("another outcome")
