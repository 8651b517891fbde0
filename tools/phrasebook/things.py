"""How things are, what one has, whose it is and where: qualities, comparisons, belongings."""

from __future__ import annotations

from phrasebook import english, german
from phrasebook.draw import Choices, weighted
from phrasebook.german import ACC, DAT, GEN, NOM
from phrasebook.lexicon import Adjective, Noun, tagged, words
from phrasebook.nounphrase import Phrase, build, negated, noun_phrase
from phrasebook.people import ASKING, ASSERTING, HE, IT, SHE, I, person

Pair = tuple[str, str]
BE_EN = english.BE_PRESENT
WAS_EN = english.BE_PAST


def be(phrase: Phrase, past: bool = False) -> Pair:
    """Return sein and be for a subject."""
    return german.BE.finite(past, phrase.person), (WAS_EN if past else BE_EN)[phrase.agreement]


def maybe(d: Choices, noun: Noun, percent: int = 25) -> tuple[Adjective, ...]:
    return (d.spin(noun.adjectives),) if noun.adjectives and d.chance(percent) else ()


EXCESSIVE = frozenset(
    ("groß", "klein", "teuer", "lang", "kurz", "schwer", "heiß", "kalt", "laut", "scharf", "alt")
)
DEGREES = weighted(
    {
        ("", ""): 30,
        ("sehr ", "very "): 36,
        ("nicht ", "not "): 18,
        ("ein bisschen ", "a bit "): 8,
    }
)


def quality(d: Choices) -> Pair:
    """Return what a thing is like."""
    noun = d.spin(tagged(DESCRIBED))
    while noun.adjectives is None:
        noun = d.spin(tagged(DESCRIBED))
    phrase = definite(d, noun, bare=True)
    adjective = d.spin(noun.adjectives)
    past = d.chance(20)
    de, en = be(phrase, past)
    degree = d.spin(DEGREES)
    if adjective.predicative in EXCESSIVE and d.chance(12):
        degree = ("zu ", "too ")
    if not adjective.comparative:
        degree = d.pick((("", ""), ("nicht ", "not ")))
    if d.chance(25):
        if not adjective.comparative or degree[0] != "sehr ":
            degree = ("", "")
        return (
            f"{de} {phrase.de[NOM]} {degree[0]}{adjective.predicative} ?",
            f"{en} {phrase.en} {degree[1]}{adjective.english} ?",
        )
    return (
        f"{phrase.de[NOM]} {de} {degree[0]}{adjective.predicative} .",
        f"{phrase.en} {en} {degree[1]}{adjective.english} .",
    )


DESCRIBED = (
    "thing,dish,clothes,room,city-place,vehicle,media,reading,task,event,animal,hotdrink,furniture"
)


def definite(d: Choices, noun: Noun, *, bare: bool = False) -> Phrase:
    """Return the, this or my thing; ``bare`` without adjectives."""
    phrase = noun_phrase(d, noun)
    plural = phrase.person == 5
    if not phrase.definite:
        return build(d, noun, "def", plural)
    if bare and phrase.bare not in (noun.one, noun.many):
        return build(d, noun, "poss" if noun.profile in ("kin", "friend") else "def", plural)
    return phrase


def comparison(d: Choices) -> Pair:
    """Return a comparison of two things of a kind, or of two people."""
    tags = d.pick(COMPARED)
    one, two = d.spin(tagged(tags)), d.spin(tagged(tags))
    shared = _comparable(one, two)
    while one.one == two.one or not shared:
        one, two = d.spin(tagged(tags)), d.spin(tagged(tags))
        shared = _comparable(one, two)
    adjective = d.pick(shared)
    left, right = (
        definite(d, one, bare=True),
        build(d, two, "poss" if two.profile == "kin" else "def"),
    )
    de, en = be(left)
    kind = d.below(4)
    if kind == 0:
        return (
            f"{left.de[NOM]} {de} so {adjective.predicative} wie {right.de[NOM]} .",
            f"{left.en} {en} as {adjective.english} as {right.en} .",
        )
    if kind == 1:
        return (
            f"{left.de[NOM]} {de} nicht so {adjective.predicative} wie {right.de[NOM]} .",
            f"{left.en} {en} not as {adjective.english} as {right.en} .",
        )
    return (
        f"{left.de[NOM]} {de} {adjective.comparative} als {right.de[NOM]} .",
        f"{left.en} {en} {adjective.more} than {right.en} .",
    )


