"""Corpus scores from sums of sentence statistics equal sacrebleu's."""

from __future__ import annotations

import random

import numpy as np
import pytest
from sacrebleu.metrics import BLEU, CHRF, TER

from switchout.errors import SwitchOutError
from switchout.evaluation.metrics import FORMULAS, Metric
from switchout.evaluation.resampling import bootstrap_sums, jackknife, subset_sums
from switchout.evaluation.scores import score

SACREBLEU = {"bleu": BLEU, "chrf": CHRF, "ter": TER}
WORDS = ["the", "a", "cat", "dog", "sat", "ran", "on", "mat", ",", ".", "!", "<unk>", "R&D", "Über"]


def sentences(n: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    return [" ".join(rng.choices(WORDS, k=rng.randint(1, 12))) for _ in range(n)]


def damaged(lines: list[str], seed: int, share: float = 0.3) -> list[str]:
    rng = random.Random(seed)
    return [
        " ".join(rng.choice(WORDS) if rng.random() < share else word for word in line.split())
        for line in lines
    ]


REFERENCES = sentences(60, seed=1)
EDGE_CASES = {
    "ordinary": (damaged(REFERENCES, 2), REFERENCES),
    "identical": (REFERENCES, REFERENCES),
    "nothing right": (["x y z u v"] * 3, ["the cat sat down here"] * 3),
    "one word": (["cat"], ["cat"]),
    "three words, no 4-gram": (["the cat sat"], ["the cat sat"]),
    "no 2-gram matches": (["cat the on sat mat"], ["the cat sat on a mat"]),
    "only 1- and 2-grams match": (["a cat ran off now", "x the mat"], ["a cat sat", "x the dog"]),
    "empty output": (["", "the cat sat on it"], ["the cat", "the cat sat on it"]),
    "all outputs empty": (["", ""], ["the cat", "a dog"]),
    "empty reference line": (["the cat sat on it", "dog"], ["the cat sat on it", ""]),
    "too short": (["the cat sat on"], ["the cat sat on the mat under the dog"]),
    "one character": (["a"], ["a"]),
}


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("case", EDGE_CASES)
def test_scores_equal_sacrebleu(name: str, case: str) -> None:
    hypotheses, references = EDGE_CASES[case]
    expected = SACREBLEU[name]().corpus_score(hypotheses, [references]).score
    metric = Metric(name, references)
    statistics = metric.statistics(hypotheses)
    assert metric.score(statistics) == expected
    assert metric.from_sums(statistics.sum(axis=0)) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("name", FORMULAS)
def test_formula_equals_sacrebleu_on_every_row_of_random_subsets(name: str) -> None:
    metric = Metric(name, REFERENCES)
    statistics = metric.statistics(damaged(REFERENCES, 3, share=0.6))
    subsets = np.random.default_rng(4).random((300, len(REFERENCES))) < 0.04  # few: zeros occur
    sums = subsets @ statistics
    scorer = SACREBLEU[name]()
    expected = [scorer._compute_score_from_stats([int(v) for v in row]).score for row in sums]
    np.testing.assert_allclose(metric.from_sums(sums), expected, rtol=0, atol=1e-10)
    if name == "bleu":  # the case must occur, or smoothing was not tested
        assert ((sums[:, 2:6].sum(axis=1) > 0) & (sums[:, 5] == 0) & (sums[:, 9] > 0)).any()


@pytest.mark.parametrize("case", EDGE_CASES)
def test_ngrams_are_counted_as_sacrebleu_counts_them(case: str) -> None:
    hypotheses, references = EDGE_CASES[case]
    expected = BLEU()._extract_corpus_statistics(hypotheses, [references])
    assert Metric("bleu", references).statistics(hypotheses).tolist() == expected


def test_repeated_ngrams_are_clipped_as_sacrebleu_clips_them() -> None:
    rng = random.Random(0)
    lines = [" ".join(rng.choices("ab", k=rng.randint(0, 9))) for _ in range(400)]
    hypotheses, references = lines[:200], lines[200:]
    expected = BLEU()._extract_corpus_statistics(hypotheses, [references])
    assert Metric("bleu", references).statistics(hypotheses).tolist() == expected


def test_tokenised_output_is_pointed_out_once(caplog: pytest.LogCaptureFixture) -> None:
    lines = ["a cat sat ."] * 100
    for tokenize, n_warnings in (("none", 0), ("13a", 1)):
        metric = Metric("bleu", lines, tokenize=tokenize)
        metric.statistics(lines)
        metric.statistics(lines)
        assert len(caplog.records) == n_warnings


@pytest.mark.parametrize(
    ("tokenize", "lowercase"), [("none", False), ("13a", True), ("intl", False), ("char", True)]
)
def test_tokenizer_and_case_reach_bleu_and_its_signature(tokenize: str, lowercase: bool) -> None:
    hypotheses = [line.upper() + "!" for line in damaged(REFERENCES, 5)]
    scorer = BLEU(tokenize=tokenize, lowercase=lowercase)
    expected = scorer.corpus_score(hypotheses, [REFERENCES]).score
    result = score(hypotheses, REFERENCES, tokenize=tokenize, lowercase=lowercase)
    assert result["bleu"] == expected
    assert result["signature"] == str(scorer.get_signature())
    assert result["chrf"] == CHRF().corpus_score(hypotheses, [REFERENCES]).score
    assert result["ter"] == TER().corpus_score(hypotheses, [REFERENCES]).score


def test_bootstrap_rows_are_sums_over_as_many_sentences_as_the_test_set() -> None:
    """With one-hot statistics a sum *is* the row of counts."""
    counts, ones = bootstrap_sums([np.eye(7), np.ones((7, 1))], n_resamples=5000, seed=0)
    assert (ones == 7).all()
    assert (counts == counts.astype(int)).all()
    # multinomial: mean 1, variance 6/7, covariance −1/7; five standard errors
    np.testing.assert_allclose(counts.mean(axis=0), 1, atol=5 * np.sqrt(6 / 7 / 5000))
    covariance = np.cov(counts.T)
    np.testing.assert_allclose(np.diag(covariance), 6 / 7, atol=0.1)
    np.testing.assert_allclose(covariance[0, 1:], -1 / 7, atol=0.08)


@pytest.mark.parametrize("n_sentences", [5, 8, 1000])
def test_subset_rows_hold_each_sentence_with_probability_one_half(n_sentences: int) -> None:
    [chosen] = subset_sums([np.eye(n_sentences)], n_resamples=4000, seed=0)
    assert set(np.unique(chosen)) == {0.0, 1.0}
    np.testing.assert_allclose(chosen.mean(axis=0), 0.5, atol=5.5 * 0.5 / np.sqrt(4000))


def test_resampling_depends_on_the_seed_alone() -> None:
    small = bootstrap_sums([np.eye(9)], n_resamples=50, seed=3)[0]
    both = bootstrap_sums([np.eye(9), np.eye(9) * 2], n_resamples=50, seed=3)
    other = bootstrap_sums([np.eye(9)], n_resamples=50, seed=4)[0]
    assert (small == both[0]).all()
    assert (2 * small == both[1]).all()
    assert (small != other).any()


def test_jackknife_of_a_ratio_equals_leaving_out_by_hand() -> None:
    metric = Metric("ter", REFERENCES)
    statistics = metric.statistics(damaged(REFERENCES, 6))
    edits, words = statistics.T
    n = len(edits)
    whole = 100 * edits.sum() / words.sum()
    by_hand = [
        n * whole - (n - 1) * 100 * np.delete(edits, i).sum() / np.delete(words, i).sum()
        for i in range(n)
    ]
    np.testing.assert_allclose(jackknife(metric, statistics), by_hand)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("blue", ["a"]), "did you mean 'bleu'"),
        (("bleu", []), "reference is empty"),
    ],
)
def test_bad_metric_is_refused(arguments: tuple[str, list[str]], message: str) -> None:
    with pytest.raises(SwitchOutError, match=message):
        Metric(*arguments)


def test_unknown_tokenizer_is_refused() -> None:
    with pytest.raises(SwitchOutError, match="did you mean '13a'"):
        Metric("bleu", ["a"], tokenize="v13a")


def test_unequal_lengths_are_refused() -> None:
    with pytest.raises(SwitchOutError, match="2 hypotheses for 1 references"):
        Metric("bleu", ["a"]).statistics(["a", "b"])


@pytest.mark.parametrize("tokenizer", ["spm", "flores101", "flores200", "spBLEU-1K"])
def test_no_tokenizer_is_downloaded(tokenizer, monkeypatch, tmp_path):
    monkeypatch.setattr("sacrebleu.utils.SACREBLEU_DIR", str(tmp_path))
    monkeypatch.setattr("urllib.request.urlopen", lambda *a, **k: pytest.fail("used the net"))
    with pytest.raises(SwitchOutError, match="is not here: fetch it from http"):
        Metric("bleu", ["a b"], tokenize=tokenizer)
    assert list(tmp_path.iterdir()) == []
