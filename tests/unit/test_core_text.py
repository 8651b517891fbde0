"""Nothing reaches the loops of text.h unchecked."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from switchout.core import compiled
from switchout.sampling import laws

TEXT = b"a b\tc\td\nbb\ta\n"
DATA = np.frombuffer(TEXT + bytes(64), np.uint8)
STARTS, ENDS = np.array([0, 8]), np.array([7, 12])
LINES = (DATA, STARTS, ENDS, 1)
ROOM = np.zeros(2, np.int64)


def lexicon(words: list[bytes]):
    offsets = np.cumsum([0, *map(len, words)])
    return compiled.make_lexicon(b"".join(words), offsets)


def rewriter(null_id: int = -1):
    law = compiled.make_count_law(laws.shared_table(1.0, 63).cumulative, None, None, null_id)
    return compiled.make_rewriter(lexicon([b"a", b"b", b"c"])[0], law, None, b"<unk>", False)


def rewrite_arguments(**changes):
    arguments = {
        "rewriter": rewriter(),
        "data": DATA,
        "starts": STARTS,
        "ends": ENDS,
        "gap": 1,
        "keep": None,
        "address": np.zeros(4, np.uint64),
        "copies": 1,
        "with_original": False,
        "out": np.zeros(256, np.uint8),
        "out_ends": np.zeros(2, np.int64),
        "changes": np.zeros(2, np.int32),
        "progress": np.zeros(6, np.int64),
    }
    return list((arguments | changes).values())


def test_a_correct_call_is_taken():
    arguments = rewrite_arguments()
    compiled.rewrite(*arguments)
    assert arguments[-1].tolist()[:3] == [2, len(TEXT), 2]


SMALL = np.zeros(1, np.int64)
BAD_LINES = {
    "start below 0": {"starts": np.array([-1, 8])},
    "end before start": {"ends": np.array([7, 7])},
    "end behind the data": {"ends": np.array([7, 1 << 40])},
    "no padding": {"data": DATA[: len(TEXT)]},
    "fewer starts": {"starts": SMALL},
    "gap": {"gap": 2},
    "int32": {"starts": STARTS.astype(np.int32)},
    "gaps in the array": {"starts": np.repeat(STARTS, 2)[::2]},
    "no array": {"starts": None},
    "a list": {"ends": [7, 12]},
    "the largest numbers": {"starts": np.array([0, 2**63 - 1]), "ends": np.array([7, 2**63 - 1])},
    "nothing": {"data": None, "starts": None, "ends": None},
}
BAD = BAD_LINES | {
    "keep": {"keep": np.ones(3, np.bool_)},
    "address": {"address": np.zeros(3, np.uint64)},
    "copies": {"copies": -1},
    "many copies": {"copies": 1 << 33},
    "too many copies": {"copies": 2},
    "original without room": {"with_original": True},
    "fewer ends": {"out_ends": SMALL},
    "fewer changes": {"changes": np.zeros(1, np.int32)},
    "changes of 8 bytes": {"changes": np.zeros(2, np.int64)},
    "no room": {"out": np.zeros(63, np.uint8)},
    "read-only": {"out": DATA},
    "progress": {"progress": np.zeros(5, np.int64)},
    "a line below 0": {"progress": np.array([-1, 0, 0, 0, 0, 0])},
    "a line too far": {"progress": np.array([3, 0, 0, 0, 0, 0])},
    "size below 0": {"progress": np.array([0, -1, 0, 0, 0, 0])},
    "size too large": {"progress": np.array([0, 200, 0, 0, 0, 0])},
    "emitted": {"progress": np.array([0, 0, 1, 0, 0, 0])},
    "no rewriter": {"rewriter": lexicon([b"a", b"b"])[0]},
}


@pytest.mark.parametrize("case", BAD)
def test_rewrite_refuses(case):
    with pytest.raises((ValueError, TypeError)):
        compiled.rewrite(*rewrite_arguments(**BAD[case]))


@pytest.mark.parametrize("case", BAD_LINES)
def test_other_loops_refuse_such_lines(case):
    good = {"data": DATA, "starts": STARTS, "ends": ENDS, "gap": 1}
    lines = list((good | BAD_LINES[case]).values())
    for call in (
        lambda: compiled.find_columns(*lines, ROOM.copy(), ROOM.copy()),
        lambda: compiled.count_words(compiled.make_counter(), *lines),
        lambda: compiled.kept_pairs(*LINES, *lines, np.ones(2, np.bool_), np.zeros(3, np.int64)),
        lambda: compiled.kept_pairs(*lines, *LINES, np.ones(2, np.bool_), np.zeros(3, np.int64)),
    ):
        with pytest.raises((ValueError, TypeError)):
            call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: compiled.find_lines(DATA, len(DATA), ROOM.copy(), ROOM.copy()),
        lambda: compiled.find_lines(DATA, -1, ROOM.copy(), ROOM.copy()),
        lambda: compiled.find_lines(DATA, 5, ROOM.copy(), SMALL.copy()),
        lambda: compiled.find_columns(*LINES, ROOM.copy(), SMALL.copy()),
        lambda: compiled.kept_pairs(*LINES, *LINES, np.ones(1, np.bool_), np.zeros(3, np.int64)),
        lambda: compiled.kept_pairs(*LINES, *LINES, np.ones(2, np.bool_), np.zeros(2, np.int64)),
        lambda: compiled.make_lexicon(b"ab", np.array([0, 1])),
        lambda: compiled.make_lexicon(b"ab", np.array([0, 0, 2])),
        lambda: compiled.make_lexicon(b"ab", np.array([0, 2, 1, 2])),
        lambda: compiled.make_lexicon(b"ab", np.array([1, 2])),
        lambda: compiled.make_lexicon(b"", np.zeros(0, np.int64)),
        lambda: compiled.counted(lexicon([b"a"])[0]),
        lambda: compiled.make_counter(1),
    ],
)  # fmt: skip
def test_wrong_sizes_are_refused(call):
    with pytest.raises((ValueError, TypeError)):
        call()


def joined(**changes):
    padded = np.frombuffer(b"a b\tbb\n" + bytes(64), np.uint8)
    arguments = {
        "source": padded, "source_ends": np.array([3, 6]),
        "target": padded, "target_ends": np.array([3, 6]),
        "rest": DATA, "rest_starts": np.array([6, 13]), "rest_ends": np.array([7, 12]),
        "rows": np.array([0, 1]), "out": np.zeros(128, np.uint8),
    }  # fmt: skip
    out = (arguments | changes)["out"]
    size = compiled.join_columns(*(arguments | changes).values())
    return out[:size].tobytes()


def test_columns_are_joined():
    assert joined() == b"a b\ta b\td\nbb\nbb\n"


@pytest.mark.parametrize(
    "changes",
    [
        {"out": np.zeros(70, np.uint8)},
        {"source_ends": np.array([6, 3])},
        {"source_ends": np.array([3, 1 << 40])},
        {"target_ends": np.array([3])},
        {"rows": np.array([0, 2])},
        {"rows": np.array([0, -1])},
        {"rest_starts": np.array([-6, 13])},
        {"rest_ends": np.array([7, 1 << 40])},
        {"rest_ends": np.array([7])},
    ],
    ids=str,
)
def test_columns_outside_of_their_arrays_are_refused(changes):
    with pytest.raises(ValueError, match=r"padded|sizes|room|expected"):
        joined(**changes)


def test_a_law_by_length_needs_to_know_its_rows():
    table = laws.rate_table(0.1, np.array([1, 2, 3]))
    law = compiled.make_count_law(*table, -1)
    words = lexicon([b"a", b"b"])[0]
    for has_row in (None, np.ones(2, np.uint8)):
        with pytest.raises(ValueError, match="has_row"):
            compiled.make_rewriter(words, law, has_row, b"", False)
    one = compiled.make_count_law(laws.shared_table(1.0, 63).cumulative, None, None, -1)
    with pytest.raises(ValueError, match="has_row"):
        compiled.make_rewriter(words, one, np.ones(64, np.uint8), b"", False)
    with pytest.raises(ValueError, match="fewer than two"):
        compiled.make_rewriter(lexicon([b"a"])[0], one, None, b"", False)


def test_a_rewriter_keeps_its_lexicon_and_law_alive():
    expected = rewrite_arguments(copies=1)
    compiled.rewrite(*expected)
    for _ in range(100):
        lexicon([b"x" * 50, b"y" * 70])  # whatever takes the memory that might have been freed
    again = rewrite_arguments(rewriter=expected[0])
    compiled.rewrite(*again)
    assert again[9].tobytes() == expected[9].tobytes()


def test_one_counter_is_not_shared_by_threads():
    text = np.frombuffer(b"ab cd ef gh\n" * 400_000 + bytes(64), np.uint8)
    ends = np.arange(11, 12 * 400_000, 12)
    counter, refused = compiled.make_counter(), []

    def count() -> None:
        try:
            compiled.count_words(counter, text, ends - 11, ends, 1)
        except ValueError:
            refused.append(1)

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counts = np.frombuffer(compiled.counted(counter)[2], np.int64)
    assert counts.tolist() == [400_000 * (4 - len(refused))] * 4
