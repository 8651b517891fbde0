"""`augment_files`: a corpus on disk, or on standard input, to another."""

from __future__ import annotations

import hashlib
import logging
import os
import time
from pathlib import Path
from typing import Any, Unpack

from switchout.engines import Engine
from switchout.errors import SwitchOutError
from switchout.files import check_outputs, is_stream, write_json
from switchout.progress import Meter
from switchout.ranges import PART_BYTES, WORKERS
from switchout.text.augmentation import Augmentation
from switchout.text.formats import Chunk, CorpusFormat, TabSeparated, TextFiles
from switchout.text.rewriter import Copies
from switchout.text.side_noise import SIDES, NoiseOptions, make_sides, refuse_unknown
from switchout.text.streams import CHUNK_BYTES, combined_hash, is_compressed
from switchout.text.tally import Tally
from switchout.text.word_counter import (
    count_missing_words,
    is_free_for_counted,
    with_counted,
    write_counted,
)

log = logging.getLogger(__name__)

FilePath = str | os.PathLike[str]
Named = dict[str, Any]  # files by the names of their parameters; None: not given
_PART_BYTES = 64 << 20
COLUMNS = {"source_column": "source", "target_column": "target"}  # of a Parquet file


class FileOptions(NoiseOptions, total=False):
    """What `augment_files` takes besides files and seed."""

    pairs: FilePath | None  # instead of two files: tab-separated pairs, or Parquet (by suffix)
    out_pairs: FilePath | None
    source_column: str | None  # of a Parquet file, default "source"; None: that side is absent
    target_column: str | None
    epoch: int  # other noise for the same corpus
    copies: int  # changed copies of each line, one after the other
    keep_original: bool  # write each line itself before its copies
    min_count: int  # counted vocabulary: least frequency
    max_words: int | None  # counted vocabulary: largest size
    workers: int  # threads, or processes where the corpus is done in parts
    engine: str  # "local", or "ray" for a cluster
    ray_address: str | None  # of a running cluster; None starts Ray on this machine
    parts: FilePath | None  # folder for a resumable run in parts; "ray": <output>.parts by default
    join: bool  # put the parts together in the end; otherwise the folder is the result
    part_bytes: int  # about how much of the input is a part
    chunk_bytes: int  # about how much is in memory at a time
    stats: bool | FilePath  # count words and hash the input, too; a file: write the numbers there


def augment_files(
    source: FilePath | None = None,
    target: FilePath | None = None,
    *,
    out_source: FilePath | None = None,
    out_target: FilePath | None = None,
    seed: int,
    **options: Unpack[FileOptions],
) -> dict[str, Any]:
    """Augment a corpus of any size; return what was done, in numbers.

    Line i of the input is example i, counted from 0 before pairs with an empty side are dropped, so
    the output does not depend on workers, engine, chunks or parts, and its words are those that
    ``policy.sample`` draws for the ids of the same lines. Copy k of epoch e is addressed as epoch
    e · copies + k.

    Args:
        source, target: Text files, one sentence a line; ``-``: standard input; either may be None.
        out_source, out_target: Where the sides go; ``-``: standard output.
        seed: Seed of all randomness.
        options: ``tau_x``, ``tau_y``, ``vocab_source``, …: see `NoiseOptions` and `FileOptions`.
            A side with noise and without vocabulary gets the words of the corpus, which are
            written beside the output (``<output>.vocab``).

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = (folder / "in").write_text("a b c\\na c\\n")
        >>> done = augment_files(folder / "in", out_source=folder / "out", tau_x=1.0, seed=7)
        >>> done["pairs"], (folder / "out").read_text().count("\\n")
        (2, 2)
    """
    started = time.monotonic()
    refuse_unknown(options, NoiseOptions, FileOptions)
    inputs = named_inputs(source, target, options)
    outputs: Named = {
        "out_source": out_source,
        "out_target": out_target,
        "out_pairs": options.get("out_pairs"),
    }
    # What is read comes first: an output alone may be the slip of who meant another one.
    for name in sorted(("source", "target", "pairs"), key=lambda name: inputs[name] is None):
        if (inputs[name] is None) != (outputs[f"out_{name}"] is None):
            raise SwitchOutError(f"{name}= and out_{name}= go together: give both or neither")
    job, engine = make_job(inputs, seed, options), _engine(options)
    names = [os.fspath(path) for path in outputs.values() if path is not None]
    vocabularies = _vocabulary_files(job, names)
    stats = options.get("stats", False)
    stats_file = None if isinstance(stats, bool) else stats
    written = {f"vocabulary of the {side}": path for side, path in vocabularies.items()}
    files = outputs | written | {"stats": stats_file}
    check_outputs(files, inputs, begins={"stats": b'{\n "pairs"'})
    _check_vocabulary_files(vocabularies)
    earlier = _files_at(names)
    counted = count_missing_words(job, options.get("min_count", 1), options.get("max_words"))
    job = with_counted(job, counted, options)
    if options.get("parts") is None and engine.name == "local":
        tally, data_hash = _in_one_pass(job, names, engine.workers or 1)
    else:
        tally, data_hash = _in_parts(job, names, engine, options)
    for side, path in vocabularies.items():
        if path is not None:
            write_counted(path, counted[side])
    report = _report(job, tally, data_hash, time.monotonic() - started)
    report["vocabularies"] = {side: path for side, path in vocabularies.items() if path}
    now = _files_at(names)  # the same files, where parts are not joined
    report["replaced"] = [path for path in earlier if earlier[path] != now.get(path)]
    if stats_file is not None:
        _write_stats(stats_file, report)
    return report


