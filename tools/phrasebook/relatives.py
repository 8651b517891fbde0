"""People and things with a relative clause."""

from __future__ import annotations

from phrasebook import german
from phrasebook.draw import Choices
from phrasebook.events import NOBODY, event, frames_with, named
from phrasebook.lexicon import Noun, tagged
from phrasebook.nounphrase import Phrase, build

Pair = tuple[str, str]


def relative(d: Choices) -> Pair:
    """Return a noun with a relative clause, at the end of a statement or as its subject."""
    if d.chance(50):
        return _relative_person(d)
    return _relative_thing(d)


def _relative_person(d: Choices) -> Pair:
    noun = d.spin(tagged("human,job"))
    phrase = build(d, noun, "def")
    plan = d.pick(("", "past", "past"))
    frame = d.spin(frames_with("a" if plan else "s"))
    gap = NOBODY._replace(owner=(2, 3, -1)[noun.gender])
    clause = event(d, frame, subject=gap, negation=8, plan=plan, plain=d.chance(60))
    inner = f", {german.THE[noun.gender][0]} {clause.de_relative()}"
    inner_en = f"who {clause.en_statement()}"
    return _use_person(d, noun, phrase, inner, inner_en)


def _use_person(d: Choices, noun: Noun, phrase: Phrase, inner: str, inner_en: str) -> Pair:
    kind = d.below(5)
    if kind == 0:
        return f"das ist {phrase.de[0]} {inner} .", f"that is {phrase.en} {inner_en} ."
    if kind == 1:
        who = "kennen Sie" if d.polite else "kennst du"
        return f"{who} {phrase.de[1]} {inner} ?", f"do you know {phrase.en} {inner_en} ?"
    if kind == 2:
        return f"ich kenne {phrase.de[1]} {inner} .", f"I know {phrase.en} {inner_en} ."
    predicate, *wordings = d.pick(PREDICATES[noun.gender])
    return (
        f"{phrase.de[0]} {inner} , ist {predicate} .",
        f"{phrase.en} {inner_en} is {d.word(wordings)} .",
    )


_ANYBODY = (
    ("sehr nett", "very nice"),
    ("krank", "sick", "ill"),
    ("sehr freundlich", "very friendly"),
    ("immer pünktlich", "always on time"),
)
PREDICATES = (
    (*_ANYBODY, ("mein Nachbar", "my neighbor"), ("ein Freund von mir", "a friend of mine")),
    (*_ANYBODY, ("meine Nachbarin", "my neighbor"), ("eine Freundin von mir", "a friend of mine")),
    _ANYBODY,
)
OWNING = "kaufen lesen suchen finden verlieren tragen reparieren verkaufen vergessen bestellen"


def _relative_thing(d: Choices) -> Pair:
    """Return a thing with an object relative: das Buch, das du mir gegeben hast."""
    frame = d.spin(named(OWNING))
    tags = frame.complements[-1][1].rstrip("!?")
    noun = d.spin(tagged(tags))
    while not _describable(noun) or noun.adjectives is None:
        noun = d.spin(tagged(tags))
    clause = event(d, frame, gap="object", negation=0, plan="past", plain=d.chance(70))
    inner = f", {german.THE[noun.gender][1]} {clause.de_relative()}"
    inner_en = f"that {clause.en_statement()}"
    phrase = build(d, noun, "def")
    adjective = d.spin(noun.adjectives)
    verb_en = "are" if noun.pair else "is"
    if d.chance(55):
        return (
            f"{phrase.de[0]} {inner} , ist {adjective.predicative} .",
            f"{phrase.en} {inner_en} {verb_en} {adjective.english} .",
        )
    if d.chance(50):
        return f"wo ist {phrase.de[0]} {inner} ?", f"where {verb_en} {phrase.en} {inner_en} ?"
    opening = ("that is", "those are")[noun.pair]
    return f"das ist {phrase.de[0]} {inner} .", f"{opening} {phrase.en} {inner_en} ."


def _describable(noun: Noun) -> bool:
    known = noun.profile in ("thing", "the") and noun.tags.isdisjoint(("task", "event"))
    return known and noun.countable
