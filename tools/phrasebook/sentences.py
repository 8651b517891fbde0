"""Statements, requests and proposals, and what one claims, plans and goes somewhere for."""

from __future__ import annotations

from functools import cache

from phrasebook import german
from phrasebook.clause import Clause
from phrasebook.draw import Choices, Wheel, weighted, zipf
from phrasebook.english import Verb as EnglishVerb
from phrasebook.events import event, frames_with, named, place
from phrasebook.lexicon import Frame, frames, nouns, words
from phrasebook.people import (
    ASSERTING,
    OTHERS,
    WE,
    YOU,
    YOU_POLITE,
    person,
    pronoun,
)

Pair = tuple[str, str]


def statement(d: Choices) -> Pair:
    clause = event(d)
    first = d.chance(25)
    return f"{clause.de_statement(time_first=first)} .", f"{clause.en_statement()} ."


def two_statements(d: Choices) -> Pair:
    """Return what two people do at a time (und), or the same deed done differently (aber)."""
    together = d.chance(50)
    plan = "now" if together else "past"
    left = timeless(d, d.spin(frames_with("a")), plan)
    right = timeless(d, d.spin(frames_with("a")), plan)
    if not together:
        frame = d.spin(named(CONTRASTED))
        left, right = timeless(d, frame, plan), timeless(d, frame, plan)
    while right.subject.en == left.subject.en:
        right.subject = person(d)
    if not together:
        left.de_form = right.de_form = "perfect"
        left.en_form = right.en_form = "past"
    link, link_en = ("und", "and") if together else (", aber", ", but")
    return (
        f"{left.de_statement()} {link} {right.de_statement()} .",
        f"{left.en_statement()} {link_en} {right.en_statement()} .",
    )


CONTRASTED = "essen trinken kaufen lesen besuchen sehen kochen treffen bestellen verkaufen"


def timeless(d: Choices, frame: Frame, plan: str) -> Clause:
    clause = event(d, frame, plan=plan, negation=0, plain=True)
    clause.time = clause.often = ("", "")
    return clause


CLAIMERS = weighted(
    {
        ("ich glaube", "I think", "I believe"): 28,
        ("ich hoffe", "I hope"): 16,
        ("ich weiß", "I know"): 12,
        ("er sagt", "he says"): 9,
        ("sie sagt", "she says"): 9,
        ("es ist schade", "it is a pity"): 6,
        ("ich bin sicher", "I am sure"): 8,
        ("wir freuen uns", "we are glad"): 5,
        ("es ist gut", "it is good"): 6,
        ("ich habe gehört", "I have heard", "I heard"): 6,
    }
)


def that(d: Choices) -> Pair:
    """Return a claim with dass and a verb-final clause."""
    claim, *wordings = d.spin(CLAIMERS)
    clause = event(d, pronouns=OTHERS)
    return (
        f"{claim} , dass {clause.de_final()} .",
        f"{d.word(wordings)} that {clause.en_statement()} .",
    )


def request(d: Choices) -> Pair:
    """Return an imperative or a polite request."""
    kind = d.below(10)
    subject = YOU_POLITE if d.polite else YOU
    clause = event(
        d, d.spin(named(REQUESTED)), subject=subject, plan="state", negation=0, plain=True
    )
    if kind < 3:
        polite = "können Sie bitte" if subject is YOU_POLITE else "kannst du bitte"
        return f"{polite} {clause.de_infinitive()} ?", f"can you please {clause.en_infinitive()} ?"
    if kind < 5:
        polite = "könnten Sie" if subject is YOU_POLITE else "könntest du"
        return f"{polite} {clause.de_infinitive()} ?", f"could you {clause.en_infinitive()} ?"
    clause.en_form = "present"
    tail = clause.verb.prefix.strip()
    middle = " ".join([*clause.pronouns, *clause.objects, *clause.rest, tail]).strip()
    if subject is YOU_POLITE:
        verb = clause.verb.present[5]
        return f"bitte {verb} Sie {middle} .", f"please {clause.en_infinitive()} ."
    return f"bitte {clause.verb.imperative} {middle} !", f"please {clause.en_infinitive()} !"


REQUESTED = (
    "aufmachen zumachen anmachen ausmachen anrufen bringen zeigen geben aufräumen erklären lesen"
    " helfen kaufen einladen unterschreiben ausfüllen reparieren mitbringen schicken putzen fragen"
    " besuchen abholen kochen leihen packen gießen füttern übersetzen beantworten wecken"
    " vorlesen bestellen waschen bezahlen"
)


def lets(d: Choices) -> Pair:
    clause = event(
        d, d.spin(shared_deeds()), subject=WE, plan="state", negation=0, plain=d.chance(50)
    )
    if clause.en_form == "like to":
        clause.rest.remove("gern")
    if d.chance(45):
        return f"lass uns {clause.de_infinitive()} !", f"let us {clause.en_infinitive()} !"
    return f"wollen wir {clause.de_infinitive()} ?", f"shall we {clause.en_infinitive()} ?"