COMPARED = (
    "clothes",
    "furniture",
    "drive,catch",
    "watchable",
    "readable",
    "kin",
    "friend",
    "city-place",
    "device",
    "dish",
    "room",
    "task",
)


def _comparable(one: Noun, two: Noun) -> list[Adjective]:
    if one.adjectives is None or two.adjectives is None:
        return []
    return [
        word for word in one.adjectives.items if word.comparative and word in two.adjectives.items
    ]


def having(d: Choices) -> Pair:
    noun = d.spin(tagged("owned,kin,ticket,toy"))
    kin = noun.profile == "kin"
    many = kin and "single" not in noun.tags and d.chance(50)
    phrase = build(
        d, noun, "num" if many else "indef", many, adjectives=maybe(d, noun, 0 if kin else 40)
    )
    while noun.tags & {"single", "plural-only"} or noun.singular[0] == "-":
        noun = d.spin(tagged("owned,kin,ticket,toy"))
        phrase = build(d, noun, "indef")
    who = person(d, ASSERTING, 70)
    while "ladies" in noun.tags and who.owner == 2:
        who = person(d, ASSERTING, 70)
    kind = d.below(10)
    if kind < 2:
        who = person(d, ASKING, 85)
        while "ladies" in noun.tags and who.owner == 2:
            who = person(d, ASKING, 85)
        does = "does" if who.agreement == 1 else "do"
        return (
            f"{german.HAVE.present[who.person]} {who.de[NOM]} {phrase.de[ACC]} ?",
            f"{does} {who.en} have {phrase.en} ?",
        )
    if kind < 5:
        phrase = negated(d, phrase, noun)
        does = "does" if who.agreement == 1 else "do"
        return (
            f"{who.de[NOM]} {german.HAVE.present[who.person]} {phrase.de[ACC]} .",
            f"{who.en} {does} not have {phrase.en} .",
        )
    past = d.chance(25)
    has = "had" if past else "has" if who.agreement == 1 else "have"
    return (
        f"{who.de[NOM]} {german.HAVE.finite(past, who.person)} {phrase.de[ACC]} .",
        f"{who.en} {has} {phrase.en} .",
    )


WHERE = weighted(
    {("auf", "on"): 34, ("unter", "under"): 26, ("neben", "next to"): 24, ("hinter", "behind"): 16}
)


def positions(d: Choices) -> Pair:
    """Return where a thing is (dative) or is put (accusative)."""
    lying = d.chance(60)
    noun = d.spin(tagged("small" if lying else "standing"))
    thing = definite(d, noun)
    where, where_en = d.spin(WHERE)
    spot = build(d, d.spin(tagged("surface" if where in ("auf", "unter") else "wood,seat")), "def")
    if d.chance(55):
        verb = LIE if lying else STAND
        de, en = verb.present[thing.person], be(thing)[1]
        if d.chance(25):
            return (
                f"{de} {thing.de[NOM]} {where} {spot.de[DAT]} ?",
                f"{en} {thing.en} {where_en} {spot.en} ?",
            )
        return (
            f"{thing.de[NOM]} {de} {where} {spot.de[DAT]} .",
            f"{thing.en} {en} {where_en} {spot.en} .",
        )
    if d.chance(60):
        put = "leg" if lying else "stell"
        if d.polite:
            put = f"{put}en Sie"
        return (
            f"bitte {put} {thing.de[ACC]} {where} {spot.de[ACC]} .",
            f"please put {thing.en} {where_en} {spot.en} .",
        )
    who = person(d, ASSERTING, 70)
    have, done = german.HAVE.present[who.person], "gelegt" if lying else "gestellt"
    return (
        f"{who.de[NOM]} {have} {thing.de[ACC]} {where} {spot.de[ACC]} {done} .",
        f"{who.en} put {thing.en} {where_en} {spot.en} .",
    )


