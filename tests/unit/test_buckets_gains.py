"""Buckets: membership by enumeration, scores by sacrebleu on the bucket's lines alone."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest
from sacrebleu.metrics import BLEU

from switchout.errors import SwitchOutError
from switchout.evaluation.buckets import Breakdown, Gain, break_down, make_buckets, quantile_edges
from switchout.evaluation.comparison import System, compare, score_system
from switchout.evaluation.features import Feature, count_words, features_of, length, rarest, unknown
from switchout.evaluation.metrics import Metric
from switchout.report.buckets import bucket_sections

WORDS = ["the", "a", "cat", "dog", "sat", "ran", "on", "under", "mat", "hat", ".", "!"]


def text(n: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    return [" ".join(rng.choices(WORDS, k=rng.randint(5, 15))) for _ in range(n)]


def damaged(lines: list[str], share: float, seed: int) -> list[str]:
    rng = random.Random(seed)
    return [
        " ".join(rng.choice(WORDS) if rng.random() < share else w for w in line.split())
        for line in lines
    ]


def broken_down(
    references: list[str],
    baseline: System,
    *systems: System,
    feature: Feature,
    edges: list[float] | None = None,
    n_buckets: int = 3,
) -> Breakdown:
    metric = Metric("bleu", references, tokenize="none")
    [result] = break_down(
        references,
        score_system(metric, baseline),
        [score_system(metric, system) for system in systems],
        [feature],
        metric=metric,
        edges=edges,
        n_buckets=n_buckets,
        n_resamples=200,
    )
    return result


def test_bucket_scores_equal_sacrebleu_on_the_bucket_alone() -> None:
    references = text(60, 0)
    base = System("base", [damaged(references, 0.4, s) for s in (1, 2)])
    new = System("new", [damaged(references, 0.2, s) for s in (3, 4, 5)])
    result = broken_down(references, base, new, feature=length(references))
    assert len(result.buckets) == 3
    bleu = BLEU(tokenize="none")
    for bucket, gain in zip(result.buckets, result.gains[0], strict=True):
        expected = []
        for system in (base, new):
            scores = [
                bleu.corpus_score(
                    [run[i] for i in bucket.members], [[references[i] for i in bucket.members]]
                ).score
                for run in system.runs
            ]
            expected.append(sum(scores) / len(scores))
        assert gain.baseline == pytest.approx(expected[0], abs=1e-9)
        assert gain.system == pytest.approx(expected[1], abs=1e-9)
        assert gain.delta == pytest.approx(expected[1] - expected[0], abs=1e-9)
        assert gain.ci95 is not None
        assert gain.ci95[0] < gain.delta < gain.ci95[1]


def test_every_sentence_is_in_one_bucket_the_same_for_all_systems() -> None:
    references = text(50, 1)
    systems = [System(n, [damaged(references, 0.3, i)]) for i, n in enumerate("abc")]
    values = np.random.default_rng(0).random(50)
    result = broken_down(references, *systems, feature=Feature("wer", values), n_buckets=4)
    members = np.concatenate([bucket.members for bucket in result.buckets])
    assert sorted(members.tolist()) == list(range(50))
    for bucket in result.buckets:
        low = -np.inf if bucket.low is None else bucket.low
        high = np.inf if bucket.high is None else bucket.high
        assert ((low <= values[bucket.members]) & (values[bucket.members] < high)).all()
    assert [len(gains) for gains in result.gains] == [4, 4]


def test_one_bucket_of_everything_agrees_with_compare() -> None:
    references = text(40, 2)
    base = System("base", [damaged(references, 0.4, 1)])
    new = System("new", [damaged(references, 0.3, 2)])
    result = broken_down(references, base, new, feature=length(references), n_buckets=1)
    [whole] = compare(references, base, [new], tokenize="none", n_resamples=200)
    assert result.gains[0][0].delta == pytest.approx(whole.delta)
    assert result.gains[0][0].ci95 == pytest.approx(whole.ci95)


def test_a_system_with_one_run_leaves_the_intervals_of_the_others_alone() -> None:
    """The runs of A differ more than its sentences: without seeds they shrink to a sixth."""
    references = text(60, 5)
    base = System("base", [damaged(references, share, 1) for share in (0.1, 0.3, 0.6)])
    a = System("A", [damaged(references, share, 2) for share in (0.1, 0.3, 0.5)])
    c = System("C", [damaged(references, 0.2, 3)])
    by = length(references)
    both = broken_down(references, base, a, c, feature=by)
    for k, system in enumerate((a, c)):
        alone = broken_down(references, base, system, feature=by)
        assert alone.counts_seeds == [both.counts_seeds[k]]
        assert alone.trends == [both.trends[k]]
        for gain, expected in zip(both.gains[k], alone.gains[0], strict=True):
            assert gain.ci95 == pytest.approx(expected.ci95)
    widths = [[high - low for low, high in _intervals(gains)] for gains in both.gains]
    assert min(widths[0]) > max(widths[1])
    assert both.counts_seeds == [True, False]
    record = both.to_dict()
    assert record["counts_seeds"] is False
    assert [system["counts_seeds"] for system in record["systems"]] == [True, False]


def _intervals(gains: Sequence[Gain]) -> list[tuple[float, float]]:
    return [gain.ci95 for gain in gains if gain.ci95]


@pytest.mark.parametrize(
    ("n_base", "n_runs", "expected"),
    [
        (2, (2, 2), "Intervals and p-values count seeds and sentences, as on the first screen."),
        (1, (2, 1), "A side has one run: intervals and p-values are over sentences alone."),
        (2, (1, 1), "A side has one run: intervals and p-values are over sentences alone."),
        (
            2,
            (2, 1, 2),
            "Intervals and p-values of A and C count seeds and sentences, as on the first screen; "
            "those of B are over sentences alone, for lack of a second run.",
        ),
    ],
)
def test_the_page_names_the_systems_whose_intervals_count_seeds(
    n_base: int, n_runs: tuple[int, ...], expected: str
) -> None:
    references = text(30, 6)
    base, *systems = (
        System(name, [damaged(references, 0.3, 10 * i + run) for run in range(n)])
        for i, (name, n) in enumerate(zip(["base", *"ABC"], (n_base, *n_runs), strict=False))
    )
    [section] = bucket_sections(
        [broken_down(references, base, *systems, feature=length(references))]
    )
    assert section.text == [expected]


def test_identical_systems_gain_nothing_for_certain() -> None:
    references = text(30, 3)
    same = damaged(references, 0.3, 1)
    result = broken_down(
        references, System("a", [same]), System("b", [same]), feature=length(references)
    )
    for gain in result.gains[0]:
        assert gain.delta == 0.0
        assert gain.ci95 == (0.0, 0.0)
    assert result.trends[0] is not None
    assert result.trends[0].slope == 0.0
    assert result.trends[0].p == 1.0


def test_empty_and_single_sentence_buckets_have_no_interval() -> None:
    references = text(10, 4)
    values = np.array([0.1] + [0.5] * 9)
    result = broken_down(
        references,
        System("a", [damaged(references, 0.3, 1)]),
        System("b", [damaged(references, 0.3, 2)]),
        feature=Feature("wer", values),
        edges=[0.2, 0.6],
    )
    assert [len(bucket.members) for bucket in result.buckets] == [1, 9, 0]
    single, _, empty = result.gains[0]
    assert single.delta is not None
    assert single.ci95 is None
    assert empty.delta is None
    assert empty.ci95 is None


def test_one_test_sentence_has_no_trend() -> None:
    result = broken_down(
        ["a b c d e"],
        System("a", [["a b c d x"]]),
        System("b", [["a b c d e"]]),
        feature=Feature("wer", np.array([0.5])),
    )
    assert result.trends == [None]
    assert [bucket.label for bucket in result.buckets] == ["all"]


@pytest.mark.parametrize("n_buckets", [1, 2, 5, 40])
@pytest.mark.parametrize("kind", ["distinct", "tied", "constant", "mostly-zero"])
def test_quantile_edges_give_filled_buckets_in_equal_shares(kind: str, n_buckets: int) -> None:
    rng = np.random.default_rng(n_buckets)
    values = {
        "distinct": rng.random(100),
        "tied": rng.integers(0, 7, 100).astype(float),
        "constant": np.full(100, 0.7),
        "mostly-zero": np.maximum(0, rng.integers(-80, 20, 100)).astype(float),
    }[kind]
    sizes = [len(b.members) for b in make_buckets(values, quantile_edges(values, n_buckets))]
    assert sum(sizes) == 100
    assert min(sizes) > 0
    assert len(sizes) <= n_buckets
    if kind == "distinct":
        assert len(sizes) == n_buckets
        assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize(
    ("values", "edges", "labels"),
    [
        ([0, 1, 2, 9], [1, 2, 4], ["0", "1", "2 – 3", "≥ 4"]),
        ([5, 1234567], [10], ["≤ 9", "≥ 10"]),
        ([0.2, 0.8], [0.25, 0.5], ["< 0.250", "0.250 – 0.500", "≥ 0.500"]),
    ],
    ids=["counts", "large", "fractions"],
)
def test_labels_say_what_is_inside(
    values: list[float], edges: list[float], labels: list[str]
) -> None:
    assert [b.label for b in make_buckets(np.array(values, float), edges)] == labels


@pytest.mark.parametrize("edges", [[0.5, 0.5], [0.6, 0.4], [float("nan")], [float("inf")]])
def test_edges_must_increase(edges: list[float]) -> None:
    with pytest.raises(SwitchOutError, match="must be finite and increase"):
        make_buckets(np.zeros(3), edges)


def test_features_count_what_they_say() -> None:
    train = ["a b a", "b  c", "d"]
    sources = ["a b", "c x x", "d y c", ""]
    counts = count_words(train)
    assert rarest(sources, counts).values.tolist() == [2, 0, 0, 2]
    assert unknown(sources, counts).values.tolist() == [0, 2, 1, 0]
    assert unknown(sources, {"x", "y"}).values.tolist() == [2, 1, 2, 0]
    assert length(["a  b ", "", "c\u00a0d"]).values.tolist() == [2, 0, 1]
    made = features_of(["r"] * 4, sources=sources, train=train)
    assert [feature.name for feature in made] == ["wer", "length", "rarest", "unknown"]
    # one word too many in "a b a"; nothing in its place; "d" and two more; the shortest, "d"
    assert made[0].values.tolist() == pytest.approx([1 / 2, 1, 2 / 3, 1])


@pytest.mark.parametrize(
    ("by", "message"),
    [
        (["wer"], "by wer need wer=, or train= and sources="),
        (["rarest"], "by rarest need train= and sources="),
        (["unknown"], "by unknown need sources="),
        (["lenght"], "did you mean 'length'"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_missing_material_is_named(by: list[str], message: str) -> None:
    with pytest.raises(SwitchOutError, match=message):
        features_of(["r"], by=by)
