"""``switchout augment``: a corpus of any size, as text.

Options are read by argparse: typer, with the pydantic that it loads, takes longer to start than
augmenting a hundred thousand lines.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from switchout.errors import SwitchOutError
from switchout.ranges import POSITIVE

DESCRIPTION = """
Augment a corpus of any size, as text.

Either side alone works too. A side without --tau or --rate stays as it is.
Line i is example i, so the output is the same for any number of workers and any
engine. Words are separated by white space; all other bytes stay as they are.
Pairs with an empty side are dropped on both sides and counted. Without --vocab
the words are counted and written beside the output, as OUTPUT.vocab. Files may
end in .gz, .xz, .bz2 or .zst.
"""
EPILOG = """
Examples:
  switchout augment --src train.de --tgt train.en --tau-x 1 --tau-y 1.1 \\
      --out-src aug.de --out-tgt aug.en --seed 1
  zcat pairs.tsv.gz | switchout augment --pairs - --out-pairs - --rate-x 0.1 \\
      --vocab-src vocab.de --seed 1 --epoch 3 | marian --tsv -t stdin …
"""


PARAMETERS = {  # of the options whose name in Python is another
    "src": "source",
    "tgt": "target",
    "out_src": "out_source",
    "out_tgt": "out_target",
    "src_column": "source_column",
    "tgt_column": "target_column",
    "vocab_src": "vocab_source",
    "vocab_tgt": "vocab_target",
    "special": "special_words",
    "special_regex": "special_pattern",
}
VOCAB_FLAGS = {"source": "src", "target": "tgt"}
PLAIN = (
    "pairs", "out_pairs", "tau_x", "tau_y", "rate_x", "rate_y", "policy_x", "policy_y", "seed",
    "epoch", "copies", "keep_original", "min_count", "max_words", "null_word", "encode", "workers",
    "engine", "ray_address", "parts", "stats",
)  # fmt: skip


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise SwitchOutError(f"{message} (see '{self.prog} --help')")


class _Help(argparse.RawDescriptionHelpFormatter):
    """The look of `switchout.cli.look`: 80 columns, every default shown."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=24, width=80)

    def add_usage(self, usage: Any, actions: Any, groups: Any, prefix: Any = None) -> None:
        super().add_usage(usage, actions, groups, prefix or "Usage: ")

    def _get_help_string(self, action: argparse.Action) -> str:
        text = (action.help or "").replace("%", "%%")
        if action.required:
            return f"{text}  [required]"
        is_shown = not isinstance(action.default, bool | None)
        is_shown &= action.default is not argparse.SUPPRESS
        return f"{text}  [default: {action.default}]" if is_shown else text


def main(arguments: list[str]) -> int:
    """Run the command; return its exit code."""
    try:
        options = make_parser("augment", DESCRIPTION, EPILOG).parse_args(arguments)
    except SystemExit:  # after --help
        return 0
    if options.preview is not None:
        return show_preview(options, lines=options.preview, epochs=3)
    outputs = (options.out_src, options.out_tgt, options.out_pairs)
    if options.json and "-" in outputs:
        raise SwitchOutError("--json and an output on '-' cannot share standard output")
    report = _augment(options)
    if options.json:
        print(json.dumps(report))
    else:
        print(_summary(report), file=sys.stderr if "-" in outputs else sys.stdout)
    return 0


def make_parser(verb: str, description: str, epilog: str) -> argparse.ArgumentParser:
    """Return the parser of ``augment`` or ``preview``, which differ in what they print."""
    parser = _Parser(
        f"switchout {verb}", usage="%(prog)s [OPTIONS]", description=description, epilog=epilog,
        allow_abbrev=False, formatter_class=_Help, add_help=False,
    )  # fmt: skip
    add = parser.add_argument_group("Preview").add_argument
    if verb == "augment":
        add("--preview", type=int, metavar="N", help="write nothing, show N changed lines")
    else:
        add("--lines", type=int, default=5, metavar="N", help="sentences to show")
        add("--epochs", type=int, default=3, metavar="N", help="of so many epochs")
    add = parser.add_argument_group("Input and output").add_argument
    add("--src", metavar="FILE", help="source file; '-': standard input")
    add("--tgt", metavar="FILE", help="target file; '-': standard input")
    add("--out-src", metavar="FILE", help="where the source goes; '-': standard output")
    add("--out-tgt", metavar="FILE", help="where the target goes; '-': standard output")
    add("--pairs", metavar="FILE", help="instead: one file of tab-separated pairs, or .parquet")
    add("--out-pairs", metavar="FILE", help="where the pairs go")
    add("--src-column", default="source", metavar="NAME", help="Parquet column; '': none")
    add("--tgt-column", default="target", metavar="NAME", help="Parquet column; '': none")
    add = parser.add_argument_group("Noise").add_argument
    add("--tau-x", type=float, metavar="T", help="temperature of the source side")
    add("--tau-y", type=float, metavar="T", help="temperature of the target side")
    add("--rate-x", type=float, metavar="R", help="instead: share of source words changed")
    add("--rate-y", type=float, metavar="R", help="instead: share of target words changed")
    add("--policy-x", metavar="NAME", help="switchout (default), raml, hamming or word_dropout")
    add("--policy-y", metavar="NAME", help="the same for the target; default raml")
    add("--seed", type=int, required=True, metavar="N", help="seed, 0 <= seed < 2^64")
    add("--epoch", type=int, default=0, metavar="N", help="other noise for the same corpus")
    add("--copies", type=int, default=1, metavar="N", help="changed copies of each line")
    add("--keep-original", action="store_true", help="write each line itself before its copies")
    add = parser.add_argument_group("Words").add_argument
    add(
        "--vocab-src",
        metavar="FILE",
        help="words, one a line ('word' or 'word count'); a sentencepiece .model; a"
        " tokenizer.json; without: counted from the corpus",
    )
    add("--vocab-tgt", metavar="FILE", help="the same for the target")
    add("--min-count", type=int, default=1, metavar="N", help="counted vocabulary: least frequency")
    add("--max-words", type=int, metavar="N", help="counted vocabulary: largest size")
    add(
        "--special",
        action="append",
        metavar="WORD",
        help="a word to leave alone and never draw (repeatable; default: <s>, <unk>, …)",
    )
    add("--special-regex", metavar="RE", help="the same for all words that match it as a whole")
    add("--null-word", default="<unk>", metavar="WORD", help="what word_dropout leaves behind")
    add("--encode", action="store_true", help="the input is raw text: split it by the vocabulary")
    add = parser.add_argument_group("Large corpora").add_argument
    add("--workers", type=int, default=1, metavar="N", help="threads, or processes for --parts")
    add("--engine", default="local", metavar="NAME", help="local or ray")
    add("--ray-address", metavar="HOST", help="running Ray cluster, 'auto' or host")
    add("--parts", metavar="DIR", help="for a run in parts; the same command resumes it")
    add(
        "--join",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="put the parts together in the end",
    )
    add("--part-mb", type=float, default=64.0, metavar="MB", help="size of a part of the input")
    add("--chunk-kb", type=float, default=1024.0, metavar="KB", help="in memory at a time")
    add = parser.add_argument_group("Options").add_argument
    add("--stats", metavar="FILE", help="write JSON: counts, histograms, data hash, signature")
    add("--json", action="store_true", help="print the numbers as JSON")
    add("-h", "--help", action="help", help="show this message and exit")
    return parser


