"""The pages of ``switchout report`` in a real browser: every kind, from made runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_looks import AXE

from conftest import DESKTOP, PHONE, opened

KINDS = ("table1", "table2", "tau", "wer", "sweep", "nothing learned")
NARROW = {"width": 320, "height": 640}
every_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(scope="session")
def reports(tmp_path_factory) -> dict[str, Path]:
    """A finished report of every kind."""
    from made_reports import write_reports

    return write_reports(tmp_path_factory.mktemp("reports"), KINDS)


def address_of(report: Path) -> str:
    return report.as_uri()


@every_kind
def test_first_screen_answers_without_scrolling(chromium, reports, kind):
    """What would settle it is the last line of the first screen."""
    address = address_of(reports[kind])
    with opened(chromium, address, viewport=DESKTOP) as page:
        page.goto(address)
        for part in ("h1", ".claims", ".beside figure", ".settles"):
            box = page.locator(part).last.bounding_box()
            assert box is not None, part
            assert box["y"] + box["height"] <= DESKTOP["height"], part
        frames = page.locator(".beside .scroll")
        cut = frames.evaluate_all(
            "all => all.filter(e => e.scrollWidth > e.clientWidth + 1).length"
        )
        assert cut == 0


@every_kind
@pytest.mark.parametrize("size", [PHONE, NARROW, DESKTOP], ids=str)
def test_no_report_scrolls_sideways_all_parts_open(chromium, reports, kind, size):
    address = address_of(reports[kind])
    with opened(chromium, address, viewport=size) as page:
        page.goto(address)
        folded = page.locator("details:not([open]) > summary")
        while folded.count():
            folded.first.click()
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        drawn = page.locator("figure.chart > svg")
        widths = drawn.evaluate_all("all => all.map(e => e.getBoundingClientRect().right)")
        assert max(widths) <= size["width"]


@every_kind
def test_text_of_charts_can_be_read_on_a_phone_and_is_not_cut(chromium, reports, kind):
    address = address_of(reports[kind])
    with opened(chromium, address, viewport=PHONE) as page:
        page.goto(address)
        found = page.locator(".beside svg text").evaluate_all(
            "all => all.map(e => { const b = e.getBoundingClientRect(), s = e.closest('svg')"
            ".getBoundingClientRect(); return [e.textContent, b.left - s.left, s.right - b.right,"
            " parseFloat(getComputedStyle(e).fontSize) * s.width / 380] })"
        )
    assert found
    for text, left, right, size in found:
        assert min(left, right) > -1, text
        assert size > 8.5, text


@every_kind
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault_in_a_report(chromium, reports, kind, scheme):
    address = address_of(reports[kind])
    with opened(chromium, address, color_scheme=scheme) as page:
        page.goto(address)
        page.locator("details").evaluate_all("all => all.forEach(e => { e.open = true })")
        page.add_script_tag(path=AXE)
        faults = page.evaluate("axe.run().then((found) => found.violations)")
    serious = [f for f in faults if f["impact"] in ("serious", "critical")]
    assert [(f["id"], [n["html"][:200] for n in f["nodes"]]) for f in serious] == []


def test_folded_parts_are_printed(chromium, reports):
    address = address_of(reports["table1"])
    with opened(chromium, address) as page:
        page.goto(address)
        hidden = page.get_by_text("Drawn at random")
        assert not hidden.is_visible()
        page.emulate_media(media="print")
        assert hidden.is_visible()


def test_a_curve_is_reached_by_keyboard_and_read_aloud(chromium, reports):
    address = address_of(reports["table1"])
    with opened(chromium, address) as page:
        page.goto(address)
        for _ in range(3):
            page.keyboard.press("Tab")
        said = page.evaluate("document.activeElement.getAttribute('aria-label')")
        assert said.startswith("+SwitchOut against Transformer: ")
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none"
