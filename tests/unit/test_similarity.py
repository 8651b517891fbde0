"""Sparse similarity tables: rows, builders against brute force, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from switchout.policies.similarity_table import SimilarityTable
from switchout.words import Words

WORDS = Words(12)  # words are 4..11


def rows(table: SimilarityTable) -> dict[int, dict[int, float]]:
    """Return the table as plain dictionaries, words without a row left out."""
    every = ((w, table.row(w)) for w in range(table.words.size))
    return {w: dict(zip(i.tolist(), s.tolist(), strict=True)) for w, (i, s) in every if len(i) > 1}


def check_invariants(table: SimilarityTable) -> None:
    for word, row in rows(table).items():
        assert row[word] == 0.0 == max(row.values())
        assert list(row) == sorted(row)
        assert not set(row) & {0, 1, 2, 3}


def test_word_without_a_row_is_its_only_candidate():
    ids, sims = SimilarityTable.from_dictionary({}, WORDS).row(7)
    assert ids.tolist() == [7]
    assert sims.tolist() == [0.0]


def test_dictionary_rows_hold_the_alternatives_and_the_word():
    table = SimilarityTable.from_dictionary({5: [9, 6], 7: {8: -0.25}}, WORDS)
    assert rows(table) == {5: {5: 0.0, 6: -1.0, 9: -1.0}, 7: {7: 0.0, 8: -0.25}}


def test_dictionary_order_does_not_matter():
    one = SimilarityTable.from_dictionary({5: [9, 6], 7: [8]}, WORDS)
    two = SimilarityTable.from_dictionary({7: [8], 5: [6, 9]}, WORDS)
    for name in ("indptr", "ids", "sims"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_own_similarity_may_be_given():
    table = SimilarityTable.from_dictionary({5: {5: -3.0, 6: -1.0}}, WORDS)
    assert rows(table) == {5: {5: -3.0, 6: -1.0}}


def test_groups_exchange_their_members_and_may_overlap():
    table = SimilarityTable.restricted([(5, 4), (5, 6), (9,)], WORDS, sim=-2.0)
    assert rows(table) == {
        4: {4: 0.0, 5: -2.0},
        5: {4: -2.0, 5: 0.0, 6: -2.0},
        6: {5: -2.0, 6: 0.0},
    }


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize("draw_ids", [None, (5, 6, 8, 9, 11)], ids=["all", "some"])
@pytest.mark.parametrize("block", [1, 7, 1 << 21])
def test_embedding_neighbours_equal_brute_force(metric, draw_ids, block, monkeypatch):
    monkeypatch.setattr("switchout.policies.similarity_table._BLOCK", block)
    words = Words(12, draw_ids=draw_ids)
    vectors = np.random.default_rng(3).normal(size=(12, 5))
    found = rows(SimilarityTable.from_embeddings(vectors, words, k=3, metric=metric))

    def near(w: int, v: int) -> float:
        a, b = vectors[w], vectors[v]
        if metric == "euclidean":
            return -float(np.linalg.norm(a - b))
        return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b)) - 1

    for w in range(4, 12):
        others = sorted((v for v in words.drawable() if v != w), key=lambda v: -near(w, v))[:3]
        expected = {w: 0.0, **{int(v): near(w, v) for v in others}}
        assert found[w] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_equal_vectors_are_chosen_by_the_lower_id(metric):
    vectors = np.ones((12, 3)) * 0.1
    found = rows(SimilarityTable.from_embeddings(vectors, WORDS, k=2, metric=metric))
    assert list(found[4]) == [4, 5, 6]
    assert list(found[5]) == [4, 5, 6]
    assert list(found[11]) == [4, 5, 11]


def test_zero_vectors_have_no_neighbours_under_cosine():
    vectors = np.random.default_rng(0).normal(size=(12, 3))
    vectors[6] = 0
    found = rows(SimilarityTable.from_embeddings(vectors, WORDS, k=6, metric="cosine"))
    assert 6 not in found
    assert all(6 not in row for row in found.values())


def test_frequency_neighbours_stand_next_in_the_ranking():
    counts = [0, 0, 0, 0, 1000, 1, 10, 1, 900, 12, 11, 1]
    table = SimilarityTable.from_frequencies(counts, WORDS, k=2)
    check_invariants(table)
    # by (count, id): 5 7 11 6 10 9 8 4
    assert {w: sorted(set(r) - {w}) for w, r in rows(table).items()} == {
        5: [7, 11], 7: [5, 11], 11: [6, 7], 6: [10, 11],
        10: [6, 9], 9: [8, 10], 8: [4, 9], 4: [8, 9],
    }  # fmt: skip
    assert rows(table)[8][4] == pytest.approx(-1 - np.log(1001 / 901))
    assert rows(table)[7][5] == -1.0


def test_frequency_rows_of_words_that_are_not_drawable_have_k_candidates():
    counts = np.arange(12)
    table = SimilarityTable.from_frequencies(counts, Words(12, draw_ids=(5, 7, 9, 11)), k=2)
    check_invariants(table)
    assert all(len(row) == 3 for row in rows(table).values())
    assert sorted(set(rows(table)[8]) - {8}) in ([5, 7], [7, 9])


def test_table_is_read_only_and_keeps_no_view_of_its_input():
    indptr = np.zeros(13, np.int64)
    table = SimilarityTable(WORDS, indptr, np.empty(0, np.int64), np.empty(0))
    indptr[:] = 9
    assert not table.indptr.any()
    with pytest.raises(ValueError, match="read-only"):
        table.indptr[0] = 1


EMBED = SimilarityTable.from_embeddings
BAD = {
    "special source": (
        lambda: SimilarityTable.from_dictionary({2: [5]}, WORDS),
        "source 2 is a sp",
    ),
    "special candidate": (
        lambda: SimilarityTable.from_dictionary({5: [0]}, WORDS),
        "candidate 0 is a special",
    ),
    "source range": (lambda: SimilarityTable.from_dictionary({12: [5]}, WORDS), "12 is outside"),
    "candidate range": (lambda: SimilarityTable.restricted([(5, 12)], WORDS), "12 is outside"),
    "negative": (lambda: SimilarityTable.from_dictionary({5: [-1]}, WORDS), "-1 is outside"),
    "twice": (lambda: SimilarityTable.from_dictionary({5: [6, 6]}, WORDS), "word 5 must list each"),
    "nan": (lambda: SimilarityTable.from_dictionary({5: {6: np.nan}}, WORDS), "finite or -inf"),
    "inf": (lambda: SimilarityTable.from_dictionary({5: {6: np.inf}}, WORDS), "finite or -inf"),
    "self -inf": (
        lambda: SimilarityTable.from_dictionary({5: {5: -np.inf, 6: 0.0}}, WORDS),
        "needs the word itself",
    ),
    "not drawable": (
        lambda: SimilarityTable.from_dictionary({5: [6]}, Words(12, draw_ids=(7, 8))),
        "6 is not among the drawable",
    ),
    "vector shape": (lambda: EMBED(np.ones((11, 2)), WORDS, k=1), "vectors must be finite"),
    "vector nan": (lambda: EMBED(np.full((12, 2), np.nan), WORDS, k=1), "vectors must be finite"),
    "metric": (lambda: EMBED(np.ones((12, 2)), WORDS, k=1, metric="dot"), "metric must be"),
    "k": (lambda: EMBED(np.ones((12, 2)), WORDS, k=8), "k must be between 1 and 7"),
    "k zero": (lambda: SimilarityTable.from_frequencies(np.ones(12), WORDS, k=0), "k must be"),
    "counts": (lambda: SimilarityTable.from_frequencies([1, 2], WORDS), "counts must be 12"),
    "indptr": (lambda: SimilarityTable(WORDS, [0, 0], [], []), "indptr must be 13"),
    "row": (lambda: SimilarityTable.from_dictionary({}, WORDS).row(12), "word 12 is outside"),
    "no self": (
        lambda: SimilarityTable(WORDS, [0] * 6 + [1] * 7, [6], [0.0]),
        "row of word 5 needs the word itself",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_by_name(name):
    build, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        build()
