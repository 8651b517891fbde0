"""Every bad input ends with exit 0, or with one line and exit 2, in time, and damages nothing."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from cases import Case, all_cases
from commands import BASES, WITHOUT_TORCH
from world import SECONDS, WORK_SECONDS, Server, World, fingerprint

from switchout.cli import VERBS

CASES = all_cases()
EVERY = int(os.environ.get("FAULTS_EVERY", "1"))  # a part of all, while one works on it
REAL_EVERY = 25  # so many forked cases for one as a real command
QUICK = [c for c in CASES if c.verb in WITHOUT_TORCH and "--parts" not in c.base.options]
SHORT = [c for c in QUICK if "long line" not in c.name][::61]
PATIENCE = 6.0  # seconds until what runs on is interrupted
REFUSED, INTERRUPTED = 2, 130


@pytest.fixture(scope="module")
def server():
    server = Server()
    yield server
    server.close()


@pytest.fixture(scope="module")
def world(tmp_path_factory, server):
    return World(tmp_path_factory.mktemp("world"), server)


def prepare(case: Case, world: World) -> Path:
    folder = world.new_case()
    (folder / "dangling").symlink_to("nowhere")
    (folder / "loop").symlink_to("loop")
    (folder / "linked").symlink_to(".")
    (folder / ".tmp").mkdir()
    for name, content in case.files.items():
        path = folder / name
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
        if content is not None:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
    return folder


def plain(name: str) -> str:
    """Return a name without the detours that the cases take."""
    for detour in ("./", "corp-de-en/../", "linked/"):
        name = name.removeprefix(detour)
    return name


def check(case: Case, world: World, *, is_real: bool) -> None:
    world.need(case.verb)
    folder = prepare(case, world)
    before, shared_before = fingerprint(folder), fingerprint(world.shared)
    shared = str(world.shared)
    arguments = [a.replace("{shared}", shared) if isinstance(a, str) else a for a in case.arguments]
    env = {**world.env, "TMPDIR": str(folder / ".tmp"), **case.env}
    seconds = SECONDS if case.verb in WITHOUT_TORCH else WORK_SECONDS
    done = world.server.run(
        arguments, folder, env=env, seconds=seconds, is_real=is_real and not case.base.runs_on,
        interrupt_after=PATIENCE if case.base.runs_on else None,
    )  # fmt: skip
    story = (
        f"{case.name}\n{arguments}\nexit {done.code} in {done.seconds:.1f} s\n{done.err[-3000:]}"
    )
    assert done.code is not None, f"too slow: {story}"
    assert done.code == 0 or done.seconds < SECONDS, f"refused late: {story}"
    ends = (0, REFUSED, INTERRUPTED) if case.base.runs_on else (0, REFUSED)
    assert done.code in ends, story
    assert "Traceback" not in done.err, story
    assert not done.left, f"left processes behind: {story}"
    complaints = [line for line in done.err.splitlines() if line.startswith("switchout: ")]
    assert len(complaints) == (1 if done.code else 0), story
    after = fingerprint(folder)
    allowed = {plain(name).split("/")[0] for name in case.outputs}
    if done.code == REFUSED:
        allowed = set()  # what is refused leaves nothing
        if "parts/000000.json" in after:
            allowed = {"parts"}  # but parts that are done, for the next try
        if "corpus itself is complete" in done.err:  # only its statistics have no place
            allowed = {plain(name).split("/")[0] for name in case.outputs}

    touched = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    stray = {name for name in touched if name.split("/")[0] not in allowed}
    stray = {name for name in stray if "torchinductor" not in name}  # a cache of torch's own
    assert not stray, f"touched {sorted(stray)[:5]}: {story}"
    inputs = {base.removeprefix("./") for base in (*case.files, "train.de", "ref", "config.toml")}
    assert not touched & inputs, f"changed an input: {story}"
    shared_after = fingerprint(world.shared)
    changed = [n for n, f in shared_before.items() if shared_after.get(n) != f and "runs" not in n]
    assert not changed, f"changed a run {changed[:5]}: {story}"
    shutil.rmtree(folder)


@pytest.mark.parametrize("case", SHORT, ids=lambda case: case.name)
def test_some_bad_inputs(case, world):
    check(case, world, is_real=False)


@pytest.mark.faults
@pytest.mark.parametrize("number", range(0, len(CASES), EVERY), ids=lambda i: CASES[i].name)
def test_bad_input(number, world):
    check(CASES[number], world, is_real=number % REAL_EVERY == 0)


@pytest.mark.faults
@pytest.mark.parametrize("base", BASES, ids=lambda base: base.name)
def test_the_valid_command_lines_work(base, world):
    """Otherwise all of the above would be refused for the wrong reason."""
    world.need(base.verb[0])
    folder = world.new_case()
    line = [a.replace("{shared}", str(world.shared)) for a in base.line()]
    done = world.server.run(
        [a for a in line if a], folder, env=world.env, seconds=60,
        interrupt_after=PATIENCE if base.runs_on else None,
    )  # fmt: skip
    assert done.code in ((0, INTERRUPTED) if base.runs_on else (0,)), done.err
    for option in () if base.runs_on else base.outputs:
        assert (folder / base.options[option]).exists()


def test_every_verb_is_attacked():
    assert {base.verb[0] for base in BASES} == set(VERBS)
    assert len(CASES) >= 400
