"""One self-contained page: a first screen that answers, and everything else folded below it.

It needs no network and has no script: style is inlined and charts are SVG. Colours follow the
reader's light or dark setting, the layout the width of the screen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, Protocol

from switchout.evaluation.examples import Example
from switchout.report.elements import Child, Html, element, style
from switchout.report.examples import card

Tone = Literal["good", "bad", "quiet", "warn"]


@dataclass(frozen=True)
class Claim:
    """One answer.

    Attributes:
        about: What it is about.
        verdict, tone: The badge.
        evidence: Why, in a sentence or two.
        settles: What would settle it, if it is open.
    """

    about: str
    verdict: str
    tone: Tone
    evidence: str = ""
    settles: str = ""

    @property
    def text(self) -> str:
        """The claim as plain text."""
        needed = f" What would settle it: {self.settles}." if self.settles else ""
        return f"{self.about}: {self.verdict}. {self.evidence}{needed}"

    def html(self) -> Html:
        """Return a line."""
        about = element("span", self.about, class_="about")
        return element("li", badge(self.verdict, self.tone), about, f": {_minus(self.evidence)}")


@dataclass(frozen=True)
class FirstScreen:
    """What a reader sees without scrolling.

    Attributes:
        question: The heading.
        about: One line below it: on what, how.
        claims: The answers.
        warnings: What makes them doubtful, said before anything else.
        figures: Charts and tables, side by side where there is room.
        settles: One sentence: what would settle what is open.
    """

    question: str
    about: str = ""
    claims: Sequence[Claim] = ()
    warnings: Sequence[str] = ()
    figures: Sequence[Html] = ()
    settles: str = ""

    def html(self) -> Html:
        """Return the heading and what stands below it."""
        claims = [claim.html() for claim in self.claims]
        return element(
            "header",
            element("h1", self.question),
            element("p", self.about, class_="note") if self.about else None,
            (_warning(text) for text in self.warnings),
            element("ul", claims, class_="claims") if claims else None,
            element("div", self.figures, class_="beside"),
            element("p", self.settles, class_="settles") if self.settles else None,
        )


def badge(word: str, tone: Tone) -> Html:
    """Return a verdict as a coloured word.

    Example:
        >>> badge("helps", "good")
        '<strong class="badge good">helps</strong>'
    """
    return element("strong", word, class_=f"badge {tone}")


def fold(title: str, *content: Child, is_open: bool = False) -> Html:
    """Return a part of a page that opens at a click, and when the page is printed."""
    heading = element("summary", element("h2", title))
    return element("details", heading, *content, open=is_open)


class Component(Protocol):
    """A table, a chart, an example: anything that can be shown."""

    def html(self) -> Html:
        """Return the markup."""


@dataclass(frozen=True)
class Section:
    """A folded part of a page.

    Attributes:
        title: What is seen of it while it is folded.
        text: Paragraphs.
        charts, tables, remarks, examples: Shown in this order; remarks are a list.
    """

    title: str
    text: Sequence[str] = ()
    charts: Sequence[Component] = ()
    tables: Sequence[Component] = ()
    remarks: Sequence[str] = ()
    examples: Sequence[Example] = ()

    def html(self) -> Html:
        """Return the part, folded."""
        charts = [chart.html() for chart in self.charts]
        remarks = [element("li", _minus(remark)) for remark in self.remarks]
        return fold(
            self.title,
            (element("p", text) for text in self.text),
            element("div", charts, class_="charts") if charts else None,
            (table.html() for table in self.tables),
            element("ul", remarks, class_="remarks") if remarks else None,
            self._examples(),
        )

    def _examples(self) -> Iterator[Child]:
        for title, examples in groupby(self.examples, key=lambda example: example.group):
            yield element("h3", title)
            yield map(card, examples)


def _warning(text: str) -> Html:
    return element("p", _minus(text), class_="warning", role="note")


def _minus(text: str) -> str:
    """Return a sentence whose negative numbers have a minus, as wide as a plus, not a hyphen."""
    return re.sub(r"(?<=[ (\[])-(?=\d)", "−", text)


def report_page(first: FirstScreen, sections: Sequence[Section], *, made_by: str) -> Html:
    """Return a whole report.

    Args:
        first: What answers.
        sections: Everything else.
        made_by: The lines that identify all numbers of the page: data, scorer, seeds, version.
    """
    footer = element("footer", element("p", made_by, class_="made-by"))
    main = element("main", (section.html() for section in sections))
    return skeleton(first.question, first.html(), main, footer)


def skeleton(title: str, *body: Child, head: Child = None) -> Html:
    """Return an HTML document with our style; ``head`` is for an application's own additions.

    Example:
        >>> page = skeleton("1 < 2", element("main", "yes"))
        >>> page.startswith("<!DOCTYPE html>"), "<title>1 &lt; 2</title>" in page
        (True, True)
    """
    written = element(
        "html",
        element(
            "head",
            element("meta", charset="utf-8"),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            element("title", title),
            element("style", Html(style())),
            head,
        ),
        element("body", *body),
        lang="en",
    )
    return Html(f"<!DOCTYPE html>\n{written}\n")
