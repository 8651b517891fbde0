"""``switchout data``: list, get and prepare corpora."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from switchout.cli.options import Direction, Json
from switchout.cli.terminal import table_width, wrapped
from switchout.cli.verb import Argument, Option
from switchout.corpora.cleaning import Cleaning
from switchout.corpora.codec import CodecPlan
from switchout.corpora.corpus import BleuSpec
from switchout.corpora.opening import data_roots, installed_folder, open_corpus
from switchout.corpora.prepare import prepare_corpus
from switchout.corpora.registry import Entry, entries, find_entry
from switchout.errors import SwitchOutError, did_you_mean
from switchout.ranges import COUNT, RATIO, Whole

SPLITS = ("train", "dev", "test")
VOCABULARY = Whole(5, 2**31 - 1)  # ids are 32 bits


def list_corpora(as_json: Json = False) -> None:
    """Show the corpora known by name and where they are.

    Example:
      switchout data list
    """
    rows = [_entry_facts(entry) for entry in entries()]
    if as_json:
        print(json.dumps(rows, indent=1))
        return
    table = [
        (row["name"], *map(row["pairs"].get, SPLITS), "yes" if row["where"] else "no")
        for row in rows
    ]
    print(_table(("name", *SPLITS, "here"), table), "", sep="\n")
    for row in rows:
        where = row["where"] or _addresses(row)
        about = f"{row['name']}: {row['title']} ({row['licence']}); {where}"
        print(wrapped(about, hanging="  "))


def get(
    name: Annotated[str, Argument("NAME", "One of 'switchout data list'.")],
    out: Annotated[
        Path | None, Option("Folder of corpora. Default: SWITCHOUT_DATA, or data/.", "DIR")
    ] = None,
    from_folder: Annotated[
        Path | None, Option("Import from this folder instead of the net.", "--from", "DIR")
    ] = None,
    as_json: Json = False,
) -> None:
    """Download a corpus, or import it from a folder; the same command resumes.

    Examples:
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


@dataclass(frozen=True, kw_only=True)
class Words:
    """How text becomes ids."""

    GROUP = "Vocabulary"

    kind: Annotated[
        Literal["word", "sentencepiece", "file"] | None,
        Option("Vocabulary. Default: the corpus's own files, else words."),
    ] = None
    min_count: Annotated[int, Option("Rarer words are unknown.", limits=COUNT)] = 1
    max_size: Annotated[
        int | None, Option("Most words (or pieces), 4 specials included.", limits=VOCABULARY)
    ] = None
    model: Annotated[Literal["bpe", "unigram"], Option("Of sentencepiece.")] = "bpe"
    shared: Annotated[bool, Option("One vocabulary for both.", "--shared")] = False
    vocab_src: Annotated[Path | None, Option("Vocabulary file of the source.")] = None
    vocab_tgt: Annotated[Path | None, Option("Vocabulary file of the target.")] = None
    case: Annotated[Literal["keep", "lower"], Option("Of the text as ids.")] = "keep"
    tokenizer: Annotated[
        Literal["space", "punctuation"] | None,
        Option("space: tokenised already; punctuation: split it off, reversibly."),
    ] = None

    @property
    def plan(self) -> CodecPlan:
        """The same as the library takes it."""
        if (self.vocab_src is None) != (self.vocab_tgt is None):
            raise SwitchOutError(
                "--vocab-src and --vocab-tgt go together: give both files, or neither"
            )
        is_limited = self.min_count > 1 or self.max_size is not None
        is_made = is_limited or self.shared or self.kind not in (None, "file")
        if self.vocab_src is not None and is_made:
            raise SwitchOutError(
                "--vocab-src and --vocab-tgt are taken as they are: leave out --kind, --min-count,"
                " --max-size and --shared"
            )
        if self.kind == "file" and is_limited:
            raise SwitchOutError(
                "--kind file takes the vocabularies as they are: leave out --min-count and"
                " --max-size"
            )
        if self.kind != "sentencepiece" and self.model != "bpe":  # which is the default
            raise SwitchOutError("--model is for --kind sentencepiece")
        if self.kind == "sentencepiece" and self.min_count > 1:
            raise SwitchOutError("pieces are not counted: leave out --min-count; see --max-size")
        return CodecPlan(
            self.kind,
            self.min_count,
            self.max_size,
            self.model,
            self.shared,
            self.case,
            self.tokenizer,
            _both(self.vocab_src, self.vocab_tgt),
        )


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """Which pairs stay, and where."""

    GROUP = "Pairs"

    max_length: Annotated[
        int | None, Option("Drop training pairs with more words on a side.", limits=COUNT)
    ] = None
    max_ratio: Annotated[
        float | None, Option("Drop pairs with a larger ratio of lengths.", limits=RATIO)
    ] = None
    drop_duplicates: Annotated[
        bool, Option("Keep only the first of equal pairs.", "--drop-duplicates")
    ] = False
    dev: Annotated[int | None, Option("Hold out so many dev pairs.", limits=COUNT)] = None
    test: Annotated[int | None, Option("Hold out so many test pairs.", limits=COUNT)] = None

    @property
    def held_out(self) -> tuple[int, int] | None:
        """How many pairs of dev and test."""
        if (self.dev is None) != (self.test is None):
            raise SwitchOutError("--dev and --test go together: give both numbers, or neither")
        return _both(self.dev, self.test)