def _write_stats(path: FilePath, report: dict[str, Any]) -> None:
    """Write the numbers; hours of work are not thrown away if they have no place."""
    try:
        write_json(path, report)
    except SwitchOutError as error:
        raise SwitchOutError(f"{error}; the augmented corpus itself is complete") from None


def named_inputs(source: FilePath | None, target: FilePath | None, options: FileOptions) -> Named:
    """Return the files that are read; a vocabulary that is a list of words is none."""
    vocabularies = {f"vocab_{side}": options.get(f"vocab_{side}") for side in SIDES}
    files = {name: v for name, v in vocabularies.items() if isinstance(v, str | os.PathLike)}
    return {"source": source, "target": target, "pairs": options.get("pairs"), **files}


def make_job(inputs: Named, seed: int, options: FileOptions) -> Augmentation:
    """Return what to do to which corpus, all settings checked; words may still be missing."""
    _refuse_shared_streams(inputs)
    _warn_of_one_file(inputs["source"], inputs["target"])
    copies = Copies(
        seed,
        options.get("epoch", 0),
        options.get("copies", 1),
        options.get("keep_original", False),
    )
    job = Augmentation(
        _format(inputs, options),
        *make_sides(options),
        copies,
        count_known=bool(options.get("stats", False)),
        chunk_bytes=options.get("chunk_bytes", CHUNK_BYTES),
    )
    job.check()
    for noise in job.noises:
        if noise.side in job.format.sides:
            continue
        if noise.policy is not None:
            xy = noise.xy
            raise SwitchOutError(
                f"tau_{xy}, rate_{xy} and policy_{xy} are for the {noise.side}: give {noise.side}="
            )
        if options.get(f"vocab_{noise.side}") is not None:  # else other words would be counted
            raise SwitchOutError(f"vocab_{noise.side}= is for the {noise.side}: give {noise.side}=")
    return job


def _refuse_shared_streams(files: Named) -> None:
    """Refuse one pipe under two names: whoever reads it first leaves nothing to the other."""
    seen: dict[Any, str] = {}
    for name, path in files.items():
        if path is not None and is_stream(path):
            status = os.fstat(0) if os.fspath(path) == "-" else Path(path).stat()
            first = seen.setdefault((status.st_dev, status.st_ino), name)
            if first != name:
                raise SwitchOutError(f"{first} and {name} are one stream; it can be read only once")


def _warn_of_one_file(source: FilePath | None, target: FilePath | None) -> None:
    """Warn of a text that is its own translation: a copied corpus is rare, a slip is not."""
    if source is None or target is None or is_stream(source):
        return
    if Path(source).exists() and Path(target).exists() and Path(source).samefile(target):
        log.warning("warning: source and target are one file, %s: is that meant?", source)


def _format(inputs: Named, options: FileOptions) -> CorpusFormat:
    """Return how to read and write."""
    names = ("source", "target", "pairs")
    source, target, pairs = (
        None if inputs[name] is None else os.fspath(inputs[name]) for name in names
    )
    if (pairs is None) == (source is None and target is None):
        raise SwitchOutError("give source= and/or target=, or pairs=")
    columns: dict[str, Any] = {name: options.get(name, usual) for name, usual in COLUMNS.items()}
    if pairs is not None and pairs.endswith(".parquet"):
        return _parquet(pairs, *columns.values())
    if unused := [name for name in columns if columns[name] != COLUMNS[name]]:
        raise SwitchOutError(f"{unused[0]}= is for a Parquet file: pairs=FILE.parquet")
    return TextFiles(source, target) if pairs is None else TabSeparated(pairs)


