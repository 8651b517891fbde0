"""Noun phrases in both languages at once: determiners, adjectives, nouns."""

from __future__ import annotations

from typing import NamedTuple

from phrasebook import english, german
from phrasebook.draw import Choices, weighted
from phrasebook.german import MIXED, PLURAL, STRONG, WEAK
from phrasebook.lexicon import Adjective, Noun, words


class Phrase(NamedTuple):
    """A noun phrase: four German cases, English subject and object form, agreement."""

    de: tuple[str, ...]
    en: str
    en_object: str
    person: int  # German person of the verb, 0..5
    agreement: int  # English: 0 I, 1 he, 2 they
    owner: int  # which possessive refers back to it, -1: none should
    kind: str  # pronoun, name, noun
    definite: bool = True
    gender: int = 3
    bare: str = ""  # English without article, for kein → any


POSSESSIVES = ("mein", "dein", "sein", "ihr", "unser", "euer", "ihr", "Ihr")
POSSESSIVES_EN = ("my", "your", "his", "her", "our", "your", "their", "your")
OWNERS = weighted({0: 46, 1: 20, 2: 13, 3: 11, 4: 10})
NUMBERS = weighted(
    {("zwei", "two"): 50, ("drei", "three"): 30, ("vier", "four"): 12, ("fünf", "five"): 8}
)


def noun_phrase(d: Choices, noun: Noun, subject: Phrase | None = None, mark: str = "") -> Phrase:
    """Return ``noun`` with a determiner that suits it, perhaps with adjectives.

    A possessive refers back to ``subject`` most of the time. The verb table marks what is rather
    definite (``!``: one closes *the* window) or indefinite (``?``: one orders *a* soup).
    """
    profile = noun.profile
    determiner, plural = d.spin(PROFILES.get(profile + mark, PROFILES[profile]))
    if determiner == "of" and subject is not None and subject.kind == "name":
        determiner = "poss"
    if not noun.countable or "single" in noun.tags:
        plural = False
    elif noun.singular[0] == "-":
        plural = True
    if determiner in ("poss", "of") and "owned" not in noun.tags and profile == "thing":
        determiner = "def"
    adjectives = some_adjectives(d, noun)
    if adjectives and adjectives[0].predicative in ("richtig", "falsch"):
        determiner = "def"  # this wrong bus, a right answer: odd
    return build(d, noun, determiner, plural, adjectives=adjectives, subject=subject)


PROFILES = {
    "kin": weighted({("poss", False): 76, ("of", False): 12, ("poss", True): 12}),
    "friend": weighted({("poss", False): 62, ("indef", False): 18, ("poss", True): 20}),
    "boss": weighted({("poss", False): 60, ("def", False): 40}),
    "person": weighted(
        {
            ("def", False): 58,
            ("indef", False): 16,
            ("dies", False): 8,
            ("def", True): 13,
            ("num", True): 5,
        }
    ),
    "thing": weighted(
        {
            ("indef", False): 34,
            ("def", False): 27,
            ("poss", False): 18,
            ("dies", False): 8,
            ("none", True): 4,
            ("num", True): 5,
            ("def", True): 4,
            ("of", False): 8,
        }
    ),
    "thing!": weighted(
        {("def", False): 46, ("poss", False): 34, ("dies", False): 10, ("of", False): 10}
    ),
    "thing?": weighted(
        {
            ("indef", False): 66,
            ("none", True): 10,
            ("num", True): 10,
            ("dies", False): 8,
            ("def", False): 6,
        }
    ),
    "fruit": weighted(
        {("none", True): 48, ("indef", False): 22, ("num", True): 12, ("def", True): 18}
    ),
    "fruit?": weighted({("none", True): 74, ("num", True): 13, ("indef", False): 13}),
    "berry": weighted({("none", True): 70, ("def", True): 30}),
    "berry?": weighted({("none", True): 1}),
    "mass": weighted(
        {("none", False): 80, ("def", False): 8, ("some", False): 6, ("much", False): 6}
    ),
    "mass?": weighted({("none", False): 90, ("much", False): 10}),
    "mass!": weighted({("def", False): 1}),
    "the": weighted({("def", False): 92, ("dies", False): 8}),
    "plural": weighted({("poss", True): 55, ("def", True): 45}),
    "bare": weighted({("none", False): 1}),
}


def some_adjectives(d: Choices, noun: Noun) -> tuple[Adjective, ...]:
    if noun.adjectives is None or not d.chance(10 if noun.profile in ("kin", "mass") else 28):
        return ()
    return (d.spin(noun.adjectives),)


