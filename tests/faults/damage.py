"""Ways to damage one file of a run, and the verbs that must notice."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from switchout.cli import run
from switchout.nmt.checkpoint import digest, read_tensors

Damage = Callable[[Path, random.Random], None]


def truncated(path: Path, rng: random.Random) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: rng.randrange(len(content))] if content else b"")


def flipped(path: Path, rng: random.Random) -> None:
    content = bytearray(path.read_bytes())
    if content:
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(content)


def missing(path: Path, rng: random.Random) -> None:
    path.unlink()


def folder(path: Path, rng: random.Random) -> None:
    path.unlink()
    path.mkdir()


def garbage(path: Path, rng: random.Random) -> None:
    path.write_bytes(rng.randbytes(300))


def deep(path: Path, rng: random.Random) -> None:
    path.write_bytes(b"[" * 50_000)


DAMAGES: dict[str, Damage] = {
    "truncated": truncated,
    "flipped": flipped,
    "missing": missing,
    "folder": folder,
    "garbage": garbage,
    "deep": deep,
}


def files_of(run_folder: Path) -> list[str]:
    """All files that a run leaves, but for what only people look at."""
    paths = [path.relative_to(run_folder) for path in run_folder.rglob("*") if path.is_file()]
    return sorted(str(p) for p in paths if not p.name.startswith("."))


def result_of(run_folder: Path) -> dict[str, object]:
    """What a run must end with, bit for bit: weights, translations and numbers."""
    result = json.loads((run_folder / "result.json").read_text())
    for name in ("seconds", "cpu_seconds", "tokens_per_second", "seal"):
        result.pop(name)
    return {
        "result": result,
        "weights": digest(read_tensors(run_folder / result["weights"], "model")),
        "translations": [(run_folder / f"{split}.hyp").read_bytes() for split in ("dev", "test")],
    }


def content_of(exported: Path) -> dict[str, str]:
    return {p.name: sha256(p.read_bytes()).hexdigest() for p in sorted(exported.iterdir())}


def train(config: Path, run_folder: Path) -> tuple[int, object]:
    code = run(["train", str(config), "--out", str(run_folder)])
    return code, result_of(run_folder) if code == 0 else None


def translate(config: Path, run_folder: Path) -> tuple[int, object]:
    out = run_folder.with_suffix(".hyp")
    source = config.parent / "corpus" / "test.xx"
    arguments = ["--run", str(run_folder), "--input", str(source), "--output", str(out)]
    code = run(["translate", *arguments])
    return code, out.read_bytes() if code == 0 else None


def export(config: Path, run_folder: Path) -> tuple[int, object]:
    out = run_folder.with_suffix(".exported")
    shutil.rmtree(out, ignore_errors=True)
    code = run(["export", "--run", str(run_folder), "--to", "safetensors", "--out", str(out)])
    return code, content_of(out) if code == 0 else None


def report(config: Path, run_folder: Path) -> tuple[int, object]:
    """The scores of the experiment that this run belongs to; a run that is out has none."""
    out = run_folder.parent.parent / "table"
    code = run(["report", str(out)])
    if code != 0:
        return code, None
    results = json.loads((out / "results.json").read_text())
    rows = [row for column in results["columns"] for row in column["rows"]]
    return code, [sorted(r["test_bleu"] for r in row["runs"]) for row in rows]


VERBS = {"train": train, "translate": translate, "export": export, "report": report}
