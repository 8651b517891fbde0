"""`augment_files`: a corpus on disk, or on standard input, to another."""

from __future__ import annotations

import hashlib
import os
import re
import time
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Unpack

from switchout.errors import SwitchOutError
from switchout.files import atomic, check_outputs, is_stream, write_json
from switchout.progress import Meter
from switchout.ranges import COUNT, PART_BYTES, WORKERS
from switchout.text.augmentation import Augmentation, Format
from switchout.text.formats import Chunk, Part, TabSeparated, TextFiles
from switchout.text.options import (
    NoiseOptions,
    lexicon_of,
    make_sides,
    refuse_shared_streams,
    refuse_unknown,
)
from switchout.text.side_noise import SIDES, SideNoise
from switchout.text.streams import CHUNK_BYTES, combined_hash
from switchout.text.tally import Tally
from switchout.text.word_counter import WordCounter

FilePath = str | os.PathLike[str]
Counted = dict[str, list[tuple[bytes, int]]]  # side -> words and how often they occur
_WORD_AND_COUNT = re.compile(rb"\S+ \d+\n")  # a line of a vocabulary that we wrote


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


@dataclass(frozen=True)
class Engine:
    """Who does the work."""

    name: str = "local"
    workers: int = 1
    ray_address: str | None = None
    parts: Path | None = None
    join: bool = True
    part_bytes: int = 64 << 20

    def check(self) -> None:
        """Refuse what cannot be."""
        if self.name not in ("local", "ray"):
            raise SwitchOutError(f"engine must be local or ray, got {self.name!r}")
        WORKERS.check(self.workers, "workers")
        PART_BYTES.check(self.part_bytes, "part_bytes")


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
    inputs = {"source": source, "target": target, "pairs": options.get("pairs")}
    outputs = {
        "out_source": out_source,
        "out_target": out_target,
        "out_pairs": options.get("out_pairs"),
    }
    for name, path in inputs.items():
        if (path is None) != (outputs[f"out_{name}"] is None):
            raise SwitchOutError(f"{name}= and out_{name}= go together: give both or neither")
    job, engine = make_job(inputs, seed, options), _engine(options)
    engine.check()
    names = [os.fspath(path) for path in outputs.values() if path is not None]
    vocabularies = _vocabulary_files(job, names)
    _check_files(inputs, outputs, vocabularies, options)
    counted = count_vocabularies(job, inputs, options)
    job = with_counted(job, counted, options)
    tally, data_hash = _run(job, names, engine)
    _save_vocabularies(counted, vocabularies)
    report = _report(job, tally, data_hash, time.monotonic() - started)
    report["vocabularies"] = {side: path for side, path in vocabularies.items() if path}
    stats = options.get("stats", False)
    if not isinstance(stats, bool):
        write_json(stats, report)
    return report


def make_job(inputs: dict[str, Any], seed: int, options: FileOptions) -> Augmentation:
    """Return what to do to which corpus, all settings checked; words may still be missing."""
    job = Augmentation(
        _format(inputs, options),
        *make_sides(options),
        seed,
        epoch=options.get("epoch", 0),
        copies=options.get("copies", 1),
        keep_original=options.get("keep_original", False),
        count_known=bool(options.get("stats", False)),
        chunk_bytes=options.get("chunk_bytes", CHUNK_BYTES),
    )
    job.check()
    for noise in (job.source, job.target):
        if noise.policy is not None and noise.side not in job.format.sides:
            xy = "x" if noise.side == "source" else "y"
            raise SwitchOutError(
                f"tau_{xy}, rate_{xy} and policy_{xy} are for the {noise.side}: give {noise.side}="
            )
    return job


def _format(inputs: dict[str, Any], options: FileOptions) -> Format:
    """Return how to read and write."""
    source, target, pairs = (None if path is None else os.fspath(path) for path in inputs.values())
    if (pairs is None) == (source is None and target is None):
        raise SwitchOutError("give source= and/or target=, or pairs=")
    if pairs is None:
        return TextFiles(source, target)
    if pairs.endswith(".parquet"):
        return _parquet(pairs, options)
    return TabSeparated(pairs)


def _parquet(path: str, options: FileOptions) -> Format:
    from switchout.text.parquet import ParquetFile

    columns = options.get("source_column", "source"), options.get("target_column", "target")
    if columns == (None, None):
        raise SwitchOutError(f"{path}: name at least one column")
    if is_stream(path):
        raise SwitchOutError(f"{path}: Parquet cannot be read from a pipe; write it to a file")
    return ParquetFile(path, *columns)


def _engine(options: FileOptions) -> Engine:
    parts = options.get("parts")
    return Engine(
        options.get("engine", "local"),
        options.get("workers", 1),
        options.get("ray_address"),
        None if parts is None else Path(parts),
        options.get("join", True),
        options.get("part_bytes", Engine.part_bytes),
    )


def _vocabulary_files(job: Augmentation, outputs: list[str]) -> dict[str, str | None]:
    """Return, for each side whose words are counted, where they go: beside the output."""
    files: dict[str, str | None] = {}
    for noise in (job.source, job.target):
        if noise.needs_words:
            output = outputs[0 if noise.side == "source" else -1]
            which = "" if isinstance(job.format, TextFiles) else f".{noise.side}"
            files[noise.side] = None if is_stream(output) else f"{output}{which}.vocab"
    return files


