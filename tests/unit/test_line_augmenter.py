"""Sentences in the hands of a program: the same lines as `augment_files`, however they are cut."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import switchout as so
from switchout.text import LineAugmenter, augment_files, augment_lines

WORDS = [f"w{i}" for i in range(40)]
NOISE = {"tau_x": 1.5, "tau_y": 3.0, "seed": 5}


def sentences(n: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, rng.integers(1, 12))) for _ in range(n)]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Pairs, and what `augment_files` makes of them in epoch 3."""
    folder = tmp_path_factory.mktemp("lines")
    pairs = list(zip(sentences(300, 1), sentences(300, 2), strict=True))
    for side, name in enumerate(("src", "tgt")):
        (folder / name).write_text("".join(f"{pair[side]}\n" for pair in pairs))
    augment_files(
        folder / "src", folder / "tgt", out_source=folder / "x", out_target=folder / "y",
        vocab_source=WORDS, vocab_target=WORDS, epoch=3, **NOISE,
    )  # fmt: skip
    sides = [(folder / name).read_text().splitlines() for name in ("x", "y")]
    return pairs, list(zip(*sides, strict=True))


@pytest.mark.parametrize("chunk", [1, 16, 300])
def test_any_cut_into_calls_gives_the_lines_of_files(corpus, chunk):
    pairs, expected = corpus
    augmenter = so.LineAugmenter(source_words=WORDS, target_words=WORDS, **NOISE)
    got = []
    for first in range(0, 300, chunk):
        got += augmenter(pairs[first : first + chunk], first_line=first, epoch=3)
    assert got == expected
    assert got != pairs


def test_a_vocabulary_file_serves_like_its_words(corpus, tmp_path):
    (tmp_path / "vocab").write_text("\n".join(WORDS))
    augmenter = LineAugmenter(source_words=tmp_path / "vocab", target_words=WORDS, **NOISE)
    assert augmenter(corpus[0], epoch=3) == corpus[1]


def test_a_side_without_noise_stays_and_strings_are_of_the_side_with_noise(corpus):
    pairs, expected = corpus
    target_only = LineAugmenter(target_words=WORDS, tau_y=3.0, seed=5)
    assert target_only(pairs, epoch=3) == [
        (x, y) for (x, _), (_, y) in zip(pairs, expected, strict=True)
    ]
    assert target_only([y for _, y in pairs], epoch=3) == [y for _, y in expected]


def test_every_line_has_one_that_comes_out(corpus):
    augmenter = LineAugmenter(source_words=WORDS, tau_x=np.inf, seed=1)
    assert augmenter([]) == []
    assert augmenter(["", "w1", " \t", "unknown words"])[0::2] == ["", " \t"]
    assert augmenter([("", "x"), ("w1 w2", "")])[0] == ("", "x")


@pytest.mark.parametrize("chunk", [1, 16, 300])
def test_a_vocabulary_of_another_language_is_warned_of_once(caplog, chunk):
    lines, foreign = sentences(300, 1), [f"v{i}" for i in range(400)]
    for words, n_warnings in ((WORDS, 0), (foreign, 1)):
        augmenter = LineAugmenter(target_words=words, tau_y=1.0, seed=1)
        for first in range(0, 300, chunk):
            pairs = [(line, line) for line in lines[first : first + chunk]]
            augmenter(pairs, first_line=first)
        assert len(caplog.records) == n_warnings
    assert "target: only 0% of the words" in caplog.text


def test_raw_text_where_pieces_are_expected_is_refused():
    augmenter = LineAugmenter(source_words=[f"▁{word}" for word in WORDS], tau_x=1.0, seed=1)
    with pytest.raises(so.errors.SwitchOutError, match="not split into the pieces"):
        augmenter(sentences(300, 1))


def test_augment_lines_is_a_thin_use_of_it(corpus):
    pairs, expected = corpus
    source, target = zip(*pairs, strict=True)
    how = {"vocab_source": WORDS, "vocab_target": WORDS, "epoch": 1, "copies": 3, **NOISE}
    got = list(augment_lines([*source, ""], [*target, "w1"], keep_original=True, **how))
    assert got[0::4] == pairs
    assert got[1::4] == expected
    assert len(got) == 4 * 300  # the pair with an empty side is left out


