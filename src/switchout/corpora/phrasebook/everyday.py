"""What a phrasebook is bought for: prices, directions, times, orders, feelings, comparisons."""

from __future__ import annotations

from switchout.corpora.phrasebook import english, german
from switchout.corpora.phrasebook.draw import Choices, Wheel, weighted
from switchout.corpora.phrasebook.events import clock_time
from switchout.corpora.phrasebook.german import ACC, DAT, GEN, NOM
from switchout.corpora.phrasebook.lexicon import Adjective, Noun, tagged, words
from switchout.corpora.phrasebook.nounphrase import (
    ASKING,
    ASSERTING,
    HE,
    IT,
    OBJECTS,
    POSSESSIVES_EN,
    SHE,
    YOU,
    YOU_POLITE,
    I,
    Phrase,
    build,
    negated,
    noun_phrase,
    person,
)

Pair = tuple[str, str]
BE_EN = english.BE_PRESENT
WAS_EN = english.BE_PAST


def _be(phrase: Phrase, past: bool = False) -> Pair:
    """Return sein and be for a subject."""
    return german.BE.finite(past, phrase.person), (WAS_EN if past else BE_EN)[phrase.agreement]


def _number(d: Choices, low: int, high: int) -> Pair:
    """Return a number of low..high (at most 99) in words, round ones more often."""
    value = low + d.below(high - low + 1)
    if value > 20 and d.chance(60):
        value -= value % 10
    return _in_words(value)


