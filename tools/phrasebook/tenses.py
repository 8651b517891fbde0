"""When: the tense of a clause in both languages, and the time that goes with it."""

from __future__ import annotations

from phrasebook.clause import Clause
from phrasebook.draw import Choices, weighted
from phrasebook.lexicon import Frame, words

PLANS = {
    "a": weighted({"now": 24, "habit": 17, "past": 29, "future": 11, "modal": 15, "past modal": 4}),
    "e": weighted({"past": 42, "future": 20, "modal": 25, "habit": 8, "past modal": 5}),
    "s": weighted({"state": 78, "was": 22}),
    "h": weighted({"past": 88, "habit": 12}),
}
THING_PLANS = {
    "a": weighted({"now": 45, "habit": 20, "past": 35}),
    "e": weighted({"past": 40, "schedule": 40, "future": 20}),
    "s": weighted({"state": 80, "was": 20}),
    "c": weighted({"schedule": 1}),
}
MODALS = weighted({"can": 30, "must": 26, "want": 16, "would like": 16, "should": 7, "may": 5})
PAST_MODALS = weighted({"can": 36, "must": 40, "want": 24})
ENGLISH_MODALS = {
    "can": ("can",),
    "must": ("have to", "must"),
    "want": ("want to",),
    "would like": ("would like to",),
    "should": ("should",),
    "may": ("be allowed to", "may"),
    "past can": ("could", "past be able to"),
    "past must": ("past have to",),
    "past want": ("past want to",),
}


def set_time(d: Choices, clause: Clause, plan: str, frame: Frame, *, spoken: bool) -> None:
    """Set German tense, English tense and the adverb of time that goes with them."""
    time = ""
    if plan in ("now", "state"):
        clause.en_form = "progressive" if plan == "now" else "present"
        time = "now" if plan == "now" and d.chance(40) else ""
    elif plan == "habit":
        if d.chance(55):
            often, *wordings = d.spin(words("often"))
            clause.often = (often, d.word(wordings))
        else:
            time = "habit"
    elif plan in ("past", "was"):
        third = clause.subject.person in (2, 5) and clause.subject.owner != 7
        preterite = plan == "was" or (third and not spoken and d.chance(22))
        clause.de_form = "past" if preterite else "perfect"
        time = "past" if plan == "past" and d.chance(60) else ""
        known = time or preterite or clause.head.base == "lie"
        clause.en_form = "past" if known else d.word(("past", "past", "perfect"))
    elif plan == "future":
        clause.de_form = "future" if d.chance(40) else "present"
        going = "progressive" if clause.head.base == "go" else "be going to"
        clause.en_form = d.word(("will", going))
        time = "future" if clause.de_form == "present" or d.chance(60) else ""
    elif plan in ("modal", "past modal"):
        past = plan == "past modal"
        modal = d.spin(PAST_MODALS if past else MODALS)
        clause.de_form = ("past " if past else "") + modal
        clause.en_form = d.word(ENGLISH_MODALS[clause.de_form])
        time = ("past" if past else "future") if d.chance(45) else ""
    if time:
        if time != "now" and "+far" in frame.extras and d.chance(40):
            time = {"past": "past far", "future": "future far"}.get(time, time)
        elif plan == "past modal":
            time = "past day"
        german_time, *wordings = d.spin(words(time))
        clause.time = (german_time, d.word(wordings))
    if plan == "schedule" or ("+clock" in frame.extras and not clause.often[0] and d.chance(45)):
        _add_clock(d, clause)


def _add_clock(d: Choices, clause: Clause) -> None:
    if clause.time[0].startswith(("vor ", "in ", "bald", "später", "jetzt", "gerade", "im ")):
        return
    clock = clock_time(d)
    day, day_en = clause.time
    clause.time = (f"{day} {clock[0]}".strip(), f"{day_en} {clock[1]}".strip())


def clock_time(d: Choices) -> tuple[str, str]:
    """Return a time of day: um acht Uhr, um halb neun, um Viertel nach drei."""
    hour = d.below(12)
    table = words("hour").items
    german_hour, hour_en = table[hour]
    kind = d.below(10)
    if kind < 6:
        return f"um {'ein' if hour == 0 else german_hour} Uhr", f"at {hour_en} o'clock"
    if kind < 8:
        return f"um halb {table[(hour + 1) % 12][0]}", f"at half past {hour_en}"
    if kind == 8:
        return f"um Viertel nach {german_hour}", f"at a quarter past {hour_en}"
    return f"um Viertel vor {german_hour}", f"at a quarter to {hour_en}"
