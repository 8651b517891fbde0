"""The root of the grammar: which kind of sentence, how often."""

from __future__ import annotations

from collections.abc import Callable

from switchout.corpora.phrasebook import errands, everyday, sentences
from switchout.corpora.phrasebook.draw import Choices, weighted
from switchout.corpora.phrasebook.situations import because

KINDS: dict[Callable[[Choices], tuple[str, str]], int] = {
    sentences.statement: 340,
    sentences.yes_no: 95,
    sentences.wh: 120,
    sentences.request: 60,
    sentences.lets: 20,
    sentences.that: 80,
    sentences.whether: 75,
    sentences.two_statements: 30,
    sentences.to_infinitive: 25,
    sentences.in_order_to: 25,
    sentences.since: 22,
    sentences.relative: 75,
    because: 65,
    errands.price: 22,
    errands.directions: 32,
    errands.clock: 16,
    errands.age: 15,
    errands.introduction: 16,
    errands.order: 24,
    everyday.weather: 4,
    everyday.pain: 12,
    everyday.feeling: 25,
    everyday.quality: 45,
    everyday.comparison: 25,
    everyday.liking: 28,
    everyday.having: 28,
    everyday.positions: 28,
    errands.thanks: 8,
    everyday.belongings: 16,
    everyday.taken_up: 20,
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
