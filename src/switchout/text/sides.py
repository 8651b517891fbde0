"""From what a user wants for the two sides to their `Noise`: checked, vocabularies read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from switchout.errors import SwitchOutError
from switchout.text.counting import WordCounter
from switchout.text.counts import SIDES
from switchout.text.formats import Part
from switchout.text.job import Format, Noise
from switchout.text.lexicon import SPECIAL_WORDS, Lexicon, make_lexicon, read_vocabulary
from switchout.text.streams import CHUNK_BYTES

Vocabulary = str | os.PathLike[str] | Sequence[str]


@dataclass(frozen=True)
class SideChoice:
    """What a user wants for one side.

    Attributes:
        policy: Name of a policy; None: the default if there is a tau or rate, else no change.
        tau, rate: Temperature, or share of changed words.
        vocabulary: A file, or the words themselves in order; None: count the corpus.
    """

    policy: str | None
    tau: float | None
    rate: float | None
    vocabulary: Vocabulary | None


@dataclass(frozen=True)
class WordChoice:
    """What both sides have in common.

    Attributes:
        special_words: Never replaced, drawn or counted; None: ``<s>``, ``<unk>`` and such.
        special_pattern: A regular expression for more of them.
        null_word: What word dropout leaves behind.
        encode: Split raw text by the vocabulary's tokenizer.
        min_count, max_words: Which words enter a counted vocabulary.
    """

    special_words: Sequence[str] | None = None
    special_pattern: str | None = None
    null_word: str = "<unk>"
    encode: bool = False
    min_count: int = 1
    max_words: int | None = None

    def lexicon(self, entries: Sequence[bytes], special: set[str], name: str) -> Lexicon:
        """Return the lexicon of vocabulary entries."""
        listed = SPECIAL_WORDS if self.special_words is None else self.special_words
        return make_lexicon(
            entries,
            special_words={*listed, *special},
            special_pattern=self.special_pattern,
            name=name,
        )


def make_noise(choice: SideChoice, words: WordChoice, *, side: str) -> Noise:
    """Return the noise of a side, with an empty lexicon if its words must be counted first."""
    policy = choice.policy
    if choice.tau is None and choice.rate is None:
        if policy is not None:
            xy = "x" if side == "source" else "y"
            raise SwitchOutError(f"--policy-{xy} {policy} needs --tau-{xy} or --rate-{xy}")
        return Noise(encoder=_encoder(choice, words, side))
    policy = policy or ("switchout" if side == "source" else "raml")
    noise = Noise(
        policy, choice.tau, choice.rate, null_word=words.null_word,
        encoder=_encoder(choice, words, side),
    )  # fmt: skip
    noise.check(side)
    if choice.vocabulary is None:
        return noise
    if isinstance(choice.vocabulary, str | os.PathLike):
        name = os.fspath(choice.vocabulary)
        entries, special = read_vocabulary(name)
    else:
        name, special = f"vocabulary of the {side}", set()
        entries = [word.encode() for word in choice.vocabulary]
    return noise.with_lexicon(words.lexicon(entries, special, name), side)


def count_vocabularies(
    format: Format, noises: list[Noise], words: WordChoice
) -> dict[str, list[tuple[bytes, int]]]:
    """Count the words of the sides that have a policy and no words, in one pass over the corpus."""
    counters = {
        side: WordCounter()
        for side, noise in zip(SIDES, noises, strict=True)
        if noise.policy is not None and not noise.lexicon.known
    }
    if counters and "-" in format.inputs:
        flags = {"source": "--vocab-src", "target": "--vocab-tgt"}
        missing = " and ".join(flags[side] for side in counters)
        raise SwitchOutError(f"standard input cannot be read twice: give {missing}")
    if counters:
        for chunk in format.chunks(Part(), CHUNK_BYTES):
            for side, counter in counters.items():
                lines = chunk.sides[SIDES.index(side)]
                if lines is not None:
                    counter.add(lines)
    return {
        side: counter.most_common(min_count=words.min_count, max_words=words.max_words)
        for side, counter in counters.items()
    }


def _encoder(choice: SideChoice, words: WordChoice, side: str) -> str | None:
    has_policy = choice.tau is not None or choice.rate is not None
    if not words.encode or (choice.vocabulary is None and not has_policy):
        return None
    if not isinstance(choice.vocabulary, str | os.PathLike):
        raise SwitchOutError(f"--encode needs the {side}'s tokenizer file as its vocabulary")
    return os.fspath(choice.vocabulary)
