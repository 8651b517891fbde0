"""Types of the compiled module. Arrays are contiguous; their item sizes and shapes are checked."""

from typing import Any, NewType

import numpy as np

INSTRUCTIONS: str  # which loops were chosen for this processor: "avx2" or "any"

Array = np.ndarray[Any, Any]

# ---- Sampling: bind_sampling.c, switchout.h ----

# Structs of switchout.h, made and checked once.
Words = NewType("Words", object)
Law = NewType("Law", object)
SimilarTable = NewType("SimilarTable", object)

def make_words(
    size: int, lowest: int, starts: Array, stops: Array, draw_ids: Array | None, /
) -> Words: ...
def make_count_law(
    cumulative: Array, row_start: Array | None, row_size: Array | None, null_id: int, /
) -> Law: ...
def make_constant_law(limit_drawable: int, limit_other: int, null_id: int, /) -> Law: ...
def make_similar(row_start: Array, ids: Array, limits: Array, /) -> SimilarTable: ...

# The first six arguments are the batch, the next three the address. The result says what is wrong
# (0: nothing, else as in switchout.h) and in which row.
def sample(
    source: Array,
    rows: Array,
    frozen: Array | None,
    lengths: Array | None,
    examples: Array,
    last_example: int,
    seed: int,
    epoch: int,
    stream: int,
    words: Words,
    law: Law,
    /,
) -> tuple[int, int]: ...
def sample_similar(
    source: Array,
    rows: Array,
    frozen: Array | None,
    lengths: Array | None,
    examples: Array,
    last_example: int,
    seed: int,
    epoch: int,
    stream: int,
    words: Words,
    table: SimilarTable,
    /,
) -> tuple[int, int]: ...
def measure(
    source: Array,
    rows: Array,
    frozen: Array | None,
    lengths: Array | None,
    examples: Array,
    last_example: int,
    words: Words,
    counts: Array,
    /,
) -> tuple[int, int]: ...
def philox(
    seed: int, epoch: int, stream: int, example: int, block: int, /
) -> tuple[int, int, int, int]: ...
