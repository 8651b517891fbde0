"""Types of the compiled module. Arrays are contiguous; their item sizes and shapes are checked."""

from typing import Any, NewType

import numpy as np

INSTRUCTIONS: str  # which loops were chosen for this processor: "avx512", "avx2" or "any"

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

# Source, result, frozen, lengths, examples, the largest example that is allowed.
Batch = tuple[Array, Array, Array | None, Array | None, Array, int]
Where = tuple[int, int, int]  # seed, epoch, stream
Problem = tuple[int, int]  # what is wrong (0: nothing, else as in switchout.h) and in which row

def sample(*batch_where_words_law: *tuple[*Batch, *Where, Words, Law]) -> Problem: ...
def sample_similar(*and_table: *tuple[*Batch, *Where, Words, SimilarTable]) -> Problem: ...
def measure(*batch_words_counts: *tuple[*Batch, Words, Array]) -> Problem: ...
def philox(
    seed: int, epoch: int, stream: int, example: int, block: int, /
) -> tuple[int, int, int, int]: ...

# ---- Text: bind_text.c, text.h ----

# Bytes are followed by 64 more. Lines are four arguments: data, starts, ends, gap.
Lexicon = NewType("Lexicon", object)
Counter = NewType("Counter", object)
Rewriter = NewType("Rewriter", object)

def find_lines(data: Array, size: int, starts: Array, ends: Array, /) -> int: ...
def find_columns(
    data: Array, starts: Array, ends: Array, gap: int, tabs: Array, stops: Array, /
) -> int: ...
def join_columns(
    source: Array,
    source_ends: Array,
    target: Array,
    target_ends: Array,
    rest: Array,
    rest_starts: Array,
    rest_ends: Array,
    rows: Array,
    out: Array,
    /,
) -> int: ...
def kept_pairs(
    source: Array,
    source_starts: Array,
    source_ends: Array,
    source_gap: int,
    target: Array,
    target_starts: Array,
    target_ends: Array,
    target_gap: int,
    keep: Array,
    n_dropped: Array,
    /,
) -> None: ...
def make_lexicon(words: bytes, offsets: Array, /) -> tuple[Lexicon, int]: ...
def make_counter() -> Counter: ...
def count_words(counter: Counter, data: Array, starts: Array, ends: Array, gap: int, /) -> None: ...
def counted(counter: Counter, /) -> tuple[bytes, bytes, bytes]: ...
def make_rewriter(
    lexicon: Lexicon, law: Law, has_row: Array | None, null_word: bytes, count_known: bool, /
) -> Rewriter: ...

# address: seed, epoch, stream, first example. progress: line, size, emitted, n_words, n_known,
# problem; where to go on, and afterwards where it stopped and why (see text.h).
def rewrite(
    rewriter: Rewriter,
    data: Array,
    starts: Array,
    ends: Array,
    gap: int,
    keep: Array | None,
    address: Array,
    copies: int,
    with_original: bool,
    out: Array,
    out_ends: Array,
    changes: Array,
    progress: Array,
    /,
) -> None: ...

# ---- Neighbours: bind_neighbors.c, neighbors.h ----

Index = NewType("Index", object)

def number_words(text: bytes, ids: Array, starts: Array, /) -> int: ...
def make_index(ids: Array, starts: Array, n_train: int, n_distinct: int, /) -> Index: ...
def search(
    index: Index, ids: Array, starts: Array, queries: Array, distances: Array, nearest: Array, /
) -> None: ...

# ---- Rewards and dropout: bind_training.c, edits.h, dropout.h ----

def draw_edited(
    y: Array,
    is_free: Array,
    drawable: Array,
    a: float,
    seed: int,
    epoch: int,
    stream: int,
    example: int,
    block: int,
    is_accepted_anyway: bool,
    y_hat: Array,
    /,
) -> tuple[int, int]: ...
def script_weight(
    y: Array, is_free: Array, drawable: Array, a: float, y_hat: Array, /
) -> tuple[int, float]: ...
def clipped_matches(hypothesis: Array, reference: Array, /) -> tuple[int, int, int, int]: ...
def add_dropped(x: Array, keys: Array, threshold: int, scale: float, out: Array, /) -> None: ...
def output_loss(
    item_size: int, logits: Array, labels: Array, first: int, size: int, smoothing: float, /
) -> float: ...
