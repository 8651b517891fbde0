"""Sentences of two full clauses: while, before, after, and people of whom two things are told."""

from __future__ import annotations

from phrasebook import german
from phrasebook.clause import Clause
from phrasebook.draw import Choices
from phrasebook.events import NOBODY, event, frames_with
from phrasebook.lexicon import tagged
from phrasebook.nounphrase import Phrase, build, some_adjectives
from phrasebook.people import ASSERTING, person
from phrasebook.questions import asker
from phrasebook.sentences import CLAIMERS, shared_deeds, timeless
from phrasebook.situations import pronoun_for

Pair = tuple[str, str]


def meanwhile(d: Choices) -> Pair:
    """Return what two people do (did) at the same time, with während and while."""
    left, right = (timeless(d, d.spin(frames_with("a")), "now") for _ in range(2))
    while right.subject.en == left.subject.en:
        right = timeless(d, d.spin(frames_with("a")), "now")
    told = left.subject.person not in (1, 4) and right.subject.person not in (1, 4)
    if told and d.chance(40):  # du aßest, ihr last: nobody says that
        left.de_form = right.de_form = "past"
        left.en_form = right.en_form = "past progressive"
    one, two = left.en_statement(), right.en_statement()
    if d.chance(50):
        return f"während {left.de_final()} , {right.de_inverted()} .", f"while {one} , {two} ."
    return f"{right.de_statement()} , während {left.de_final()} .", f"{two} while {one} ."


def one_after_the_other(d: Choices) -> Pair:
    """Return what somebody will do before or after something else."""
    subject = person(d, ASSERTING)
    while subject.owner < 0:  # das Kind would have to be taken up by es
        subject = person(d, ASSERTING)
    first = event(d, d.spin(shared_deeds()), subject=subject, plan="state", negation=0, plain=True)
    then = _intended(d, pronoun_for(subject))
    if d.chance(50):
        return (
            f"bevor {first.de_final()} , {then.de_inverted()} .",
            f"before {first.en_statement()} , {then.en_statement()} .",
        )
    first.de_form = first.en_form = "perfect"
    return (
        f"nachdem {first.de_final()} , {then.de_inverted()} .",
        f"after {first.en_statement()} , {then.en_statement()} .",
    )


def _intended(d: Choices, subject: Phrase) -> Clause:
    clause = event(d, d.spin(frames_with("ae")), subject=subject, plan="state", negation=0)
    if clause.en_form == "like to":  # gern
        return clause
    clause.de_form, clause.en_form = d.pick(
        (("present", "will"), ("must", "have to"), ("want", "want to"), ("can", "can"))
    )
    return clause


def told_twice(d: Choices) -> Pair:
    """Return what somebody does, with a relative clause that tells who it is."""
    kind = d.below(10)
    clause = event(d, subject=_known_by_deed(d), negation=12 if kind < 8 else 0)
    if kind < 6:
        return f"{clause.de_statement()} .", f"{clause.en_statement()} ."
    if kind < 8:
        claim, *wordings = d.spin(CLAIMERS)
        return (
            f"{claim} , dass {clause.de_final()} .",
            f"{d.word(wordings)} that {clause.en_statement()} .",
        )
    who, who_en, stop = asker(d)
    return (
        f"{who} , ob {clause.de_final()} {stop}",
        f"{who_en} if {clause.en_statement()} {stop}",
    )


def _known_by_deed(d: Choices) -> Phrase:
    """Return e.g. die Frau , die in Rom wohnt , – the woman who lives in Rome."""
    noun = d.spin(tagged("human,job"))
    phrase = build(d, noun, "def", adjectives=some_adjectives(d, noun))
    gap = NOBODY._replace(owner=phrase.owner)
    plan = d.pick(("", "past"))
    frame = d.spin(frames_with("ae" if plan else "s"))
    inner = event(d, frame, subject=gap, negation=8, plan=plan, plain=d.chance(50))
    who = f"{phrase.de[0]} , {german.THE[noun.gender][0]} {inner.de_relative()} ,"
    return phrase._replace(de=(who,) * 4, en=f"{phrase.en} who {inner.en_statement()}")
