"""Draw a clause from a frame of the verb table: arguments, adverbials, negation."""

from __future__ import annotations

from functools import cache

from phrasebook import german
from phrasebook.clause import Clause
from phrasebook.draw import Choices, Wheel, zipf
from phrasebook.german import ACC, DAT
from phrasebook.lexicon import Frame, Noun, frames, tagged, words
from phrasebook.nounphrase import Phrase, build, negated, noun_phrase
from phrasebook.people import (
    ASKING,
    ASSERTING,
    company,
    name,
    object_pronoun,
    person,
)
from phrasebook.tenses import PLANS, THING_PLANS, set_time

NOBODY = Phrase(("",) * 4, "", "", 2, 1, -1, "pronoun")  # the gap that wer, was, der leave


@cache
def human_frames() -> Wheel[Frame]:
    return zipf([frame for frame in frames() if frame.subject == "P"], 20)


@cache
def thing_frames() -> Wheel[Frame]:
    return zipf([frame for frame in frames() if frame.subject != "P"], 10)


@cache
def frames_with(kinds: str) -> Wheel[Frame]:
    """Return what people do, of the given kinds (activity, event, state)."""
    return zipf([f for f in frames() if f.subject == "P" and f.kind in kinds], 20)


@cache
def named(infinitives: str) -> Wheel[Frame]:
    """Return the frames of people with one of the verbs, in the order of the verb table."""
    wanted = infinitives.split()
    found = [f for f in frames() if f.subject == "P" and f.verb.infinitive in wanted]
    return zipf([f for f in found if f.complements[0][0] in ("A", "D")] or found, 6)


def event(
    d: Choices,
    frame: Frame | None = None,
    *,
    subject: Phrase | None = None,
    pronouns: Wheel[Phrase] = ASSERTING,
    plan: str = "",
    gap: str = "",
    negation: int = 12,
    objects: str = "",
    plain: bool = False,
) -> Clause:
    """Return a clause of ``frame`` (else of any), complete but for the order.

    Args:
        d: The draws.
        frame: What happens.
        subject, pronouns: Who does it, or which pronouns may.
        plan: When: now, habit, past, future, modal, past modal, state, was, schedule, infinitive.
        gap: What a question or relative pronoun replaces: subject, object, place, company.
        negation: Percentage of negated clauses.
        objects: Tags for the last complement instead of the frame's.
        plain: Leave out manner, company and place.
    """
    if frame is None:
        frame = d.spin(thing_frames() if subject is None and d.chance(13) else human_frames())
    if gap == "subject":
        subject = NOBODY
    elif subject is None and frame.subject == "P":
        subject = person(d, pronouns)
    elif subject is None:
        subject = _thing(d, frame)
    clause = Clause(subject, frame.verb, frame.head, frame.pattern)
    plans = PLANS if frame.subject == "P" else THING_PLANS
    plan = plan or d.spin(plans[frame.kind])
    set_time(d, clause, plan, frame, spoken=pronouns is ASKING)
    negative = plan not in ("schedule", "habit") and d.chance(negation)
    _complements(
        d, clause, frame, gap=gap, negative=negative, habit=plan == "habit", objects=objects
    )
    clause.negative = negative
    clause.nicht = negative and not any(piece.startswith("kein") for piece in clause.rest)
    if not negative and not plain:
        _extras(d, clause, frame, plan=plan, gap=gap)
    if negative and clause.de_form == "must":
        clause.en_form = "have to"
    if negative and clause.de_form == "would like":
        clause.en_form = "want to"
    return clause


def _thing(d: Choices, frame: Frame) -> Phrase:
    noun = d.spin(tagged(frame.subject))
    if noun.place or "public" in noun.tags:
        return build(d, noun, "def")
    if "+plain" in frame.extras:
        return build(d, noun, "dies" if d.chance(60) else "def")
    phrase = noun_phrase(d, noun)
    return phrase if phrase.definite else build(d, noun, "def", phrase.person == 5)


def _complements(
    d: Choices,
    clause: Clause,
    frame: Frame,
    *,
    gap: str,
    negative: bool,
    habit: bool,
    objects: str,
) -> None:
    """Draw the arguments and put them where nicht and the English pattern want them."""
    seen: list[str] = []
    for case, own_tags in frame.complements:
        tags = objects if objects and len(seen) == len(frame.complements) - 1 else own_tags
        if habit and tags and tags[-1] not in "!?" and "name" not in tags:
            tags += "?"  # what one does every day one does to any such thing
        asked = gap in ("object", "place") and not seen
        seen.append(case)
        if asked:
            clause.complements.append("")
        elif case == "name":
            somebody = name(d)
            clause.pronouns.append(somebody.de[ACC])
            clause.complements.append(somebody.en)
        elif case in FIXED:
            _fixed(d, clause, case, negative=negative)
        elif case in ("dir", "loc"):
            noun = d.spin(tagged(tags.rstrip("?")))
            de, en = place(d, noun, direction=case == "dir", vehicle=frame.subject != "P")
            clause.rest.append(de)
            clause.complements.append(en)
        else:
            pronoun = "+o" in frame.extras and len(seen) == 1
            _argument(d, clause, case=case, tags=tags, negative=negative, pronoun=pronoun)


