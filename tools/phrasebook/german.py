"""German forms: articles, adjective endings, nouns in four cases, verbs in all persons.

Genders are 0 masculine, 1 feminine, 2 neuter, 3 plural of any; cases 0 nominative, 1 accusative,
2 dative, 3 genitive; persons 0 ich, 1 du, 2 er, 3 wir, 4 ihr, 5 sie and Sie.
"""

from __future__ import annotations

NOM, ACC, DAT, GEN = range(4)
MASCULINE, FEMININE, NEUTER, PLURAL = range(4)


def _table(text: str) -> tuple[tuple[str, ...], ...]:
    """Read rows of four cases, one row a gender; ``-`` is no ending."""
    return tuple(
        tuple("" if cell == "-" else cell for cell in row.split()) for row in text.split(",")
    )


THE = _table("der den dem des, die die der der, das das dem des, die die den der")
STRONG_ARTICLE = _table("er en em es, e e er er, es es em es, e e en er")  # dies-, welch-, jed-
MIXED_ARTICLE = _table("- en em es, e e er er, - - em es, e e en er")  # ein, kein, mein
WEAK = _table("e en en en, e e en en, e e en en, en en en en")
MIXED = _table("er en en en, e e en en, es es en en, en en en en")
STRONG = _table("er en em en, e e er er, es es em en, e e en er")

PRONOUNS = _table(  # nominative accusative dative, genitive unused
    "ich mich mir -, du dich dir -, er ihn ihm -, sie sie ihr -, es es ihm -,"
    "wir uns uns -, ihr euch euch -, sie sie ihnen -, Sie Sie Ihnen -"
)
REFLEXIVE = ("mich", "dich", "sich", "uns", "euch", "sich")
FUSED = {
    ("an", "dem"): "am",
    ("in", "dem"): "im",
    ("zu", "dem"): "zum",
    ("zu", "der"): "zur",
    ("von", "dem"): "vom",
    ("bei", "dem"): "beim",
    ("in", "das"): "ins",
    ("an", "das"): "ans",
}


def join(preposition: str, phrase: str) -> str:
    """Return preposition and noun phrase, fused where German does so (im, zur, ins).

    Example:
        >>> join("in", "das alte Kino"), join("mit", "dem Zug")
        ('ins alte Kino', 'mit dem Zug')
    """
    article, _, rest = phrase.partition(" ")
    fused = FUSED.get((preposition, article))
    return f"{fused} {rest}" if fused and rest else f"{preposition} {phrase}"


