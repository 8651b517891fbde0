"""The playground as a person uses it."""

from __future__ import annotations

import json
import re
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page, expect

from conftest import PHONE, opened

PAIR = "?src=das+ist+ein+Haus+.&tgt=this+is+a+house+."


def samples(page: Page) -> str:
    return page.locator("section:has(#samples-title)").inner_text()


def chart(page: Page) -> str:
    return page.locator("section:has(#laws-title) svg").first.inner_html()


def slide(page: Page, name: str, value: float) -> None:
    """Move the slider as a hand does: the browser fires its own events."""
    slider = page.locator(f'[data-for="{name}"]')
    slider.focus()
    slider.fill(str(value))


def settled(page: Page, expected: str) -> None:
    expect(page.locator("#answer .facts")).to_contain_text(expected)


def test_the_slider_changes_samples_and_chart(page, address):
    page.goto(address + PAIR)
    before = samples(page), chart(page)
    slide(page, "tau_x", 5.0)
    settled(page, "τ 5")
    assert samples(page) != before[0]
    assert chart(page) != before[1]
    assert page.locator('[name="tau_x"]').input_value() == "5"
    slide(page, "tau_x", 1.0)
    expect(page.locator(".facts span").first).to_contain_text("0.57 of 5 words change")
    assert (samples(page), chart(page)) == before


def test_the_slider_is_moved_by_the_keyboard(page, address):
    page.goto(address + PAIR)
    page.locator('[data-for="tau_x"]').focus()
    for _ in range(20):
        page.keyboard.press("ArrowRight")
    settled(page, "τ 2")
    assert page.locator('[name="tau_x"]').input_value() == "2"


def test_the_number_moves_the_slider(page, address):
    page.goto(address + PAIR)
    page.locator('[name="tau_y"]').fill("3")
    settled(page, "τ 3")
    assert page.locator('[data-for="tau_y"]').input_value() == "3"


def test_the_page_shows_what_the_interface_says(page, address):
    page.goto(address + PAIR + "&tau_x=4&tau_y=0&seed=11")
    with urlopen(address + "api/play" + PAIR + "&tau_x=4&tau_y=0&seed=11") as answer:
        source = json.load(answer)["source"]
    marked = page.locator("section:has(#samples-title) mark.new")
    expected = [
        f"{w['text']} {w['was']}" for s in source["samples"] for w in s["words"] if w["was"]
    ]
    assert marked.all_inner_texts() == expected
    assert expected


def test_markup_that_is_typed_is_shown(page, address):
    page.goto(address + PAIR)
    typed = "<unk> <script>alert(1)</script> <b>Haus</b> & das"
    page.locator('[name="src"]').fill(typed)
    page.locator("#answer").get_by_text("Not in the vocabulary").wait_for()
    shown = samples(page)
    for word in typed.split():
        assert word in shown
    assert page.locator("#answer script").count() == 0
    assert page.locator("#answer section:has(#samples-title) b").count() == 0
    page.reload()  # the address carries the question
    assert page.locator('[name="src"]').input_value() == typed
    assert "<script>alert(1)</script>" in samples(page)


def test_a_mistake_is_one_line_and_can_be_mended(page, address):
    page.goto(address + PAIR)
    page.locator('[name="by_x"]').select_option("rate")
    page.locator('[name="rate_x"]').fill("0.9")
    page.locator(".problem").wait_for()
    assert "0.5" in page.locator(".problem").inner_text()
    page.locator('[name="rate_x"]').fill("0.2")
    expect(page.locator("#answer .facts")).to_contain_text("1.00 of 5 words")


def test_a_mistake_in_the_address_can_be_mended_in_the_form(chromium, address):
    with opened(chromium, address) as page:
        page.goto(address + "?src=das+ist+ein+Haus+.&tau_x=abc")
        expect(page.locator(".problem")).to_contain_text("tau_x must be a temperature >= 0")
        assert page.locator('[name="src"]').input_value() == "das ist ein Haus ."
        page.locator('[name="tau_x"]').fill("0")
        expect(page.locator("#answer .facts")).to_contain_text("0.00 of 5 words")
        assert page.locator(".problem").count() == 0


def test_snippets_are_copied(chromium, address):
    permissions = ["clipboard-read", "clipboard-write"]
    with opened(chromium, address, permissions=permissions) as page:
        page.goto(address + PAIR + "&tau_x=2.5")
        page.get_by_role("button", name="copy TOML").click()
        page.get_by_text("copied").wait_for()
        copied = page.evaluate("navigator.clipboard.readText()")
    assert 'policy = "switchout"\ntau = 2.5' in copied


def test_a_line_of_the_corpus_is_taken(page, address):
    page.goto(address)
    with urlopen(address + "api/line?n=7") as answer:
        pair = json.load(answer)
    page.locator("#line").fill("7")
    page.get_by_role("button", name="Take this line").click()
    expect(page.locator('[name="src"]')).to_have_value(pair["source"])
    expect(page.locator('[name="tgt"]')).to_have_value(pair["target"])
    expect(page.locator("#samples-title + ol")).to_contain_text(pair["target"].split()[0])


def test_a_file_becomes_the_vocabulary(page, address, tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("das\nist\nein\nHaus\n.\n<tag>\n")
    page.goto(address + PAIR + "&tau_x=6")
    page.locator("#vocabulary-file").set_input_files(path)
    expect(page.locator("#told")).to_contain_text("mine.txt is the vocabulary")
    name = page.locator('[name="vocab_x"]').input_value()
    assert name.startswith("file-")
    expect(page).to_have_url(re.compile("file-"))
    marked = page.locator("#samples-title + ol p:first-child mark.new").all_inner_texts()
    drawn = {text.split()[0] for text in marked}
    assert drawn <= {"das", "ist", "ein", "Haus", ".", "<tag>"}
    assert drawn


def test_a_wrong_file_is_refused(page, address, tmp_path):
    path = tmp_path / "twice.txt"
    path.write_text("a\nb\na\n")
    page.goto(address)
    page.locator("#vocabulary-file").set_input_files(path)
    expect(page.locator("#told")).to_contain_text("twice.txt:3: 'a' stands already in line 1")


def test_it_works_without_scripts(chromium, address):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    page.locator('[name="src"]').fill("das ist ein Haus .")
    page.locator('[name="tau_x"]').fill("0")
    page.get_by_role("button", name="Sample").click()
    assert "0.00 of 5 words" in page.locator(".facts").inner_text()
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pieces_stand_beside_words(chromium, address, scheme):
    with opened(chromium, address, color_scheme=scheme, viewport=PHONE) as page:
        page.goto(address + PAIR + "&vocab_x=pieces&tau_x=5")
        captions = page.locator(".unit figcaption").all_inner_texts()
    assert [caption.split(":")[0] for caption in captions] == [
        "source, unit piece",
        "source, unit word",
    ]
    assert captions[1].endswith(" 0% of them invented")
    assert not captions[0].endswith(" 0% of them invented")