def _in_words(value: int) -> Pair:
    units = words("hour").items
    if value <= 12:
        return units[value - 1][0], units[value - 1][1]
    if value < 20:
        return TEENS[value - 13]
    ten, ten_en = TENS[value // 10 - 2]
    if value % 10 == 0:
        return ten, ten_en
    unit, unit_en = units[value % 10 - 1][:2]
    return f"{'ein' if unit == 'eins' else unit}und{ten}", f"{ten_en}-{unit_en}"


TEENS = (
    ("dreizehn", "thirteen"),
    ("vierzehn", "fourteen"),
    ("fünfzehn", "fifteen"),
    ("sechzehn", "sixteen"),
    ("siebzehn", "seventeen"),
    ("achtzehn", "eighteen"),
    ("neunzehn", "nineteen"),
)
TENS = (
    ("zwanzig", "twenty"),
    ("dreißig", "thirty"),
    ("vierzig", "forty"),
    ("fünfzig", "fifty"),
    ("sechzig", "sixty"),
    ("siebzig", "seventy"),
    ("achtzig", "eighty"),
    ("neunzig", "ninety"),
)


def price(d: Choices) -> Pair:
    noun = d.spin(tagged("price"))
    phrase = build(d, noun, "dies" if d.chance(50) else "def", adjectives=_maybe(d, noun))
    if d.chance(50):
        much = f"how much {BE_EN[phrase.agreement]} {phrase.en} ?"
        return f"wie viel kostet {phrase.de[NOM]} ?", much
    number, number_en = _price(d, noun)
    cost = "costs" if phrase.agreement == 1 else "cost"
    return f"{phrase.de[NOM]} kostet {number} Euro .", f"{phrase.en} {cost} {number_en} euros ."


def _price(d: Choices, noun: Noun) -> Pair:
    """Return a price such a thing may have."""
    if noun.tags & {"dish", "ticket"}:
        return _number(d, 5, 19)
    if noun.tags & {"clothes", "losable"}:
        return _number(d, 20, 99)
    number, number_en = _in_words(2 + d.below(8))
    if noun.tags & {"drive", "home"}:
        return f"{number}tausend", f"{number_en} thousand"
    return f"{number}hundert", f"{number_en} hundred"


def _maybe(d: Choices, noun: Noun, percent: int = 25) -> tuple[Adjective, ...]:
    return (d.spin(noun.adjectives),) if noun.adjectives and d.chance(percent) else ()


NEAR = weighted(
    {
        ("neben", "next to"): 30,
        ("hinter", "behind"): 22,
        ("vor", "in front of"): 20,
        ("gegenüber", "opposite"): 14,
        ("in der Nähe von", "near"): 14,
    }
)
GREET = weighted({("", ""): 60, ("entschuldigung , ", "excuse me , "): 40})


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
        indef = build(d, noun, "indef", adjectives=_maybe(d, noun))
        return (
            f"{hello}gibt es hier in der Nähe {indef.de[ACC]} ?",
            f"{hello_en}is there {indef.en} near here ?",
        )
    if kind == 4:
        minutes = _number(d, 2, 30)
        way = german.join("zu", phrase.de[DAT])
        return (
            f"bis {way} sind es {minutes[0]} Minuten zu Fuß .",
            f"it is {minutes[1]} minutes on foot to {phrase.en} .",
        )
    other = build(d, d.spin(tagged("city-place")), "def")
    while other.en == phrase.en:
        other = build(d, d.spin(tagged("city-place")), "def")
    near, near_en = d.spin(NEAR)
    return (
        f"{phrase.de[NOM]} ist {german.join(near, other.de[DAT])} .".replace("von dem ", "vom "),
        f"{phrase.en} is {near_en} {other.en} .",
    )


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
        de, en = _be(subject)
        return f"wie alt {de} {subject.de[NOM]} ?", f"how old {en} {subject.en} ?"
    kind = d.pick(AGES)
    if kind is None:
        subject, years = d.pick((I, HE, SHE)), _number(d, 12, 69)
    else:
        tags, low, high = kind
        subject, years = build(d, d.spin(tagged(tags)), "poss"), _number(d, low, high)
    de, en = _be(subject)
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
    subject = person(d, ASSERTING, 70)
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
        subject = person(d, ASSERTING, 70)
    return _profession(d, subject)


COME = german.Verb("kommen kommt kam gekommen s")


def _profession(d: Choices, subject: Phrase) -> Pair:
    """Return somebody's profession: German has no article here."""
    gender = "female" if subject.owner == 3 else "male"
    job = d.spin(tagged("job"))
    while gender not in job.tags:
        job = d.spin(tagged("job"))
    de, en = _be(subject)
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
        ("drei", "three", "fruit"): 12,
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
    if tags == "fruit":
        return f"{amount} {noun.plural[0]}", f"{amount_en} {noun.many}"
    return f"{amount} {noun.singular[0]}", f"{amount_en} {noun.one}"


def weather(d: Choices) -> Pair:
    de, *wordings = d.spin(words("weather"))
    return f"{de} .", f"{d.word(wordings)} ."


def pain(d: Choices) -> Pair:
    """Return what hurts: dative and article in German, possessive in English."""
    part = d.spin(tagged("body"))
    aching = f"{german.THE[part.gender][NOM]} {part.singular[0]}"
    if d.chance(25):
        who = d.pick((YOU, YOU_POLITE))
        return f"tut {who.de[DAT]} {aching} weh ?", f"does your {part.one} hurt ?"
    who = d.pick((I, I, HE, SHE)) if d.chance(60) else person(d)
    while who.person == 5:
        who = person(d)
    owner = POSSESSIVES_EN[who.owner] if who.kind == "pronoun" else f"{who.en} 's"
    when, when_en = d.pick((("", ""), ("seit gestern ", "since yesterday"), ("", "")))
    if when:
        return (
            f"{who.de[DAT]} tut {when}{aching} weh .",
            f"{owner} {part.one} has been hurting {when_en} .",
        )
    return f"{who.de[DAT]} tut {aching} weh .", f"{owner} {part.one} hurts ."


def feeling(d: Choices) -> Pair:
    """Return how somebody is: adjectives, Hunger haben, wie geht es."""
    kind = d.below(8)
    if kind == 0:
        who = person(d, ASKING, 30)
        are = BE_EN[who.agreement]
        return f"wie geht es {who.de[DAT]} ?", f"how {are} {who.en} ?"
    state, *wordings = d.spin(words("adjective for people"))
    state_en = d.word(wordings)
    if kind < 3:
        who = person(d, ASKING)
        de, en = _be(who)
        return f"{de} {who.de[NOM]} {state} ?", f"{en} {who.en} {state_en} ?"
    who = person(d, ASSERTING)
    past = d.chance(30)
    de, en = _be(who, past)
    when = (
        ("gestern ", " yesterday") if past else d.pick((("", ""), ("heute ", " today"), ("", "")))
    )
    degree = d.spin(DEGREES)
    if state in ("verheiratet", "allein", "fertig", "gesund"):
        degree, when = d.pick((("", ""), ("nicht ", "not "))), ("", "")
    return (
        f"{who.de[NOM]} {de} {when[0]}{degree[0]}{state} .",
        f"{who.en} {en} {degree[1]}{state_en}{when[1]} .",
    )


DEGREES = weighted(
    {
        ("", ""): 30,
        ("sehr ", "very "): 36,
        ("nicht ", "not "): 18,
        ("zu ", "too "): 8,
        ("ein bisschen ", "a bit "): 8,
    }
)


def quality(d: Choices) -> Pair:
    """Return what a thing is like."""
    noun = d.spin(tagged(DESCRIBED))
    while noun.adjectives is None:
        noun = d.spin(tagged(DESCRIBED))
    phrase = _definite(d, noun, bare=True)
    adjective = d.spin(noun.adjectives)
    past = d.chance(20)
    de, en = _be(phrase, past)
    degree = d.spin(DEGREES)
    if not adjective.comparative:
        degree = d.pick((("", ""), ("nicht ", "not ")))
    if d.chance(25):
        degree = (
            ("", "") if not adjective.comparative else degree if degree[0] == "sehr " else ("", "")
        )
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


def _definite(d: Choices, noun: Noun, *, bare: bool = False) -> Phrase:
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
        _definite(d, one, bare=True),
        build(d, two, "poss" if two.profile == "kin" else "def"),
    )
    de, en = _be(left)
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


