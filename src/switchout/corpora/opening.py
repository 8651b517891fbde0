"""Finding a corpus: by registry name, or in a folder of text files.

A folder holds, for each of train, dev, test (and synthetic: back-translated pairs), either
``<split>.<lang>`` twice, or ``<split>.<lang>-<lang>.tsv``, or ``<split>.tsv``; each may end in
``.gz``, ``.xz``, ``.bz2`` or ``.zst``. Other files are left alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, get_args

from switchout.corpora import phrasebook
from switchout.corpora.corpus import SPLITS, BleuSpec, BleuTokenizer, Corpus, Tokenizer
from switchout.corpora.registry import Entry, entries, find_entry
from switchout.corpora.text import FilePairs, Marks, TsvPairs, find_file
from switchout.errors import SwitchOutError, did_you_mean
from switchout.files import read_json

FACTS = "corpus.json"
LOOKED_AT = 2000  # lines by which text is judged
_LANGUAGE_FILE = re.compile(rf"({'|'.join(SPLITS)})\.([A-Za-z0-9_-]+)(\.gz|\.xz|\.bz2|\.zst)?")
_NAMED_TSV = re.compile(
    rf"({'|'.join(SPLITS)})\.([A-Za-z0-9_]+)-([A-Za-z0-9_]+)\.tsv(\.gz|\.xz|\.bz2|\.zst)?"
)


def open_corpus(
    name: str | Path,
    *,
    source: str | None = None,
    target: str | None = None,
    train_pairs: int | None = None,
) -> Corpus:
    """Open a corpus by registry name, or by the folder that holds it.

    Args:
        name: ``phrasebook``, another name of ``switchout data list``, or a folder. A registry name
            wins over a folder of that name; write ``./name`` for the folder.
        source, target: Language codes; may be left out where the registry, the folder's
            ``corpus.json``, its name (``…-de-en``) or that of a TSV say the direction.
        train_pairs: Use only the first so many training pairs.

    Example:
        >>> corpus = open_corpus("phrasebook", train_pairs=100)
        >>> corpus.source, corpus.target, len(corpus.pairs("train")[0])
        ('de', 'en', 100)
    """
    if train_pairs is not None and train_pairs < 1:
        raise SwitchOutError(f"train_pairs = {train_pairs}: at least 1 is needed")
    entry = find_entry(str(name))
    if entry is not None and entry.name == "phrasebook":
        corpus = _open_phrasebook(entry, source, target, train_pairs)
    elif entry is not None:
        corpus = open_folder(installed_folder(entry), source=source, target=target)
    elif Path(name).is_dir():
        corpus = open_folder(Path(name), source=source, target=target)
    elif len(Path(name).parts) > 1:
        raise SwitchOutError(f"{name}: no such folder")
    else:
        names = [entry.name for entry in entries()]
        raise SwitchOutError(f"no corpus or folder {str(name)!r}{did_you_mean(str(name), names)}")
    return replace(corpus, train_pairs=train_pairs)


def open_folder(folder: Path, *, source: str | None = None, target: str | None = None) -> Corpus:
    """Open the corpus of a folder; see the module for its form."""
    known = _read_facts(folder) or find_entry(folder.name)
    stated = (known.source, known.target) if known else None
    named_tsvs = _named_tsvs(folder)
    languages = sorted(_languages(folder).union(*(columns for _, columns in named_tsvs.values())))
    src, tgt = _direction(folder, languages, (source, target), stated)
    splits: dict[str, Iterable[tuple[str, str]]] = {}
    for split in SPLITS:
        if (pairs := _open_split(folder, split, (src, tgt), named_tsvs)) is not None:
            splits[split] = pairs
    if not splits:
        raise SwitchOutError(
            f"{folder}: no corpus here: expected train.{src} and train.{tgt} (or train.tsv), "
            "likewise dev and test"
        )
    if known is None:
        return Corpus(str(folder), src, tgt, splits, _bleu_of(splits), folder=folder)
    return Corpus(
        known.name, src, tgt, splits, known.bleu, folder=folder, tokenizer=known.tokenizer
    )


def _bleu_of(splits: Mapping[str, Iterable[tuple[str, str]]]) -> BleuSpec:
    """Return how the references of a folder that says nothing are scored: by what they look like.

    Tokenised ones go with tokenised translations, which 13a would tokenise once more.
    """
    references = islice(splits.get("test", splits.get("dev", ())), LOOKED_AT)
    try:
        marks = Marks.of(word for _, line in references for word in line.split())
    except SwitchOutError:  # told, with file and line, to whoever reads them
        return BleuSpec()
    return BleuSpec(tokenize="none" if marks.is_tokenised else "13a")


def data_roots() -> list[Path]:
    """Return the folders in which registry corpora are looked for: ``SWITCHOUT_DATA``, or here."""
    if root := os.environ.get("SWITCHOUT_DATA"):
        return [Path(root)]
    return [Path("data"), Path("../shared/data")]


def installed_folder(entry: Entry) -> Path:
    """Return where a registry corpus is on this machine."""
    for root in data_roots():
        for name in (entry.name, *entry.aliases):
            for spelling in (name, name.replace("-", "_")):
                if (root / spelling).is_dir():
                    return root / spelling
    looked = ", ".join(str(root) for root in data_roots())
    raise SwitchOutError(
        f"corpus {entry.name!r} is not on this machine (looked in: {looked}): run 'switchout data "
        f"get {entry.name}', or set SWITCHOUT_DATA to the folder that has it"
    )


@dataclass(frozen=True)
class _PhrasebookPairs:
    """One split of the embedded corpus, read when it is used."""

    split: str
    is_turned: bool
    train_pairs: int

    def __iter__(self) -> Iterator[tuple[str, str]]:
        de, en = phrasebook.splits(self.train_pairs)[self.split]
        return zip(en, de, strict=True) if self.is_turned else zip(de, en, strict=True)


def _open_phrasebook(
    entry: Entry, source: str | None, target: str | None, train_pairs: int | None
) -> Corpus:
    most = phrasebook.MOST_TRAIN_PAIRS
    if train_pairs is not None and train_pairs > most:
        raise SwitchOutError(
            f"phrasebook: train_pairs = {train_pairs:,}, but it has at most {most:,}"
        )
    stated = (entry.source, entry.target)
    src, tgt = _direction(Path(entry.name), list(stated), (source, target), stated)
    is_turned = src != entry.source
    n = train_pairs or phrasebook.TRAIN_PAIRS
    splits = {split: _PhrasebookPairs(split, is_turned, n) for split in SPLITS[:3]}
    return Corpus(entry.name, src, tgt, splits, entry.bleu)


def _open_split(
    folder: Path,
    split: str,
    languages: tuple[str, str],
    named_tsvs: dict[str, tuple[Path, tuple[str, str]]],
) -> Iterable[tuple[str, str]] | None:
    src, tgt = languages
    if split in named_tsvs:
        path, columns = named_tsvs[split]
        return TsvPairs(path, columns.index(src))
    if (tsv := find_file(folder, f"{split}.tsv")) is not None:
        return TsvPairs(tsv)
    src_path, tgt_path = find_file(folder, f"{split}.{src}"), find_file(folder, f"{split}.{tgt}")
    if src_path is None and tgt_path is None:
        return None
    if src_path is None or tgt_path is None:
        missing, there = (src, tgt_path) if src_path is None else (tgt, src_path)
        raise SwitchOutError(f"{folder}: no {split}.{missing} beside {there and there.name}")
    return FilePairs(src_path, tgt_path)


def _direction(
    folder: Path,
    languages: list[str],
    wanted: tuple[str | None, str | None],
    stated: tuple[str, str] | None,
) -> tuple[str, str]:
    """Decide source and target: what the user said, else what the corpus states, else ask."""
    source, target = wanted
    for language in (source, target):
        if language is not None and languages and language not in languages:
            raise SwitchOutError(
                f"{folder}: no text in {language!r}, only in {', '.join(languages)}: expected a "
                f"file train.{language}"
            )
    if source is None and target is None:
        stated = stated or _direction_of_name(folder.name, languages)
        if stated is not None:
            return stated
    elif source is None or target is None:
        others = [language for language in languages if language not in (source, target)]
        if len(others) == 1:
            source, target = source or others[0], target or others[0]
    if source is None or target is None:
        have = f"has {', '.join(languages)}" if languages else "says no languages"
        raise SwitchOutError(f"{folder}: which way? it {have}; give source= and target=")
    if source == target:
        raise SwitchOutError(f"source and target are both {source!r}; give two languages")
    return source, target


def _direction_of_name(name: str, languages: list[str]) -> tuple[str, str] | None:
    """A folder called ``anything-de-en`` with de and en in it goes from de to en."""
    words = re.split(r"[-_.]", name)
    if len(words) >= 2 and words[-1] != words[-2] and {words[-1], words[-2]} <= set(languages):
        return words[-2], words[-1]
    return None


def _languages(folder: Path) -> set[str]:
    matches = (_LANGUAGE_FILE.fullmatch(path.name) for path in folder.iterdir())
    return {match[2] for match in matches if match and match[2] != "tsv"}


def _named_tsvs(folder: Path) -> dict[str, tuple[Path, tuple[str, str]]]:
    found = {}
    for path in sorted(folder.iterdir()):
        if match := _NAMED_TSV.fullmatch(path.name):
            found[match[1]] = path, (match[2], match[3])
    return found


def _read_facts(folder: Path) -> Entry | None:
    """Return what `switchout data prepare` wrote about this folder."""
    path = folder / FACTS
    if not path.is_file():
        return None
    facts = read_json(path)
    names: dict[str, Any] = {key: facts.get(key) for key in ("name", "title", "source", "target")}
    bleu: Any = facts.get("bleu")
    tokenizer: Any = facts.get("tokenizer")
    is_ours = (
        all(isinstance(name, str) for name in names.values())
        and tokenizer in get_args(Tokenizer)
        and isinstance(bleu, dict)
        and bleu.keys() == {"tokenize", "lowercase"}
        and bleu["tokenize"] in get_args(BleuTokenizer)  # another one might fetch a model
        and isinstance(bleu["lowercase"], bool)
    )
    if not is_ours:
        raise SwitchOutError(f"{path}: not written by 'switchout data prepare'")
    return Entry(**names, bleu=BleuSpec(**bleu), tokenizer=tokenizer)
