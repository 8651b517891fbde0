"""``switchout neighbors``: how far is every test sentence from the training set?"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from switchout.cli.options import Json
from switchout.cli.verb import Option
from switchout.ranges import WORKERS

if TYPE_CHECKING:
    from switchout.engines import Engine
    from switchout.evaluation.neighbors import Neighbors


def neighbors(
    train: Annotated[Path, Option("Training sentences, one per line.")],
    test: Annotated[Path, Option("Test sentences of the same side.")],
    out: Annotated[Path, Option("Result: WER, tab, 0-based training line.")],
    workers: Annotated[
        int | None, Option("Threads, or Ray tasks at a time. Default: all.", limits=WORKERS)
    ] = None,
    engine: Annotated[
        Literal["local", "ray"], Option("ray: shards of the training set as tasks.")
    ] = "local",
    ray_address: Annotated[
        str | None, Option("A running Ray cluster; without it one is started here.", "HOST")
    ] = None,
    as_json: Json = False,
) -> None:
    """Find the nearest training sentence of every test sentence, exactly.

    WER is the word-level Levenshtein distance over the length of the test sentence. Words are
    split at ASCII spaces; of several nearest sentences the first is given.

    Examples:
      switchout neighbors --train train.de --test test.de --out nn.tsv
      switchout buckets --neighbors nn.tsv --ref test.en --baseline a --system b
    """
    from switchout.engines import Engine
    from switchout.errors import SwitchOutError
    from switchout.evaluation.neighbors import write_neighbors
    from switchout.files import check_outputs, is_standard_output, read_lines

    where = Engine(engine, workers, ray_address)
    if as_json and is_standard_output(out):
        raise SwitchOutError("--json and an output on standard output cannot share it")
    check_outputs({"out": out}, {"train": train, "test": test})
    start = time.perf_counter()
    train_lines, test_lines = read_lines(train), read_lines(test)
    if not train_lines:
        raise SwitchOutError(f"{train}: the training set is empty: there is no nearest sentence")
    found = _search(train_lines, test_lines, where)
    write_neighbors(out, found)
    summary = {
        "out": str(out),
        "train_sentences": len(train_lines),
        "test_sentences": len(test_lines),
        "mean_wer": float(found.wer.mean()) if test_lines else None,
        "in_training_set": int((found.distances == 0).sum()),
        "seconds": round(time.perf_counter() - start, 3),
    }
    if as_json:
        print(json.dumps(summary, indent=2))
        return
    sizes = f"{len(test_lines):,} test and {len(train_lines):,} training sentences"
    mean = f", mean WER {summary['mean_wer']:.3f}" if test_lines else ""
    told = f"{out}: {sizes}{mean}, {summary['in_training_set']:,} found word for word"
    print(told, file=sys.stderr if is_standard_output(out) else sys.stdout)


def _search(train: list[str], test: list[str], where: Engine) -> Neighbors:
    from switchout.evaluation.neighbors import find_neighbors
    from switchout.progress import Meter

    if where.name == "local":
        n_threads = where.workers or os.cpu_count() or 1
        with Meter("searching", total=len(test), unit="test sentences") as meter:
            return find_neighbors(train, test, workers=n_threads, advance=meter.advance)
    from switchout.evaluation.neighbors import find_neighbors_on_ray

    with Meter("searching", total=len(train), unit="training sentences") as meter:
        return find_neighbors_on_ray(
            train, test, workers=where.workers, address=where.ray_address, advance=meter.advance
        )
