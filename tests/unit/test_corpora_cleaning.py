"""Cleaning counts what it drops; held-out pairs share nothing with train."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from switchout.corpora.cleaning import Cleaning, hold_out
from switchout.errors import SwitchOutError

LINES = st.lists(st.sampled_from("abc"), max_size=5).map(" ".join)
PAIRS = st.lists(st.tuples(LINES, LINES), max_size=20)


@pytest.mark.parametrize(
    ("cleaning", "pair", "reason"),
    [
        (Cleaning(), ("", "a"), "empty side"),
        (Cleaning(), ("a", "  \r"), "empty side"),
        (Cleaning(max_length=2), ("a b c", "a"), "too long"),
        (Cleaning(max_length=2), ("a b", "a b"), None),
        (Cleaning(max_ratio=2.0), ("a", "a b c"), "length ratio"),
        (Cleaning(max_ratio=2.0), ("a b", "a b c d"), None),
        (Cleaning(), ("a", "b " * 500), None),
    ],
)
def test_each_fault_has_its_reason(
    cleaning: Cleaning, pair: tuple[str, str], reason: str | None
) -> None:
    drops: Counter[str] = Counter()
    assert list(cleaning.clean([pair], drops)) == ([] if reason else [pair])
    assert drops == ({reason: 1} if reason else {})


@settings(deadline=None, max_examples=50)
@given(pairs=PAIRS, is_strict=st.booleans())
def test_kept_and_dropped_add_up(pairs: list[tuple[str, str]], is_strict: bool) -> None:
    drops: Counter[str] = Counter()
    cleaning = Cleaning(3, 2.0, drop_duplicates=True) if is_strict else Cleaning()
    kept = list(cleaning.clean(pairs, drops))
    assert len(kept) + drops.total() == len(pairs)
    good = [pair for pair in pairs if pair[0] and pair[1]]
    if not is_strict:
        assert kept == good
    else:
        assert kept == list(dict.fromkeys(kept))
        assert set(kept) <= set(good)


@settings(deadline=None, max_examples=50)
@given(pairs=PAIRS)
def test_the_first_of_equal_pairs_stays(pairs: list[tuple[str, str]]) -> None:
    kept = list(Cleaning(drop_duplicates=True).clean(pairs, Counter()))
    assert kept == [pair for pair in dict.fromkeys(pairs) if pair[0] and pair[1]]


@settings(deadline=None, max_examples=50)
@given(
    pairs=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=5, max_size=60),
    dev=st.integers(1, 3),
    test=st.integers(1, 3),
)
def test_held_out_sentences_are_not_in_train(
    pairs: list[tuple[int, int]], dev: int, test: int
) -> None:
    text = [(f"s{src}", f"t{tgt}") for src, tgt in pairs]
    try:
        splits, left_out = hold_out(text, dev=dev, test=test)
    except SwitchOutError:
        assume(False)
    parts = {split: list(part) for split, part in splits.items()}
    assert [len(parts["dev"]), len(parts["test"])] == [dev, test]
    assert len(parts["train"]) == len(text) - dev - test - left_out
    sides = [{line for pair in part for line in pair} for part in parts.values()]
    assert sides[0].isdisjoint(sides[1] | sides[2])
    assert sides[1].isdisjoint(sides[2])


def test_held_out_pairs_do_not_depend_on_the_order() -> None:
    pairs = [(f"s{i}", f"t{i}") for i in range(200)]
    forward, _ = hold_out(pairs, dev=10, test=10)
    backward, _ = hold_out(pairs[::-1], dev=10, test=10)
    assert set(forward["test"]) == set(backward["test"])


@pytest.mark.parametrize(("n", "message"), [(3, "cannot hold out"), (4, "nothing left")])
def test_too_many_held_out_pairs_are_refused(n: int, message: str) -> None:
    with pytest.raises(SwitchOutError, match=message):
        hold_out([(f"s{i}", f"t{i}") for i in range(n)], dev=2, test=2)