def liking(d: Choices) -> Pair:
    """Return gefallen and schmecken, whose subject is the object of like, and mögen."""
    kind = d.below(3)
    if kind == 0:
        noun, verb = d.spin(tagged("likeable,pretty")), PLEASE
    elif kind == 1:
        noun, verb = d.spin(tagged("dish,cake")), TASTE
    else:
        return _mögen(d)
    phrase = _definite(d, noun)
    who = d.spin(OBJECTS) if d.chance(75) else person(d)
    finite = verb.present[phrase.person]
    if who.owner in (1, 5, 7) and who.kind == "pronoun":
        return f"{finite} {who.de[DAT]} {phrase.de[NOM]} ?", f"do you like {phrase.en} ?"
    does = "does" if who.agreement == 1 else "do"
    likes = "likes" if who.agreement == 1 else "like"
    if d.chance(25):
        return (
            f"{phrase.de[NOM]} {finite} {who.de[DAT]} nicht .",
            f"{who.en} {does} not like {phrase.en} .",
        )
    much = d.pick((("", ""), (" sehr", " very much") if kind == 0 else (" sehr gut", " very much")))
    return (
        f"{phrase.de[NOM]} {finite} {who.de[DAT]}{much[0]} .",
        f"{who.en} {likes} {phrase.en}{much[1]} .",
    )


PLEASE = german.Verb("gefallen gefällt gefiel gefallen h")
TASTE = german.Verb("schmecken schmeckt schmeckte geschmeckt h")
LIKE = german.Verb("mögen mag mochte gemocht h")