FIXED = {
    "to-city": "city",
    "in-city": "city",
    "to-country": "country",
    "in-country": "country",
    "language": "language",
    "subject": "subject",
}


def _fixed(d: Choices, clause: Clause, case: str, *, negative: bool) -> None:
    motion = case.startswith("to-")
    if case.endswith("country") and d.chance(12):
        de, en = d.spin(words("article country"))
        de = f"in die {de}" if motion else f"in der {de}"
        en = f"to {en}" if motion else f"in {en}"
    else:
        de, en = d.spin(words(FIXED[case]))
        if case in ("language", "subject"):
            de = f"kein {de}" if negative and case == "language" else de
        else:
            de = f"nach {de}" if motion else f"in {de}"
            en = f"to {en}" if motion else f"in {en}"
    clause.rest.append(de)
    clause.complements.append(en)


def place(d: Choices, noun: Noun, *, direction: bool, vehicle: bool = False) -> tuple[str, str]:
    """Return where (im Park) or where to (in den Park; but a bus goes zum Park)."""
    where, _, to = noun.place[1:].partition(">")
    loc, _, loc_en = where.partition(":")
    adjectives = (d.spin(noun.adjectives),) if noun.adjectives and d.chance(7) else ()
    phrase = build(d, noun, "def", adjectives=adjectives)
    if not direction:
        return german.join(loc, phrase.de[DAT]), _school(f"{loc_en} {phrase.en}")
    to = "zu" if vehicle else to
    return german.join(to, phrase.de[DAT if to == "zu" else ACC]), _school(f"to {phrase.en}")


def _school(phrase: str) -> str:
    return phrase.replace(" the school", " school") if phrase.endswith(" the school") else phrase


def _argument(
    d: Choices, clause: Clause, *, case: str, tags: str, negative: bool, pronoun: bool
) -> None:
    preposition, _, letter = case.rpartition("+")
    index = ACC if letter == "A" else DAT
    phrase, noun = _somebody_or_something(d, clause.subject, tags, pronoun=pronoun)
    if negative and not phrase.definite and not preposition and noun is not None:
        phrase = negated(d, phrase, noun)
    de = phrase.de[index]
    if preposition:
        clause.rest.append(german.join(preposition, de))
    elif phrase.kind != "noun":  # pronouns and names come before the time
        clause.pronouns.append(de)
    elif phrase.definite:
        clause.objects.append(de)
    else:
        clause.rest.append(de)
    clause.complements.append(phrase.en_object)


def _somebody_or_something(
    d: Choices, subject: Phrase, tags: str, *, pronoun: bool
) -> tuple[Phrase, Noun | None]:
    if tags == "P" or (pronoun and d.chance(30)):
        return object_pronoun(d, subject), None
    if tags.endswith(",name"):
        if d.chance(20):
            return name(d), None
        tags = tags.removesuffix(",name")
    mark = tags[-1] if tags[-1] in "!?" else ""
    noun = d.spin(tagged(tags.rstrip("!?")))
    while "ladies" in noun.tags and subject.owner == 2:
        noun = d.spin(tagged(tags.rstrip("!?")))
    if noun.profile == "the" and "instrument" in noun.tags:
        phrase = build(d, noun, "none")
        return phrase._replace(en_object=f"the {phrase.en}"), noun
    return noun_phrase(d, noun, subject, mark), noun


def _extras(d: Choices, clause: Clause, frame: Frame, *, plan: str, gap: str) -> None:
    """Add manner, or company, vehicle and place."""
    clock = clause.time[0].startswith("um ") or " um " in clause.time[0]
    if frame.manners and not clock and d.chance(16):
        manner = d.pick(frame.manners)
        if manner != "gern":
            clause.rest.insert(0, manner)
            clause.after.append(next(row[1] for row in words("manner").items if row[0] == manner))
        elif plan in ("now", "state"):
            clause.rest.insert(0, "gern")
            clause.en_form = "like to"
            clause.time = ("", "")
        return
    if "+w" in frame.extras and gap != "company" and d.chance(13):
        somebody = company(d, clause.subject)
        clause.rest.insert(_before_complement(clause, frame), f"mit {somebody.de[DAT]}")
        clause.after.append(f"with {somebody.en_object}")
    elif "+v" in frame.extras and d.chance(25):
        vehicle = build(d, d.spin(tagged("public,drive")), "def")
        clause.rest.insert(0, f"mit {vehicle.de[DAT]}")
        clause.after.append(f"by {vehicle.bare}")
    if frame.places() and gap not in ("place", "extra") and d.chance(15):
        de, en = place(d, d.spin(tagged(frame.places())), direction=False)
        clause.rest.append(de)
        clause.after.append(en)


def _before_complement(clause: Clause, frame: Frame) -> int:
    """Return where company goes: before a place that the verb asks for, after all else."""
    closing = frame.complements and frame.complements[-1][0] not in ("A", "D", "language")
    return max(len(clause.rest) - 1, 0) if closing and clause.rest else len(clause.rest)
