"""The core against the array path where its loops change course: eight columns, 64 words."""

from __future__ import annotations

import numpy as np
import pytest

import switchout as so
from through_arrays import array_path

WIDTHS = [1, 7, 8, 9, 16, 61, 63, 64, 65, 71, 130, 200]
VOCABULARIES = {
    "specials first": so.Words(50),
    "specials in the middle": so.Words(50, special_ids=(0, 7, 8, 30, 49)),
    "few may be drawn": so.Words(50, draw_ids=[5, 9, 40]),
}


def rows(words: so.Words, width: int, layout: str) -> np.ndarray:
    """Return 150 sentences of every length up to ``width``, eos and padding after them."""
    rng = np.random.default_rng(width)
    drawable = np.arange(50)[words.is_word(np.arange(50))]
    x = rng.choice(drawable, (150, width))
    special = words.special_ids[0]
    x[np.arange(width) >= rng.integers(0, width + 1, 150)[:, None]] = special
    if layout == "two tags first":
        x[:, :2] = special
    if layout == "holes":
        x[rng.random(x.shape) < 0.1] = words.special_ids[-1]
    return x


@pytest.mark.parametrize("vocabulary", VOCABULARIES)
@pytest.mark.parametrize("layout", ["plain", "two tags first", "holes"])
@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_every_width_and_layout_gives_the_ids_of_the_array_path(vocabulary, layout, kind):
    words = VOCABULARIES[vocabulary]
    for width in WIDTHS:
        x = rows(words, width, layout).astype(kind)
        for tau in (1.0, np.inf):
            how = {"tau": tau, "words": words, "seed": width, "example_ids": np.arange(150)}
            ours = so.switch_out(x, **how)
            in_place = x.copy()
            so.switch_out(in_place, out=in_place, lengths=words.is_word(x).sum(axis=1), **how)
            with array_path():
                expected = so.switch_out(x, **how)
            assert width == 1 or (expected != x).any()
            np.testing.assert_array_equal(ours, expected, err_msg=f"width {width}, tau {tau}")
            np.testing.assert_array_equal(in_place, expected, err_msg=f"width {width}, in place")
