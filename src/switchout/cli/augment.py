"""``switchout augment``: a corpus of any size, as text."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from switchout.errors import SwitchOutError

app = typer.Typer(add_completion=False, rich_markup_mode=None)

Option = typer.Option
EPILOG = """
\b
Examples:
  switchout augment --src train.de --tgt train.en --out-src aug.de --out-tgt aug.en \\
      --tau-x 1.0 --tau-y 0.9 --seed 1
  zcat pairs.tsv.gz | switchout augment --pairs - --out-pairs - --rate-x 0.1 \\
      --vocab-src vocab.de --seed 1 --epoch 3 | marian --tsv --train-sets stdin …
"""


@app.command(epilog=EPILOG)
def augment(
    src: Annotated[str | None, Option(help="Source file; '-': standard input.")] = None,
    tgt: Annotated[str | None, Option(help="Target file; '-': standard input.")] = None,
    out_src: Annotated[str | None, Option(help="Where the source goes; '-': stdout.")] = None,
    out_tgt: Annotated[str | None, Option(help="Where the target goes; '-': stdout.")] = None,
    pairs: Annotated[
        str | None, Option(help="Instead: one file of tab-separated pairs, or .parquet.")
    ] = None,
    out_pairs: Annotated[str | None, Option(help="Where the pairs go.")] = None,
    src_column: Annotated[str, Option(help="Parquet column; '': none.")] = "source",
    tgt_column: Annotated[str, Option(help="Parquet column; '': none.")] = "target",
    tau_x: Annotated[float | None, Option(help="Temperature of the source side.")] = None,
    tau_y: Annotated[float | None, Option(help="Temperature of the target side.")] = None,
    rate_x: Annotated[float | None, Option(help="Instead: share of source words changed.")] = None,
    rate_y: Annotated[float | None, Option(help="Instead: share of target words changed.")] = None,
    policy_x: Annotated[
        str | None, Option(help="switchout (default), raml, hamming or word_dropout.")
    ] = None,
    policy_y: Annotated[str | None, Option(help="The same for the target; default raml.")] = None,
    seed: Annotated[int, Option(help="Seed, 0 <= seed < 2^64.")] = ...,  # type: ignore[assignment]
    epoch: Annotated[int, Option(help="Other noise for the same corpus.")] = 0,
    copies: Annotated[int, Option(help="Changed copies of each line.")] = 1,
    keep_original: Annotated[
        bool, Option("--keep-original", help="Write each line itself before its copies.")
    ] = False,
    vocab_src: Annotated[
        str | None,
        Option(
            help="Words, one a line ('word' or 'word count'); a sentencepiece .model; a"
            " tokenizer.json. Without: counted from the corpus."
        ),
    ] = None,
    vocab_tgt: Annotated[str | None, Option(help="The same for the target.")] = None,
    min_count: Annotated[int, Option(help="Counted vocabulary: least frequency.")] = 1,
    max_words: Annotated[int | None, Option(help="Counted vocabulary: largest size.")] = None,
    special: Annotated[
        list[str] | None,
        Option(help="A word to leave alone and never draw (repeatable; default: <s>, <unk>, …)."),
    ] = None,
    special_regex: Annotated[
        str | None, Option(help="The same for all words that match it as a whole.")
    ] = None,
    null_word: Annotated[str, Option(help="What word_dropout leaves behind.")] = "<unk>",
    encode: Annotated[
        bool, Option("--encode", help="The input is raw text: split it by the vocabulary's model.")
    ] = False,
    workers: Annotated[int, Option(help="Threads, or processes for --parts.")] = 1,
    engine: Annotated[str, Option(help="local or ray.")] = "local",
    ray_address: Annotated[str | None, Option(help="Running Ray cluster, 'auto' or host.")] = None,
    parts: Annotated[
        str | None, Option(help="Folder for a run in parts; the same command resumes it.")
    ] = None,
    join: Annotated[bool, Option(help="Put the parts together in the end.")] = True,
    part_mb: Annotated[float, Option(help="Size of a part in MiB of input.")] = 64.0,
    chunk_kb: Annotated[float, Option(help="How much is in memory at a time, in KiB.")] = 1024.0,
    stats: Annotated[
        str | None, Option(help="Write a JSON file: counts, histograms, data hash, signature.")
    ] = None,
    as_json: Annotated[bool, Option("--json", help="Print the numbers as JSON.")] = False,
) -> None:
    """Augment a corpus of any size, as text.

    Either side alone works too. A side without --tau or --rate stays as it is. Line i is example i,
    so the output is the same for any number of workers and any engine. Words are separated by
    white space; all other bytes stay as they are. Files may end in .gz, .xz, .bz2 or .zst.
    """
    from switchout.augment.files import augment_files

    uses_stdout = "-" in (out_src, out_tgt, out_pairs)
    if as_json and uses_stdout:
        raise SwitchOutError("--json and an output on '-' cannot share standard output")
    report = augment_files(
        src, tgt, out_source=out_src, out_target=out_tgt, pairs=pairs, out_pairs=out_pairs,
        source_column=src_column or None, target_column=tgt_column or None,
        tau_x=tau_x, tau_y=tau_y, rate_x=rate_x, rate_y=rate_y, policy_x=policy_x,
        policy_y=policy_y, vocab_source=vocab_src, vocab_target=vocab_tgt, seed=seed, epoch=epoch,
        copies=copies, keep_original=keep_original, special_words=special,
        special_pattern=special_regex, null_word=null_word, encode=encode, min_count=min_count,
        max_words=max_words, workers=workers, engine=engine, ray_address=ray_address, parts=parts,
        join=join, part_bytes=int(part_mb * 2**20), chunk_bytes=int(chunk_kb * 1024),
        stats=stats is not None,
    )  # fmt: skip
    if stats is not None:
        _write_stats(stats, report)
    if as_json:
        print(json.dumps(report))
    else:
        print(_summary(report), file=sys.stderr if uses_stdout else sys.stdout)


def _write_stats(path: str, report: dict[str, Any]) -> None:
    from switchout.files import atomic

    if not Path(path).parent.is_dir():
        raise SwitchOutError(f"{path}: the folder {Path(path).parent} does not exist")
    with atomic(path) as partial:
        partial.write_text(json.dumps(report, indent=1) + "\n", "utf-8")


def _summary(report: dict[str, Any]) -> str:
    sides = ", ".join(
        f"{report[side]['changes']:,} words of the {side} changed"
        for side in ("source", "target")
        if side in report
    )
    dropped = sum(report["dropped"].values())
    lost = f"; {dropped:,} pairs with an empty side dropped" if dropped else ""
    return (
        f"{report['pairs']:,} lines read, {report['written']:,} written, {sides}{lost}"
        f" ({report['seconds']:.1f} s)\n{report['signature']}"
    )
