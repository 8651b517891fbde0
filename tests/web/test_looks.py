"""Everybody can use the pages: axe finds no serious fault, a phone needs no sideways scrolling."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from conftest import DESKTOP, PHONE, TESTS, opened

PAIR = "?src=das+ist+ein+Haus+%3Cscript%3E&tgt=this+is+a+house&tau_x=3&vocab_y=pieces"
COMPARED = "run=plain-1&run=plain-2&run=sweep/noisy-1&run=sweep/noisy-2"
PAGES = {
    "playground": PAIR,
    "corpus": "corpus?tau_x=3",
    "runs": "runs",
    "run": "runs/sweep/noisy-1",
    "compare": f"compare?{COMPARED}",
    "report": f"compare/report?{COMPARED}",
    "translate": "translate",
    "api": "api",
    "problem": "runs?sort=nothing",
}
AXE = Path(os.environ.get("AXE", TESTS.parent / ".venv" / "axe.min.js"))
SHOTS = os.environ.get("SCREENSHOTS")  # a folder: pictures to look at
every_page = pytest.mark.parametrize("name", PAGES)


@every_page
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault(chromium, address, name, scheme):
    # The report forbids all scripts, and axe is one.
    with opened(chromium, address, color_scheme=scheme, bypass_csp=True) as page:
        page.goto(address + PAGES[name], wait_until="load")
        page.add_script_tag(path=AXE)
        faults = page.evaluate("axe.run().then((found) => found.violations)")
        _picture(page, f"{name}-{scheme}")
    serious = [f for f in faults if f["impact"] in ("serious", "critical")]
    assert [(f["id"], [n["html"][:200] for n in f["nodes"]]) for f in serious] == []


@every_page
@pytest.mark.parametrize("size", [PHONE, {"width": 320, "height": 640}, DESKTOP], ids=str)
def test_no_page_scrolls_sideways(chromium, address, name, size):
    with opened(chromium, address, viewport=size) as page:
        page.goto(address + PAGES[name], wait_until="load")
        folded = page.locator("details:not([open]) > summary")
        while folded.count():
            folded.first.click()
        width = page.evaluate("document.documentElement.scrollWidth")
        _picture(page, f"{name}-{size['width']}")
    assert width <= size["width"]


def test_a_wide_table_shows_on_a_phone_that_there_is_more_and_whose_row_it_is(chromium, address):
    with opened(chromium, address, viewport=PHONE) as page:
        page.goto(address + PAGES["runs"], wait_until="load")
        frame, name = page.locator(".scroll"), page.locator("tbody th").first
        assert frame.evaluate("e => e.scrollWidth > e.clientWidth")
        style = frame.evaluate("e => getComputedStyle(e).backgroundImage")
        assert style.count("linear-gradient") == 4  # two shadows, and what covers them at the end
        frame.evaluate("e => e.scrollTo(e.scrollWidth, 0)")
        last = page.locator("tbody tr:first-child td").last.bounding_box()
        assert last["x"] + last["width"] <= PHONE["width"]
        assert name.bounding_box()["x"] == pytest.approx(frame.bounding_box()["x"], abs=1)


def test_sentences_about_the_interface_are_whole_on_a_phone(chromium, address):
    with opened(chromium, address, viewport=PHONE) as page:
        page.goto(address + PAGES["api"], wait_until="load")
        told = page.get_by_text("Sample, say how probable each sample is")
        box = told.bounding_box()
        assert box["x"] + box["width"] <= PHONE["width"]
        assert told.evaluate("e => e.scrollWidth <= e.clientWidth")


@every_page
def test_everything_is_reached_with_the_tab_key(chromium, address, name):
    """Every control gets the focus, in turn, and shows it."""
    with opened(chromium, address) as page:
        page.goto(address + PAGES[name], wait_until="load")
        count = page.locator(
            "a:visible, button:visible, input:visible, select:visible, textarea:visible"
        ).count()
        seen: set[str] = set()
        for _ in range(count + page.locator("[tabindex='0'], summary").count()):
            page.keyboard.press("Tab")
            seen.add(
                page.evaluate(
                    "(e => e.tagName + (e.id || e.name || e.href || e.innerText))"
                    "(document.activeElement)"
                )
            )
        reached = {text for text in seen if not text.startswith(("G", "BODY"))}
        assert len(reached) >= min(count, 5) - 1
        page.keyboard.press("Shift+Tab")
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none"


def _picture(page, name: str) -> None:
    if SHOTS:
        Path(SHOTS).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=Path(SHOTS) / f"{name}.png", full_page=True)