def _check_files(
    inputs: dict[str, Any],
    outputs: dict[str, Any],
    vocabularies: dict[str, str | None],
    options: FileOptions,
) -> None:
    """Before any work: nothing is overwritten, everything can be written, no pipe read twice."""
    given = {side: options.get(f"vocab_{side}") for side in SIDES}
    read = inputs | {
        f"vocab_{side}": v for side, v in given.items() if isinstance(v, str | os.PathLike)
    }
    written = outputs | {f"vocabulary of the {s}": path for s, path in vocabularies.items()}
    stats = options.get("stats", False)
    if not isinstance(stats, bool):
        written["stats"] = stats
    check_outputs(written, read)
    refuse_shared_streams(read)
    for side, path in vocabularies.items():
        if path is not None and not _is_counted_vocabulary(path):
            raise SwitchOutError(
                f"{path}: the words of the {side} would be written here, over a file that is no"
                f" vocabulary: move it, or give vocab_{side}"
            )


def _is_counted_vocabulary(path: str) -> bool:
    """Return whether a name is free, or holds an earlier vocabulary of ours: 'word count' lines."""
    if not Path(path).exists():
        return True
    with Path(path).open("rb") as handle:
        return all(_WORD_AND_COUNT.fullmatch(line) for line in islice(handle, 1000))


def count_vocabularies(job: Augmentation, inputs: dict[str, Any], options: FileOptions) -> Counted:
    """Count the words of the sides that have noise and no words, in one pass over the corpus."""
    min_count = COUNT.check(options.get("min_count", 1), "min_count")
    max_words = options.get("max_words")
    if max_words is not None:
        COUNT.check(max_words, "max_words")
    sides = (job.source, job.target)
    counters = {noise.side: WordCounter() for noise in sides if noise.needs_words}
    streams = [path for path in inputs.values() if path is not None and is_stream(path)]
    if counters and streams:
        missing = " and ".join(f"vocab_{side}" for side in counters)
        what = "standard input" if streams[0] == "-" else f"{streams[0]}: a pipe or device"
        raise SwitchOutError(f"{what} cannot be read twice: give {missing}")
    if counters:
        for chunk in job.format.chunks(Part(), CHUNK_BYTES):
            for side, counter in counters.items():
                lines = chunk.sides[SIDES.index(side)]
                if lines is not None:
                    counter.add(lines)
    return {
        side: counter.most_common(min_count=min_count, max_words=max_words)
        for side, counter in counters.items()
    }


def with_counted(job: Augmentation, counted: Counted, options: FileOptions) -> Augmentation:
    """Return the same with the counted words."""

    def with_words(noise: SideNoise) -> SideNoise:
        if noise.side not in counted:
            return noise
        entries = [word for word, _ in counted[noise.side]]
        name = f"vocabulary of the {noise.side}"
        return noise.with_lexicon(lexicon_of(entries, set(), name, options))

    return replace(job, source=with_words(job.source), target=with_words(job.target))


def _run(job: Augmentation, outputs: list[str], engine: Engine) -> tuple[Tally, str | None]:
    if engine.parts is None and engine.name == "local":
        return _in_one_pass(job, outputs, engine.workers)
    return _in_parts(job, outputs, engine)


def _in_one_pass(job: Augmentation, outputs: list[str], workers: int) -> tuple[Tally, str | None]:
    from switchout.text.one_pass import run_part

    digests = [hashlib.sha256() for _ in job.format.inputs] if job.count_known else None
    with Meter("augment", total=_total_bytes(job.format.inputs), unit="MB") as meter:

        def show(chunk: Chunk) -> None:
            meter.advance(
                sum(chunk.file_bytes) / 1e6, note=f"{chunk.first_line + chunk.n_lines:,} lines"
            )

        tally = run_part(job, outputs, workers=workers, digests=digests, on_chunk=show)
    return tally, combined_hash(digests) if digests else None


def _in_parts(job: Augmentation, outputs: list[str], engine: Engine) -> tuple[Tally, str]:
    from switchout.text import parts

    do_todo: Any = partial(parts.run_local, workers=engine.workers)
    if engine.name == "ray":
        do_todo = partial(parts.run_ray, workers=engine.workers, address=engine.ray_address)
    folder = engine.parts or Path(f"{outputs[0]}.parts")
    with Meter("augment", unit="parts") as meter:

        def show(n_done: int, n_all: int) -> None:
            meter.total = n_all
            meter.advance(n_done)

        return parts.run_in_parts(
            job, folder, outputs, part_bytes=engine.part_bytes, do_todo=do_todo, on_done=show,
            join=engine.join,
        )  # fmt: skip


def _total_bytes(paths: list[str]) -> float | None:
    """Return the size of plain input files in MB, if it is known beforehand."""
    from switchout.text.streams import is_compressed

    if any(is_stream(path) or is_compressed(path) or not Path(path).is_file() for path in paths):
        return None
    return sum(Path(path).stat().st_size for path in paths) / 1e6


def _save_vocabularies(counted: Counted, files: dict[str, str | None]) -> None:
    """Write counted vocabularies beside the output, to be given back as ``vocab_source``."""
    for side, entries in counted.items():
        path = files[side]
        if path is not None:
            with atomic(path) as place:
                place.write_bytes(b"".join(b"%b %d\n" % entry for entry in entries))


def _report(
    job: Augmentation, tally: Tally, data_hash: str | None, seconds: float
) -> dict[str, Any]:
    report = tally.to_dict()
    sides = [report[side] for side in tally.sides]
    report["changes"] = sum(side["changes"] for side in sides)
    report["words"] = sum(side["words"] for side in sides)
    for side in sides:  # shares, over all copies
        side["changed"] = side["changes"] / max(side["words"] * job.copies, 1)
        side["untouched"] = side["histogram"][0] / max(sum(side["histogram"]), 1)
    if not job.count_known:
        for side in sides:
            del side["known_words"]
    report["signature"] = job.signature + (f"|data:{data_hash}" if data_hash else "")
    report["data_hash"] = data_hash
    report["seconds"] = round(seconds, 3)
    return report
