"""`switchout.h` without Python: compiled as C and C++, it gives the golden ids."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import switchout as so
from switchout.sampling import laws
from switchout.sampling.address import Address

ROOT = Path(__file__).parents[2]
CORE = ROOT / "src" / "switchout" / "core"
PROGRAM = ROOT / "tests" / "c" / "use_header.c"
GOLDEN = ROOT / "tests" / "golden" / "ids.json"
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
COMPILERS = {
    "gcc": ["gcc", "-std=c11"],
    "gcc for this processor": ["gcc", "-std=c11", "-march=native"],
    "g++": ["g++", "-std=c++17", "-x", "c++"],
    "clang": ["clang", "-std=c11"],
    "clang++": ["clang++", "-std=c++17", "-x", "c++"],
    "gcc for arm64": ["aarch64-linux-gnu-gcc", "-std=c11", "-static"],
}
EMULATOR = "qemu-aarch64"  # runs what was built for arm64


def build(name: str, folder: Path) -> Path:
    command = COMPILERS[name]
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    program = folder / "use_header"
    call = [*command, "-O2", *WARNINGS, f"-I{CORE}", str(PROGRAM), "-o", str(program)]
    result = subprocess.run(call, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return program


def numbers(policy: so.Policy, x: np.ndarray, ids: list[int], address: Address) -> list[int]:
    """A case as the program reads it."""
    words, rule = policy.words, policy.rule
    row = []
    if rule.tau is not None:
        row = laws.shared_table(float(rule.tau), x.shape[1]).cumulative.tolist()
    limits = rule.thresholds(words) or (-1, -1)
    return [
        words.size, words.lowest, len(words.range_starts), *words.range_starts, *words.range_stops,
        len(words.draw_ids), *words.draw_ids, len(words), len(row), *row, *limits, rule.null_id,
        address.seed, address.epoch, address.stream, x.itemsize, *x.shape, *ids, *x.ravel(),
    ]  # fmt: skip


def golden_cases() -> list[tuple[list[int], list[int]]]:
    """Input and expected ids of every golden case that the program knows: one law, no chain."""
    cases = []
    for case in json.loads(GOLDEN.read_text())["cases"]:
        policy = so.policy_from_dict(case["policy"])
        if not hasattr(policy, "rule") or (policy.rule.tau is policy.rule.probabilities):
            continue
        side = case["address"].get("side", policy.default_side)
        address = Address(case["address"]["seed"], case["address"].get("epoch", 0), side)
        expected = np.array(case["result"]).ravel().tolist()
        for kind in (np.int32, np.int64):
            x = np.array(case["tokens"], kind)
            cases.append((numbers(policy, x, case["example_ids"], address), expected))
    return cases


@pytest.mark.parametrize("name", COMPILERS)
def test_a_c_program_gets_the_golden_ids(name, tmp_path):
    cases = golden_cases()
    assert len(cases) >= 10
    text = "\n".join(" ".join(map(str, case)) for case, _ in cases)
    program = [str(build(name, tmp_path))]
    if "arm64" in name:
        if shutil.which(EMULATOR) is None:
            pytest.skip(f"{EMULATOR} is not installed")
        program.insert(0, EMULATOR)
    run = subprocess.run(program, input=text, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    lines = [[int(n) for n in line.split()] for line in run.stdout.splitlines()]
    assert lines == [expected for _, expected in cases]


def test_a_wrong_multiplier_is_noticed(tmp_path):
    """Negative control: the same program with a Philox that is not Philox."""
    header = (CORE / "switchout.h").read_text()
    assert "0xD2511F53u" in header
    (tmp_path / "switchout.h").write_text(header.replace("0xD2511F53u", "0xD2511F55u"))
    program = tmp_path / "wrong"
    call = ["gcc", "-std=c11", f"-I{tmp_path}", str(PROGRAM), "-o", str(program)]
    subprocess.run(call, check=True)
    run = subprocess.run([program], input="", capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "published vectors" in run.stderr
