"""``switchout augment``: a corpus of any size, as text."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import Annotated, Any

from switchout.cli.options import Json
from switchout.cli.preview import EPOCHS, Inputs, Noise, Vocabularies, parameters, show
from switchout.cli.verb import Option
from switchout.errors import SwitchOutError
from switchout.ranges import COUNT, Real

PART_MB, CHUNK_KB = Real(0.001, 1e6), Real(1, 1e6)  # within PART_BYTES and CHUNK_BYTES
VOCAB_FLAGS = {"source": "--vocab-src", "target": "--vocab-tgt"}


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """Where the corpus goes."""

    GROUP = "Files"

    out_source: Annotated[
        str | None, Option("Where the source goes; '-': standard output.", "--out-src", "FILE")
    ] = None
    out_target: Annotated[
        str | None, Option("Where the target goes; '-': standard output.", "--out-tgt", "FILE")
    ] = None
    out_pairs: Annotated[str | None, Option("Where the pairs go.", "FILE")] = None
    stats: Annotated[
        str | None, Option("Write JSON: counts, histograms, data hash, signature.", "FILE")
    ] = None

    @property
    def has_stream(self) -> bool:
        """Whether standard output is taken."""
        from switchout.files import is_standard_output

        return any(map(is_standard_output, (self.out_source, self.out_target, self.out_pairs)))


@dataclass(frozen=True, kw_only=True)
class Copies:
    """How often a line is written."""

    GROUP = "Noise"

    copies: Annotated[
        int,
        Option(
            "Changed copies of each line. 4 copies of epoch 0 are the single copies of epochs 0"
            " to 3.",
            "N",
        ),
    ] = 1
    keep_original: Annotated[
        bool, Option("Write each line itself before its copies.", "--keep-original")
    ] = False


@dataclass(frozen=True, kw_only=True)
class Scale:
    """Who does the work, in which pieces."""

    GROUP = "Large corpora"

    workers: Annotated[int, Option("Threads, or processes for --parts.", "N")] = 1
    engine: Annotated[str, Option("local or ray.", "NAME")] = "local"
    ray_address: Annotated[str | None, Option("Running Ray cluster, 'auto' or host.", "HOST")] = (
        None
    )
    parts: Annotated[
        str | None, Option("For a run in parts; the same command resumes it.", "DIR")
    ] = None
    join: Annotated[bool, Option("Put the parts together in the end.")] = True
    part_bytes: Annotated[
        float,
        Option("Size of a part of the input.", "--part-mb", "MB", limits=PART_MB, unit=1 << 20),
    ] = 64
    chunk_bytes: Annotated[
        float, Option("In memory at a time.", "--chunk-kb", "KB", limits=CHUNK_KB, unit=1 << 10)
    ] = 1024


def augment(
    inputs: Inputs,
    outputs: Outputs,
    noise: Noise,
    copies: Copies,
    vocabularies: Vocabularies,
    scale: Scale,
    preview: Annotated[
        int | None,
        Option("Write nothing, show what becomes of the first N lines.", "N", limits=COUNT),
    ] = None,
    as_json: Json = False,
) -> None:
    """Augment a corpus of any size, as text.

    Either side alone works too. A side without --tau or --rate stays as it is. Line i is example
    i, so the output is the same for any number of workers and any engine. Words are separated by
    white space; all other bytes stay as they are. Pairs with an empty side are dropped on both
    sides and counted. Without --vocab the words are counted and written beside the output, as
    OUTPUT.vocab. Files may end in .gz, .xz, .bz2 or .zst.

    Examples:
      switchout augment --src train.de --tgt train.en --tau-x 1 --tau-y 1.1 \\
          --out-src aug.de --out-tgt aug.en --seed 1
      switchout vocab train.de --out vocab.de
      zcat pairs.tsv.gz | switchout augment --pairs - --out-pairs - \\
          --rate-x 0.1 --vocab-src vocab.de --seed 1 --epoch 3 | marian --tsv …
    """
    given = parameters(inputs, noise, copies, vocabularies, scale)
    if preview is not None:
        show(given, lines=preview, epochs=EPOCHS, as_json=as_json)
        return
    if as_json and outputs.has_stream:
        raise SwitchOutError("--json and an output on standard output cannot share it")
    from switchout.text import augment_files

    report = augment_files(**given, **vars(outputs) | {"stats": outputs.stats or False})
    if as_json:
        print(json.dumps(report))
    else:
        print(_summary(report, noise), file=sys.stderr if outputs.has_stream else sys.stdout)


def _summary(report: dict[str, Any], noise: Noise) -> str:
    dropped = sum(report["dropped"].values())
    lost = f", {dropped:,} pairs with an empty side dropped" if dropped else ""
    read = f"{report['pairs']:,} line{'s' * (report['pairs'] != 1)} read"
    lines = [f"{read}, {report['written']:,} written{lost} ({report['seconds']:.1f} s)"]
    for name, xy, strengths in (
        ("source", "x", (noise.tau_x, noise.rate_x)),
        ("target", "y", (noise.tau_y, noise.rate_y)),
    ):
        if name in report:
            is_asked = strengths != (None, None)
            nothing = f"no words changed, as there is no --tau-{xy} or --rate-{xy}"
            lines.append(f"{name}: {_effect(report[name]) if is_asked else nothing}")
    if report["replaced"]:
        lines.append(f"replaced what was there before: {', '.join(report['replaced'])}")
    for name, path in report["vocabularies"].items():
        lines.append(f"words of the {name}: {path} (give it as {VOCAB_FLAGS[name]})")
    return "\n".join([*lines, report["signature"]])


def _effect(side: dict[str, Any]) -> str:
    known = side["known"]
    is_low = known is not None and known < 0.99
    few = f", {100 * known:.0f}% of the first lines' words known" if is_low else ""
    return (
        f"{100 * side['changed']:.1f}% of the words changed ({side['changes']:,}),"
        f" {100 * side['untouched']:.1f}% of the lines untouched{few}"
    )
