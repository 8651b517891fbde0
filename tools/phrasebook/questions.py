"""Questions, direct and indirect."""

from __future__ import annotations

from functools import cache

from phrasebook.clause import Clause
from phrasebook.draw import Choices, Wheel, weighted, zipf
from phrasebook.events import event, frames_with, named
from phrasebook.lexicon import Frame, frames
from phrasebook.nounphrase import Phrase
from phrasebook.people import ASKING, OTHERS, WE

Pair = tuple[str, str]


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


def asker(d: Choices) -> tuple[str, str, str]:
    """Return who asks, in both languages, and the mark that ends the sentence."""
    who, who_en, stop = d.spin(ASKERS)
    return POLITE.get(who, who) if d.polite else who, who_en, stop


def whether(d: Choices) -> Pair:
    """Return an indirect question: with ob, or with a question word."""
    who, who_en, stop = asker(d)
    if d.chance(40):
        clause = event(d, pronouns=OTHERS, negation=0)
        return (
            f"{who} , ob {clause.de_final()} {stop}",
            f"{who_en} if {clause.en_statement()} {stop}",
        )
    clause = _wh_clause(d, OTHERS)
    if not clause.subject.en:
        word = clause.wh[0]
        clause.wh = ("", clause.wh[1])
        return (
            f"{who} , {word} {clause.de_relative()} {stop}",
            f"{who_en} {clause.en_statement()} {stop}",
        )
    return f"{who} , {clause.de_final()} {stop}", f"{who_en} {clause.en_statement()} {stop}"
