"""Reasons and what follows from them: weil, denn, deshalb, wenn, obwohl.

Causes and effects come from a table of topics, so that a reason is a reason.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from phrasebook import english, german
from phrasebook.clause import Clause
from phrasebook.draw import Choices, weighted
from phrasebook.lexicon import frames, rows
from phrasebook.nounphrase import POSSESSIVES_EN, Phrase
from phrasebook.people import ASSERTING, HE, IT, OTHERS, SHE, THEY, person
from phrasebook.sentences import CLAIMERS

MORE_VERBS = """
sein ist war gewesen s
haben hat hatte gehabt h
kommen kommt kam gekommen s
laufen läuft lief gelaufen s
frühstücken frühstückt frühstückte gefrühstückt h
bekommen bekommt bekam bekommen h
bestehen besteht bestand bestanden h
sparen spart sparte gespart h
üben übt übte geübt h
mit|nehmen nimmt nahm genommen h
tun tut tat getan h
regnen regnet regnete geregnet h
schneien schneit schneite geschneit h
scheinen scheint schien geschienen h
"""
MODALS = {"müssen": "must", "wollen": "want"}


class Deed(NamedTuple):
    """A verb phrase without tense, and its own subject if it has one (weather)."""

    middle: str
    verb: german.Verb
    modal: str
    negative: bool
    head: english.Verb
    rest: str
    subject: Phrase | None

    def happens(self) -> bool:
        """Return whether it is over when it can be a reason: one has missed the bus."""
        return self.head.base in ("miss", "get")


class Topic(NamedTuple):
    reasons: tuple[Deed, ...]
    results: tuple[Deed, ...]
    nevertheless: tuple[Deed, ...]


@cache
def _verbs() -> dict[str, german.Verb]:
    found = {line.split()[0]: german.Verb(line) for line in MORE_VERBS.strip().split("\n")}
    for frame in frames():
        prefix = frame.verb.prefix
        bare = frame.verb.infinitive.removeprefix(prefix)
        found[f"{prefix.replace(' ', '_')}|{bare}" if prefix else bare] = frame.verb
    return found


def _deed(row: str) -> Deed:
    phrase, _, meaning = row.partition(" = ")
    subject = None
    if " | " in phrase:
        who, phrase = phrase.split(" | ")
        who_en, meaning = meaning.split(" | ")
        subject = IT._replace(de=(who,) * 4, en=who_en, kind="noun" if " " in who else "pronoun")
    *middle, infinitive = (word for word in phrase.split() if word != "sich")
    modal = MODALS.get(infinitive, "")
    verb = _verbs()[middle.pop() if modal else infinitive]
    base, _, rest = meaning.removeprefix("not ").partition(" ")
    if modal:
        base, _, rest = rest.removeprefix("to ").partition(" ")
    negative = meaning.startswith("not ")
    return Deed(" ".join(middle), verb, modal, negative, english.Verb(base), rest, subject)


@cache
def topics() -> tuple[Topic, ...]:
    groups: list[dict[str, list[Deed]]] = []
    for row in rows("situations.txt"):
        if row.startswith("["):
            groups.append({"R": [], "C": [], "O": []})
        else:
            groups[-1][row[0].replace("W", "R")].append(_deed(row[2:]))
    return tuple(Topic(*map(tuple, group.values())) for group in groups)


def _clause(deed: Deed, subject: Phrase) -> Clause:
    clause = Clause(deed.subject or subject, deed.verb, deed.head, deed.rest)
    owner = POSSESSIVES_EN[subject.owner] if subject.owner >= 0 else "the"
    clause.pattern = deed.rest.replace("one's", owner)
    clause.rest = [deed.middle]
    clause.negative = deed.negative
    return clause


def _reason(deed: Deed, subject: Phrase, *, past: bool) -> Clause:
    clause = _clause(deed, subject)
    if deed.happens():
        clause.de_form, clause.en_form = "perfect", "past"
    elif deed.modal:
        clause.de_form = ("past " if past else "") + deed.modal
        clause.en_form = ("past " if past else "") + (
            "have to" if deed.modal == "must" else "want to"
        )
    else:
        clause.de_form = clause.en_form = "past" if past else "present"
        if deed.head.base in ("rain", "snow", "shine"):
            clause.en_form = "past progressive" if past else "progressive"
    return clause


def _result(d: Choices, deed: Deed, subject: Phrase, *, past: bool) -> Clause:
    clause = _clause(deed, subject)
    stative = deed.head.base in ("be", "have", "keep")
    if past:
        clause.de_form = "past" if deed.head.base == "be" else "perfect"
        clause.en_form = "past"
    elif d.chance(30):
        clause.de_form = "can" if deed.negative else "must" if d.chance(50) else "want"
        clause.en_form = {"can": "can", "must": d.word(("have to", "must")), "want": "want to"}[
            clause.de_form
        ]
    else:
        clause.en_form = "present" if stative and deed.head.base == "be" else "progressive"
        if d.chance(25):
            clause.time = ("heute", "today")
    return clause


LINKS = weighted(
    {
        "weil": 34,
        "weil first": 10,
        "deshalb": 18,
        "denn": 8,
        "wenn": 18,
        "obwohl": 12,
        "dass": 16,
    }
)


def because(d: Choices) -> tuple[str, str]:
    """Return a sentence of two clauses that belong together."""
    topic = d.pick(topics())
    link = d.spin(LINKS)
    subject = person(d, OTHERS if link == "dass" else ASSERTING, 70)
    while subject.owner < 0:  # das Kind would have to be taken up by es
        subject = person(d)
    cause = d.pick(topic.reasons)
    effect = d.pick(topic.nevertheless if link == "obwohl" else topic.results)
    if link == "wenn":
        return _if(d, cause, effect, subject)
    past = d.chance(40)
    reason = _reason(cause, subject, past=past)
    result = _result(d, effect, subject, past=past)
    if subject.kind != "pronoun" and cause.subject is None:
        again = pronoun_for(subject)
        if link in ("weil", "denn", "dass"):
            reason.subject = again
        else:
            result.subject = again
        if result.verb.reflexive:
            result.pronouns = [german.REFLEXIVE[subject.person]]
    return _linked(d, link, reason, result)


def _linked(d: Choices, link: str, reason: Clause, result: Clause) -> tuple[str, str]:
    why, what = reason.en_statement(), result.en_statement()
    if link == "weil":
        return f"{result.de_statement()} , weil {reason.de_final()} .", f"{what} because {why} ."
    if link == "dass":
        claim, *wordings = d.spin(CLAIMERS)
        return (
            f"{claim} , dass {result.de_final()} , weil {reason.de_final()} .",
            f"{d.word(wordings)} that {what} because {why} .",
        )
    if link == "weil first":
        return f"weil {reason.de_final()} , {result.de_inverted()} .", f"because {why} , {what} ."
    if link == "denn":
        return (
            f"{result.de_statement()} , denn {reason.de_statement()} .",
            f"{what} because {why} .",
        )
    if link == "deshalb":
        so = d.word(("so", "which is why"))
        return (
            f"{reason.de_statement()} , deshalb {result.de_inverted()} .",
            f"{why} , {so} {what} .",
        )
    although = d.word(("although", "even though"))
    return f"obwohl {reason.de_final()} , {result.de_inverted()} .", f"{although} {why} , {what} ."


def _if(d: Choices, cause: Deed, effect: Deed, subject: Phrase) -> tuple[str, str]:
    reason = _clause(cause, subject)
    reason.de_form = cause.modal or "present"
    if cause.modal:
        reason.en_form = "have to" if cause.modal == "must" else "want to"
    if cause.subject is not None and d.chance(50):
        reason.time = ("morgen", "tomorrow")
    result = _clause(effect, subject if cause.subject else pronoun_for(subject))
    result.en_form = "will"
    if d.chance(35):
        result.de_form = "future"
    si, then = reason.en_statement(), result.en_statement()
    return f"wenn {reason.de_final()} , {result.de_inverted()} .", f"if {si} , {then} ."


def pronoun_for(phrase: Phrase) -> Phrase:
    """Return he, she or they for somebody who has been mentioned."""
    if phrase.kind == "pronoun":
        return phrase
    if phrase.person == 5:
        return THEY
    return {2: HE, 3: SHE}.get(phrase.owner, phrase)