def _mögen(d: Choices) -> Pair:
    noun = d.spin(tagged("drink,food,pet,fruit"))
    phrase = build(d, noun, "none", noun.countable)
    who = person(d, ASSERTING)
    likes = "likes" if who.agreement == 1 else "like"
    if d.chance(30):
        does = "does" if who.agreement == 1 else "do"
        no = build(d, noun, "kein", noun.countable)
        return (
            f"{who.de[NOM]} {LIKE.present[who.person]} {no.de[ACC]} .",
            f"{who.en} {does} not like {phrase.en} .",
        )
    return (
        f"{who.de[NOM]} {LIKE.present[who.person]} {phrase.de[ACC]} .",
        f"{who.en} {likes} {phrase.en} .",
    )


def having(d: Choices) -> Pair:
    noun = d.spin(tagged("owned,kin,ticket,toy"))
    kin = noun.profile == "kin"
    many = kin and "single" not in noun.tags and d.chance(50)
    phrase = build(
        d, noun, "num" if many else "indef", many, adjectives=_maybe(d, noun, 0 if kin else 40)
    )
    while noun.tags & {"single", "plural-only"} or noun.singular[0] == "-":
        noun = d.spin(tagged("owned,kin,ticket,toy"))
        phrase = build(d, noun, "indef")
    who = person(d, ASSERTING, 70)
    kind = d.below(10)
    if kind < 2:
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
    thing = _definite(d, noun)
    where, where_en = d.spin(WHERE)
    spot = build(d, d.spin(tagged("surface" if where in ("auf", "unter") else "furniture")), "def")
    if d.chance(55):
        verb = LIE if lying else STAND
        de, en = verb.present[thing.person], _be(thing)[1]
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
        put = "legen Sie" if lying else "stellen Sie"
        if d.chance(50):
            put = "leg" if lying else "stell"
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


def thanks(d: Choices) -> Pair:
    noun = d.spin(tagged("giftable,abstract,giftfood,mail"))
    phrase = build(d, noun, "def", adjectives=_maybe(d, noun))
    many, *wordings = d.pick(
        (("vielen Dank", "thank you very much", "many thanks"), ("danke", "thank you"))
    )
    return f"{many} für {phrase.de[ACC]} !", f"{d.word(wordings)} for {phrase.en} !"


def belongings(d: Choices) -> Pair:
    """Return whose it is, with a German genitive: das Auto meines Vaters."""
    noun = d.spin(tagged("owned"))
    while noun.singular[0] == "-":
        noun = d.spin(tagged("owned"))
    thing = build(d, noun, "def", adjectives=_maybe(d, noun))
    owner = d.spin(tagged("kin,friend"))
    while owner.singular[0] == "-":
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
    noun = d.spin(tagged("losable,buyable,clothes"))
    while noun.profile != "thing" or noun.pair:
        noun = d.spin(tagged("losable,buyable,clothes"))
    it = (HE, SHE, IT)[noun.gender].de
    kind = d.below(3)
    if kind == 0 and "losable" in noun.tags:
        phrase = build(d, noun, "poss", subject=I)
        de, en = d.pick(LOST)
        return f"wo ist {phrase.de[NOM]} ? {de.format(it[ACC])}", f"where is {phrase.en} ? {en}"
    if kind == 1:
        phrase = build(d, noun, "poss", adjectives=_maybe(d, noun), subject=I)
        city, city_en = d.spin(words("city"))
        de, en = d.pick(BOUGHT)
        return (
            f"das ist {phrase.de[NOM]} . {de.format(it[ACC], city)}",
            f"this is {phrase.en} . {en.format(city_en)}",
        )
    phrase = build(d, noun, "dies" if d.chance(50) else "def", adjectives=_maybe(d, noun))
    verdict, verdict_en = d.pick(VERDICTS)
    who, who_en = d.pick(
        (("dir", "do you"), ("Ihnen", "do you"), ("deiner Schwester", "does your sister"))
    )
    return (
        f"wie gefällt {who} {phrase.de[NOM]} ? {verdict.format(it[NOM])}",
        f"how {who_en} like {phrase.en} ? {verdict_en}",
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
