"""Which ids are words, whatever the place of the special ones."""

from __future__ import annotations

import pickle
from importlib.metadata import version

import numpy as np
import pytest

import switchout as so


@pytest.mark.parametrize(
    "special_ids", [(), (0,), (0, 1, 2, 3), (0, 9), (9,), (4, 5), (-100, 0, 3, 4, 9)], ids=str
)
def test_words_are_all_ids_but_the_special_ones(special_ids):
    words = so.Words(10, special_ids=special_ids)
    expected = [i for i in range(10) if i not in special_ids]
    assert words.drawable().tolist() == expected
    assert len(words) == len(expected)
    ids = np.arange(-3, 10)
    assert words.is_word(ids).tolist() == [i in expected for i in ids.tolist()]


def test_draw_ids_are_what_is_drawn():
    words = so.Words(10, draw_ids=[8, 5, 8])
    assert words.drawable().tolist() == [5, 8]
    assert len(words) == 2
    assert words.is_word(np.array([6]))[0]


@pytest.mark.parametrize("words", [so.Words(10), so.Words(10, (0, 9), [4, 5])], ids=repr)
def test_words_survive_pickling_and_plain_data(words):
    assert pickle.loads(pickle.dumps(words)) == words
    assert so.Words(**words.to_dict()) == words
    assert hash(so.Words(**words.to_dict())) == hash(words)


def test_words_are_immutable():
    with pytest.raises(AttributeError):
        so.Words(10).size = 11


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"size": 0}, ValueError, "size"),
        ({"size": (1 << 24) + 1}, ValueError, "2\\^24"),
        ({"size": 10.0}, TypeError, "size"),
        ({"size": 5}, ValueError, "two words"),
        ({"size": 10, "special_ids": (10,)}, ValueError, "special id 10"),
        ({"size": 10, "special_ids": (1.5,)}, TypeError, "integers"),
        ({"size": 10, "draw_ids": [4]}, ValueError, "two words"),
        ({"size": 10, "draw_ids": [3, 4]}, ValueError, "special id 3"),
        ({"size": 10, "draw_ids": [4, 10]}, ValueError, "between 0 and 9"),
        ({"size": 10, "draw_ids": [4.0, 5.0]}, TypeError, "integers"),
    ],
    ids=str,
)
def test_impossible_words_are_refused(settings, error, message):
    with pytest.raises(error, match=message):
        so.Words(**settings)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: so.switch_out(x, tau=1.0, words=32000, seed=1, example_ids=[0]),
        lambda x: so.SwitchOut(32000, tau=1.0),
        lambda x: so.RAML(32000, tau=1.0),
        lambda x: so.Hamming(32000, tau=1.0),
        lambda x: so.WordDropout(32000, rate=0.1),
    ],
)
def test_a_size_instead_of_words_is_answered_with_what_to_write(call):
    with pytest.raises(
        TypeError, match=r"words must be so.Words\(size=…, special_ids=…\), got 32000"
    ):
        call(np.array([[1, 5, 6, 2]]))


def test_version_is_that_of_the_installed_package():
    assert so.__version__ == version("switchout")
