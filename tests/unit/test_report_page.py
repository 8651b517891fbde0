"""The comparison page: everything visible, nothing executable, nothing from outside."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from switchout.evaluation.buckets import break_down
from switchout.evaluation.comparison import Comparison, System, compare
from switchout.evaluation.examples import choose_examples
from switchout.evaluation.features import Feature
from switchout.report.compare import compare_page
from switchout.report.examples import mark_words
from switchout.report.page import Claim, FirstScreen, Section, report_page

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


def page_of(results: list[Comparison], seed: int = 0) -> str:
    main = [r for r in results if r.metric.name == "bleu"]
    buckets = break_down(
        REFERENCES,
        main[0].baseline,
        [r.system for r in main],
        [Feature("length", np.array([5.0, 5.0, 6.0, 0.0]))],
        metric=main[0].metric,
        edges=[6],
        n_resamples=200,
    )
    source = ["s1", "s2", "<s3>", "s4"]
    examples = {
        r.system.name: choose_examples(r, REFERENCES, source, n_examples=2, seed=seed) for r in main
    }
    return compare_page(results, buckets=buckets, examples=examples)


@pytest.fixture(scope="module")
def html(results: list[Comparison]) -> str:
    return page_of(results)


def test_page_is_well_formed_and_escaped(html: str) -> None:
    page = Page(html)
    shown = re.sub(r"\s+", " ", page.text)
    for text in (
        *REFERENCES[:3],
        *BASE,
        "<base> & co",
        "switch<out>",
        "<s3>",
    ):
        assert text in shown
    assert not {"script", "b", "unk", "iframe", "img"} & set(page.tags)


def test_page_needs_nothing_from_outside(html: str) -> None:
    assert not re.search(r"https?:|//[a-z]|url\(|@import", html)
    assert Page(html).links == []


def test_numbers_carry_their_signature_once(html: str, results: list[Comparison]) -> None:
    text = Page(html).text
    for signature in {result.metric.signature for result in results}:
        assert text.count(signature) == 1
    assert text.count("200 resamples") == 1


def test_the_answer_is_seen_and_everything_else_is_folded(html: str) -> None:
    first, _, rest = html.partition("<main>")
    assert "Is switch&lt;out&gt;, same better than &lt;base&gt; &amp; co?" in first
    assert first.count('<strong class="badge') == 2
    assert "What would settle it" in first
    assert re.findall(r"<details><summary><h2>(.*?)</h2>", rest) == [
        "All scores",
        "Significance",
        "Where is the gain over &lt;base&gt; &amp; co?",
        "Examples: switch&lt;out&gt;",
        "Examples: same",
    ]


def test_random_examples_come_first(html: str) -> None:
    groups = re.findall(r"<h3>(.*?)</h3>", html)
    assert groups[:3] == ["Drawn at random", "Largest gains", "Largest losses"]


def test_same_seed_same_page(results: list[Comparison]) -> None:
    assert page_of(results, 1) == page_of(results, 1)


def test_a_system_has_one_colour_on_the_whole_page(html: str) -> None:
    for name in ("switch&lt;out&gt;", "same"):
        groups = re.findall(rf'<g class="marks ([^"]*)" aria-label="{name}[ ,;:]', html)
        assert len(groups) > 2
        assert len({*groups}) == 1, name


def test_one_run_a_side_decides_nothing_about_the_methods() -> None:
    lines = [f"word{i} stands in line {i} of all" for i in range(50)]
    bad = [line.replace("stands", "sits") for line in lines]
    results = compare(lines, System("base", [bad]), [System("new", [lines])], n_resamples=200)
    assert results[0].p_holm < 0.05
    assert '<strong class="badge quiet">better outputs</strong>' in compare_page(results)


def test_differences_are_marked_by_the_reference() -> None:
    words = mark_words("the cat sat on mat", "the dog sat on a mat", "the cat sat on a mat")
    assert [w.kind for w in words] == ["same", "right", "same", "same", "same"]
    other = mark_words("the dog sat on a mat", "the cat sat on mat", "the cat sat on a mat")
    assert [w.kind for w in other] == ["same", "wrong", "same", "same", "right", "same"]


def test_a_page_without_sections_is_a_page() -> None:
    page = report_page(FirstScreen("Empty?"), [Section("Nothing")], made_by="switchout")
    assert "Empty?" in Page(page).text


def test_a_claim_as_plain_text_says_what_its_line_shows() -> None:
    claim = Claim("+SwitchOut", "undecided", "quiet", "Δ -0.50.", "4 seeds a side")
    assert claim.text == "+SwitchOut: undecided. Δ -0.50. What would settle it: 4 seeds a side."
    assert "+SwitchOut: Δ −0.50." in re.sub("<.*?>", "", claim.html())
