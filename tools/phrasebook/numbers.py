"""Numbers up to 99 in words, in both languages."""

from __future__ import annotations

from phrasebook.draw import Choices
from phrasebook.lexicon import words

Pair = tuple[str, str]


def number(d: Choices, low: int, high: int) -> Pair:
    """Return a number of low..high (at most 99) in words, round ones more often."""
    value = low + d.below(high - low + 1)
    if value > 20 and d.chance(60):
        value -= value % 10
    return in_words(value)


def in_words(value: int) -> Pair:
    units = words("hour").items
    if value <= 12:
        return units[value - 1][0], units[value - 1][1]
    if value < 20:
        return TEENS[value - 13]
    ten, ten_en = TENS[value // 10 - 2]
    if value % 10 == 0:
        return ten, ten_en
    unit, unit_en = units[value % 10 - 1][:2]
    return f"{'ein' if unit == 'eins' else unit}und{ten}", f"{ten_en}-{unit_en}"


TEENS = (
    ("dreizehn", "thirteen"),
    ("vierzehn", "fourteen"),
    ("fünfzehn", "fifteen"),
    ("sechzehn", "sixteen"),
    ("siebzehn", "seventeen"),
    ("achtzehn", "eighteen"),
    ("neunzehn", "nineteen"),
)
TENS = (
    ("zwanzig", "twenty"),
    ("dreißig", "thirty"),
    ("vierzig", "forty"),
    ("fünfzig", "fifty"),
    ("sechzig", "sixty"),
    ("siebzig", "seventy"),
    ("achtzig", "eighty"),
    ("neunzig", "ninety"),
)
