"""The corpora known by name: where they come from, how large they are, how they are scored.

Facts, not code: they stand in ``registry.toml``, a table for each corpus.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from switchout.corpora.corpus import BleuSpec, Tokenizer
from switchout.files import read_toml


@dataclass(frozen=True)
class Download:
    """One file of the net.

    Args:
        url: Its address.
        sha256: Of its content, where known.
    """

    url: str
    sha256: str | None = None


@dataclass(frozen=True)
class PaperRow:
    """A row of the paper's dataset table (appendix A.3), as printed."""

    vocabulary: tuple[str, str]
    train: str
    dev: str
    test: str


@dataclass(frozen=True)
class Entry:
    """A corpus known by name.

    Args:
        name: What users type; ``aliases`` work too.
        title, licence: For ``switchout data list``.
        source, target: Language codes.
        bleu, tokenizer: How it is scored and split into words.
        pairs: Declared number of pairs by split; a download with other numbers is refused.
        vocabulary: Declared entries of the two vocabulary files.
        paper: The paper's row about it.
        downloads: By name in the corpus folder, or the one archive.
        members: Of an archive: name in the corpus folder → name in the archive.
        hold_out: Dev and test pairs to take from train, where the source has no such split.
    """

    name: str
    title: str
    source: str
    target: str
    bleu: BleuSpec
    tokenizer: Tokenizer = "space"
    licence: str = ""
    aliases: tuple[str, ...] = ()
    pairs: dict[str, int] = field(default_factory=dict)
    vocabulary: tuple[int, int] | None = None
    paper: PaperRow | None = None
    downloads: dict[str, Download] = field(default_factory=dict)
    members: dict[str, str] = field(default_factory=dict)
    hold_out: tuple[int, int] | None = None


@cache
def entries() -> tuple[Entry, ...]:
    """Return all corpora known by name.

    Example:
        >>> entries()[0].name
        'phrasebook'
    """
    tables = read_toml(Path(__file__).with_name("registry.toml"))
    return tuple(_entry(name, table) for name, table in tables.items())


def find_entry(name: str) -> Entry | None:
    """Return the entry of this name or alias; ``_`` and ``-`` are the same."""
    wanted = name.lower().replace("_", "-")
    return next((entry for entry in entries() if wanted in (entry.name, *entry.aliases)), None)


def _entry(name: str, table: dict[str, Any]) -> Entry:
    """Return what a table says: its lists are tuples, the tables in it have a type."""
    facts: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in table.items()}
    facts["bleu"] = BleuSpec(facts["bleu"])
    if "paper" in facts:
        paper = facts["paper"]
        facts["paper"] = PaperRow(**{**paper, "vocabulary": tuple(paper["vocabulary"])})
    files = facts.get("downloads", {})
    facts["downloads"] = {file: Download(**about) for file, about in files.items()}
    return Entry(name, **facts)
