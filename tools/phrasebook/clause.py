"""One clause in both languages: who does what, in which tense, in the order of its clause type.

German: the finite verb second, first or last; in the middle field pronouns, time, objects, *nicht*,
indefinites, manner, place; participle, infinitive or separated prefix at the end.
English: subject, auxiliaries, *not*, verb, complements, manner, place, time; do-support.
"""

from __future__ import annotations

from phrasebook import english, german
from phrasebook.nounphrase import Phrase


class Clause:
    """A clause ready to be put into any order; lists hold finished pieces of text."""

    __slots__ = (
        "after",
        "complements",
        "de_form",
        "en_form",
        "head",
        "negative",
        "nicht",
        "objects",
        "often",
        "pattern",
        "pronouns",
        "rest",
        "subject",
        "time",
        "verb",
        "wh",
    )

    def __init__(
        self, subject: Phrase, verb: german.Verb, head: english.Verb, pattern: str
    ) -> None:
        self.subject = subject
        self.verb = verb
        self.head = head
        self.pattern = pattern
        self.de_form = self.en_form = "present"
        self.time = self.often = self.wh = ("", "")
        self.negative = False  # English not
        self.nicht = False  # German nicht: not where a kein negates
        self.pronouns: list[str] = [german.REFLEXIVE[subject.person]] if verb.reflexive else []
        self.objects: list[str] = []  # before nicht
        self.rest: list[str] = []  # after nicht
        self.complements: list[str] = []  # English, for the pattern
        self.after: list[str] = []  # English manner, company, place

    def _finite(self) -> tuple[str, str]:
        """Return the finite German verb and the infinitive or participle that ends the clause."""
        person, form = self.subject.person, self.de_form
        if form == "present":
            return self.verb.present[person], ""
        if form == "past":
            return self.verb.preterite[person], ""
        if form == "perfect":
            auxiliary = german.BE if self.verb.auxiliary == "s" else german.HAVE
            return auxiliary.present[person], self.verb.participle
        if form == "future":
            return german.WILL.present[person], self.verb.infinitive
        modal = german.MODALS[form.removeprefix("past ")]
        return modal.finite(form.startswith("past "), person), self.verb.infinitive

    def _middle(self, *, time: bool = True) -> list[str]:
        nicht = ["nicht"] if self.nicht else []
        times = [self.time[0]] if time and self.time[0] else []
        often = [self.often[0]] if self.often[0] else []
        return [*times, *often, *self.objects, *nicht, *self.rest]

    def _inner(self, *, time: bool = True) -> list[str]:
        """Return subject and middle field; a reflexive goes before a noun, after a pronoun."""
        subject = self.subject.de[german.NOM]
        if self.verb.reflexive and self.subject.kind != "pronoun":
            return [*self.pronouns, subject, *self._middle(time=time)]
        return [subject, *self.pronouns, *self._middle(time=time)]

    def de_statement(self, *, time_first: bool = False) -> str:
        finite, end = self._finite()
        tail = end or self.verb.prefix.strip()
        if time_first and self.time[0]:
            pieces = [self.time[0], finite, *self._inner(time=False), tail]
        else:
            subject = self.subject.de[german.NOM]
            pieces = [subject, finite, *self.pronouns, *self._middle(), tail]
        return _text(pieces)

    def de_question(self) -> str:
        """Return verb first, or second after the question word; the subject may be the question."""
        finite, end = self._finite()
        tail = end or self.verb.prefix.strip()
        if self.wh[0] in ("wer", "was") and not self.subject.de[german.NOM]:
            return _text([self.wh[0], finite, *self.pronouns, *self._middle(), tail])
        return _text([self.wh[0], finite, *self._inner(), tail])

    def de_inverted(self) -> str:
        """Return verb and subject after something else has taken the first place."""
        finite, end = self._finite()
        return _text([finite, *self._inner(), end or self.verb.prefix.strip()])

    def de_final(self) -> str:
        """Return verb-last order, as after weil, dass, wo."""
        finite, end = self._finite()
        verb = f"{end} {finite}" if end else self.verb.prefix + finite
        return _text([self.wh[0], *self._inner(), verb])

    def de_relative(self) -> str:
        """Return verb-last order after a relative pronoun."""
        finite, end = self._finite()
        verb = f"{end} {finite}" if end else self.verb.prefix + finite
        return _text([*self._inner(), verb])

    def de_to_infinitive(self) -> str:
        return _text([*self.pronouns, *self._middle(), self.verb.to_infinitive])

    def de_infinitive(self) -> str:
        return _text([*self.pronouns, *self._middle(), self.verb.infinitive])

    def _predicate(self) -> list[str]:
        return [self.pattern.format(*self.complements), *self.after, self.time[1]]

    def en_statement(self) -> str:
        """Return English statement order; a question word set by ``wh`` goes first."""
        auxiliary, rest, finite, finite_rest = english.verb_group(
            self.head, self.en_form, self.subject.agreement
        )
        often = self.often[1]
        if self.negative:
            words = ["cannot" if auxiliary == "can" else f"{auxiliary} not", often, rest]
        elif often and (auxiliary == finite):
            words = [finite, often, finite_rest]
        else:
            words = [often, finite, finite_rest]
        return _text([self.wh[1], self.subject.en, *words, *self._predicate()])

    def en_question(self) -> str:
        if not self.subject.en:  # who, what as subject: no inversion
            return self.en_statement()
        auxiliary, rest, _, _ = english.verb_group(self.head, self.en_form, self.subject.agreement)
        words = ["not" if self.negative else "", self.often[1], rest]
        return _text([self.wh[1], auxiliary, self.subject.en, *words, *self._predicate()])

    def en_infinitive(self) -> str:
        return _text([self.head.base, *self._predicate()])


def _text(pieces: list[str]) -> str:
    return " ".join([piece for piece in pieces if piece]).replace("  ", " ").rstrip()
