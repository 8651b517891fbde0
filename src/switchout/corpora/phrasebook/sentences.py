"""Sentences made of clauses: statements, questions, requests, subordinate and relative clauses."""

from __future__ import annotations

from functools import cache

from switchout.corpora.phrasebook import german
from switchout.corpora.phrasebook.clause import Clause
from switchout.corpora.phrasebook.draw import Choices, Wheel, weighted, zipf
from switchout.corpora.phrasebook.english import Verb as EnglishVerb
from switchout.corpora.phrasebook.events import NOBODY, event, frames_with, place
from switchout.corpora.phrasebook.lexicon import Frame, Noun, frames, nouns, tagged, words
from switchout.corpora.phrasebook.nounphrase import (
    ASKING,
    ASSERTING,
    HE,
    SHE,
    THEY,
    WE,
    YOU,
    YOU_POLITE,
    I,
    Phrase,
    build,
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
    left = _timeless(d, d.spin(frames_with("a")), plan)
    right = _timeless(d, d.spin(frames_with("a")), plan)
    if not together:
        frame = d.spin(named(CONTRASTED))
        left, right = _timeless(d, frame, plan), _timeless(d, frame, plan)
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


def _timeless(d: Choices, frame: Frame, plan: str) -> Clause:
    clause = event(d, frame, plan=plan, negation=0, plain=True)
    clause.time = clause.often = ("", "")
    return clause


def yes_no(d: Choices) -> Pair:
    clause = event(d, pronouns=ASKING, negation=0)
    _as_asked(clause)
    return f"{clause.de_question()} ?", f"{clause.en_question()} ?"


def _as_asked(clause: Clause) -> None:
    """Set modals as they are asked: not *must you*, *may she*, *do we want to*."""
    if clause.de_form == "must":
        clause.en_form = "have to"
    if clause.de_form == "may":
        clause.en_form = "be allowed to"
    if clause.de_form == "want" and clause.subject is WE:  # wollen wir is a proposal: see lets
        clause.de_form, clause.en_form = "would like", "would like to"


WH = weighted({"why": 16, "when": 18, "where": 16, "object": 26, "subject": 14, "often": 10})


def wh(d: Choices) -> Pair:
    clause = _wh_clause(d, ASKING)
    _as_asked(clause)
    return f"{clause.de_question()} ?", f"{clause.en_question()} ?"


def _wh_clause(d: Choices, pronouns: Wheel[Phrase]) -> Clause:
    """Return a clause with a question word in ``wh`` and a gap where its answer would be."""
    kind = d.spin(WH)
    if kind == "why":
        clause = event(d, pronouns=pronouns, negation=20)
        clause.wh = ("warum", "why")
    elif kind == "when":
        clause = event(d, d.spin(frames_with("e")), pronouns=pronouns, negation=0, plan=_when(d))
        clause.time = ("", "")
        clause.wh = ("wann", "when")
    elif kind == "often":
        clause = event(d, d.spin(frames_with("a")), pronouns=pronouns, negation=0, plan="habit")
        clause.time = clause.often = ("", "")
        clause.wh = ("wie oft", "how often")
    elif kind == "where":
        clause = _where(d, pronouns)
    elif kind == "subject":
        clause = event(d, d.spin(frames_with("ae")), gap="subject", negation=10, plan=_when(d))
        clause.wh = ("wer", "who")
    else:
        clause = _object_question(d, pronouns)
    return clause


def _when(d: Choices) -> str:
    return d.pick(("past", "past", "future", "modal"))


@cache
def _asked_places() -> dict[str, Wheel[Frame]]:
    people = [frame for frame in frames() if frame.subject == "P"]
    first = {
        case: [f for f in people if f.complements and f.complements[0][0] == case]
        for case in ("in-city", "in-country", "loc", "dir", "to-city")
    }
    return {
        "wo": zipf(first["in-city"] + first["in-country"] + first["loc"]),
        "wohin": zipf(first["dir"] + first["to-city"]),
        "adjunct": zipf([f for f in people if f.places()]),
    }


def _where(d: Choices, pronouns: Wheel[Phrase]) -> Clause:
    kind = d.pick(("wo", "wohin", "adjunct"))
    frame = d.spin(_asked_places()[kind])
    gap = "extra" if kind == "adjunct" else "place"
    clause = event(d, frame, pronouns=pronouns, gap=gap, negation=0)
    clause.wh = ("wohin" if kind == "wohin" else "wo", "where")
    return clause


@cache
def _asked_objects() -> Wheel[Frame]:
    """Return frames whose object is worth asking for by was, wen or wem."""
    return named(
        "essen trinken kaufen lesen suchen besuchen sehen kochen anrufen treffen finden brauchen"
        " bestellen verlieren vergessen verkaufen einladen abholen fragen helfen reparieren"
        " backen probieren verstehen spielen vermissen"
    )


@cache
def named(infinitives: str) -> Wheel[Frame]:
    """Return the frames of people with one of the verbs, in the order of the verb table."""
    wanted = infinitives.replace("_", " ").split(" ")
    found = [f for f in frames() if f.subject == "P" and f.verb.infinitive in wanted]
    return zipf([f for f in found if f.complements[0][0] in ("A", "D")] or found, 6)


def _object_question(d: Choices, pronouns: Wheel[Phrase]) -> Clause:
    frame = d.spin(_asked_objects())
    case, tags = frame.complements[0]
    clause = event(d, frame, pronouns=pronouns, gap="object", negation=0)
    people = tags.split(",")[0].rstrip("!?") in ("person", "kin", "friend", "child")
    if case == "D":
        clause.wh = ("wem", "who")
    else:
        clause.wh = ("wen", "who") if people else ("was", "what")
    return clause


ASKERS = weighted(
    {
        ("ich weiß nicht", "I do not know", "."): 30,
        ("weißt du", "do you know", "?"): 44,
        ("kannst du mir sagen", "can you tell me", "?"): 20,
        ("er fragt", "he asks", "."): 6,
        ("sie fragt", "she asks", "."): 6,
        ("wir wissen nicht", "we do not know", "."): 6,
    }
)
POLITE = {"weißt du": "wissen Sie", "kannst du mir sagen": "können Sie mir sagen"}
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
OTHERS = weighted({HE: 30, SHE: 28, THEY: 20, WE: 14, I: 8})


def that(d: Choices) -> Pair:
    """Return a claim with dass and a verb-final clause."""
    claim, *wordings = d.spin(CLAIMERS)
    clause = event(d, pronouns=OTHERS)
    return (
        f"{claim} , dass {clause.de_final()} .",
        f"{d.word(wordings)} that {clause.en_statement()} .",
    )


def whether(d: Choices) -> Pair:
    """Return an indirect question: with ob, or with a question word."""
    asker, asker_en, stop = d.spin(ASKERS)
    asker = POLITE.get(asker, asker) if d.polite else asker
    if d.chance(40):
        clause = event(d, pronouns=OTHERS, negation=0)
        return (
            f"{asker} , ob {clause.de_final()} {stop}",
            f"{asker_en} if {clause.en_statement()} {stop}",
        )
    clause = _wh_clause(d, OTHERS)
    if not clause.subject.en:
        word = clause.wh[0]
        clause.wh = ("", clause.wh[1])
        return (
            f"{asker} , {word} {clause.de_relative()} {stop}",
            f"{asker_en} {clause.en_statement()} {stop}",
        )
    return f"{asker} , {clause.de_final()} {stop}", f"{asker_en} {clause.en_statement()} {stop}"


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
    clause = event(d, d.spin(_shared()), subject=WE, plan="state", negation=0, plain=d.chance(50))
    if clause.en_form == "like to":
        clause.rest.remove("gern")
    if d.chance(45):
        return f"lass uns {clause.de_infinitive()} !", f"let us {clause.en_infinitive()} !"
    return f"wollen wir {clause.de_infinitive()} ?", f"shall we {clause.en_infinitive()} ?"


@cache
def _shared() -> Wheel[Frame]:
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


RELATIVE = german.THE


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
    inner = f", {RELATIVE[noun.gender][0]} {clause.de_relative()}"
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
    inner = f", {RELATIVE[noun.gender][1]} {clause.de_relative()}"
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
