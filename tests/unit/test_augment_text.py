"""The text path against the id-level sampler, and against ``bytes.split``."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from switchout.policies import RAML, Hamming, SwitchOut, WordDropout
from switchout.text import augment_files, augment_lines
from switchout.text.lines import PADDING, Lines
from switchout.text.word_counter import WordCounter
from switchout.words import Words

SPECIAL = ["<s>", "</s>", "<unk>", "<2de>"]
WORDS = ["a", "bb", "ü", "NUL\0", "exactly8", "nine_char", "x" * 63, "y" * 64, "z" * 200]
VOCABULARY = [*WORDS[:3], "<s>", *WORDS[3:6], "<unk>", "<2de>", *WORDS[6:], "</s>"]
SPACES = [" ", "  ", "\t", " \r", "\v ", "\f"]


def text(n_lines: int, longest: int, seed: int) -> list[str]:
    """Return lines of known, special and unknown words between odd white space."""
    rng = np.random.default_rng(seed)
    pool = [*VOCABULARY, "unknown", "a\u2028b", "x" * 62, "\xa0", "NUL", "a\0", "nine_chaR"]
    lines = []
    for _ in range(n_lines):
        tokens = rng.choice(pool, rng.integers(0, longest + 1))
        spaces = rng.choice(SPACES, len(tokens) + 1, p=[0.75, *[0.05] * 5])
        spaces[0] = rng.choice(["", spaces[0]])
        lines.append("".join(s + t for s, t in zip(spaces, [*tokens, ""], strict=True)))
    return lines


def by_ids(lines: list[str], policy, *, null: str, **address) -> list[str]:
    """Return what the id-level sampler makes of the lines: the oracle."""
    ids = {word: i for i, word in enumerate(VOCABULARY)}
    result = []
    for line, example in zip(lines, address.pop("example_ids"), strict=True):
        pieces = re.split(r"([ \t\v\f\r]+)", line)
        row = np.array([[ids.get(piece, -100) for piece in pieces]])
        new = policy.sample(row, example_ids=[example], **address)[0].tolist()
        old = row[0].tolist()
        words = [*VOCABULARY, null]
        result.append(
            "".join(p if n == o else words[n] for p, o, n in zip(pieces, old, new, strict=True))
        )
    return result


IDS = Words(len(VOCABULARY) + 1, special_ids=[VOCABULARY.index(s) for s in SPECIAL] + [13])
NULL_ID = 13
CASES = {
    "switchout tau=1": (SwitchOut(IDS, tau=1.0), {"tau_x": 1.0}),
    "switchout tau=0.3": (SwitchOut(IDS, tau=0.3), {"tau_x": 0.3}),
    "switchout tau=inf": (SwitchOut(IDS, tau=np.inf), {"tau_x": float("inf")}),
    "switchout tau=0": (SwitchOut(IDS, tau=0.0), {"tau_x": 0.0}),
    "switchout rate=0.2": (SwitchOut(IDS, rate=0.2), {"rate_x": 0.2}),
    "raml tau=3": (RAML(IDS, tau=3.0), {"tau_x": 3.0, "policy_x": "raml"}),
    "hamming tau=0.3": (Hamming(IDS, tau=0.3), {"tau_x": 0.3, "policy_x": "hamming"}),
    "dropout rate=0.3": (
        WordDropout(IDS, rate=0.3, null_id=NULL_ID),
        {"rate_x": 0.3, "policy_x": "word_dropout"},
    ),
}
COMMON = {"vocab_source": VOCABULARY, "special_words": SPECIAL, "null_word": "NULL"}


@pytest.mark.parametrize("case", CASES)
def test_text_is_what_the_id_level_sampler_draws(case):
    assert len(VOCABULARY) == NULL_ID
    policy, how = CASES[case]
    lines = text(300, 40, seed=1)
    seed, epoch = 2**64 - 1, 5
    expected = by_ids(
        lines, policy, null="NULL", seed=seed, epoch=epoch, side="source",
        example_ids=range(7, 307),
    )  # fmt: skip
    got = augment_lines(lines, **how, **COMMON, seed=seed, epoch=epoch, first_line=7)
    assert list(got) == expected
    if case != "switchout tau=0":
        assert expected != lines


def test_sides_and_copies_have_the_addresses_of_the_design():
    lines = text(200, 20, seed=2)
    policy = RAML(IDS, tau=2.0)
    how = {"vocab_target": VOCABULARY, "special_words": SPECIAL, "tau_y": 2.0}
    got = list(augment_lines(None, lines, **how, seed=3, epoch=4, copies=3, keep_original=True))
    assert got[0::4] == lines
    for copy in range(3):
        expected = by_ids(
            lines, policy, null="", seed=3, epoch=4 * 3 + copy, example_ids=range(200)
        )
        assert got[1 + copy :: 4] == expected


@pytest.mark.parametrize("n_words", [1, 127, 128, 129, 5000])
@pytest.mark.parametrize("how", [{"tau_x": 3.0}, {"rate_x": 0.3}], ids=["tau", "rate"])
def test_lines_of_any_length_equal_the_id_level_sampler(n_words, how):
    lines = [" ".join(np.random.default_rng(i).choice(WORDS, n_words)) for i in range(12)]
    policy = SwitchOut(IDS, tau=3.0) if "tau_x" in how else SwitchOut(IDS, rate=0.3)
    expected = by_ids(lines, policy, null="", seed=1, example_ids=range(12))
    assert list(augment_lines(lines, **how, **COMMON, seed=1)) == expected


def test_a_replacement_longer_than_the_chunk_makes_the_output_grow(tmp_path):
    vocabulary = ["a", "b" * 100_000]
    (tmp_path / "in").write_text("a a a a a a\n" * 20)
    augment_files(
        tmp_path / "in", out_source=tmp_path / "out", vocab_source=vocabulary, tau_x=np.inf,
        seed=1, copies=2, chunk_bytes=1024,
    )  # fmt: skip
    words = (tmp_path / "out").read_text().split()
    assert set(words) == set(vocabulary)
    assert len(words) == 2 * 6 * 20


@given(st.lists(st.binary(max_size=200), max_size=20))
@settings(deadline=None)
def test_words_are_those_of_bytes_split(pieces):
    data = b"\n".join(pieces)
    padded = np.frombuffer(data + b"\n" + bytes(PADDING), np.uint8)
    lines = Lines.found_in(padded, len(data) + 1)
    assert lines.ends.size == data.count(b"\n") + 1
    counter = WordCounter()
    counter.add(lines)
    assert dict(counter.most_common()) == dict(Counter(data.split()))


def test_counting_survives_many_and_long_words():
    rng = np.random.default_rng(5)
    words = [b"w%d" % i * int(rng.integers(1, 9)) for i in rng.integers(0, 20_000, 60_000)]
    text = b" ".join(words[:50_000]) + b"\n" + b"\n".join(words[50_000:]) + b"\n"
    counter = WordCounter()
    counter.add(Lines.found_in(np.frombuffer(text + bytes(PADDING), np.uint8), len(text)))
    expected = sorted(Counter(words).items(), key=lambda item: (-item[1], item[0]))
    assert counter.most_common() == expected
    assert counter.most_common(min_count=3, max_words=50) == [e for e in expected if e[1] > 2][:50]


def _keys(word: bytes) -> tuple[int, int]:
    """`so_word_keys` of text.h, for words of 24 bytes."""
    first, middle, last = (int.from_bytes(word[i : i + 8], "little") for i in (0, 8, 16))
    low = (first ^ middle) * 0x9E3779B97F4A7C15 % 2**64
    return low ^ low >> 32, last


def test_long_words_with_equal_hashes_are_told_apart():
    words = [b"AAAAAAAABBBBBBBBCCCCCCCC", b"BBBBBBBBAAAAAAAACCCCCCCC"]
    assert len({_keys(word) for word in words}) == 1
    text = b" ".join([*words, words[1]]) + b"\n"
    counter = WordCounter()
    counter.add(Lines.found_in(np.frombuffer(text + bytes(PADDING), np.uint8), len(text)))
    assert counter.most_common() == [(words[1], 2), (words[0], 1)]


def test_bytes_behind_the_last_line_are_never_words():
    data = np.frombuffer(b"a b\n" + b"c" * PADDING, np.uint8)
    counter = WordCounter()
    counter.add(Lines(data, np.array([0]), np.array([3]), 1))
    assert counter.most_common() == [(b"a", 1), (b"b", 1)]


def test_lines_with_newlines_inside_are_one_example():
    lines = ["a bb\nü a", "bb a"]
    got = list(augment_lines(lines, vocab_source=WORDS, tau_x=np.inf, seed=3))
    assert len(got) == 2
    assert got[0].count("\n") == 1