@cache
def shared_deeds() -> Wheel[Frame]:
    wanted = [*SHARED.split(), "spazieren gehen"]
    return zipf([f for f in frames() if f.subject == "P" and f.verb.infinitive in wanted], 6)


SHARED = (
    "essen trinken gehen fahren kochen spielen lernen besuchen einkaufen tanzen"
    " wandern schwimmen feiern backen reisen fliegen mieten besichtigen singen fernsehen"
)


def to_infinitive(d: Choices) -> Pair:
    """Return vergessen, versuchen, planen, Zeit haben with zu and the infinitive."""
    subject = pronoun(d, ASSERTING)
    link, form = d.spin(GOVERNORS)
    governor = Clause(subject, *_governor_verbs()[link])
    governor.de_form, governor.en_form = form.split("/")
    governor.rest = [] if " " not in link else [link.rsplit(" ", 1)[0]]
    clause = event(
        d, d.spin(named(REQUESTED)), subject=subject, plan="state", negation=0, plain=True
    )
    return (
        f"{governor.de_statement()} , {clause.de_to_infinitive()} .",
        f"{governor.en_statement()} to {clause.en_infinitive()} .",
    )


GOVERNORS = weighted(
    {
        ("vergessen", "perfect/past"): 30,
        ("versuchen", "present/progressive"): 22,
        ("versuchen", "perfect/past"): 14,
        ("Zeit haben", "present/present"): 12,
        ("planen", "present/progressive"): 10,
    }
)


@cache
def _governor_verbs() -> dict[str, tuple[german.Verb, EnglishVerb, str]]:
    entries = {
        "vergessen": ("vergessen vergisst vergaß vergessen h", "forget", ""),
        "versuchen": ("versuchen versucht versuchte versucht h", "try", ""),
        "Zeit haben": ("haben hat hatte gehabt h", "have", "time"),
        "planen": ("planen plant plante geplant h", "plan", ""),
    }
    return {
        key: (german.Verb(de), EnglishVerb(en), rest) for key, (de, en, rest) in entries.items()
    }


PURPOSES = weighted(
    {
        ("Supermarkt", "kaufen", "shop?"): 30,
        ("Bäckerei", "kaufen", "bakery?"): 20,
        ("Markt", "kaufen", "fruit?"): 20,
        ("Buchhandlung", "kaufen", "bookshop?"): 8,
        ("Apotheke", "kaufen", "takeable?"): 8,
        ("Café", "trinken", "hotdrink"): 14,
        ("Café", "treffen", "friend,kin,name"): 12,
        ("Restaurant", "essen", "dish?"): 14,
        ("Bahnhof", "abholen", "kin,friend,name"): 14,
        ("Flughafen", "abholen", "kin,friend,name"): 10,
        ("Bibliothek", "lesen", "readable"): 10,
        ("Park", "lesen", "readable"): 8,
        ("Zoo", "sehen", "zoo!"): 8,
    }
)


def in_order_to(d: Choices) -> Pair:
    """Return somebody who goes somewhere, um ... zu do what one does there."""
    where, infinitive, objects = d.spin(PURPOSES)
    subject = person(d, ASSERTING)
    going = next(f for f in frames() if f.verb.infinitive == "gehen")
    clause = event(d, going, subject=subject, gap="place", negation=0)
    de, en = place(d, next(n for n in nouns() if n.singular[0] == where), direction=True)
    clause.rest.append(de)
    clause.complements = [en]
    goal = next(f for f in frames() if f.verb.infinitive == infinitive)
    why = event(d, goal, subject=subject, plan="state", negation=0, plain=True, objects=objects)
    return (
        f"{clause.de_statement()} , um {why.de_to_infinitive()} .",
        f"{clause.en_statement()} to {why.en_infinitive()} .",
    )


def since(d: Choices) -> Pair:
    """Return a state that lasts: German present with seit, English perfect with for."""
    infinitive, progressive = d.pick(
        (("wohnen", 0), ("arbeiten", 1), ("lernen", 1), ("kennen", 0), ("warten", 1), ("leben", 0))
    )
    frame = next(f for f in frames() if f.verb.infinitive == infinitive)
    objects = "friend,job,name" if infinitive == "kennen" else ""
    subject = person(d, ASSERTING, 65)
    clause = event(d, frame, subject=subject, plan="state", negation=0, plain=True, objects=objects)
    clause.en_form = "perfect-progressive" if progressive else "perfect"
    unit = (
        ("Stunde", "Stunden", "hour")
        if infinitive == "warten"
        else d.pick(
            (("Jahr", "Jahren", "year"), ("Monat", "Monaten", "month"), ("Woche", "Wochen", "week"))
        )
    )
    number = d.below(5)
    if number == 0:
        one = "einer" if unit[0] in ("Stunde", "Woche") else "einem"
        clause.time = (
            f"seit {one} {unit[0]}",
            f"for {'an' if unit[2] == 'hour' else 'a'} {unit[2]}",
        )
    else:
        count = words("hour").items[number]
        clause.time = (f"seit {count[0]} {unit[1]}", f"for {count[1]} {unit[2]}s")
    return f"{clause.de_statement()} .", f"{clause.en_statement()} ."