def build(
    d: Choices,
    noun: Noun,
    determiner: str,
    plural: bool = False,
    *,
    adjectives: tuple[Adjective, ...] = (),
    subject: Phrase | None = None,
) -> Phrase:
    """Return the phrase with a determiner: def, indef, poss, of, dies, kein, num, some, none."""
    if noun.singular[0] == "-" or noun.plural[0] == "-":
        plural = noun.singular[0] == "-"
    gender = PLURAL if plural else noun.gender
    article, article_en, endings = _determiner(d, noun, determiner, gender=gender, subject=subject)
    forms = noun.plural if plural else noun.singular
    if adjectives:
        parts = [adjective.attributive for adjective in adjectives]
        de = tuple(
            article[case]
            + "".join(f"{stem}{endings[gender][case]} " for stem in parts)
            + forms[case]
            for case in range(4)
        )
    else:
        de = tuple(article[case] + forms[case] for case in range(4))
    bare = " ".join(
        [*(adjective.english for adjective in adjectives), noun.many if plural else noun.one]
    )
    many = plural or noun.pair
    en = _english(article_en, bare, determiner, many, pair=noun.pair and not plural)
    return Phrase(
        de,
        en,
        en,
        5 if plural else 2,
        2 if many else 1,
        6 if plural else 2 if noun.gender == 0 else 3 if noun.gender == 1 else -1,
        "noun",
        determiner not in ("indef", "none", "some", "much", "num"),
        gender,
        bare,
    )


def _english(article: str, bare: str, determiner: str, many: bool, *, pair: bool) -> str:
    if determiner == "indef" and not many:
        return english.article(bare)
    if determiner == "indef" and pair:
        return f"a pair of {bare}"
    if determiner == "dies":
        return f"{'these' if many else 'this'} {bare}"
    return f"{article} {bare}" if article else bare


SPOUSES = frozenset(("husband", "wife"))
Row = tuple[str, ...]
EMPTY: Row = ("",) * 4


def _declined(stem: str, gender: int, table: tuple[Row, ...]) -> Row:
    return tuple(
        (("eur" if stem == "euer" and ending else stem) + ending + " ") for ending in table[gender]
    )


THE_ROWS = tuple(tuple(word + " " for word in row) for row in german.THE)
DIES_ROWS = tuple(_declined("dies", gender, german.STRONG_ARTICLE) for gender in range(4))
EIN_ROWS = (*(_declined("ein", gender, german.MIXED_ARTICLE) for gender in range(3)), EMPTY)
KEIN_ROWS = tuple(_declined("kein", gender, german.MIXED_ARTICLE) for gender in range(4))
OWN_ROWS = tuple(
    tuple(_declined(stem, gender, german.MIXED_ARTICLE) for gender in range(4))
    for stem in POSSESSIVES
)


def _determiner(
    d: Choices, noun: Noun, determiner: str, *, gender: int, subject: Phrase | None
) -> tuple[Row, str, tuple[Row, ...]]:
    """Return the German determiner in four cases, the English one, the adjective endings."""
    if determiner == "def":
        return THE_ROWS[gender], "the", WEAK
    if determiner == "indef":
        return EIN_ROWS[gender], "", STRONG if gender == PLURAL else MIXED
    if determiner == "dies":
        return DIES_ROWS[gender], "", WEAK
    if determiner == "kein":
        return KEIN_ROWS[gender], "no", MIXED
    if determiner == "poss":
        owner = _owner(d, subject)
        if noun.tags & SPOUSES and owner in (2, 3, 4, 5, 6):
            owner = 3 if "husband" in noun.tags else 2
        return OWN_ROWS[owner][gender], POSSESSIVES_EN[owner], MIXED
    if determiner == "of":
        return _of_name(d, noun)
    if determiner == "num":
        number, number_en = d.spin(NUMBERS)
        return (number + " ",) * 4, number_en, STRONG
    if determiner in ("some", "much"):
        word, meaning = ("etwas", "some") if determiner == "some" else ("viel", "a lot of")
        return (word + " ",) * 4, meaning, STRONG
    return EMPTY, "", STRONG


def _owner(d: Choices, subject: Phrase | None) -> int:
    """Return whose it is. Their own is the only *their*: *ihr* would also be *her*."""
    if subject is not None and subject.owner >= 0 and d.chance(85):
        return subject.owner
    owner = d.spin(OWNERS)
    if owner == 1 and d.polite:
        owner = 7
    unclear = subject is not None and (subject.owner in (3, 6) or subject.owner < 0)
    return 0 if unclear and owner in (2, 3) else owner


def _of_name(d: Choices, noun: Noun) -> tuple[Row, str, tuple[Row, ...]]:
    while True:
        female = "husband" in noun.tags or ("wife" not in noun.tags and d.chance(50))
        word = d.spin(words("female name" if female else "male name"))[0]
        if not word.endswith("s"):
            return (f"{word}s ",) * 4, f"{word} 's", STRONG


def negated(d: Choices, phrase: Phrase, noun: Noun) -> Phrase:
    """Return kein with the noun of an indefinite phrase; English leaves the not to its verb."""
    plural = phrase.gender == PLURAL
    result = build(d, noun, "kein", plural)
    en = (
        english.article(result.bare)
        if not plural and noun.countable and not noun.pair
        else f"any {result.bare}"
    )
    if noun.profile == "bare":
        en = result.bare
    return result._replace(en=en, en_object=en, definite=False)