def noun_forms(gender: str, singular: str, plural: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the singular and the plural in four cases; ``gender`` is m, f, n or w (weak)."""
    nominative, _, genitive = singular.partition("/")
    if gender == "w":
        weak = nominative + ("n" if nominative.endswith(("e", "er", "bar")) else "en")
        one = (nominative, weak, weak, genitive or weak)
    elif gender == "f":
        one = (nominative,) * 4
    else:
        one = (nominative, nominative, nominative, genitive or _genitive(nominative))
    dative = plural if plural[-1] in "ns" else plural + "n"
    return one, (plural, plural, dative, plural)


def _genitive(noun: str) -> str:
    if noun.endswith(("s", "ß", "z", "sch", "st")):
        return noun + ("ses" if noun == "Bus" else "es")
    syllables = sum(
        letter in "aeiouyäöü" and (at == 0 or noun.lower()[at - 1] not in "aeiouyäöü")
        for at, letter in enumerate(noun.lower())
    )
    return noun + ("es" if syllables == 1 and noun[-1] in "dtgbkpfmnhß" else "s")


class Verb:
    """One German verb: finite forms for six persons, participle, infinitives."""

    __slots__ = (
        "auxiliary",
        "imperative",
        "infinitive",
        "participle",
        "prefix",
        "present",
        "preterite",
        "reflexive",
        "to_infinitive",
    )

    def __init__(self, entry: str) -> None:
        """Read e.g. ``sich aus|ruhen ruht ruhte geruht h`` (prefix, 3sg, past, participle)."""
        words = entry.split()
        self.reflexive = words[0] == "sich"
        infinitive, third, past, participle, self.auxiliary = words[self.reflexive :]
        prefix, _, bare = infinitive.rpartition("|")
        self.prefix = prefix.replace("_", " ")  # spazieren_|gehen stays two words
        self.infinitive = self.prefix + bare
        joined = self.prefix and self.prefix[-1] != " "
        self.to_infinitive = f"{self.prefix}zu{bare}" if joined else f"{self.prefix}zu {bare}"
        self.participle = self.prefix + participle
        self.present = _present(bare, third)
        self.preterite = _preterite(past)
        self.imperative = _imperative(bare, third)

    def finite(self, past: bool, person: int) -> str:
        return (self.preterite if past else self.present)[person]


def _present(infinitive: str, third: str) -> tuple[str, ...]:
    if infinitive in FULL_PRESENT:
        return tuple(FULL_PRESENT[infinitive].split())
    stem = infinitive.removesuffix("n").removesuffix("e")
    first = stem[:-2] + "le" if infinitive.endswith("eln") else stem + "e"
    if third.endswith("et") or not third.endswith("t"):
        second = third[:-1] + "st"
    else:
        base = third[:-1] if stem[-1] != "t" or third[-2] == "t" else third  # er hält, du hältst
        second = base + ("t" if base[-1] in "sßzx" else "st")
    plural_you = stem + ("et" if _needs_e(stem) else "t")
    return first, second, third, infinitive, plural_you, infinitive


def _needs_e(stem: str) -> bool:
    if stem.endswith("chn"):  # zeichnet, but wohnt
        return True
    return stem[-1] in "td" or (stem[-1] in "nm" and stem[-2] not in "aeiouäöülrnmh")


def _preterite(past: str) -> tuple[str, ...]:
    if past.endswith("e"):
        return past, past + "st", past, past + "n", past + "t", past + "n"
    e = "e" if past[-1] in "td" else ""
    s = "e" if past[-1] in "tdsßz" else ""
    return past, f"{past}{s}st", past, past + "en", f"{past}{e}t", past + "en"


def _imperative(infinitive: str, third: str) -> str:
    stem = infinitive.removesuffix("n").removesuffix("e")
    if "e" in stem and third[:-1] != stem and "i" in third:  # nimm, lies, iss
        return third.removesuffix("t")
    if infinitive.endswith("eln"):
        return stem[:-2] + "le"
    long = stem.startswith(("be", "er", "ver", "unter", "über")) or stem.endswith(
        ("ier", "ß", "tz")
    )
    return stem + ("e" if long or _needs_e(stem) or infinitive.endswith("rn") else "")


FULL_PRESENT = {
    "sein": "bin bist ist sind seid sind",
    "haben": "habe hast hat haben habt haben",
    "werden": "werde wirst wird werden werdet werden",
    "wissen": "weiß weißt weiß wissen wisst wissen",
    "können": "kann kannst kann können könnt können",
    "müssen": "muss musst muss müssen müsst müssen",
    "wollen": "will willst will wollen wollt wollen",
    "dürfen": "darf darfst darf dürfen dürft dürfen",
    "sollen": "soll sollst soll sollen sollt sollen",
    "mögen": "mag magst mag mögen mögt mögen",
    "möchten": "möchte möchtest möchte möchten möchtet möchten",
    "tun": "tue tust tut tun tut tun",
}
BE = Verb("sein ist war gewesen s")
HAVE = Verb("haben hat hatte gehabt h")
WILL = Verb("werden wird wurde geworden s")
MODALS = {
    "can": Verb("können kann konnte gekonnt h"),
    "must": Verb("müssen muss musste gemusst h"),
    "want": Verb("wollen will wollte gewollt h"),
    "may": Verb("dürfen darf durfte gedurft h"),
    "should": Verb("sollen soll sollte gesollt h"),
    "would like": Verb("möchten möchte möchte - h"),
}