def _parquet(path: str, *columns: str | None) -> CorpusFormat:
    from switchout.text.parquet import ParquetFile

    if columns == (None, None):
        raise SwitchOutError(f"{path}: name at least one column")
    if is_stream(path):
        raise SwitchOutError(f"{path}: Parquet cannot be read from a pipe; write it to a file")
    return ParquetFile(path, *columns)


def _engine(options: FileOptions) -> Engine:
    workers = WORKERS.check(options.get("workers", 1), "workers")
    PART_BYTES.check(options.get("part_bytes", _PART_BYTES), "part_bytes")
    return Engine(options.get("engine", "local"), workers, options.get("ray_address"))


def _vocabulary_files(job: Augmentation, outputs: list[str]) -> dict[str, str | None]:
    """Return, for each side whose words are counted, where they go: beside the output."""
    files: dict[str, str | None] = {}
    for noise in job.noises:
        if noise.needs_words:
            output = outputs[0 if noise.side == "source" else -1]
            which = "" if isinstance(job.format, TextFiles) else f".{noise.side}"
            files[noise.side] = None if is_stream(output) else f"{output}{which}.vocab"
    return files


def _files_at(paths: list[str]) -> dict[str, int]:
    """Return which file has each name, by its number; one without content is nobody's work."""
    there = [path for path in paths if not is_stream(path) and Path(path).is_file()]
    found = {path: Path(path).stat() for path in there}
    return {path: status.st_ino for path, status in found.items() if status.st_size}


def _check_vocabulary_files(files: dict[str, str | None]) -> None:
    for side, path in files.items():
        if path is not None and not is_free_for_counted(path):
            raise SwitchOutError(
                f"{path}: the words of the {side} would be written here, over a file that is no"
                f" vocabulary: move it, or give vocab_{side}"
            )


def _in_one_pass(job: Augmentation, outputs: list[str], workers: int) -> tuple[Tally, str | None]:
    digests = [hashlib.sha256() for _ in job.format.inputs] if job.count_known else None
    with Meter("augment", total=_total_bytes(job.format.inputs), unit="MB") as meter:

        def show(chunk: Chunk) -> None:
            meter.advance(
                sum(chunk.file_bytes) / 1e6, note=f"{chunk.first_line + chunk.n_lines:,} lines"
            )

        tally = job.run(outputs, workers=workers, digests=digests, on_chunk=show)
    return tally, combined_hash(digests) if digests else None


def _in_parts(
    job: Augmentation, outputs: list[str], engine: Engine, options: FileOptions
) -> tuple[Tally, str]:
    from switchout.text.parts import run_in_parts  # takes time to import

    folder = options.get("parts") or f"{outputs[0]}.parts"
    part_bytes = options.get("part_bytes", _PART_BYTES)
    return run_in_parts(
        job, Path(folder), outputs, engine=engine, part_bytes=part_bytes,
        join=options.get("join", True),
    )  # fmt: skip


def _total_bytes(paths: list[str]) -> float | None:
    """Return the size of plain input files in MB, if it is known beforehand."""
    if any(is_stream(path) or is_compressed(path) or not Path(path).is_file() for path in paths):
        return None
    return sum(Path(path).stat().st_size for path in paths) / 1e6


def _report(
    job: Augmentation, tally: Tally, data_hash: str | None, seconds: float
) -> dict[str, Any]:
    report = tally.to_dict()
    sides = [report[side] for side in tally.sides]
    report["changes"] = sum(side["changes"] for side in sides)
    report["words"] = sum(side["words"] for side in sides)
    for side in sides:  # shares, over all copies
        side["changed"] = side["changes"] / max(side["words"] * job.copies.count, 1)
        side["untouched"] = side["histogram"][0] / max(sum(side["histogram"]), 1)
    if not job.count_known:
        for side in sides:
            del side["known_words"]
    report["signature"] = job.signature + (f"|data:{data_hash}" if data_hash else "")
    report["data_hash"] = data_hash
    report["seconds"] = round(seconds, 3)
    return report
