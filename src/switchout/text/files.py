"""`augment_files`: a corpus on disk, or on standard input, to another."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from switchout.errors import SwitchOutError
from switchout.files import atomic
from switchout.progress import Meter
from switchout.text.counts import Counts
from switchout.text.formats import Chunk, TabSeparated, TextFiles
from switchout.text.job import Format, Job, Noise
from switchout.text.sides import SideChoice, Vocabulary, WordChoice, count_vocabularies, make_noise
from switchout.text.streams import CHUNK_BYTES

PART_BYTES = 64 << 20
FilePath = str | os.PathLike[str]


def augment_files(
    source: FilePath | None = None,
    target: FilePath | None = None,
    *,
    out_source: FilePath | None = None,
    out_target: FilePath | None = None,
    pairs: FilePath | None = None,
    out_pairs: FilePath | None = None,
    source_column: str | None = "source",
    target_column: str | None = "target",
    tau_x: float | None = None,
    tau_y: float | None = None,
    rate_x: float | None = None,
    rate_y: float | None = None,
    policy_x: str | None = None,
    policy_y: str | None = None,
    vocab_source: Vocabulary | None = None,
    vocab_target: Vocabulary | None = None,
    seed: int,
    epoch: int = 0,
    copies: int = 1,
    keep_original: bool = False,
    special_words: Sequence[str] | None = None,
    special_pattern: str | None = None,
    null_word: str = "<unk>",
    encode: bool = False,
    min_count: int = 1,
    max_words: int | None = None,
    workers: int = 1,
    engine: str = "local",
    ray_address: str | None = None,
    parts: FilePath | None = None,
    join: bool = True,
    part_bytes: int = PART_BYTES,
    chunk_bytes: int = CHUNK_BYTES,
    stats: bool = False,
) -> dict[str, Any]:
    """Augment a corpus of any size; return what was done, in numbers.

    Line i of the input is example i, counted from 0 before pairs with an empty side are dropped, so
    the output does not depend on workers, engine, chunks or parts, and its words are those that
    ``policy.sample`` draws for the ids of the same lines.

    Args:
        source, target: Text files, one sentence a line; ``-``: standard input; either may be None.
        out_source, out_target: Where the sides go; ``-``: standard output.
        pairs, out_pairs: Instead: one file of tab-separated pairs, or Parquet (by suffix).
        source_column, target_column: Columns of a Parquet file; None: that side is absent.
        tau_x, tau_y: Temperature of the source and target side; neither tau nor rate: no change.
        rate_x, rate_y: Instead: expected share of changed words.
        policy_x, policy_y: "switchout", "raml", "hamming" or "word_dropout".
        vocab_source, vocab_target: Vocabulary file, or the words in order; None: count the corpus.
        seed, epoch: Address of the randomness.
        copies: Changed copies of each line, one after the other; copy k of epoch e is addressed as
            epoch e · copies + k.
        keep_original: Write each line itself before its copies.
        special_words, special_pattern: Words that are left alone, not counted, never drawn.
        null_word: What word dropout leaves behind.
        encode: The input is raw text, to be split by the vocabulary's tokenizer.
        min_count, max_words: Which words enter a counted vocabulary.
        workers: Threads, or processes where the corpus is done in parts.
        engine: "local", or "ray" for a cluster.
        ray_address: Of a running cluster; None starts Ray on this machine.
        parts: Folder for a resumable run in parts; "ray" uses ``<output>.parts`` by default.
        join: Put the parts together in the end; otherwise the folder is the result.
        part_bytes, chunk_bytes: Size of a part, and of what is in memory at a time.
        stats: Count words and hash the input, too.

    Example:
        >>> import tempfile
        >>> folder = Path(tempfile.mkdtemp())
        >>> _ = (folder / "in").write_text("a b c\\na c\\n")
        >>> done = augment_files(folder / "in", out_source=folder / "out", tau_x=1.0, seed=7)
        >>> done["pairs"], (folder / "out").read_text().count("\\n")
        (2, 2)
    """
    started = time.monotonic()
    form, outputs = _format(
        [source, target, pairs], [out_source, out_target, out_pairs], source_column, target_column
    )
    words = WordChoice(special_words, special_pattern, null_word, encode, min_count, max_words)
    noise_x = make_noise(SideChoice(policy_x, tau_x, rate_x, vocab_source), words, side="source")
    noise_y = make_noise(SideChoice(policy_y, tau_y, rate_y, vocab_target), words, side="target")
    if noise_x.policy is None and noise_y.policy is None:
        raise SwitchOutError("nothing to do: give --tau-x, --tau-y, --rate-x or --rate-y")
    counted = count_vocabularies(form, [noise_x, noise_y], words)
    noise_x, noise_y = (
        _with_counted(noise, counted, words, side)
        for side, noise in (("source", noise_x), ("target", noise_y))
    )
    job = Job(form, noise_x, noise_y, seed, epoch, copies, keep_original, stats, chunk_bytes)
    job.rewriters()
    if workers < 1:
        raise SwitchOutError(f"--workers must be at least 1, got {workers}")
    if engine not in ("local", "ray"):
        raise SwitchOutError(f"--engine must be local or ray, got {engine!r}")
    if parts is None and engine == "local":
        counts, data_hash = _in_one_pass(job, outputs, workers, stats)
    else:
        folder = Path(parts) if parts is not None else Path(f"{outputs[0]}.parts")
        counts, data_hash = _in_parts(
            job, outputs, folder, workers, engine, ray_address, part_bytes, join
        )
    _save_vocabularies(counted, outputs, form)
    return _report(job, counts, data_hash, time.monotonic() - started, stats)


def _format(
    inputs: list[FilePath | None],
    outputs: list[FilePath | None],
    source_column: str | None,
    target_column: str | None,
) -> tuple[Format, list[str]]:
    """Return how to read and write, and the output files."""
    flags = ("src", "tgt", "pairs")
    for flag, into, out in zip(flags, inputs, outputs, strict=True):
        if (into is None) != (out is None):
            raise SwitchOutError(f"--{flag} and --out-{flag} go together: give both or neither")
    source, target, pairs = (None if path is None else os.fspath(path) for path in inputs)
    names = [os.fspath(path) for path in outputs if path is not None]
    if (pairs is None) == (source is None and target is None):
        raise SwitchOutError("give --src and/or --tgt, or --pairs")
    if len(set(names)) < len(names):
        raise SwitchOutError(f"{names[0]}: both sides cannot be written to the same place")
    if source == target == "-":
        raise SwitchOutError("standard input can be one side only; use --pairs - for both")
    if pairs is None:
        return TextFiles(source, target), names
    if pairs.endswith(".parquet"):
        from switchout.text.parquet import ParquetFile

        if source_column is None and target_column is None:
            raise SwitchOutError(f"{pairs}: name at least one column")
        return ParquetFile(pairs, source_column, target_column), names
    return TabSeparated(pairs), names


def _with_counted(
    noise: Noise, counted: dict[str, list[tuple[bytes, int]]], words: WordChoice, side: str
) -> Noise:
    if side not in counted:
        return noise
    entries = [word for word, _ in counted[side]]
    return noise.with_lexicon(words.lexicon(entries, set(), f"words of the {side}"), side)


def _in_one_pass(
    job: Job, outputs: list[str], workers: int, stats: bool
) -> tuple[Counts, str | None]:
    from switchout.text.local import run_part
    from switchout.text.parts import combined_hash

    digests = [hashlib.sha256() for _ in job.format.inputs] if stats else None
    with Meter("augment", total=_total_bytes(job.format.inputs), unit="MB") as meter:

        def show(chunk: Chunk) -> None:
            meter.advance(
                sum(chunk.file_bytes) / 1e6, note=f"{chunk.first_line + chunk.n_lines:,} lines"
            )

        counts = run_part(job, outputs, workers=workers, digests=digests, on_chunk=show)
    return counts, combined_hash(digests) if digests else None


def _in_parts(
    job: Job,
    outputs: list[str],
    folder: Path,
    workers: int,
    engine: str,
    ray_address: str | None,
    part_bytes: int,
    join: bool,
) -> tuple[Counts, str]:
    from switchout.text import parts

    do_todo: Any = partial(parts.run_local, workers=workers)
    if engine == "ray":
        do_todo = partial(parts.run_ray, workers=workers, address=ray_address)
    with Meter("augment", unit="parts") as meter:

        def show(n_done: int, n_all: int) -> None:
            meter.total = n_all
            meter.advance(n_done)

        return parts.run_in_parts(
            job, folder, outputs, part_bytes=part_bytes, do_todo=do_todo, on_done=show, join=join
        )


def _total_bytes(paths: list[str]) -> float | None:
    """Return the size of plain input files in MB, if it is known beforehand."""
    from switchout.text.streams import is_compressed

    if any(path == "-" or is_compressed(path) or not Path(path).is_file() for path in paths):
        return None
    return sum(Path(path).stat().st_size for path in paths) / 1e6


def _save_vocabularies(
    counted: dict[str, list[tuple[bytes, int]]], outputs: list[str], form: Format
) -> None:
    """Write counted vocabularies beside the output, to be given back as ``--vocab-*``."""
    for side, entries in counted.items():
        if isinstance(form, TextFiles):
            path = f"{outputs[0 if side == 'source' else -1]}.vocab"
        else:
            path = f"{outputs[0]}.{side}.vocab"
        if not path.startswith(("-.", "/dev/")):
            with atomic(path) as place:
                place.write_bytes(b"".join(b"%b %d\n" % entry for entry in entries))


def _report(
    job: Job, counts: Counts, data_hash: str | None, seconds: float, stats: bool
) -> dict[str, Any]:
    report = counts.to_dict()
    sides = [report[side] for side in counts.sides]
    report["changes"] = sum(side["changes"] for side in sides)
    if stats:
        report["words"] = sum(side["words"] for side in sides)
    else:  # not counted
        for side in sides:
            del side["words"], side["known_words"]
    report["signature"] = job.signature + (f"|data:{data_hash}" if data_hash else "")
    report["data_hash"] = data_hash
    report["seconds"] = round(seconds, 3)
    return report
