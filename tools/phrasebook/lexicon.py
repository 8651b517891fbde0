"""The word tables of this folder, read once: nouns, verbs, adjectives, expressions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from phrasebook import english, german
from phrasebook.draw import Wheel, zipf

HERE = Path(__file__).parent


class Noun:
    """A German noun and its English word, with what the grammar must know about them."""

    __slots__ = (
        "adjectives",
        "gender",
        "many",
        "one",
        "pair",
        "place",
        "plural",
        "profile",
        "singular",
        "tags",
    )

    def __init__(self, columns: list[str], profile: str, tags: list[str]) -> None:
        gender, singular, plural, meaning, *more = columns
        self.gender = {"m": 0, "w": 0, "f": 1, "n": 2}[gender]
        self.singular, self.plural = german.noun_forms(gender, singular, plural)
        self.pair = meaning.startswith("=")  # trousers, glasses: plural in English only
        self.one, _, many = meaning.removeprefix("=").partition("/")
        self.many = many or (self.one if self.pair else english.plural(self.one))
        self.profile = profile
        extra = " ".join(more).split()
        self.place = next((tag for tag in extra if tag.startswith("@")), "")
        self.tags = frozenset(tags + [tag for tag in extra if not tag.startswith("@")])
        self.adjectives: Wheel[Adjective] | None = None

    @property
    def countable(self) -> bool:
        return self.plural[0] != "-"


class Adjective:
    """An adjective, its comparative (empty if odd) and the tags of the nouns it may modify."""

    __slots__ = ("attributive", "comparative", "english", "more", "predicative", "tags")

    def __init__(self, columns: list[str]) -> None:
        forms, comparative, meaning, tags = columns
        self.predicative, _, stem = forms.partition("/")
        self.attributive = stem or self.predicative
        self.comparative = "" if comparative == "-" else comparative
        self.english, _, more = meaning.partition("/")
        self.more = more or f"more {self.english}"
        self.tags = tags.split(",")


class Frame:
    """A verb with its arguments: German forms, English pattern, who does it to what."""

    __slots__ = ("complements", "extras", "head", "kind", "manners", "pattern", "subject", "verb")

    def __init__(self, columns: list[str]) -> None:
        forms, pattern, subject, complements, kind, *extras = columns
        self.verb = german.Verb(forms)
        base, _, rest = pattern.partition(" ")
        self.head = english.Verb(base)
        self.pattern = re.sub(r"(\d)", lambda match: f"{{{int(match[1]) - 1}}}", rest)
        self.subject = subject
        self.complements = tuple(
            tuple(part.partition(":")[::2]) for part in complements.split() if part != "-"
        )
        self.kind = kind
        words = " ".join(extras).split()
        self.extras = frozenset(word for word in words if word.startswith("+"))
        self.manners = tuple(word.replace("_", " ") for word in words if not word.startswith("+"))

    def places(self) -> str:
        """Return the tags of the places where this may happen, or nothing."""
        return next((extra[3:] for extra in sorted(self.extras) if extra.startswith("+p:")), "")


def rows(name: str) -> Iterator[str]:
    """Yield the lines of a table that are neither empty nor comments."""
    for line in (HERE / name).read_text(encoding="utf-8").split("\n"):
        if line.strip() and not line.startswith("#"):
            yield line.strip()


@cache
def nouns() -> tuple[Noun, ...]:
    """Return all nouns in the order of their file, their fitting adjectives attached."""
    found: list[Noun] = []
    profile, tags = "", [""]
    for row in rows("nouns.txt"):
        if row.startswith("["):
            profile, tags = row[1:].split("] ")[0], row.split("] ")[1].split()
        else:
            found.append(Noun(re.split(r"\s{2,}", row), profile, tags))
    for noun in found:
        fitting = [word for word in adjectives() if not noun.tags.isdisjoint(word.tags)]
        noun.adjectives = zipf(fitting, 4) if fitting else None
    return tuple(found)


@cache
def adjectives() -> tuple[Adjective, ...]:
    return tuple(Adjective(re.split(r"\s{2,}", row)) for row in rows("adjectives.txt"))


@cache
def frames() -> tuple[Frame, ...]:
    return tuple(Frame(re.split(r"\s{2,}", row)) for row in rows("verbs.txt"))


@cache
def expressions() -> dict[str, tuple[tuple[str, ...], ...]]:
    """Return group → entries (German, English, further English variants)."""
    groups: dict[str, list[tuple[str, ...]]] = {}
    for row in rows("expressions.txt"):
        if row.startswith("["):
            entries = groups.setdefault(row[1:-1], [])
        else:
            entries.append(tuple(cell.strip() for cell in row.split(" | ")))
    return {group: tuple(entries) for group, entries in groups.items()}


@cache
def words(group: str) -> Wheel[tuple[str, ...]]:
    """Return a group of expressions as a wheel."""
    return zipf(expressions()[group])


@cache
def tagged(tags: str) -> Wheel[Noun]:
    """Return the nouns that bear one of the comma-separated tags, more frequent ones first."""
    wanted = tags.split(",")
    found = [noun for noun in nouns() if not noun.tags.isdisjoint(wanted)]
    if not found:
        raise ValueError(f"no noun is tagged {tags!r}")
    return zipf(found)
