"""Nearest sentences in training sets too large for one index: shards, on Ray, merged.

The nearest sentence of all is the nearest of the nearest of each shard, and the first of several
is the least index, so the result does not depend on the shards.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np

from switchout.engines.ray import start_ray
from switchout.errors import SwitchOutError
from switchout.evaluation.neighbors import Neighbors, find_neighbors

SHARD = 250_000  # training sentences; a task holds a few times their size in memory


def find_neighbors_on_ray(
    train: Sequence[str],
    test: Sequence[str],
    *,
    workers: int | None = None,
    address: str | None = None,
    shard: int = SHARD,
    advance: Callable[[int], None] = lambda n_done: None,
) -> Neighbors:
    """Find what `find_neighbors` finds, with a Ray task per shard of the training set.

    Args:
        train, test: Sentences; words are split at ASCII spaces.
        workers: Processors to use; all by default.
        address: Of a running cluster; None starts Ray on this machine.
        shard: Training sentences per task, at most.
        advance: Called with the number of training sentences just searched.
    """
    if not train:
        raise SwitchOutError("the training set is empty: there is no nearest sentence")
    parts: list[Neighbors] = []
    with start_ray(address=address, workers=workers) as ray:
        n_tasks = workers or int(ray.cluster_resources().get("CPU", os.cpu_count() or 1))
        step = min(shard, -(-len(train) // n_tasks))
        task = ray.remote(_search_shard)
        queries = ray.put("\n".join(test))
        running: dict[object, int] = {}

        def finish_one() -> None:
            [done], _ = ray.wait(list(running))
            parts.append(ray.get(done))
            advance(running.pop(done))

        for begin in range(0, len(train), step):
            if len(running) == n_tasks:  # the object store is small: few shards under way
                finish_one()
            part = train[begin : begin + step]
            running[task.remote("\n".join(part), queries, len(test), begin)] = len(part)
        while running:
            finish_one()
    return reduce(merge, parts)


def merge(one: Neighbors, other: Neighbors) -> Neighbors:
    """Return the nearer of two neighbours for every test sentence, of equals the first index."""
    is_nearer = (other.distances < one.distances) | (
        (other.distances == one.distances) & (other.indices < one.indices)
    )
    return Neighbors(
        distances=np.where(is_nearer, other.distances, one.distances),
        indices=np.where(is_nearer, other.indices, one.indices),
        lengths=one.lengths,
    )


def _search_shard(train: str, test: str, n_test: int, begin: int) -> Neighbors:
    """Search one shard; sentences travel as one string, a list of them is slow to send."""
    found = find_neighbors(train.split("\n"), test.split("\n")[:n_test])
    return Neighbors(found.distances, found.indices + begin, found.lengths)