@pytest.mark.parametrize(
    ("lines", "how", "problem"),
    [
        (["a"], {"first_line": -1}, "first_line must be"),
        (["a"], {"first_line": 2**64}, "first_line must be"),
        (["a", "b"], {"first_line": 2**64 - 1}, "first_line"),
        (["a"], {"epoch": 2**32}, "epoch must be"),
        (["a"], {}, "both sides have noise"),
        ([("a", "b"), "c"], {"first_line": 7}, "line 8: expected a string, or a pair"),
        ([("a", "b", "c")], {}, "line 0: expected"),
        ([("a", None)], {}, "line 0: expected a string, got NoneType"),
        ([("a", "b"), ("a", b"b")], {}, "line 1: expected a string, got bytes"),
        ([("a", "\ud800")], {}, "line 0: holds half a character"),
    ],
    ids=lambda value: str(value)[:30].encode("ascii", "replace").decode(),
)
def test_bad_lines_are_refused_by_their_number(lines, how, problem):
    augmenter = LineAugmenter(source_words=WORDS, target_words=WORDS, **NOISE)
    with pytest.raises(so.SwitchOutError, match=problem):
        augmenter(lines, **how)


def test_workers_of_another_process_get_the_same_augmenter(corpus):
    """What is compiled cannot be sent; it is made again from what can."""
    import multiprocessing

    augmenter = LineAugmenter(source_words=WORDS, target_words=WORDS, **NOISE)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(augmenter, (corpus[0], 0, 3)) == corpus[1]


def test_the_last_example_ids_are_reached():
    augmenter = LineAugmenter(source_words=WORDS, tau_x=np.inf, seed=1)
    line = " ".join(WORDS)
    assert augmenter([line], first_line=2**64 - 2) != augmenter([line], first_line=2**63)


@pytest.mark.parametrize(
    ("how", "kind", "problem"),
    [
        ({"tau_x": 1.0}, so.SwitchOutError, "the source has noise: give source_words"),
        ({"source_words": WORDS}, so.SwitchOutError, "nothing to do: give tau_x"),
        ({"source_words": WORDS, "tau_x": -1.0}, so.SwitchOutError, "tau_x must be"),
        ({"source_words": WORDS, "tau_z": 1.0}, TypeError, "did you mean 'tau_"),
        ({"source_words": WORDS, "tau": 1.0}, TypeError, "did you mean 'tau_x'"),
        ({"source_words": WORDS, "tau_x": 1.0, "seed": -1}, so.SwitchOutError, "seed must be"),
    ],
    ids=str,
)
def test_wrong_settings_are_refused(how, kind, problem):
    with pytest.raises(kind, match=problem):
        LineAugmenter(**({"seed": 1} | how))


def test_line_numbers_that_come_twice_are_warned_of_once_and_others_are_not():
    augmenter = LineAugmenter(source_words=WORDS, tau_x=1.0, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for epoch in range(3):
            for i in (7, 3, 0, 1, 2, 4, 5, 6):  # in any order
                augmenter(["w1 w2"], first_line=i, epoch=epoch)
        augmenter([])
    with pytest.warns(UserWarning, match="epoch=") as caught:
        [augmenter(["w3 w4"], first_line=i) for i in range(3)]
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_calls_without_numbers_are_warned_of():
    augmenter = LineAugmenter(source_words=WORDS, tau_x=1.0, seed=1)
    augmenter(["w1 w2"])
    with pytest.warns(UserWarning, match="first_line="):
        augmenter(["w3 w4"])


@pytest.mark.parametrize("again", [{}, {"first_line": 0}])
def test_augment_lines_again_with_the_same_noise_is_warned_of(again):
    noise = {"tau_x": 1.25, "seed": 90 + len(again)}

    def call(**how):
        return list(augment_lines(["w1 w2"] * 3, vocab_source=WORDS, **noise | how))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for how in (
            {},
            {"tau_x": 4.0},
            {"seed": 100 + len(again)},
            {"epoch": 1},
            {"first_line": 3},
        ):
            call(**how)
    with pytest.warns(UserWarning, match="first_line="):
        [call(**again) for _ in range(2)]


@pytest.mark.parametrize("first_line", [False, 0.0, ""])
def test_first_line_that_is_no_number_is_refused(first_line):
    augmenter = LineAugmenter(source_words=WORDS, tau_x=1.0, seed=1)
    with pytest.raises((TypeError, ValueError), match="first_line"):
        augmenter(["w1 w2"], first_line=first_line)


def test_one_text_in_place_of_a_list_is_refused():
    noise = {"tau_x": 1.0, "seed": 1}
    with pytest.raises(so.SwitchOutError, match="list of sentences"):
        LineAugmenter(source_words=WORDS, **noise)("w1 w2")
    with pytest.raises(so.SwitchOutError, match="list of sentences"):
        augment_lines("w1 w2", vocab_source=WORDS, **noise)