def _augment(options: argparse.Namespace) -> dict[str, Any]:
    from switchout.text import augment_files

    arguments = parameters_of(options)
    del arguments["preview"]
    with naming_flags():
        return augment_files(arguments.pop("source"), arguments.pop("target"), **arguments)


def parameters_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options by the names that they have in Python."""
    arguments = {PARAMETERS.get(name, name): value for name, value in vars(options).items()}
    del arguments["json"]
    for flag, unit, name in (("part_mb", 1 << 20, "part_bytes"), ("chunk_kb", 1024, "chunk_bytes")):
        number = POSITIVE.check(arguments.pop(flag), f"--{flag.replace('_', '-')}")
        arguments[name] = int(number * unit)
    arguments["stats"] = arguments["stats"] or False
    for column in ("source_column", "target_column"):
        arguments[column] = arguments[column] or None
    return arguments


def show_preview(options: argparse.Namespace, *, lines: int, epochs: int) -> int:
    """Print what the options would do."""
    from switchout.cli.preview_text import rendered
    from switchout.text.preview import preview

    arguments = parameters_of(options)
    for name in ("preview", "lines", "epochs", "out_source", "out_target", "out_pairs", "stats"):
        arguments.pop(name, None)
    source, target = arguments.pop("source"), arguments.pop("target")
    with naming_flags():
        seen = preview(source, target, lines=lines, epochs=epochs, **arguments)
    if options.json:
        print(json.dumps(seen.to_dict()))
    else:
        print(rendered(seen, in_color=sys.stdout.isatty()))
    return 0


@contextmanager
def naming_flags() -> Iterator[None]:
    """Put flags where an error of the library names parameters."""
    try:
        yield
    except SwitchOutError as error:
        raise SwitchOutError(_with_flags(str(error))) from None


def _with_flags(message: str) -> str:
    """Put flags where a message of the library names parameters."""
    flags = {parameter: flag for flag, parameter in PARAMETERS.items()}
    names = {name: flags.get(name, name) for name in [*flags, *PLAIN, "part_bytes", "chunk_bytes"]}
    for name, flag in (("part_bytes", "part_mb"), ("chunk_bytes", "chunk_kb")):
        names[name] = flag
    sure = "|".join(name for name in names if "_" in name)
    maybe = "|".join(name for name in names if "_" not in name)
    pattern = rf"(?<![\w/.-])(?:({sure})(?![\w/.-])=?|({maybe})(?:=| (?=must be\b)))"
    return re.sub(
        pattern,
        lambda m: f"--{names[m[1] or m[2]].replace('_', '-')}{' ' if m[0].endswith(' ') else ''}",
        message,
    )


def _summary(report: dict[str, Any]) -> str:
    dropped = sum(report["dropped"].values())
    lost = f", {dropped:,} pairs with an empty side dropped" if dropped else ""
    lines = [
        f"{report['pairs']:,} lines read, {report['written']:,} written{lost}"
        f" ({report['seconds']:.1f} s)"
    ]
    for name in ("source", "target"):
        if name in report and report[name]["changes"]:
            lines.append(f"{name}: {_effect(report[name])}")
    for name, path in report["vocabularies"].items():
        lines.append(f"words of the {name}: {path} (give it as --vocab-{VOCAB_FLAGS[name]})")
    return "\n".join([*lines, report["signature"]])


def _effect(side: dict[str, Any]) -> str:
    return (
        f"{100 * side['changed']:.1f}% of the words changed ({side['changes']:,}),"
        f" {100 * side['untouched']:.1f}% of the lines untouched"
    )
