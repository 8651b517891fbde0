"""The corpora known by name. The texts of this table are facts about them, not code."""

from __future__ import annotations

from dataclasses import dataclass, field

from switchout.corpora.corpus import BleuSpec, Tokenizer


@dataclass(frozen=True)
class Entry:
    """A corpus known by name."""

    name: str
    title: str
    source: str
    target: str
    bleu: BleuSpec
    tokenizer: Tokenizer = "space"
    aliases: tuple[str, ...] = ()
    pairs: dict[str, int] = field(default_factory=dict)


def find_entry(name: str) -> Entry | None:
    """Return the entry of this name or alias; ``_`` and ``-`` are the same."""
    wanted = name.lower().replace("_", "-")
    return next((e for e in ENTRIES if wanted in (e.name, *e.aliases)), None)


TOKENISED, PLAIN = BleuSpec(tokenize="none"), BleuSpec(tokenize="13a")

ENTRIES = (
    Entry("phrasebook", "", "de", "en", TOKENISED),
    Entry("iwslt15-en-vi", "", "en", "vi", TOKENISED),
    Entry("iwslt14-de-en", "", "de", "en", TOKENISED, aliases=("iwslt16-de-en",)),
    Entry("wmt15-en-de", "", "en", "de", TOKENISED),
    Entry("multi30k-de-en", "", "de", "en", TOKENISED),
    Entry("tatoeba-de-en", "", "de", "en", PLAIN, "punctuation"),
)
