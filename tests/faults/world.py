"""A folder of small valid inputs, and runs made from them once."""

from __future__ import annotations

import json
import os
import random
import shutil
import stat
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from commands import SWEEP, TINY

SECONDS = 20.0  # until a bad input is refused
WORK_SECONDS = 180.0  # until a good one is done, where it trains
BUILD_SECONDS = 180.0
HERE = Path(__file__).parent
DE = [
    "der",
    "die",
    "hund",
    "katze",
    "haus",
    "baum",
    "laeuft",
    "sieht",
    "gross",
    "klein",
    "rot",
    "blau",
    "und",
    "nicht",
]
EN = [
    "the",
    "a",
    "dog",
    "cat",
    "house",
    "tree",
    "runs",
    "sees",
    "big",
    "small",
    "red",
    "blue",
    "and",
    "not",
]


@dataclass(frozen=True)
class Outcome:
    """What a command did."""

    code: int | None  # None: it took too long
    out: str
    err: str
    left: bool
    seconds: float


class Server:
    """Runs command lines, forked or as real commands; see `server`."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "server.py")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def run(
        self, arguments: list[str | bytes], cwd: Path, *,
        env: dict[str, str] | None = None, stdin: Path | None = None, seconds: float = SECONDS,
        is_real: bool = False, interrupt_after: float | None = None,
    ) -> Outcome:  # fmt: skip
        """Run one command line in ``cwd``."""
        env = {"OMP_NUM_THREADS": "1", **(env or {})}
        with tempfile.TemporaryDirectory() as folder:
            out, err = Path(folder) / "out", Path(folder) / "err"
            if is_real:
                code, left, took = self._run_real(arguments, cwd, env, stdin, out, err, seconds)
            else:
                streams = [
                    (str(stdin or os.devnull), os.O_RDONLY),
                    *((str(path), os.O_WRONLY | os.O_CREAT) for path in (out, err)),
                ]
                answer = self._ask({
                    "arguments": [os.fsencode(a).hex() for a in arguments], "cwd": str(cwd),
                    "env": env, "streams": streams, "seconds": seconds,
                    "interrupt_after": interrupt_after,
                })  # fmt: skip
                code, left, took = answer["code"], answer["left"], answer["seconds"]
            texts = [path.read_bytes().decode("utf-8", "replace") for path in (out, err)]
        return Outcome(code, texts[0], texts[1], left, took)

    def _ask(self, request: dict[str, object]) -> dict[str, object]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer: dict[str, object] = json.loads(self._process.stdout.readline())
        return answer

    @staticmethod
    def _run_real(arguments, cwd, env, stdin, out, err, seconds):
        command = [sys.executable, "-m", "switchout", *arguments]
        with Path(stdin or os.devnull).open("rb") as a, out.open("wb") as b, err.open("wb") as c:
            try:
                done = subprocess.run(
                    command, cwd=cwd, env={**os.environ, **env}, stdin=a, stdout=b, stderr=c,
                    timeout=seconds + 10,  # a new Python has to import everything
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                return None, False, seconds
        return done.returncode, False, 0.0

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=10)


def lines(words: list[str], n: int, seed: int) -> str:
    rng = random.Random(seed)
    return "".join(" ".join(rng.choices(words, k=rng.randint(3, 8))) + "\n" for _ in range(n))


def write_inputs(folder: Path) -> None:
    """Write one small valid file of every kind that a verb reads."""
    folder.mkdir(parents=True)
    sides = {"de": DE, "en": EN}
    (folder / "corp-de-en").mkdir()
    for split, n in (("train", 60), ("dev", 12), ("test", 12)):
        for language, words in sides.items():
            text = lines(words, n, hash_of(split))
            for place in (folder, folder / "corp-de-en"):
                (place / f"{split}.{language}").write_text(text)
    for language, words in sides.items():
        specials = ["<pad>", "<s>", "</s>", "<unk>"]
        (folder / f"vocab.{language}").write_text("\n".join([*specials, *words]) + "\n")
    for number, name in enumerate(("ref", "hyp1", "hyp2", "hyp3", "hyp4")):
        (folder / name).write_text(lines(EN, 12, number))
    (folder / "src").write_text(lines(DE, 12, 0))
    (folder / "mono.en").write_text(lines(EN, 40, 9))
    (folder / "nn.tsv").write_text("".join(f"0.{i:09d}\t{i}\n" for i in range(12)))
    de, en = ((folder / f"train.{x}").read_text().splitlines() for x in ("de", "en"))
    (folder / "pairs.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in zip(de, en, strict=True)))
    (folder / "config.toml").write_text(TINY)
    (folder / "sweep.toml").write_text(SWEEP)
    _write_optional(folder, de, en)


def _write_optional(folder: Path, de: list[str], en: list[str]) -> None:
    import pyarrow
    import pyarrow.parquet
    import sentencepiece

    pyarrow.parquet.write_table(
        pyarrow.table({"source": de, "target": en}), str(folder / "pairs.parquet")
    )
    sentencepiece.SentencePieceTrainer.train(
        input=str(folder / "train.de"), model_prefix=str(folder / "pieces"), vocab_size=50,
        minloglevel=2, hard_vocab_limit=False,
    )  # fmt: skip
    (folder / "pieces.vocab").unlink()


def hash_of(text: str) -> int:
    return sum(map(ord, text))


class World:
    """Inputs copied for every case, runs shared by all of them."""

    def __init__(self, folder: Path, server: Server) -> None:
        self.folder, self.server = folder, server
        self.template, self.shared = folder / "template", folder / "shared"
        self.shared.mkdir(parents=True)
        write_inputs(self.template)
        self.env = {"SWITCHOUT_RUNS": str(self.shared / "runs")}
        self._built: set[str] = set()
        self._n_cases = 0

    def need(self, verb: str) -> None:
        """Make what a verb needs beside files: trained runs, an experiment."""
        needs = {"translate": ["run"], "export": ["run"], "backtranslate": ["reverse"],
                 "report": ["sweep"], "sweep": ["sweep"], "reproduce": ["reproduce"]}  # fmt: skip
        for what in needs.get(verb, ()):
            if what not in self._built:
                self._built.add(what)
                getattr(self, f"_make_{what}")()

    def _do(self, *arguments: str) -> None:
        done = self.server.run(list(arguments), self.template, env=self.env, seconds=BUILD_SECONDS)
        assert done.code == 0, done.err

    def _make_run(self) -> None:
        self._do("train", "config.toml", "--out", str(self.shared / "run"))

    def _make_reverse(self) -> None:
        turned = ["--set", "data.source=en", "--set", "data.target=de"]
        self._do("train", "config.toml", *turned, "--out", str(self.shared / "reverse"))

    def _make_sweep(self) -> None:
        self._do("sweep", "sweep.toml", "--workers", "1", "--out", "swept")

    def _make_reproduce(self) -> None:
        from commands import BASES

        [base] = [base for base in BASES if base.verb == ("reproduce",)]
        self._do(*base.line(**{"--out": str(self.shared / "figure")}))

    def new_case(self) -> Path:
        """Return a folder of its own with all inputs."""
        self._n_cases += 1
        case = self.folder / f"case-{self._n_cases}"
        shutil.copytree(self.template, case, symlinks=True)
        return case


def fingerprint(folder: Path) -> dict[str, tuple[object, ...]]:
    """Return all that can change of the files below a folder, by name."""
    found: dict[str, tuple[object, ...]] = {}
    for root, folders, files in os.walk(os.fsencode(folder)):
        for name in (*folders, *files):
            path = Path(os.fsdecode(root), os.fsdecode(name))
            status = path.lstat()
            facts = (status.st_mode, status.st_size, status.st_mtime_ns, status.st_ino)
            # A folder changes with its files: they are looked at themselves.
            is_folder = stat.S_ISDIR(status.st_mode)
            found[str(path.relative_to(folder))] = facts[:1] if is_folder else facts
    return found
