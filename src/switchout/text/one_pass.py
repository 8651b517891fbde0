"""One pass over a corpus in this process: read, rewrite on some threads, write in order.

The kernel runs without the interpreter's lock, so threads do what processes would, with no copy
of the vocabulary and nothing to send. One worker means no thread at all.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from switchout.text.augmentation import Augmentation
from switchout.text.first_look import look_at
from switchout.text.formats import Chunk, Part, Written
from switchout.text.streams import all_or_nothing
from switchout.text.tally import Tally

QUEUED = 6  # chunks a thread; with fewer, threads sometimes wait while this one writes

Done = tuple[Chunk, Written, Tally]


def run_part(
    job: Augmentation,
    paths: list[str],
    *,
    part: Part | None = None,
    workers: int = 1,
    sync: bool = False,
    digests: Any = None,
    on_chunk: Callable[[Chunk], None] | None = None,
) -> Tally:
    """Augment one part of a corpus, or all of it, into the files ``paths``.

    Args:
        job: What to do.
        paths: Output files, in the format's order.
        part: Which lines; None: all.
        workers: Threads that rewrite.
        sync: Whether the content must be on the disk before the files get their names.
        digests: Take in the content of the input files as it is read.
        on_chunk: Called after each chunk.
    """
    rewriters = job.rewriters()
    part = part or Part()
    chunks = job.format.chunks(part, job.chunk_bytes, digests)
    if part.first_line == 0:
        chunks = _looked_at(job, chunks)
    total = Tally()
    outputs = [job.format.open_output(path, sync=sync) for path in paths]
    with all_or_nothing(outputs):
        work = partial(job.work, rewriters=rewriters)
        for chunk, written, counts in _in_order(chunks, work, workers):
            job.format.write(outputs, chunk, written)
            for rewriter, side in zip(rewriters, written.sides, strict=True):
                if side is not None:
                    rewriter.take_back(side)
            total.merge(counts)
            if on_chunk is not None:
                on_chunk(chunk)
    return total


def _looked_at(job: Augmentation, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
    """Yield all chunks, after a look at the first one."""
    for chunk in chunks:
        if chunk.first_line == 0:
            for lines, noise in zip(chunk.sides, (job.source, job.target), strict=True):
                if lines is not None:
                    look_at(lines, noise)
        yield chunk


def _in_order(
    chunks: Iterator[Chunk], work: Callable[[Chunk], Done], workers: int
) -> Iterator[Done]:
    """Yield the results of all chunks in their order, with few of them in memory."""
    if workers == 1:
        yield from map(work, chunks)
        return
    from concurrent.futures import Future, ThreadPoolExecutor

    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[Done]] = deque()
        try:
            for chunk in chunks:
                waiting.append(pool.submit(work, chunk))
                if len(waiting) > QUEUED * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
