"""On the way and at the counter: prices, directions, times, orders, names, ages, thanks."""

from __future__ import annotations

from phrasebook import english, german
from phrasebook.draw import Choices, Wheel, weighted
from phrasebook.german import ACC, DAT, GEN, NOM
from phrasebook.lexicon import Noun, tagged, words
from phrasebook.nounphrase import Phrase, build
from phrasebook.numbers import in_words, number
from phrasebook.people import (
    ASKING,
    ASSERTING,
    HE,
    SHE,
    I,
    company,
    person,
    pronoun,
)
from phrasebook.tenses import clock_time
from phrasebook.things import BE_EN, be, maybe

Pair = tuple[str, str]


def price(d: Choices) -> Pair:
    noun = d.spin(tagged("price"))
    phrase = build(d, noun, "dies" if d.chance(50) else "def", adjectives=maybe(d, noun))
    costs = "kosten" if phrase.person == 5 else "kostet"
    if d.chance(50):
        much = f"how much {BE_EN[phrase.agreement]} {phrase.en} ?"
        return f"wie viel {costs} {phrase.de[NOM]} ?", much
    amount, amount_en = _price(d, noun)
    cost = "costs" if phrase.agreement == 1 else "cost"
    return f"{phrase.de[NOM]} {costs} {amount} Euro .", f"{phrase.en} {cost} {amount_en} euros ."


def _price(d: Choices, noun: Noun) -> Pair:
    """Return a price such a thing may have."""
    if noun.tags & {"dish", "ticket"}:
        return number(d, 5, 19)
    if noun.tags & {"clothes", "losable"}:
        return number(d, 20, 99)
    count, count_en = in_words(2 + d.below(8))
    if noun.tags & {"drive", "home"}:
        return f"{count}tausend", f"{count_en} thousand"
    return f"{count}hundert", f"{count_en} hundred"


NEAR = weighted(
    {
        ("neben", "next to"): 30,
        ("hinter", "behind"): 22,
        ("vor", "in front of"): 20,
        ("gegenüber", "opposite"): 14,
        ("in der Nähe", "near"): 14,
    }
)
GREET = weighted({("", ""): 60, ("Entschuldigung , ", "excuse me , "): 40})


def directions(d: Choices) -> Pair:
    hello, hello_en = d.spin(GREET)
    noun = d.spin(tagged("city-place"))
    phrase = build(d, noun, "def")
    kind = d.below(6)
    if kind == 0:
        return f"{hello}wo ist {phrase.de[NOM]} ?", f"{hello_en}where is {phrase.en} ?"
    if kind == 1:
        way = german.join("zu", phrase.de[DAT])
        return f"{hello}wie komme ich {way} ?", f"{hello_en}how do I get to {phrase.en} ?"
    if kind == 2:
        way = german.join("zu", phrase.de[DAT])
        return f"{hello}ist es weit bis {way} ?", f"{hello_en}is it far to {phrase.en} ?"
    if kind == 3:
        indef = build(d, noun, "indef", adjectives=maybe(d, noun))
        return (
            f"{hello}gibt es hier in der Nähe {indef.de[ACC]} ?",
            f"{hello_en}is there {indef.en} near here ?",
        )
    if kind == 4:
        minutes = number(d, 2, 30)
        way = german.join("zu", phrase.de[DAT])
        return (
            f"bis {way} sind es {minutes[0]} Minuten zu Fuß .",
            f"it is {minutes[1]} minutes on foot to {phrase.en} .",
        )
    other = build(d, d.spin(tagged("city-place")), "def")
    while other.en == phrase.en:
        other = build(d, d.spin(tagged("city-place")), "def")
    near, near_en = d.spin(NEAR)
    where = other.de[GEN if near == "in der Nähe" else DAT]
    return f"{phrase.de[NOM]} ist {near} {where} .", f"{phrase.en} is {near_en} {other.en} ."


def clock(d: Choices) -> Pair:
    kind = d.below(5)
    when, when_en = clock_time(d)
    if kind == 0:
        return "wie spät ist es ?", d.word(("what time is it ?", "what is the time ?"))
    if kind < 3:
        return f"es ist {when[3:]} .", f"it is {when_en[3:]} ."
    noun = d.spin(tagged("event,timed,public"))
    phrase = build(d, noun, "def")
    day, *wordings = d.spin(words("future"))
    if "public" in noun.tags:
        return (
            f"wann kommt {phrase.de[NOM]} an ?",
            f"when does {phrase.en} arrive ?",
        )
    start = d.word(("begins", "starts"))
    if day.startswith(("in ", "bald", "später")):
        return f"{phrase.de[NOM]} beginnt {when} .", f"{phrase.en} {start} {when_en} ."
    return (
        f"{phrase.de[NOM]} beginnt {day} {when} .",
        f"{phrase.en} {start} {d.word(wordings)} {when_en} .",
    )


def age(d: Choices) -> Pair:
    if d.chance(40):
        subject = person(d, ASKING, 40)
        de, en = be(subject)
        return f"wie alt {de} {subject.de[NOM]} ?", f"how old {en} {subject.en} ?"
    kind = d.pick(AGES)
    if kind is None:
        subject, years = d.pick((I, HE, SHE)), number(d, 12, 69)
    else:
        tags, low, high = kind
        subject, years = build(d, d.spin(tagged(tags)), "poss"), number(d, low, high)
    de, en = be(subject)
    return (
        f"{subject.de[NOM]} {de} {years[0]} Jahre alt .",
        f"{subject.en} {en} {years[1]} years old .",
    )


