"""English forms: plurals, articles, comparatives, verb groups with auxiliaries, do-support and not.

Agreement is 0 for I, 1 for he, she, it, 2 for we, you, they.
"""

from __future__ import annotations

BE_PRESENT = ("am", "is", "are")
BE_PAST = ("was", "was", "were")

IRREGULAR = {
    line.split()[0]: line.split()
    for line in """
be was been being
begin began begun beginning
break broke broken breaking
bring brought brought
build built built
buy bought bought
catch caught caught
choose chose chosen choosing
come came come coming
cut cut cut cutting
do did done
draw drew drawn
drink drank drunk
drive drove driven driving
eat ate eaten
fall fell fallen
feed fed fed
find found found
fit fit fit fitting
fly flew flown
forget forgot forgotten forgetting
get got got getting
give gave given giving
go went gone
grow grew grown
hang hung hung
have had had having
hide hid hidden hiding
keep kept kept
knit knitted knitted knitting
know knew known
leave left left leaving
lend lent lent
lie lay lain lying
lose lost lost losing
make made made making
meet met met
pay paid paid
put put put putting
read read read
ride rode ridden riding
ring rang rung
run ran run running
say said said
see saw seen
sell sold sold
send sent sent
sew sewed sewn
shine shone shone shining
sing sang sung
sit sat sat sitting
sleep slept slept
speak spoke spoken
spend spent spent
swim swam swum swimming
take took taken taking
teach taught taught
tell told told
think thought thought
throw threw thrown
understand understood understood
wake woke woken waking
wear wore worn
win won won winning
write wrote written writing
""".strip().splitlines()
}


def plural(noun: str) -> str:
    if noun.endswith(("s", "x", "sh", "ch")):
        return noun + "es"
    if noun[-1] == "y" and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"


def article(phrase: str) -> str:
    """Return the phrase with a or an; *university* and *European* sound like *you*."""
    vowel = phrase[0] in "aeiouAEIOU" and not phrase.startswith(("uni", "use", "Euro"))
    return ("an " if vowel or phrase.startswith(("hour", "honest")) else "a ") + phrase


class Verb:
    """One English verb in its five forms."""

    __slots__ = ("base", "ing", "participle", "past", "third")

    def __init__(self, base: str) -> None:
        self.base = base
        known = IRREGULAR.get(base, [])
        self.third = {"have": "has", "do": "does", "go": "goes"}.get(base) or plural(base)
        self.past = known[1] if known else _with_ed(base)
        self.participle = known[2] if known else self.past
        self.ing = known[3] if len(known) > 3 else _with_ing(base)


def _doubles(base: str) -> bool:
    return base in ("stop", "plan", "hug", "chat", "wrap")


def _with_ed(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    if base[-1] == "y" and base[-2] not in "aeiou":
        return base[:-1] + "ied"
    return base + (base[-1] if _doubles(base) else "") + "ed"


def _with_ing(base: str) -> str:
    if base.endswith("e") and not base.endswith("ee"):
        return base[:-1] + "ing"
    return base + (base[-1] if _doubles(base) else "") + "ing"


# Verb groups by form: (first word, rest). A first word in capitals is a lexeme that still agrees.
MODALS = {
    "can": ("can", ""),
    "could": ("could", ""),
    "must": ("must", ""),
    "have to": ("HAVE", "to "),
    "want to": ("WANT", "to "),
    "may": ("may", ""),
    "be allowed to": ("BE", "allowed to "),
    "should": ("should", ""),
    "would like to": ("would", "like to "),
    "will": ("will", ""),
    "be going to": ("BE", "going to "),
    "like to": ("LIKE", "to "),
    "be able to": ("BE", "able to "),
}
_LEXEMES = {"HAVE": Verb("have"), "WANT": Verb("want"), "LIKE": Verb("like")}


def verb_group(verb: Verb, form: str, agreement: int) -> tuple[str, str, str, str]:
    """Return (auxiliary, rest after it, finite without auxiliary, rest after that).

    The first two serve negation and questions (with do-support), the last two plain statements;
    for a real auxiliary both are the same. ``form`` is present, progressive, past, perfect,
    perfect-progressive, or a modal, with ``past `` before it for its past tense.

    Example:
        >>> verb_group(Verb("go"), "past", 1)
        ('did', 'go', 'went', '')
        >>> verb_group(Verb("go"), "be allowed to", 0)
        ('am', 'allowed to go', 'am', 'allowed to go')
    """
    if form == "progressive" and verb.base != "be":
        return _same(BE_PRESENT[agreement], verb.ing)
    if form == "past progressive" and verb.base != "be":
        return _same(BE_PAST[agreement], verb.ing)
    if form in ("perfect", "perfect-progressive"):
        have = "has" if agreement == 1 else "have"
        return _same(have, verb.participle if form == "perfect" else f"been {verb.ing}")
    past = form.startswith("past")
    modal = form.removeprefix("past ")
    if modal in MODALS:
        head, link = MODALS[modal]
        if head.islower():
            return _same(head, link + verb.base)
        if head == "BE":
            return _same((BE_PAST if past else BE_PRESENT)[agreement], link + verb.base)
        return _simple(_LEXEMES[head], past, agreement, link + verb.base)
    if verb.base == "be":
        return _same((BE_PAST if past else BE_PRESENT)[agreement], "")
    return _simple(verb, past, agreement, "")


def _same(auxiliary: str, rest: str) -> tuple[str, str, str, str]:
    return auxiliary, rest, auxiliary, rest


def _simple(verb: Verb, past: bool, agreement: int, rest: str) -> tuple[str, str, str, str]:
    support = "did" if past else "does" if agreement == 1 else "do"
    finite = verb.past if past else verb.third if agreement == 1 else verb.base
    return support, f"{verb.base} {rest}".rstrip(), finite, rest
