"""Policies by name: the right one, over the right words, or one clear line."""

from __future__ import annotations

import math

import pytest

from switchout.corpora.vocabulary import Vocabulary
from switchout.errors import SwitchOutError
from switchout.policies import RAML, Hamming, Similar, SwitchOut, WordDropout
from switchout.runs.config import Augment, Side
from switchout.runs.config_file import load_config, parse_config
from switchout.runs.noise import build_noise, build_policy, read_vectors, warn_of_noise
from switchout.words import Words

VOCABULARY = Vocabulary(["<pad>", "<s>", "</s>", "<unk>", "red", "green", "blue"])
WORDS = VOCABULARY.words()

POLICIES = {
    "switchout": ({"policy": "switchout", "tau": 0.9}, SwitchOut(WORDS, tau=0.9)),
    "switchout by rate": ({"policy": "switchout", "rate": 0.1}, SwitchOut(WORDS, rate=0.1)),
    "infinite tau": ({"policy": "switchout", "tau": math.inf}, SwitchOut(WORDS, tau=math.inf)),
    "raml": ({"policy": "raml", "tau": 1.1}, RAML(WORDS, tau=1.1)),
    "hamming": ({"policy": "hamming", "tau": 0.2}, Hamming(WORDS, tau=0.2)),
    "hamming rescaled": (
        {"policy": "hamming", "tau": 0.9, "rescaled": True},
        Hamming.rescaled(WORDS, tau=0.9),
    ),
    "hamming by rate": ({"policy": "hamming", "rate": 0.1}, Hamming.for_rate(WORDS, rate=0.1)),
    "word dropout": ({"policy": "word_dropout", "rate": 0.1}, WordDropout(WORDS, rate=0.1)),
    "word dropout by tau": (
        {"policy": "word_dropout", "tau": 1 / math.log(9)},  # rate / (1 - rate) = 1 / 9
        WordDropout.for_tau(WORDS, tau=1 / math.log(9)),
    ),
    "unk is a word": (
        {"policy": "switchout", "tau": 1.0, "unk_is_word": True},
        SwitchOut(VOCABULARY.words(unk_is_word=True), tau=1.0),
    ),
    "some words are special": (
        {"policy": "switchout", "tau": 1.0, "special_pattern": "r.d|gree"},
        SwitchOut(Words(7, special_ids=(0, 1, 2, 3, 4)), tau=1.0),
    ),
}


@pytest.mark.parametrize(("values", "wanted"), POLICIES.values(), ids=POLICIES.keys())
def test_side_names_its_policy(values, wanted):
    assert build_policy(Side(**values), VOCABULARY) == wanted


def test_word_dropout_by_tau_has_the_normalised_rate():
    policy = build_policy(Side(policy="word_dropout", tau=1 / math.log(9)), VOCABULARY)
    assert policy.rate == pytest.approx(0.1)


def test_sides_are_independent():
    augment = Augment(target=Side(policy="raml", tau=1.0))
    pair = build_noise(augment, VOCABULARY, VOCABULARY)
    assert pair.source is None
    assert pair.target == RAML(WORDS, tau=1.0)
    assert build_noise(Augment(), VOCABULARY, VOCABULARY) is None


def test_similar_reads_vectors(tmp_path):
    path = tmp_path / "v.txt"
    path.write_text("3 2\nred 1.0 0.0\nblue 0.9 0.1\nunheard 5 5\ngreen 0.0 1.0\n")
    assert read_vectors(path, VOCABULARY)[4:].tolist() == [[1, 0], [0, 1], [0.9, 0.1]]
    side = Side(policy="similar", tau=1.0, vectors=str(path), neighbors=1)
    policy = build_policy(side, VOCABULARY)
    assert isinstance(policy, Similar)
    assert policy.table.row(4)[0].tolist() == [4, 6]  # the nearest of red is blue


MISTAKES = {
    "rate too high": ({"policy": "switchout", "rate": 0.9}, "rate"),
    "no strength": ({"policy": "raml"}, "either tau or rate"),
    "rescaled raml": ({"policy": "raml", "tau": 1.0, "rescaled": True}, "hamming"),
    "similar by rate": ({"policy": "similar", "rate": 0.1, "vectors": "v.txt"}, "needs tau"),
    "similar without vectors": ({"policy": "similar", "tau": 1.0}, "needs vectors"),
}


@pytest.mark.parametrize(("values", "named"), MISTAKES.values(), ids=MISTAKES.keys())
def test_mistake_is_found_while_the_configuration_is_read(values, named):
    plain = {"data": {"corpus": "phrasebook"}, "augment": {"source": values}}
    with pytest.raises(SwitchOutError, match=rf"augment\.source.*{named}"):
        parse_config(plain, where="c.toml")


def test_hamming_by_rate_changes_that_share_of_the_words():
    policy = build_policy(Side(policy="hamming", rate=0.3), VOCABULARY)
    assert policy.expected_changes(10) == pytest.approx(3.0)


def test_noise_that_changes_most_words_is_warned_about(caplog):
    hamming = Side(policy="hamming", tau=1.0)
    warn_of_noise(build_noise(Augment(source=hamming), VOCABULARY, VOCABULARY))
    assert not caplog.records  # three words: 42% change
    many = Vocabulary([*VOCABULARY.tokens, *(f"w{i}" for i in range(2344))])
    warn_of_noise(build_noise(Augment(source=hamming), many, many))
    assert "[augment.source]: hamming changes 99.9% of the words" in caplog.text
    caplog.clear()
    rescaled = Side(policy="hamming", tau=1.0, rescaled=True)
    warn_of_noise(build_noise(Augment(source=rescaled), many, many))
    assert not caplog.records


@pytest.mark.parametrize("last", ["rate=0.05", "tau=0.5"])
def test_of_tau_and_rate_the_later_one_wins(last):
    other = "tau=0.7" if last.startswith("rate") else "rate=0.2"
    side = load_config(
        "phrasebook", overrides=[f"augment.source.{other}", f"augment.source.{last}"]
    ).augment.source
    name, _, value = last.partition("=")
    assert getattr(side, name) == float(value)
    assert getattr(side, other.partition("=")[0]) is None


@pytest.mark.parametrize("text", ["red one two\n", "red 1 2\nblue 1\n", ""])
def test_bad_vectors_are_named(tmp_path, text):
    path = tmp_path / "v.txt"
    path.write_text(text)
    with pytest.raises(SwitchOutError, match=r"v\.txt"):
        read_vectors(path, VOCABULARY)
