"""Bringing a registry corpus to this machine: from the net, or from a folder that has its files."""

from __future__ import annotations

import shutil
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from switchout.corpora.cleaning import hold_out
from switchout.corpora.download import download
from switchout.corpora.opening import open_folder
from switchout.corpora.registry import Entry
from switchout.corpora.text import COMPRESSIONS, find_file, stream_lines, write_lines
from switchout.errors import SwitchOutError
from switchout.files import atomic_folder, check_output_folder, write_json

ORIGIN = "origin.json"


def get_corpus(entry: Entry, root: Path, *, from_folder: Path | None = None) -> dict[str, Any]:
    """Put a corpus into ``root/<name>``, which appears only when all of it is there and right.

    Args:
        entry: What to get.
        root: The folder of corpora. Unfinished downloads stay in ``root/.<name>.download``.
        from_folder: Take the files from here instead of the net, under their original names or
            as ``train.<lang>`` and so on. Counts may then differ from the declared ones.

    Returns:
        Folder, counts found and declared, files with their origin.
    """
    if not entry.downloads:
        raise SwitchOutError(f"{entry.name} is part of switchout: use it by name, nothing to get")
    if from_folder is not None and not from_folder.is_dir():
        raise SwitchOutError(f"{from_folder}: no such folder")
    folder, downloads = root / entry.name, root / f".{entry.name}.download"
    check_output_folder("out", folder, {"from_folder": from_folder}, marker=ORIGIN)
    with atomic_folder(folder, marker=ORIGIN) as partial:
        if from_folder is not None:
            _import(entry, from_folder, partial)
            found = _count(entry, partial)
        else:
            found = _get(entry, downloads, partial)
        facts = {
            "name": entry.name,
            "folder": str(folder),
            "from": str(from_folder) if from_folder is not None else "net",
            "found": found,
            "declared": entry.pairs,
            "files": {name: asdict(file) for name, file in entry.downloads.items()},
        }
        write_json(partial / ORIGIN, facts)
    shutil.rmtree(downloads, ignore_errors=True)
    return facts


def _get(entry: Entry, downloads: Path, partial: Path) -> dict[str, int]:
    """Download everything, then build; what proves wrong is removed, what is unfinished stays."""
    downloads.mkdir(parents=True, exist_ok=True)
    paths = {
        name: download(file.url, downloads / name, sha256=file.sha256)
        for name, file in entry.downloads.items()
    }
    try:
        _arrange(entry, paths, partial, shutil.move)
        found = _count(entry, partial)
        for split, declared in entry.pairs.items():
            if found.get(split, 0) != declared:
                raise SwitchOutError(
                    f"{entry.name}: {split} has {found.get(split, 0):,} pairs, declared are "
                    f"{declared:,}: the download was cut, or the corpus has changed; it was removed"
                )
    except SwitchOutError:
        shutil.rmtree(downloads, ignore_errors=True)
        raise
    return found


def _import(entry: Entry, folder: Path, partial: Path) -> None:
    """Copy a folder that is a corpus already, or arrange the files as downloaded by hand."""
    if all(find_file(folder, f"{split}.{entry.source}") for split in ("train", "dev", "test")):
        for kind in ("train", "dev", "test", "synthetic", "vocab"):
            for language in (entry.source, entry.target):
                if (path := find_file(folder, f"{kind}.{language}")) is not None:
                    shutil.copyfile(path, partial / path.name)
        return
    paths: dict[str, Path] = {}
    for name, file in entry.downloads.items():
        original = file.url.rpartition("/")[2]
        found = find_file(folder, original) or find_file(folder, name)
        if found is not None:
            paths[name] = found
        elif not name.startswith(("vocab", "synthetic")):
            raise SwitchOutError(f"{folder}: neither {original} nor {name} is there")
    _arrange(entry, paths, partial, shutil.copyfile)


def _arrange(
    entry: Entry, paths: dict[str, Path], partial: Path, transfer: Callable[[Path, Path], object]
) -> None:
    """Bring every file under its name in the corpus folder."""
    if entry.members:
        [archive] = paths.values()
        _unpack(entry, archive, partial)
    else:
        for name, path in paths.items():
            suffix = path.suffix if path.suffix in COMPRESSIONS else ""
            transfer(path, partial / (name.removesuffix(".gz") + suffix))
    if entry.hold_out is not None:
        _split(partial, *entry.hold_out)


def _unpack(entry: Entry, archive: Path, partial: Path) -> None:
    try:
        with zipfile.ZipFile(archive) as unzipped:
            for name, member in entry.members.items():
                with unzipped.open(member) as source, (partial / name).open("wb") as target:
                    shutil.copyfileobj(source, target)
    except (zipfile.BadZipFile, EOFError, zlib.error, NotImplementedError, RuntimeError) as error:
        # of other compressions and of encrypted members, too
        raise SwitchOutError(f"{archive}: damaged or truncated archive ({error})") from None
    except KeyError as error:
        raise SwitchOutError(f"{archive}: not the expected archive ({error.args[0]})") from None


def _split(partial: Path, dev: int, test: int) -> None:
    """Turn ``train.<a>-<b>.tsv`` (manythings.org: a third column names authors) into splits."""
    [path] = partial.glob("train.*.tsv")
    languages = path.name.split(".")[1].split("-")
    lines = (line.split("\t") for line in stream_lines(path))
    pairs = [(columns[0], columns[1]) for columns in lines if len(columns) >= 2]
    splits, _ = hold_out(pairs, dev=dev, test=test)
    for split, part in splits.items():
        for column, language in enumerate(languages):
            write_lines(partial / f"{split}.{language}", (pair[column] for pair in part))
    path.unlink()


def _count(entry: Entry, partial: Path) -> dict[str, int]:
    """Count the pairs of each split, which reads, and so checks, every line."""
    corpus = open_folder(partial, source=entry.source, target=entry.target)
    return {split: sum(1 for _ in corpus.splits[split]) for split in corpus.splits}
