"""The promises of the frozen splits, each measured anew."""

from __future__ import annotations

import hashlib
import json
import lzma
import re
from collections import Counter, defaultdict

import pytest

import phrasebook
from phrasebook import freeze
from phrasebook.draw import Draw, Wheel
from phrasebook.grammar import pair
from phrasebook.lexicon import adjectives, expressions, frames, nouns
from switchout.corpora import phrasebook as shipped
from switchout.errors import SwitchOutError

Sides = tuple[list[str], list[str]]


@pytest.fixture(scope="module")
def splits() -> dict[str, Sides]:
    return phrasebook.splits()


@pytest.fixture(scope="module")
def frozen() -> dict[str, list[str]]:
    return freeze.texts()


def test_bytes_are_the_frozen_ones(frozen: dict[str, list[str]]) -> None:
    assert freeze.hashes(frozen) == json.loads(phrasebook.FROZEN.read_text())["sha256"]


def test_the_package_holds_what_the_grammar_writes(frozen: dict[str, list[str]]) -> None:
    text = freeze.shipped(frozen)
    assert lzma.decompress(shipped.TEXT.read_bytes()) == text
    assert hashlib.sha256(text).hexdigest() == shipped.SHA256
    assert shipped.splits(20_000) == phrasebook.splits(20_000)
    assert shipped.splits(7) == phrasebook.splits(7)
    assert shipped.strata() == phrasebook.strata()
    assert shipped.monolingual() == phrasebook.monolingual()