LIE = german.Verb("liegen liegt lag gelegen h")
STAND = german.Verb("stehen steht stand gestanden h")


def belongings(d: Choices) -> Pair:
    """Return whose it is, with a German genitive: das Auto meines Vaters."""
    noun = d.spin(tagged("owned"))
    while noun.singular[0] == "-":
        noun = d.spin(tagged("owned"))
    thing = build(d, noun, "def", adjectives=maybe(d, noun))
    owner = d.spin(tagged("kin,friend"))
    while owner.singular[0] == "-" or ("ladies" in noun.tags and "male" in owner.tags):
        owner = d.spin(tagged("kin,friend"))
    whose = build(d, owner, "poss")
    bare = thing.bare
    kind = d.below(3)
    if kind == 0 or noun.adjectives is None:
        that = "those are" if noun.pair else "that is"
        return f"das ist {thing.de[NOM]} {whose.de[GEN]} .", f"{that} {whose.en} 's {bare} ."
    are = BE_EN[thing.agreement]
    if kind == 1:
        return f"wo ist {thing.de[NOM]} {whose.de[GEN]} ?", f"where {are} {whose.en} 's {bare} ?"
    adjective = d.spin(noun.adjectives)
    plain = build(d, noun, "def")
    return (
        f"{plain.de[NOM]} {whose.de[GEN]} ist {adjective.predicative} .",
        f"{whose.en} 's {plain.bare} {are} {adjective.english} .",
    )


def taken_up(d: Choices) -> Pair:
    """Return two sentences; the pronoun of the second takes the gender of the first's noun."""
    noun = d.spin(tagged("losable,device,clothes"))
    while noun.profile != "thing" or noun.pair or "ticket" in noun.tags:
        noun = d.spin(tagged("losable,device,clothes"))
    it = (HE, SHE, IT)[noun.gender].de
    if "losable" in noun.tags and d.chance(60):
        phrase = build(d, noun, "poss", subject=I)
        de, en = d.pick(LOST)
        return f"wo ist {phrase.de[NOM]} ? {de.format(it[ACC])}", f"where is {phrase.en} ? {en}"
    while noun.tags.isdisjoint(("clothes", "price")) or noun.profile != "thing" or noun.pair:
        noun = d.spin(tagged("device,clothes"))
    it = (HE, SHE, IT)[noun.gender].de
    if d.chance(50):
        phrase = build(d, noun, "poss", adjectives=maybe(d, noun), subject=I)
        city, city_en = d.spin(words("city"))
        de, en = d.pick(BOUGHT)
        return (
            f"das ist {phrase.de[NOM]} . {de.format(it[ACC], city)}",
            f"this is {phrase.en} . {en.format(city_en)}",
        )
    phrase = build(d, noun, "dies" if d.chance(50) else "def")
    verdict, verdict_en = d.pick(VERDICTS)
    who = "Ihnen" if d.polite else "dir"
    return (
        f"wie gefällt {who} {phrase.de[NOM]} ? {verdict.format(it[NOM])}",
        f"how do you like {phrase.en} ? {verdict_en}",
    )


LOST = (
    ("ich kann {} nicht finden .", "I cannot find it ."),
    ("ich brauche {} jetzt .", "I need it now ."),
    ("ich habe {} heute Morgen noch gesehen .", "I saw it this morning ."),
    ("hast du {} gesehen ?", "have you seen it ?"),
)
BOUGHT = (
    ("ich habe {} in {} gekauft .", "I bought it in {} ."),
    ("ich habe {} letztes Jahr in {} gekauft .", "I bought it in {} last year ."),
)
VERDICTS = (
    ("{} ist ganz neu .", "it is brand new ."),
    ("{} war nicht teuer .", "it was not expensive ."),
    ("ist {} nicht schön ?", "is it not beautiful ?"),
)
