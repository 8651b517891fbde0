"""Sentences of more than 64 words, of every policy and layout, against the array path."""

from __future__ import annotations

import numpy as np
import pytest

import switchout as so
from through_arrays import array_path

SIZE = 60
VOCABULARIES = {
    "specials first": so.Words(SIZE),
    "specials in the middle": so.Words(SIZE, special_ids=(0, 7, 8, 30, 59)),
    "few may be drawn": so.Words(SIZE, draw_ids=[5, 9, 40]),
}
LAYOUTS = ["full", "padded right", "padded left", "bos and eos", "holes", "frozen"]
WIDTHS = [65, 100, 127, 129, 700, 10_000]


def policies(words: so.Words) -> dict[str, so.Policy]:
    pairs = {i: [5, 9] for i in (5, 9, 11, 40)}
    plain = so.Words(SIZE, special_ids=words.special_ids)
    table = so.SimilarityTable.from_dictionary(pairs, plain)
    dropout = so.WordDropout(words, rate=0.5, null_id=0)
    return {
        "switchout": so.SwitchOut(words, tau=30.0),
        "switchout by rate": so.SwitchOut(words, rate=0.3),
        "most": so.SwitchOut(words, tau=np.inf),
        "raml": so.RAML(words, tau=11.0),
        "hamming": so.Hamming(words, tau=0.3),
        "dropout": dropout,
        "little dropout": so.WordDropout(words, rate=0.02, null_id=0),
        "dropout to a word": so.WordDropout(words, rate=0.2, null_id=40),
        "similar": so.Similar(plain, table, tau=1.0),
        "chain": so.Chain(so.SwitchOut(words, tau=30.0), dropout),
    }


def batch(words: so.Words, width: int, layout: str) -> tuple[np.ndarray, np.ndarray | None]:
    """Return sentences of 65 to ``width`` words and a mask, if the layout has one."""
    rng = np.random.default_rng(width)
    n_rows = 3 if width > 1000 else 20
    drawable = np.flatnonzero(words.is_word(np.arange(SIZE)))
    x = rng.choice(drawable, (n_rows, width))
    pad, other = words.special_ids[0], words.special_ids[-1]
    padding = rng.integers(0, width - 64, n_rows)[:, None]
    if layout == "padded right":
        x[np.arange(width) >= width - padding] = pad
    if layout == "padded left":
        x[np.arange(width) < padding] = pad
    if layout == "bos and eos":
        x[:, 0], x[:, -1] = other, other
    if layout == "holes":
        x[rng.random(x.shape) < 0.1] = pad
        x[rng.random(x.shape) < 0.1] = -100
    return x, rng.random(x.shape) < 0.2 if layout == "frozen" else None


@pytest.mark.parametrize("name", policies(so.Words(SIZE)))
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("vocabulary", VOCABULARIES)
def test_long_sentences_get_the_ids_of_the_array_path(name, layout, vocabulary):
    words = VOCABULARIES[vocabulary]
    policy = policies(words)[name]
    for width in (
        WIDTHS[:-1] if name == "switchout by rate" else WIDTHS
    ):  # see MAX_TRACED_RATE_LENGTH
        x, frozen = batch(words, width, layout)
        if width % 2:
            x = x.astype(np.int32)
        how = {"seed": width, "example_ids": np.arange(len(x)), "frozen": frozen}
        ours = policy.sample(x, **how)
        in_place = x.copy()
        policy.sample(in_place, out=in_place, **how)
        with array_path():
            expected = policy.sample(x, **how)
        assert (expected != x).any()
        np.testing.assert_array_equal(ours, expected, err_msg=f"width {width}")
        np.testing.assert_array_equal(in_place, expected, err_msg=f"width {width}, in place")


@pytest.mark.parametrize("rate", [0.02, 0.5, 1.0])
def test_word_dropout_on_many_sentences_of_100_words(rate):
    """The case that once went wrong: hits were applied in the middle of a sentence."""
    words = so.Words(SIZE)
    policy = so.WordDropout(words, rate=rate, null_id=0)
    x = np.random.default_rng(0).integers(4, SIZE, (512, 100))
    for seed in range(5):
        how = {"seed": seed, "example_ids": np.arange(512)}
        ours = policy.sample(x, **how)
        with array_path():
            np.testing.assert_array_equal(ours, policy.sample(x, **how))