def test_another_text_is_refused(tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(shipped, "TEXT", tmp_path / "phrasebook.tsv.xz")
    for content in (b"", lzma.compress(b"train\ta\tb\n"), None):
        shipped._rows.cache_clear()
        if content is None:
            shipped.TEXT.unlink()
        else:
            shipped.TEXT.write_bytes(content)
        with pytest.raises(SwitchOutError, match="install switchout again"):
            shipped.splits()


def test_sizes(splits: dict[str, Sides]) -> None:
    assert {name: len(de) for name, (de, _) in splits.items()} == {
        "train": 3000,
        "dev": 480,
        "test": 1200,
    }
    assert all(len(de) == len(en) for de, en in splits.values())


def test_no_sentence_is_shared_between_splits(splits: dict[str, Sides]) -> None:
    for side in (0, 1):
        sets = [set(sides[side]) for sides in splits.values()]
        assert len(set().union(*sets)) == sum(map(len, sets))


def test_evaluation_sentences_are_distinct(splits: dict[str, Sides]) -> None:
    for name in ("dev", "test"):
        assert all(len(set(side)) == len(side) for side in splits[name])
    assert len(set(zip(*splits["train"], strict=True))) == 3000


def test_every_evaluation_word_occurs_three_times_in_training(splits: dict[str, Sides]) -> None:
    for side in (0, 1):
        counts = Counter(" ".join(splits["train"][side]).split(" "))
        words = set(" ".join(splits["dev"][side] + splits["test"][side]).split(" "))
        assert min(counts[word] for word in words) >= 3


def _distance(left: list[str], right: list[str]) -> int:
    """Textbook Levenshtein distance, the oracle for rapidfuzz."""
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        previous, row[0] = row[0], i
        for j, b in enumerate(right, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (a != b))
    return row[-1]


def test_strata_are_by_word_error_rate_and_of_equal_lengths(splits: dict[str, Sides]) -> None:
    german, strata = splits["test"][0], phrasebook.strata()
    neighbors = freeze.Neighbors(splits["train"][0])
    lengths: dict[str, list[int]] = defaultdict(list)
    for sentence, name in zip(german, strata, strict=True):
        length = len(sentence.split(" "))
        lengths[name].append(length)
        assert freeze.stratum(length, neighbors.error_rate(sentence)) == name
    assert {name: len(found) for name, found in lengths.items()} == dict.fromkeys(lengths, 240)
    by_nearness = [Counter(lengths[name]) for name in ("near", "close", "medium", "far")]
    assert all(counts == by_nearness[0] for counts in by_nearness)
    assert min(lengths["long"]) > max(lengths["near"])


def test_nearest_sentence_agrees_with_the_textbook_distance(splits: dict[str, Sides]) -> None:
    train = [sentence.split(" ") for sentence in splits["train"][0]]
    neighbors = freeze.Neighbors(splits["train"][0])
    for sentence in splits["test"][0][:4]:
        words = sentence.split(" ")
        expected = min(_distance(words, other) for other in train) / len(words)
        assert neighbors.error_rate(sentence) == expected


def test_dev_has_the_mixture_of_test() -> None:
    dev, test = phrasebook.frozen()["dev"], phrasebook.frozen()["test"]
    assert {name: len(found) * 5 for name, found in dev.items()} == {
        name: len(found) * 2 for name, found in test.items()
    }


def test_longer_training_sets_begin_with_shorter_ones(splits: dict[str, Sides]) -> None:
    more = phrasebook.splits(train_pairs=4000)
    fewer = phrasebook.splits(train_pairs=10)
    for side in (0, 1):
        assert more["train"][side][:3000] == splits["train"][side]
        assert fewer["train"][side] == splits["train"][side][:10]
    assert more["test"] == splits["test"]


@pytest.mark.parametrize("number", [0, -1, 20_001])
def test_impossible_training_sizes_are_refused(number: int) -> None:
    with pytest.raises(ValueError, match=r"1 to 20000"):
        phrasebook.splits(train_pairs=number)


def test_monolingual_text_is_disjoint_from_everything(frozen: dict[str, list[str]]) -> None:
    for language in ("de", "en"):
        mono = set(frozen[f"mono.{language}"])
        assert len(mono) > 4000
        for name in ("train", "dev", "test"):
            assert mono.isdisjoint(frozen[f"{name}.{language}"])


def test_german_determines_the_english_up_to_its_wording() -> None:
    """Ambiguous words are resolved by context: the oracle needs nothing but the German."""
    meanings: dict[str, set[str]] = defaultdict(set)
    for index in range(20_000):
        german, english = pair(6, index, canonical=True)
        meanings[german].add(english)
    assert all(len(found) == 1 for found in meanings.values())
    ambiguous = {"Bank": ("bank", "bench"), "Schloss": ("castle", "lock")}
    for word, senses in ambiguous.items():
        text = " ".join(en for de, found in meanings.items() if word in de.split() for en in found)
        assert all(sense in text.split() for sense in senses), word


def test_wording_changes_the_english_only() -> None:
    drawn = [pair(6, index) for index in range(3000)]
    canonical = [pair(6, index, canonical=True) for index in range(3000)]
    assert [de for de, _ in drawn] == [de for de, _ in canonical]
    assert 10 < sum(a != b for a, b in zip(drawn, canonical, strict=True)) < 600


@pytest.mark.parametrize(("link", "meaning"), [("bevor", "before"), ("nachdem", "after")])
def test_clauses_of_time_end_in_their_verb_and_invert_the_main_clause(
    link: str, meaning: str
) -> None:
    openings = tuple(f"{link} {pronoun} " for pronoun in ("er", "sie", "ich", "wir"))
    pairs = phrasebook.generate(20_000, seed=11)
    found = [(de.split(" "), en) for de, en in pairs if de.startswith(openings)]
    assert len(found) > 10
    for words, english in found:
        comma = words.index(",")
        assert words[comma + 2] == words[1]  # bevor er isst , muss er ...
        assert english.startswith(f"{meaning} ")
        if link == "nachdem":
            assert words[comma - 1] in ("hat", "ist", "haben", "sind", "habe", "bin")


def test_text_is_tokenised_and_true_cased() -> None:
    token = re.compile(r"[A-Za-zÄÖÜäöüßé'-]+|[.,?!]")
    for sentences in phrasebook.generate(5000, seed=8):
        for sentence in sentences:
            tokens = sentence.split(" ")
            assert all(token.fullmatch(word) and word != "-" for word in tokens), sentence
            assert tokens[-1] in ".?!"
            assert ", ." not in sentence
    assert any(de.startswith("ich ") for de, _ in phrasebook.generate(50, seed=8))


def test_the_lexicon_is_large_and_frequencies_fall_like_zipf() -> None:
    entries = [*nouns(), *frames(), *adjectives(), *(e for g in expressions().values() for e in g)]
    assert len(entries) >= 800
    counts = Counter(w for de, _ in phrasebook.generate(10_000, seed=9) for w in de.split(" "))
    top = [times for _, times in counts.most_common()]
    assert 4 < top[0] / top[9] < 40
    assert 4 < top[9] / top[99] < 40
    assert sum(times <= 2 for times in top) > 100


def test_draws_are_splitmix64() -> None:
    """Known answers for seed 1234567 (Vigna's splitmix64.c, as printed at Rosetta Code)."""
    draw = Draw(0, 0)
    draw.state = 1234567
    known = (6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431)
    assert [draw.bits() for _ in known] == [value >> 32 for value in known]


def test_wheels_spin_by_their_weights() -> None:
    draw, wheel = Draw(1, 1), Wheel("abc", (1, 2, 5))
    counts = Counter(draw.spin(wheel) for _ in range(40_000))
    expected = {"a": 5_000, "b": 10_000, "c": 25_000}
    assert sum((counts[x] - n) ** 2 / n for x, n in expected.items()) < 27.6  # chi2, p = 1e-6


@pytest.mark.slow
def test_selection_is_reproduced_by_its_procedure() -> None:
    assert freeze.select() == phrasebook.frozen()
