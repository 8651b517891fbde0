"""Bad inputs over all verbs, generated from the parsers: options × values, files × contents."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256

from commands import BASES, Base, Option, options_of

LARGE = ["1e12", "1e309", "1000000000000", str(2**64), "9" * 5000]
NUMBERS = ["nan", "inf", "-inf", "-1", "0", *LARGE, "", "x", "true", "1.5", "-0.0", "1e-320"]
TEXTS = ["", "x", "\n", "a\tb", "\x1b[31m", "y" * 100_000, b"\xff\xfe", "=1+1", "../..", "☃=☃"]
SETTINGS = [
    *("seed=nan", "seed=-1", f"seed={2**64}", "train.steps=true", "train.steps=0", "a.b.c=1"),
    *("model=3", "x=" + "[" * 5000, "train.learning_rate=inf", "data.corpus=''", "=", "seed"),
    *("train.batch_tokens=1000000000000000", "model.d_model=100000000", "train.threads=100000"),
    *('data.corpus="\\ud800"', 'data.corpus="a\\u0000b"', "augment.source.tau=nan"),
    *(
        "augment.source.tau=-1",
        "train.steps=1e9",
        "search.beam=1000000000000",
        "seed=" + "9" * 5000,
    ),
]
PLACES = [
    *("absent", "", ".", "corp-de-en", "/dev/null", "/dev/zero", "n" * 300, "dangling", "loop"),
    *(b"bad\xff", "new\nline", "train.de/x", "/proc/self/mem", "-x"),
]
TARGETS = ["", ".", "absent/deeper/o", "/dev/full", "/proc/o", "n" * 300, "train.de/x", "loop"]
CONTENTS = {
    "empty": b"",
    "newline": b"\n",
    "nul": b"a\x00b\n\x00\n" * 30,
    "not utf-8": b"fine\n" * 5 + b"\xff\xfe\n" + b"fine\n" * 6,
    "bom": b"\xef\xbb\xbfa b\n" * 12,
    "crlf": b"a b\r\n" * 12,
    "long line": b"w " * 500_000 + b"\n",
    "utf-16": "a b\n".encode("utf-16") * 12,
    "gzip": gzip.compress(b"a b\n" * 12),
    "noise": b"".join(sha256(bytes([i])).digest() for i in range(256)) * 8,
    "spaces": b"   \n" * 12,
    "tabs": b"\t\t\t\n" * 12,
    "deep": b"[" * 200_000,
    "deep toml": b"a = " + b"{a=" * 3000,
    "huge toml": b"# " + b"x" * (3 << 20),
    "list": b"[]",
    "null": b"null",
    "half a character": b'{"name": "\\ud800", "source": "de"}',
    "wrong types": json.dumps(dict.fromkeys(("name", "source", "bleu", "model", "x"), 3)).encode(),
    "toml of wrong types": b"base = 3\nseed = [1]\ngrid = 'x'\n[data]\ncorpus = 5\n",
    "nan": b"nan\t0\n" * 12,
    "digits": b"9" * 5000 + b"\t1\n",
}
ENVIRONMENTS = [
    *({"WORLD_SIZE": x} for x in ("x", "0", "-1", "", "1e9", "9" * 100)),
    *({"WORLD_SIZE": "2", "RANK": x, "LOCAL_RANK": "0"} for x in ("x", "-1", "5")),
    {"RANK": "x"},
    {"LOCAL_RANK": "x"},
    {"SWITCHOUT_DATA": "/absent"},
    {"SWITCHOUT_DATA": ""},
    {"SWITCHOUT_RUNS": "/proc/x"},
    {"TMPDIR": "/absent"},
    {"LANG": "C", "LC_ALL": "C"},
    {"COLUMNS": "-1"},
    {"HOME": "/absent"},
]


@dataclass(frozen=True)
class Case:
    """One command line that is wrong, or at least odd.

    Attributes:
        name: Says what is wrong.
        base: The valid command line it was made of.
        arguments: The words of this one.
        outputs: Names that may appear.
        files: Inputs of another content; None: absent.
        env: More environment.
    """

    name: str
    base: Base
    arguments: list[str | bytes]
    outputs: tuple[str, ...]
    files: dict[str, bytes | None] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)

    @property
    def verb(self) -> str:
        return self.base.verb[0]


def all_cases() -> list[Case]:
    """Return every case, each name once."""
    found: dict[str, Case] = {}
    for number, base in enumerate(BASES):
        for case in (*_options(base), *_contents(base), *_collisions(base), *_words(base)):
            found.setdefault(f"{number}: {case.name}", case)
    for env in ENVIRONMENTS:
        for base in BASES:
            if base.verb in (("train",), ("data", "prepare"), ("score",)):
                shown = " ".join(f"{k}={v}"[:30] for k, v in env.items())
                found.setdefault(f"{base.name} {shown}", _case(base, shown, env=env))
    return list(found.values())


def _options(base: Base) -> Iterator[Case]:
    """Every option of the parser × nasty values of its kind; of further bases their own."""
    is_first = next(b for b in BASES if b.verb == base.verb) is base
    for option in options_of(base.verb):
        for value in (
            [] if not is_first and option.name not in base.options else _values(base, option)
        ):
            yield _case(base, f"{option.name} {_shown(value)}", {option.name: value})


def _values(base: Base, option: Option) -> list[str] | list[str | bytes]:
    if option.name == "--set":
        return SETTINGS
    if option.name in base.outputs:
        return TARGETS
    if option.kind == "path" or option.name in base.inputs:
        return PLACES
    if option.kind in ("int", "float"):
        return NUMBERS
    return ["", "x", "☃"] if option.kind == "choice" else [*TEXTS, "nan", "-1"]


def _contents(base: Base) -> Iterator[Case]:
    """Every input file × nasty contents; of a folder every file × some."""
    for source in base.inputs:
        value = base.options.get(source, source)
        if value.startswith("{shared}"):
            continue  # damaged runs have a matrix of their own
        if value in ("corp-de-en", "swept"):
            yield from _folder_contents(base, value)
            continue
        path = value.rpartition("=")[2].rpartition(",")[2]
        for kind, content in CONTENTS.items():
            yield _case(base, f"{path} is {kind}", files={path: content})
        yield _case(base, f"{path} is absent", files={path: None})


def _folder_contents(base: Base, folder: str) -> Iterator[Case]:
    names = {
        "corp-de-en": ["train.de", "train.en", "dev.en", "test.de", "corpus.json", "train.tsv"],
        "swept": ["experiment.json"],
    }[folder]
    for name in names:
        chosen = (
            list(CONTENTS) if name.endswith(".json") else ["empty", "not utf-8", "nul", "long line"]
        )
        for kind in chosen:
            files: dict[str, bytes | None] = {f"{folder}/{name}": CONTENTS[kind]}
            yield _case(base, f"{folder}/{name} is {kind}", files=files)
        if not name.startswith(("corpus", "train.tsv")):
            yield _case(base, f"{folder}/{name} is absent", files={f"{folder}/{name}": None})


def _collisions(base: Base) -> Iterator[Case]:
    """Every output onto every input, by several spellings, and onto every other output."""
    inputs = [base.options.get(source, source) for source in base.inputs]
    paths = [i.rpartition("=")[2].rpartition(",")[2] for i in inputs if "{shared}" not in i]
    for out in base.outputs:
        for path in paths:
            for spelling in (path, f"./{path}", f"corp-de-en/../{path}", "linked/" + path):
                yield _case(base, f"{out} {spelling}", {out: spelling})
        for other in base.outputs:
            if other != out:
                value = base.options[other]
                yield _case(base, f"{out} as {other}", {out: f"./{value}"})


def _words(base: Base) -> Iterator[Case]:
    """Arguments without an option, unknown options, options without a value."""
    line: list[str | bytes] = [*base.line()]
    for extra in ("--absent", "-", "--", "--json=x", "\n", b"\xff", "x" * 1000):
        yield Case(f"{base.name} … {_shown(extra)}", base, [*line, extra], _allowed(base, {}))
    if base.options:
        yield Case(f"{base.name} … no value", base, line[:-1], _allowed(base, {}))
    for value in (*TEXTS, *PLACES):
        if base.arguments:
            words = [*base.verb, value, *line[len(base.verb) + 1 :]]
            yield Case(f"{base.name} {_shown(value)} …", base, words, _allowed(base, {}))


def _case(
    base: Base, name: str, changed: dict[str, str | bytes] | None = None, *,
    files: dict[str, bytes | None] | None = None, env: dict[str, str] | None = None,
) -> Case:  # fmt: skip
    line = base.line(**(changed or {}))  # type: ignore[arg-type]
    words = [word for word in line if word != "" or "--encode" not in line]
    return Case(
        f"{base.name} {name}", base, [*words], _allowed(base, changed or {}), files or {}, env or {}
    )


def _allowed(base: Base, changed: dict[str, str | bytes]) -> tuple[str, ...]:
    """The names that the command may make: its outputs, and what stands beside them."""
    values = {**base.options, **changed}
    outputs = [values[name] for name in (*base.outputs, "--parts", "--stats") if name in values]
    named = [o.decode("utf-8", "surrogateescape") if isinstance(o, bytes) else o for o in outputs]
    also = [*changed.values()] if base.verb[0] == "augment" else []  # more outputs by option
    also = [a.decode("utf-8", "surrogateescape") if isinstance(a, bytes) else a for a in also]
    return (*named, *base.made, *also, *(f"{n}.vocab" for n in (*named, *also)))  # type: ignore[arg-type]


def _shown(value: str | bytes) -> str:
    text = repr(value)
    return text if len(text) < 40 else f"{text[:30]}…({len(value)})"
