"""The comparison page: everything visible, nothing executable, nothing from outside."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from switchout.evaluation.comparison import Comparison, System, compare
from switchout.report.charts import BarChart, Series
from switchout.report.compare import compare_page
from switchout.report.differences import mark_words
from switchout.report.page import Section, render_page
from switchout.report.tables import Column, Table

REFERENCES = [
    "the cat <unk> sat & slept",
    "a <b>dog</b> ran fast today",
    "x < y and y > z here",
    "",
]
BASE = [
    "the dog <unk> sat & slept",
    "a <b>dog</b> ran",
    "x < y or y > z",
    "<script>alert(1)</script>",
]
OTHER = ["the cat <unk> sat & slept", "a dog ran fast today", "x > y and y > z here", ""]
VOID = {"meta", "br"}


class Page(HTMLParser):
    """Checks that tags nest, and collects text and attributes."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.text, self.open, self.tags, self.links = "", [], [], []
        self.ids: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        values = dict(attrs)
        self.links += [values[k] for k in ("href", "src") if k in values]
        if "id" in values:
            self.ids.append(str(values["id"]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.text += data


@pytest.fixture(scope="module")
def results() -> list[Comparison]:
    return compare(
        REFERENCES,
        System("<base> & co", [BASE, [*BASE[:3], ""]]),
        [System("switch<out>", [OTHER, OTHER]), System("same", [BASE])],
        metrics=["bleu", "chrf"],
        n_resamples=200,
    )


@pytest.fixture(scope="module")
def html(results: list[Comparison]) -> str:
    series = Series("a&b", [0.5, None], [0.1, None], [0.9, None])
    bucket = Section(
        "Gain by <distance>",
        text=["Bucketed by WER."],
        tables=[Table("Buckets", [Column("WER"), Column("gain", format="+.2f")], [("0–0.2", 0.5)])],
        charts=[BarChart("Gain", ["0–0.2", "<0.4"], [series])],
    )
    return compare_page(results, REFERENCES, source=["s1", "s2", "<s3>", "s4"], buckets=[bucket])


def test_page_is_well_formed_and_escaped(html: str) -> None:
    page = Page(html)
    shown = re.sub(r"\s+", " ", page.text)
    for text in (
        *REFERENCES[:3],
        *BASE,
        "<base> & co",
        "switch<out>",
        "<s3>",
        "Gain by <distance>",
    ):
        assert text in shown
    assert not {"script", "b", "unk", "iframe", "img"} & set(page.tags)


def test_page_needs_nothing_from_outside(html: str) -> None:
    assert not re.search(r"https?:|//[a-z]|url\(|@import", html)
    assert Page(html).links == []


def test_numbers_carry_their_signature(html: str, results: list[Comparison]) -> None:
    text = Page(html).text
    for result in results:
        assert result.metric.signature in text
    assert "200 resamples" in text


def test_every_section_is_folded_and_buckets_stand_before_examples(html: str) -> None:
    headings = re.findall(r"<details><summary><h2>(.*?)</h2>", html)
    assert headings == [
        "Scores",
        "Significance",
        "Gain by &lt;distance&gt;",
        "Examples: switch&lt;out&gt;",
        "Examples: same",
    ]


def test_random_examples_come_first(html: str) -> None:
    groups = re.findall(r"<h3>(.*?)</h3>", html)
    assert groups[:3] == ["Drawn at random", "Largest gains", "Largest losses"]


def test_same_seed_same_page(results: list[Comparison]) -> None:
    pages = [compare_page(results, REFERENCES, n_examples=2, seed=s) for s in (1, 1)]
    assert pages[0] == pages[1]


def test_differences_are_marked_by_the_reference() -> None:
    words = mark_words("the cat sat on mat", "the dog sat on a mat", "the cat sat on a mat")
    assert [w.kind for w in words] == ["same", "right", "same", "same", "same"]
    other = mark_words("the dog sat on a mat", "the cat sat on mat", "the cat sat on a mat")
    assert [w.kind for w in other] == ["same", "wrong", "same", "same", "right", "same"]


def test_a_page_without_sections_is_a_page() -> None:
    assert "Empty" in Page(render_page("Empty", [], made_by="switchout")).text
