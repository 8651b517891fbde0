"""A valid command line of every verb, and what its parser says of its options."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import click

from switchout.cli.verb import flag_of, parser_of

WITHOUT_TORCH = {"augment", "preview", "vocab", "data", "score", "compare", "neighbors", "buckets"}
TINY = """
seed = 1
[data]
corpus = "corp-de-en"
source = "de"
target = "en"
[model]
layers = 1
heads = 1
d_head = 8
d_model = 8
d_inner = 8
[augment.source]
policy = "switchout"
tau = 1.0
[train]
steps = 2
batch_tokens = 128
checkpoint_every = 2
tensorboard = false
"""
SWEEP = """
base = "config.toml"
seeds = [1, 2]
[grid]
"augment.source.tau" = [0.5, 1.0]
"""


@dataclass(frozen=True)
class Base:
    """A command line that works.

    Attributes:
        verb: Words before the options.
        arguments: What has no option, such as a file to score.
        options: Option -> value.
        inputs: Options (or arguments, by their value) whose value is read.
        outputs: Options whose value is written.
        made: Files that appear beside the outputs.
        runs_on: It serves, or trains for minutes, until it is interrupted.
    """

    verb: tuple[str, ...]
    arguments: tuple[str, ...] = ()
    options: dict[str, str] = field(default_factory=dict)
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    made: tuple[str, ...] = ()
    runs_on: bool = False

    @property
    def name(self) -> str:
        return " ".join(self.verb)

    def line(self, **changed: str | None) -> list[str]:
        """Return the words of the command line, some options changed; None leaves one out."""
        options = {**self.options, **changed}
        pairs = [[k, v] for k, v in options.items() if v is not None]
        return [*self.verb, *self.arguments, *(word for pair in pairs for word in pair)]


SYSTEMS = {"--ref": "ref", "--baseline": "base=hyp1,hyp2", "--system": "new=hyp3,hyp4"}
BASES = [
    Base(
        ("augment",), (),
        {"--src": "train.de", "--tgt": "train.en", "--out-src": "o.de", "--out-tgt": "o.en",
         "--tau-x": "1", "--tau-y": "1", "--seed": "1", "--stats": "o.json"},
        inputs=("--src", "--tgt"), outputs=("--out-src", "--out-tgt", "--stats"),
        made=("o.de.vocab", "o.en.vocab"),
    ),
    Base(
        ("augment",), (),
        {"--pairs": "pairs.tsv", "--out-pairs": "o.tsv", "--rate-x": "0.1", "--seed": "1",
         "--vocab-src": "vocab.de", "--special-regex": "x.*", "--parts": "parts"},
        inputs=("--pairs", "--vocab-src"), outputs=("--out-pairs",), made=("parts",),
    ),
    Base(
        ("augment",), (),
        {"--pairs": "pairs.parquet", "--out-pairs": "o.parquet", "--rate-x": "0.1", "--seed": "1"},
        inputs=("--pairs",), outputs=("--out-pairs",),
        made=("o.parquet.source.vocab", "o.parquet.target.vocab"),
    ),
    Base(
        ("augment",), (),
        {"--src": "train.de", "--out-src": "o.de", "--rate-x": "0.1", "--seed": "1",
         "--vocab-src": "pieces.model", "--encode": ""},
        inputs=("--src", "--vocab-src"), outputs=("--out-src",),
    ),
    Base(
        ("preview",), (),
        {"--src": "train.de", "--tgt": "train.en", "--tau-x": "1", "--tau-y": "1", "--seed": "1"},
        inputs=("--src", "--tgt"),
    ),
    Base(("data", "list")),
    Base(("data", "get"), ("multi30k-de-en",), {"--from": "corp-de-en", "--out": "got"},
         inputs=("--from",), outputs=("--out",), made=("multi30k-de-en",)),
    Base(
        ("data", "prepare"), ("corp-de-en",),
        {"--out": "made", "--vocab-src": "vocab.de", "--vocab-tgt": "vocab.en"},
        inputs=("corp-de-en", "--vocab-src", "--vocab-tgt"), outputs=("--out",),
    ),
    Base(("train",), ("config.toml",), {"--out": "run"}, inputs=("config.toml",),
         outputs=("--out",)),
    Base(
        ("translate",), (),
        {"--run": "{shared}/run", "--input": "test.de", "--output": "o.en", "--beam": "2"},
        inputs=("--input",), outputs=("--output",),
    ),
    Base(("export",), (), {"--run": "{shared}/run", "--to": "safetensors", "--out": "exported"},
         inputs=("--run",), outputs=("--out",)),
    Base(("score",), ("hyp1", "hyp2"), {"--ref": "ref", "--resamples": "100"},
         inputs=("hyp1", "--ref")),
    Base(
        ("compare",), (),
        {**SYSTEMS, "--src": "src", "--train": "train.de", "--neighbors": "nn.tsv",
         "--html": "o.html", "--csv": "o.csv", "--latex": "o.tex", "--resamples": "200"},
        inputs=("--ref", "--baseline", "--system", "--src", "--train", "--neighbors"),
        outputs=("--html", "--csv", "--latex"),
    ),
    Base(("neighbors",), (), {"--train": "train.de", "--test": "src", "--out": "o.tsv"},
         inputs=("--train", "--test"), outputs=("--out",)),
    Base(
        ("buckets",), (),
        {**SYSTEMS, "--neighbors": "nn.tsv", "--train": "train.de", "--test": "src",
         "--vocab": "vocab.de", "--plot": "o.svg", "--resamples": "200"},
        inputs=("--ref", "--baseline", "--system", "--neighbors", "--train", "--test", "--vocab"),
        outputs=("--plot",),
    ),
    Base(
        ("backtranslate",), (),
        {"--corpus": "corp-de-en", "--run": "{shared}/reverse", "--mono": "mono.en",
         "--out": "bt", "--beam": "1", "--preset": "config.toml"},
        inputs=("--corpus", "--mono", "--preset"), outputs=("--out",),
    ),
    Base(("sweep",), ("sweep.toml",), {"--out": "swept", "--workers": "1"},
         inputs=("sweep.toml",), outputs=("--out",)),
    Base(
        ("reproduce",), ("tau",),
        {"--corpus": "corp-de-en", "--preset": "config.toml", "--seeds": "1", "--tau-x": "0.5,1",
         "--tau-y": "0.5", "--out": "figure", "--workers": "1"},
        inputs=("--corpus", "--preset"), outputs=("--out",),
    ),
    Base(("completion",), ("bash",)),
    Base(("vocab",), ("train.de",), {"--out": "words"}, inputs=("train.de",), outputs=("--out",)),
    Base(("explore",), (), {"--port": "0", "--src": "train.de", "--tgt": "train.en"},
         inputs=("--src", "--tgt"), runs_on=True),
    Base(("demo",), (), {"--seeds": "1", "--workers": "1", "--out": "shown"},
         outputs=("--out",), runs_on=True),
    Base(("report",), ("swept",), {}, inputs=("swept",), made=("swept",)),
]  # fmt: skip


@dataclass(frozen=True)
class Option:
    """What a parser says of an option.

    Attributes:
        name: Its longest spelling.
        kind: "int", "float", "path", "choice" or "text".
    """

    name: str
    kind: str


def options_of(verb: tuple[str, ...]) -> Iterator[Option]:
    """Yield the options of a verb that take a value, as its own parser knows them."""
    command = parser_of(verb[0])
    for word in verb[1:]:
        command = command.commands[word]  # type: ignore[attr-defined]
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not parameter.is_flag:
            yield Option(flag_of(parameter), _kind(parameter.type))


def _kind(type: click.ParamType) -> str:
    """Return the kind of a value."""
    return {"integer": "int", "float": "float", "path": "path", "choice": "choice"}.get(
        type.name, "text"
    )
