"""Somebody: pronouns, names, relatives, friends and strangers, in both languages at once."""

from __future__ import annotations

from phrasebook import german
from phrasebook.draw import Choices, Wheel, weighted
from phrasebook.lexicon import tagged, words
from phrasebook.nounphrase import Phrase, noun_phrase


def _pronouns() -> tuple[Phrase, ...]:
    forms = (  # English subject, object, German person, agreement, owner
        ("I", "me", 0, 0, 0),
        ("you", "you", 1, 2, 1),
        ("he", "him", 2, 1, 2),
        ("she", "her", 2, 1, 3),
        ("it", "it", 2, 1, -1),
        ("we", "us", 3, 2, 4),
        ("you", "you", 4, 2, 5),
        ("they", "them", 5, 2, 6),
        ("you", "you", 5, 2, 7),
    )
    return tuple(
        Phrase(cases, subject, obj, person, agreement, owner, "pronoun")
        for cases, (subject, obj, person, agreement, owner) in zip(
            german.PRONOUNS, forms, strict=True
        )
    )


PRONOUNS = _pronouns()
I, YOU, HE, SHE, IT, WE, YOU_ALL, THEY, YOU_POLITE = PRONOUNS
ASSERTING = weighted({I: 34, HE: 17, SHE: 16, WE: 15, THEY: 9, YOU: 4, YOU_POLITE: 3, YOU_ALL: 2})
ASKING = weighted({YOU: 34, YOU_POLITE: 28, HE: 11, SHE: 10, YOU_ALL: 7, THEY: 5, WE: 5})
OTHERS = weighted({HE: 30, SHE: 28, THEY: 20, WE: 14, I: 8})
OBJECTS = weighted({I: 25, YOU: 20, HE: 15, SHE: 12, WE: 12, YOU_ALL: 5, YOU_POLITE: 11})
TOGETHER = {0: (0, 4), 4: (0, 4, 1, 5, 7), 1: (1, 5), 5: (1, 5), 7: (7,)}  # owners that overlap
LISTENER = weighted({YOU: 1})


def pronoun(d: Choices, wheel: Wheel[Phrase]) -> Phrase:
    """Return a pronoun of the wheel in the register of the sentence: du and ihr, or Sie."""
    phrase = d.spin(wheel)
    if phrase.owner in (1, 5) and d.polite:
        return YOU_POLITE
    return YOU if phrase.owner == 7 and not d.polite else phrase


def name(d: Choices) -> Phrase:
    """Return a first name, or Herr or Frau and a surname."""
    if d.chance(14):
        surname = d.spin(words("surname"))[0]
        if d.chance(50):
            forms = (f"Herr {surname}", *(f"Herrn {surname}",) * 3)
            return Phrase(forms, f"Mr {surname}", f"Mr {surname}", 2, 1, 2, "name")
        return Phrase((f"Frau {surname}",) * 4, f"Mrs {surname}", f"Mrs {surname}", 2, 1, 3, "name")
    male = d.chance(50)
    word = d.spin(words("male name" if male else "female name"))[0]
    return Phrase((word,) * 4, word, word, 2, 1, 2 if male else 3, "name")


def object_pronoun(d: Choices, subject: Phrase) -> Phrase:
    """Return a personal pronoun that cannot mean (part of) the subject."""
    while True:
        phrase = pronoun(d, OBJECTS)
        if phrase.owner not in TOGETHER.get(subject.owner, ()) or phrase.owner < 0:
            return phrase


PEOPLE = weighted({"name": 26, "kin": 28, "friend": 14, "job": 14, "human": 14, "parents": 4})
COMPANY = weighted({"name": 34, "kin": 34, "friend": 24, "parents": 8})


def person(d: Choices, pronouns: Wheel[Phrase] | None = None, share: int = 38) -> Phrase:
    """Return somebody: a pronoun in ``share`` percent of cases, else a name or a noun.

    One asks about *your* sister and speaks of *my* sister.
    """
    if pronouns is not None and d.chance(share):
        return pronoun(d, pronouns)
    kind = d.spin(PEOPLE)
    if kind == "name":
        return name(d)
    listener = pronoun(d, LISTENER) if pronouns is ASKING else None
    return noun_phrase(d, d.spin(tagged(kind)), listener)


def company(d: Choices, subject: Phrase) -> Phrase:
    """Return somebody to do a thing with."""
    kind = d.spin(COMPANY)
    return name(d) if kind == "name" else noun_phrase(d, d.spin(tagged(kind)), subject)
