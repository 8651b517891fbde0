"""``switchout data``: list, get and prepare corpora."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from switchout.cli.ranged import within
from switchout.corpora.cleaning import Cleaning
from switchout.corpora.codec import CodecPlan
from switchout.corpora.corpus import BleuSpec
from switchout.corpora.opening import data_roots, installed_folder, open_corpus
from switchout.corpora.prepare import prepare_corpus
from switchout.corpora.registry import Entry, entries, find_entry
from switchout.errors import SwitchOutError, did_you_mean
from switchout.ranges import COUNT, RATIO, Whole

app = typer.Typer(add_completion=False, rich_markup_mode=None, help="List, get, prepare corpora.")

SPLITS = ("train", "dev", "test")
VOCABULARY = Whole(5, 2**31 - 1)  # ids are 32 bits
Json = Annotated[bool, typer.Option("--json", help="Print a JSON object instead of text.")]
Source = Annotated[str | None, typer.Option(help="Source language, where the corpus is silent.")]
Target = Annotated[str | None, typer.Option(help="Target language, where the corpus is silent.")]


@app.command("list")
def list_corpora(as_json: Json = False) -> None:
    """Show the corpora known by name and where they are.

    \b
    Example:
      switchout data list
    """
    rows = [_entry_facts(entry) for entry in entries()]
    if as_json:
        print(json.dumps(rows, indent=1))
        return
    table: list[tuple[str, ...]] = [("name", *SPLITS, "here")]
    for row in rows:
        counts = (_number(row["pairs"].get(split)) for split in SPLITS)
        table.append((row["name"], *counts, "yes" if row["where"] else "no"))
    print(_columns(table))
    print()
    for row in rows:
        print(
            f"{row['name']}: {row['title']} ({row['licence']}); {row['where'] or _addresses(row)}"
        )


@app.command()
def get(
    name: Annotated[str, typer.Argument(help="A name of 'switchout data list'.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder of corpora. Default: SWITCHOUT_DATA, or data/.")
    ] = None,
    from_folder: Annotated[
        Path | None, typer.Option("--from", help="Import from this folder instead of the net.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Download a corpus, or import it from a folder; the same command resumes.

    \b
    Example:
      switchout data get iwslt15-en-vi --out data
      switchout data get iwslt15-en-vi --out data --from ~/Downloads/iwslt15
    """
    from switchout.corpora.get import get_corpus

    entry = find_entry(name)
    if entry is None:
        names = [entry.name for entry in entries()]
        raise SwitchOutError(f"no corpus {name!r}{did_you_mean(name, names)}")
    facts = get_corpus(entry, out or data_roots()[0], from_folder=from_folder)
    if as_json:
        print(json.dumps(facts, indent=1))
        return
    print(facts["folder"])
    for split, n in facts["found"].items():
        print(f"  {split}: {_found(n, facts['declared'].get(split))}")


