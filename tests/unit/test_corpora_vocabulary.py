"""Vocabularies: specials at 0 to 3 whatever the file, counting, and faulty files."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from switchout.corpora.text import split_words
from switchout.corpora.vocabulary import SPECIALS, UNK, Vocabulary
from switchout.errors import SwitchOutError

WORDS = st.text(
    st.characters(blacklist_categories=("Cs",), blacklist_characters="\n\r "), min_size=1
)


@pytest.mark.parametrize(
    "head",
    [("<unk>", "<s>", "</s>"), SPECIALS, ("<s>", "<pad>", "</s>", "<unk>")],
    ids=["stanford", "mixer", "other order"],
)
def test_specials_come_first_whatever_the_file(tmp_path: Path, head: tuple[str, ...]) -> None:
    path = tmp_path / "vocab"
    path.write_text("\n".join([*head, "b", "a"]) + "\n")
    vocabulary = Vocabulary.load(path)
    assert vocabulary.tokens == [*SPECIALS, "b", "a"]
    assert vocabulary.entries == len(head) + 2
    assert vocabulary.ids(["a", "b", "c"]) == [5, 4, UNK]


@settings(deadline=None, max_examples=50)
@given(words=st.lists(WORDS.filter(lambda w: w not in SPECIALS), unique=True, min_size=1))
def test_saved_is_loaded(words: list[str]) -> None:
    vocabulary = Vocabulary([*SPECIALS, *words])
    with tempfile.TemporaryDirectory() as folder:
        vocabulary.save(Path(folder) / "vocab")
        assert Vocabulary.load(Path(folder) / "vocab") == vocabulary
    assert vocabulary.ids(words) == list(range(4, 4 + len(words)))


@settings(deadline=None, max_examples=50)
@given(
    lines=st.lists(st.lists(st.sampled_from("abcdefg"), min_size=1), min_size=1),
    min_count=st.integers(1, 4),
    max_size=st.none() | st.integers(5, 9),
)
def test_counted_words_are_the_frequent_ones(
    lines: list[list[str]], min_count: int, max_size: int | None
) -> None:
    counts = Counter(word for line in lines for word in line)
    expected = sorted((-n, word) for word, n in counts.items() if n >= min_count)
    if not expected:
        with pytest.raises(SwitchOutError, match="vocabulary is empty"):
            Vocabulary.from_counts(counts, min_count=min_count, max_size=max_size)
        return
    vocabulary = Vocabulary.from_counts(counts, min_count=min_count, max_size=max_size)
    room = len(expected) if max_size is None else max_size - len(SPECIALS)
    assert vocabulary.tokens[4:] == [word for _, word in expected][:room]


def test_a_special_in_the_text_is_an_unknown_word() -> None:
    vocabulary = Vocabulary.from_counts(Counter(["</s>", "a", "<s>", "a", "<pad>", "<unk>"]))
    assert vocabulary.tokens == [*SPECIALS, "a"]
    assert vocabulary.ids([*SPECIALS, "a"]) == [UNK] * 4 + [4]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("a b", ["a", "b"]),
        ("  a   b ", ["a", "b"]),
        ("a b\r", ["a", "b"]),
        ("a\u00a0b c\u2028d", ["a\u00a0b", "c\u2028d"]),
        ("", []),
        (" ", []),
    ],
)
def test_words_are_split_at_ascii_spaces_only(line: str, words: list[str]) -> None:
    assert split_words(line) == words


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<unk>\n<s>\n</s>\na\nb\na\n", r":6: 'a' stands already in line 4"),
        ("<unk>\n<s>\n</s>\n<s>\na\n", r":4: '<s>' stands already in line 2"),
        ("<unk>\n<s>\n</s>\na\n\nb\n", r":5: expected one word"),
        ("the cat sat\n", r":1: expected one word, or a word and a number, got 'the cat sat'"),
        ("the cat\n", r":1: expected one word, or a word and a number"),
        ("<pad>\n<s>\n</s>\n<unk>\nthe 42\n", r":5: expected one word"),
        ("the 42\nthe\n", r":2: 'the' stands already in line 1"),
        ("", r": no word in it"),
        ("<unk>\n<s>\n</s>\n", r": no word in it"),
    ],
)
def test_a_faulty_file_names_its_line(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "vocab.en"
    path.write_bytes(content.encode())
    with pytest.raises(SwitchOutError, match="vocab.en" + message):
        Vocabulary.load(path)


@pytest.mark.parametrize(
    "content", ["the 42\na 17\n", "the\na\n", "the\t-1.5\r\na\t-2e3\r\n", "<unk> 9\nthe 5\na 2\n"]
)
def test_lists_of_other_programs_are_read(tmp_path: Path, content: str) -> None:
    path = tmp_path / "vocab.en"
    path.write_bytes(content.encode())
    assert Vocabulary.load(path).tokens == [*SPECIALS, "the", "a"]


def test_duplicates_given_as_a_list_are_refused() -> None:
    with pytest.raises(SwitchOutError, match="'a' twice"):
        Vocabulary([*SPECIALS, "a", "b", "a"])


def test_too_small_a_size_is_refused() -> None:
    with pytest.raises(SwitchOutError, match="max_size = 4"):
        Vocabulary.from_counts(Counter("ab"), max_size=4)


def test_words_of_a_policy_leave_the_specials_alone() -> None:
    vocabulary = Vocabulary.from_counts(Counter("abc"))
    assert vocabulary.words().special_ids == (0, 1, 2, 3)
    assert vocabulary.words().size == 7
    assert vocabulary.words(unk_is_word=True).special_ids == (0, 1, 2)
    assert vocabulary.words(special_pattern="[a]|<.*").special_ids == (0, 1, 2, 3, 4)
    assert vocabulary.words(unk_is_word=True, special_pattern="<.*").special_ids == (0, 1, 2)
