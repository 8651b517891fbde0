"""The weather, pains, feelings and likings."""

from __future__ import annotations

from phrasebook import german
from phrasebook.draw import Choices
from phrasebook.german import ACC, DAT, NOM
from phrasebook.lexicon import tagged, words
from phrasebook.nounphrase import POSSESSIVES_EN, build
from phrasebook.people import (
    ASKING,
    ASSERTING,
    HE,
    LISTENER,
    OBJECTS,
    SHE,
    I,
    person,
    pronoun,
)
from phrasebook.things import BE_EN, DEGREES, be, definite

Pair = tuple[str, str]


def weather(d: Choices) -> Pair:
    de, *wordings = d.spin(words("weather"))
    return f"{de} .", f"{d.word(wordings)} ."


def pain(d: Choices) -> Pair:
    """Return what hurts: dative and article in German, possessive in English."""
    part = d.spin(tagged("body"))
    aching = f"{german.THE[part.gender][NOM]} {part.singular[0]}"
    if d.chance(25):
        who = pronoun(d, LISTENER)
        return f"tut {who.de[DAT]} {aching} weh ?", f"does your {part.one} hurt ?"
    who = d.pick((I, I, HE, SHE)) if d.chance(60) else person(d)
    while who.person == 5:
        who = person(d)
    owner = POSSESSIVES_EN[who.owner] if who.kind == "pronoun" else f"{who.en} 's"
    when, when_en = d.pick((("", ""), ("seit gestern ", "since yesterday"), ("", "")))
    if when:
        return (
            f"{who.de[DAT]} tut {when}{aching} weh .",
            f"{owner} {part.one} has been hurting {when_en} .",
        )
    return f"{who.de[DAT]} tut {aching} weh .", f"{owner} {part.one} hurts ."


def feeling(d: Choices) -> Pair:
    """Return how somebody is: adjectives, Hunger haben, wie geht es."""
    kind = d.below(8)
    if kind == 0:
        who = person(d, ASKING, 30)
        are = BE_EN[who.agreement]
        return f"wie geht es {who.de[DAT]} ?", f"how {are} {who.en} ?"
    state, *wordings = d.spin(words("adjective for people"))
    state_en = d.word(wordings)
    if kind < 3:
        who = person(d, ASKING)
        de, en = be(who)
        return f"{de} {who.de[NOM]} {state} ?", f"{en} {who.en} {state_en} ?"
    who = person(d, ASSERTING)
    past = d.chance(30)
    de, en = be(who, past)
    when = (
        ("gestern ", " yesterday") if past else d.pick((("", ""), ("heute ", " today"), ("", "")))
    )
    degree = d.spin(DEGREES)
    if state in ("verheiratet", "allein", "fertig", "gesund", "wach"):
        degree, when = d.pick((("", ""), ("nicht ", "not "))), ("", "")
    return (
        f"{who.de[NOM]} {de} {when[0]}{degree[0]}{state} .",
        f"{who.en} {en} {degree[1]}{state_en}{when[1]} .",
    )


def liking(d: Choices) -> Pair:
    """Return gefallen and schmecken, whose subject is the object of like, and mögen."""
    kind = d.below(3)
    if kind == 0:
        noun, verb = d.spin(tagged("likeable,pretty")), PLEASE
    elif kind == 1:
        noun, verb = d.spin(tagged("dish,cake")), TASTE
    else:
        return _mögen(d)
    phrase = definite(d, noun)
    who = pronoun(d, OBJECTS) if d.chance(75) else person(d)
    finite = verb.present[phrase.person]
    if who.owner in (1, 5, 7) and who.kind == "pronoun":
        return f"{finite} {who.de[DAT]} {phrase.de[NOM]} ?", f"do you like {phrase.en} ?"
    does = "does" if who.agreement == 1 else "do"
    likes = "likes" if who.agreement == 1 else "like"
    if d.chance(25):
        return (
            f"{phrase.de[NOM]} {finite} {who.de[DAT]} nicht .",
            f"{who.en} {does} not like {phrase.en} .",
        )
    much = d.pick((("", ""), (" sehr", " very much") if kind == 0 else (" sehr gut", " very much")))
    return (
        f"{phrase.de[NOM]} {finite} {who.de[DAT]}{much[0]} .",
        f"{who.en} {likes} {phrase.en}{much[1]} .",
    )


PLEASE = german.Verb("gefallen gefällt gefiel gefallen h")
TASTE = german.Verb("schmecken schmeckt schmeckte geschmeckt h")
LIKE = german.Verb("mögen mag mochte gemocht h")


def _mögen(d: Choices) -> Pair:
    noun = d.spin(tagged("drink,food,pet,fruit"))
    phrase = build(d, noun, "none", noun.countable)
    who = person(d, ASSERTING)
    likes = "likes" if who.agreement == 1 else "like"
    if d.chance(30):
        does = "does" if who.agreement == 1 else "do"
        no = build(d, noun, "kein", noun.countable)
        return (
            f"{who.de[NOM]} {LIKE.present[who.person]} {no.de[ACC]} .",
            f"{who.en} {does} not like {phrase.en} .",
        )
    return (
        f"{who.de[NOM]} {LIKE.present[who.person]} {phrase.de[ACC]} .",
        f"{who.en} {likes} {phrase.en} .",
    )