def _both(first: Any, second: Any) -> tuple[Any, Any] | None:
    return None if first is None else (first, second)


def prepare(
    name: Annotated[str, Argument("NAME|FOLDER", "Registry name or folder.")],
    *,
    out: Annotated[Path, Option("The folder to make.", "DIR")],
    direction: Direction,
    bleu: Annotated[
        Literal["none", "13a"] | None,
        Option("Scored as tokenised (none) or plain text (13a); own folders: as it looks."),
    ] = None,
    as_json: Json = False,
    words: Words,
    pairs: Pairs,
) -> None:
    """Clean a corpus, build its vocabularies and ids, and compare it with the paper's table.

    Examples:
      switchout data prepare iwslt15-en-vi --out prepared/en-vi
      switchout data prepare my-texts --source de --target en --out mine
    """
    plan, held_out = words.plan, pairs.held_out
    corpus = open_corpus(name, source=direction.source, target=direction.target)
    facts = prepare_corpus(
        replace(corpus, bleu=BleuSpec(bleu)) if bleu is not None else corpus,
        out,
        plan=plan,
        cleaning=Cleaning(pairs.max_length, pairs.max_ratio, pairs.drop_duplicates),
        held_out=held_out,
    )
    print(json.dumps(facts, indent=1, ensure_ascii=False) if as_json else _report(facts, out))


COMMANDS = {"list": list_corpora, "get": get, "prepare": prepare}


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
    heads = ("", *(f"vocab {facts[side]}" for side in ("source", "target")), *SPLITS)
    table: list[tuple[str | int | None, ...]] = []
    if paper:
        table.append(("paper", *paper["vocabulary"], *(paper[split] for split in SPLITS)))
    if declared["pairs"]:
        vocabulary = declared["vocabulary"] or (None, None)
        counts = (declared["pairs"].get(split) for split in SPLITS)
        table.append(("declared", *vocabulary, *counts))
    ours = (*facts["vocabulary"].values(), *(facts["pairs"][split] for split in SPLITS))
    table.append(("here", *ours))
    rates = [facts["unknown"][split] for split in SPLITS]
    for column, side in enumerate(("source", "target")):
        shares = (f"{rate[column]:.2%}" for rate in rates)
        table.append((f"unknown words, {facts[side]}", "", "", *shares))
    lines = [_table(heads, table), ""]
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


def _table(heads: Sequence[str], rows: Sequence[tuple[str | int | None, ...]]) -> str:
    """Return aligned columns: text in the first, numbers in the others."""
    from switchout.report.tables import Column, Table

    columns = [Column(heads[0]), *(Column(head, format=",") for head in heads[1:])]
    return Table("", columns, rows).text(table_width())