AGES: tuple[tuple[str, int, int] | None, ...] = (
    None,
    None,
    ("grandparent", 65, 89),
    ("spouse,friend", 25, 64),
    ("offspring", 2, 19),
)


def introduction(d: Choices) -> Pair:
    """Return names, origins and professions."""
    kind = d.below(6)
    if kind == 0:
        male = d.chance(50)
        word = d.spin(words("male name" if male else "female name"))[0]
        if d.chance(40):
            return f"ich heiße {word} .", f"my name is {word} ."
        kin = d.spin(tagged("male" if male else "female"))
        while kin.profile not in ("kin", "friend"):
            kin = d.spin(tagged("male" if male else "female"))
        phrase = build(d, kin, "poss")
        return f"{phrase.de[NOM]} heißt {word} .", f"{phrase.en} is called {word} ."
    if kind == 1:
        subject = person(d, ASKING)
        verb = COME.present[subject.person]
        does = "does" if subject.agreement == 1 else "do"
        return (
            f"woher {verb} {subject.de[NOM]} ?",
            f"where {does} {subject.en} come from ?",
        )
    subject = pronoun(d, ASSERTING) if d.chance(70) else company(d, I)
    if kind < 4:
        land, land_en = d.spin(words("country"))[:2]
        if d.chance(12):
            land, land_en = d.spin(words("article country"))[:2]
            land = f"der {land}"
        come = "comes" if subject.agreement == 1 else "come"
        return (
            f"{subject.de[NOM]} {COME.present[subject.person]} aus {land} .",
            f"{subject.en} {come} from {land_en} .",
        )
    while subject.person > 2 or subject.owner < 0:
        subject = company(d, I)
    return _profession(d, subject)


COME = german.Verb("kommen kommt kam gekommen s")


def _profession(d: Choices, subject: Phrase) -> Pair:
    """Return somebody's profession: German has no article here."""
    gender = "female" if subject.owner == 3 else "male"
    job = d.spin(tagged("job"))
    while gender not in job.tags or "young" in job.tags:
        job = d.spin(tagged("job"))
    de, en = be(subject)
    return (
        f"{subject.de[NOM]} {de} {job.singular[0]} von Beruf .",
        f"{subject.en} {en} {english.article(job.one)} by profession .",
    )


SERVED = weighted(
    {
        ("ein Glas", "a glass of", "colddrink"): 24,
        ("eine Tasse", "a cup of", "hotdrink"): 26,
        ("eine Flasche", "a bottle of", "colddrink,alcohol"): 18,
        ("zwei Flaschen", "two bottles of", "colddrink,alcohol"): 8,
        ("ein Stück", "a piece of", "slice"): 12,
        ("", "", "dish"): 40,
        ("", "", "hotdrink"): 20,
    }
)
SOLD = weighted(
    {
        ("ein Kilo", "a kilo of", "fruit"): 24,
        ("zwei Kilo", "two kilos of", "fruit"): 14,
        ("ein Stück", "a piece of", "slice"): 10,
        ("drei", "three", "whole"): 12,
        ("ein Pfund", "a pound of", "fruit"): 10,
        ("", "", "bakery"): 16,
    }
)
WISHES = weighted(
    {
        ("ich hätte gern {} , bitte .", "I would like {} , please ."): 34,
        ("ich möchte {} , bitte .", "I would like {} , please ."): 18,
        ("wir hätten gern {} .", "we would like {} ."): 16,
        ("können wir bitte {} haben ?", "can we please have {} ?"): 10,
        ("kann ich bitte {} haben ?", "can I please have {} ?"): 14,
        ("bringen Sie mir bitte {} !", "please bring me {} !"): 12,
        ("für mich {} , bitte .", "{} for me , please ."): 8,
    }
)


def order(d: Choices) -> Pair:
    """Return an order at a restaurant, or at the market."""
    served = d.chance(70)
    wish, wish_en = d.spin(WISHES)
    portions = SERVED if served or "bring" in wish else SOLD
    things = [_portion(d, portions)]
    if d.chance(35):
        things.append(_portion(d, portions))
    if things[0][0] == things[-1][0]:
        things = things[:1]
    de, en = (" und ".join(words) for words in zip(*things, strict=True))
    return wish.format(de), wish_en.format(en.replace(" und ", " and "))


def _portion(d: Choices, portions: Wheel[tuple[str, str, str]]) -> Pair:
    amount, amount_en, tags = d.spin(portions)
    noun = d.spin(tagged(tags))
    if not amount:
        phrase = build(d, noun, "indef")
        return phrase.de[ACC], phrase.en
    if tags in ("fruit", "whole"):
        return f"{amount} {noun.plural[0]}", f"{amount_en} {noun.many}"
    return f"{amount} {noun.singular[0]}", f"{amount_en} {noun.one}"


def thanks(d: Choices) -> Pair:
    noun = d.spin(tagged("giftable,abstract,giftfood,mail"))
    phrase = build(d, noun, "def", adjectives=maybe(d, noun))
    many, *wordings = d.pick(
        (("vielen Dank", "thank you very much", "many thanks"), ("danke", "thank you"))
    )
    return f"{many} für {phrase.de[ACC]} !", f"{d.word(wordings)} for {phrase.en} !"