@app.command()
def prepare(
    name: Annotated[str, typer.Argument(metavar="NAME|FOLDER", help="Registry name or folder.")],
    out: Annotated[Path, typer.Option(help="The folder to make.")],
    source: Source = None,
    target: Target = None,
    kind: Annotated[
        Literal["word", "sentencepiece", "file"] | None,
        typer.Option(help="Vocabulary. Default: the corpus's own files, else words."),
    ] = None,
    min_count: Annotated[
        int, typer.Option(callback=within(COUNT), help="Rarer words are unknown.")
    ] = 1,
    max_size: Annotated[
        int | None,
        typer.Option(
            callback=within(VOCABULARY), help="Most words (or pieces), 4 specials included."
        ),
    ] = None,
    model: Annotated[Literal["bpe", "unigram"], typer.Option(help="Of sentencepiece.")] = "bpe",
    shared: Annotated[bool, typer.Option("--shared", help="One vocabulary for both.")] = False,
    vocab_src: Annotated[Path | None, typer.Option(help="Vocabulary file of the source.")] = None,
    vocab_tgt: Annotated[Path | None, typer.Option(help="Vocabulary file of the target.")] = None,
    case: Annotated[Literal["keep", "lower"], typer.Option(help="Of the text as ids.")] = "keep",
    tokenizer: Annotated[
        Literal["space", "punctuation"] | None,
        typer.Option(help="space: tokenised already; punctuation: split it off, reversibly."),
    ] = None,
    max_length: Annotated[
        int | None,
        typer.Option(callback=within(COUNT), help="Drop training pairs with more words on a side."),
    ] = None,
    max_ratio: Annotated[
        float | None,
        typer.Option(callback=within(RATIO), help="Drop pairs with a larger ratio of lengths."),
    ] = None,
    drop_duplicates: Annotated[
        bool, typer.Option("--drop-duplicates", help="Keep only the first of equal pairs.")
    ] = False,
    dev: Annotated[
        int | None, typer.Option(callback=within(COUNT), help="Hold out so many dev pairs.")
    ] = None,
    test: Annotated[
        int | None, typer.Option(callback=within(COUNT), help="Hold out so many test pairs.")
    ] = None,
    bleu: Annotated[
        Literal["none", "13a"] | None,
        typer.Option(help="Scored as tokenised (none) or plain text (13a); own folders: 13a."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Clean a corpus, build its vocabularies and ids, and compare it with the paper's table.

    \b
    Example:
      switchout data prepare iwslt15-en-vi --out prepared/en-vi
      switchout data prepare my-texts --source de --target en --out mine
    """
    if (dev is None) != (test is None):
        raise SwitchOutError("--dev and --test go together: give both numbers, or neither")
    if (vocab_src is None) != (vocab_tgt is None):
        raise SwitchOutError("--vocab-src and --vocab-tgt go together: give both files, or neither")
    files = (vocab_src, vocab_tgt) if vocab_src is not None and vocab_tgt is not None else None

    corpus = open_corpus(name, source=source, target=target)
    facts = prepare_corpus(
        replace(corpus, bleu=BleuSpec(bleu)) if bleu is not None else corpus,
        out,
        plan=CodecPlan(kind, min_count, max_size, model, shared, case, tokenizer, files),
        cleaning=Cleaning(max_length, max_ratio, drop_duplicates),
        held_out=(dev, test) if dev is not None and test is not None else None,
    )
    print(json.dumps(facts, indent=1, ensure_ascii=False) if as_json else _report(facts, out))


def _entry_facts(entry: Entry) -> dict[str, Any]:
    try:
        where = str(installed_folder(entry)) if entry.downloads else "embedded"
    except SwitchOutError:
        where = None
    return {**asdict(entry), "where": where}


def _addresses(row: dict[str, Any]) -> str:
    files = row["downloads"].values()
    hosts = sorted({file["url"].split("/")[2] for file in files})
    where = " and ".join(hosts)
    return f"'switchout data get {row['name']}' fetches it from {where}, address not tried by us"


def _report(facts: dict[str, Any], out: Path) -> str:
    """Set ours beside the paper's dataset table (appendix A.3), then say what was dropped."""
    declared, paper = facts["declared"], facts["paper"]
    table = [("", *(f"vocab {facts[side]}" for side in ("source", "target")), *SPLITS)]
    if paper:
        table.append(("paper", *paper["vocabulary"], *(paper[split] for split in SPLITS)))
    if declared["pairs"]:
        vocabulary = declared["vocabulary"] or (None, None)
        counts = (declared["pairs"].get(split) for split in SPLITS)
        table.append(("declared", *map(_number, (*vocabulary, *counts))))
    ours = (*facts["vocabulary"].values(), *(facts["pairs"][split] for split in SPLITS))
    table.append(("here", *map(_number, ours)))
    rates = [facts["unknown"][split] for split in SPLITS]
    for column, side in enumerate(("source", "target")):
        shares = (f"{rate[column]:.2%}" for rate in rates)
        table.append((f"unknown words, {facts[side]}", "", "", *shares))
    lines = [_columns(table), ""]
    for split, n in facts["found"].items():
        if (expected := declared["pairs"].get(split, n)) != n:
            lines.append(f"{split}: {_found(n, expected)}")
    drops = ", ".join(f"{n:,} {reason}" for reason, n in facts["drops"].items() if n)
    lines.append(f"dropped from train: {drops or 'nothing'}")
    same = ", ".join(f"{n:,} of {split}" for split, n in facts["sources also in train"].items())
    lines.append(f"source sentences that stand in train too: {same}")
    return "\n".join([*lines, f"written to {out}"])


def _found(found: int, declared: int | None) -> str:
    if declared is None or declared == found:
        return f"{found:,} pairs"
    return f"declared {declared:,}, found {found:,}"


def _number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _columns(rows: list[tuple[str, ...]]) -> str:
    """Align the first and the last column left if it is text, numbers right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=True)]
        lines.append("  ".join([row[0].ljust(widths[0]), *cells[1:]]).rstrip())
    return "\n".join(lines)
