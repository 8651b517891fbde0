"""The root of the grammar: which kind of sentence, how often."""

from __future__ import annotations

from collections.abc import Callable

from phrasebook import (
    combined,
    errands,
    feelings,
    questions,
    relatives,
    sentences,
    things,
)
from phrasebook.draw import Choices, weighted
from phrasebook.situations import because

KINDS: dict[Callable[[Choices], tuple[str, str]], int] = {
    sentences.statement: 380,
    questions.yes_no: 95,
    questions.wh: 120,
    sentences.request: 60,
    sentences.lets: 20,
    sentences.that: 50,
    questions.whether: 45,
    sentences.two_statements: 14,
    sentences.to_infinitive: 25,
    sentences.in_order_to: 16,
    sentences.since: 22,
    relatives.relative: 40,
    because: 45,
    combined.meanwhile: 12,
    combined.one_after_the_other: 12,
    combined.told_twice: 16,
    errands.price: 22,
    errands.directions: 32,
    errands.clock: 16,
    errands.age: 15,
    errands.introduction: 16,
    errands.order: 24,
    feelings.weather: 4,
    feelings.pain: 12,
    feelings.feeling: 25,
    things.quality: 45,
    things.comparison: 25,
    feelings.liking: 28,
    things.having: 28,
    things.positions: 28,
    errands.thanks: 8,
    things.belongings: 16,
    things.taken_up: 20,
}
WHEEL = weighted(KINDS)


def pair(seed: int, index: int, *, canonical: bool = False) -> tuple[str, str]:
    """Return the German and the English sentence at an address.

    ``canonical`` takes the most probable English wording instead of a drawn one; the German
    sentence is the same.
    """
    d = Choices(seed, index, canonical=canonical)
    de, en = d.spin(WHEEL)(d)
    return de.replace(" , .", " .").replace("  ", " "), en.replace("  ", " ")
