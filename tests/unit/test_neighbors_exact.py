"""The nearest sentence against brute force: every pair, by an outside edit distance."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from switchout.errors import SwitchOutError
from switchout.evaluation.neighbors import (
    Neighbors,
    find_neighbors,
    merge,
    number_words,
    read_wer,
    write_neighbors,
)


def words(line: str) -> list[str]:
    return [word for word in line.split(" ") if word]


def brute_force(train: list[str], test: list[str]) -> tuple[list[int], list[int]]:
    """Distances and first indices; `index(min)` is the first by definition."""
    rows = [[Levenshtein.distance(words(x), words(y)) for y in train] for x in test]
    return [min(row) for row in rows], [row.index(min(row)) for row in rows]


def assert_exact(train: list[str], test: list[str]) -> Neighbors:
    found = find_neighbors(train, test)
    distances, indices = brute_force(train, test)
    assert found.distances.tolist() == distances
    assert found.indices.tolist() == indices
    return found


def zipf_sentences(rng: random.Random, n: int, longest: int, n_words: int) -> list[str]:
    vocabulary = [f"w{i}" for i in range(n_words)]
    weights = [1 / (i + 1) for i in range(n_words)]
    return [" ".join(rng.choices(vocabulary, weights, k=rng.randint(0, longest))) for _ in range(n)]


@pytest.mark.parametrize("n_words", [1, 3, 30, 1000], ids=lambda n: f"{n}words")
@pytest.mark.parametrize("longest", [4, 20, 90, 200], ids=lambda n: f"upto{n}")
def test_equals_brute_force_on_random_text(longest: int, n_words: int) -> None:
    rng = random.Random(longest * 7919 + n_words)
    train = zipf_sentences(rng, 150, longest, n_words)
    test = zipf_sentences(rng, 40, longest, n_words + 5)
    # near misses: real neighbours at small distances, and duplicates
    test += [" ".join(w for w in line.split(" ") if rng.random() < 0.8) for line in train[:20]]
    assert_exact([*train, *train[:30]], test)


LINES = st.lists(st.text(alphabet="ab \tß", max_size=12), min_size=1, max_size=8)


@settings(max_examples=150, deadline=None)
@given(train=LINES, test=LINES)
def test_equals_brute_force_on_odd_white_space(train: list[str], test: list[str]) -> None:
    assert_exact(train, test)


@pytest.mark.parametrize("length", [1, 63, 64, 65, 127, 128, 129, 300])
def test_block_borders_of_the_bit_vectors(length: int) -> None:
    rng = random.Random(length)
    sentence = [f"w{rng.randrange(40)}" for _ in range(length)]
    train = [
        " ".join(sentence[:-1]),
        " ".join(["new", *sentence]),
        " ".join(reversed(sentence)),
        " ".join(f"w{rng.randrange(40)}" for _ in range(length)),
    ]
    assert_exact(train, [" ".join(sentence)])


def test_counters_of_sixteen_bits() -> None:
    """More shared words than 8-bit counters hold, beside a short sentence in the same call."""
    long = " ".join(f"w{i % 70}" for i in range(700))
    found = assert_exact(["a b", long.replace("w3 ", "x "), long + " y"], [long, "a c"])
    assert found.distances.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("train", "test", "wer", "index"),
    [
        (["b", "a a a", "b"], "b", 0.0, 0),
        (["x y", "a c", "a b"], "a d", 0.5, 1),
        (["p q r", "s t", "u v"], "x y", 1.0, 1),
        (["p q r", "s t u", "q"], "", 1.0, 2),
        (["p q r", "", ""], "", 0.0, 1),
        (["p q r", "", "a"], "x y", 1.0, 1),
        (["p q r s"], "x", 4.0, 0),
        (["p q r s", "y x z z"], "x", 3.0, 1),
        (["a  b", "a b"], " a b ", 0.0, 0),
        (["a\u00a0b", "a\tb", "a\u2028b", "a b"], "a b", 0.0, 3),
        (["a\u00a0b", "a c"], "a b", 0.5, 1),
    ],
    ids=[
        "duplicates-first",
        "tie-first",
        "nothing-shared-first-not-longer",
        "empty-test-shortest",
        "empty-test-empty-train",
        "empty-train-line-wer-1",
        "all-longer",
        "all-longer-one-shared",
        "runs-of-spaces",
        "only-ascii-space-separates",
        "no-break-space-joins",
    ],
)
def test_rules(train: list[str], test: str, wer: float, index: int) -> None:
    found = find_neighbors(train, [test])
    assert found.wer.tolist() == [wer]
    assert found.indices.tolist() == [index]


def test_more_frequent_terms_than_marks() -> None:
    rng = random.Random(5)
    vocabulary = [f"w{i}" for i in range(64)]  # twice SO_MARKED of neighbors.h
    train = [" ".join(rng.choices(vocabulary, k=15)) for _ in range(400)]
    assert_exact(train, [" ".join(rng.choices(vocabulary, k=12)) for _ in range(40)])


@pytest.mark.parametrize("workers", [2, 5])
def test_workers_do_not_change_the_result(workers: int) -> None:
    rng = random.Random(0)
    train, test = zipf_sentences(rng, 500, 15, 60), zipf_sentences(rng, 200, 15, 60)
    n_done = []
    one = find_neighbors(train, test)
    many = find_neighbors(train, test, workers=workers, advance=n_done.append)
    assert sum(n_done) == len(test)
    np.testing.assert_array_equal(one.distances, many.distances)
    np.testing.assert_array_equal(one.indices, many.indices)


def test_merged_shards_equal_the_whole() -> None:
    rng = random.Random(1)
    train, test = zipf_sentences(rng, 300, 8, 20), zipf_sentences(rng, 100, 8, 20)
    whole = find_neighbors(train, test)
    parts = []
    for begin in (0, 100, 200):
        part = find_neighbors(train[begin : begin + 100], test)
        parts.append(Neighbors(part.distances, part.indices + begin, part.lengths))
    for one, two, three in ((0, 1, 2), (2, 0, 1)):
        merged = merge(merge(parts[one], parts[two]), parts[three])
        np.testing.assert_array_equal(merged.distances, whole.distances)
        np.testing.assert_array_equal(merged.indices, whole.indices)


def test_no_test_sentence_gives_no_neighbor() -> None:
    assert len(find_neighbors(["a"], []).wer) == 0


def test_empty_training_set_is_an_error() -> None:
    with pytest.raises(SwitchOutError, match="training set is empty"):
        find_neighbors([], ["a"])


def test_word_numbers_survive_growth_of_the_table() -> None:
    lines = [f"w{i} w{i * 7 % 5000} verylongword{i}" for i in range(20_000)]
    numbers: dict[str, int] = {}
    expected = [numbers.setdefault(word, len(numbers)) for line in lines for word in line.split()]
    ids, _, n_distinct = number_words(lines)
    assert ids.tolist() == expected
    assert n_distinct == len(numbers)


def test_a_line_break_inside_a_sentence_is_an_error() -> None:
    with pytest.raises(SwitchOutError, match="sentence 1 holds a line break"):
        number_words(["a", "b\nc"])


def test_file_is_read_as_written(tmp_path) -> None:  # type: ignore[no-untyped-def]
    found = find_neighbors(["a b c", "d"], ["a b x", "", "d"])
    write_neighbors(tmp_path / "nn.tsv", found)
    lines = (tmp_path / "nn.tsv").read_text().splitlines()
    assert [line.split("\t") for line in lines] == [
        ["0.333333333", "0"],
        ["1.000000000", "1"],
        ["0.000000000", "1"],
    ]
    np.testing.assert_allclose(read_wer(tmp_path / "nn.tsv"), found.wer, atol=1e-9)


@pytest.mark.parametrize("bad", ["x\t1", "0.5", "0.5\t-1", "nan\t3", "-1\t3", "0.5\tx", ""])
def test_damaged_neighbors_file_names_its_line(tmp_path, bad: str) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "nn.tsv").write_text(f"0.5\t1\n{bad}\n0.5\t2\n")
    with pytest.raises(SwitchOutError, match=r"nn\.tsv:2: expected WER, tab"):
        read_wer(tmp_path / "nn.tsv")
