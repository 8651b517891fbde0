"""What happens to the words of one side: from what a user asks for to plain data for any worker."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict

from switchout.errors import SwitchOutError, did_you_mean
from switchout.policies.factory import OF_SIDE, make_policy
from switchout.policies.policy import RulePolicy
from switchout.text.lexicon import NO_WORDS, SPECIAL_WORDS, Lexicon, make_lexicon, word_bytes
from switchout.text.lines import Lines
from switchout.text.vocabulary_files import encode_lines, read_vocabulary
from switchout.words import Words

SIDES = ("source", "target")
POLICIES = ["switchout", "raml", "hamming", "word_dropout"]
Vocabulary = str | os.PathLike[str] | Iterable[str]


class NoiseOptions(TypedDict, total=False):
    """What is done to the words. A side without tau and rate stays as it is."""

    tau_x: float | None  # temperature of the source side
    tau_y: float | None  # of the target side
    rate_x: float | None  # instead: expected share of changed words
    rate_y: float | None
    policy_x: str | None  # "switchout", "raml", "hamming" or "word_dropout"
    policy_y: str | None  # default: "switchout" for the source, "raml" for the target
    vocab_source: Vocabulary | None  # vocabulary file, or the words in order
    vocab_target: Vocabulary | None
    special_words: Sequence[str] | None  # never replaced, drawn or counted; None: <s>, <unk>, …
    special_pattern: str | None  # a regular expression for more of them
    null_word: str  # what word dropout leaves behind
    encode: bool  # the input is raw text, to be split by the vocabulary's tokenizer


@dataclass(frozen=True)
class SideNoise:
    """The noise of one side; without policy the side stays as it is.

    Attributes:
        side: "source" or "target".
        policy: One of `POLICIES`, or None.
        tau, rate: Temperature, or share of changed words; exactly one of them.
        lexicon: The known words.
        null_word: What word dropout leaves behind.
        encoder: File of the tokenizer that splits raw text into pieces; None: split already.

    Example:
        >>> SideNoise("source", "switchout", tau=1.0).check()
    """

    side: str
    policy: str | None = None
    tau: float | None = None
    rate: float | None = None
    lexicon: Lexicon = NO_WORDS
    null_word: str = "<unk>"
    encoder: str | None = None

    @property
    def xy(self) -> str:
        """How the names of this side's parameters end: tau_x, tau_y."""
        return "x" if self.side == "source" else "y"

    @property
    def signature(self) -> str:
        """The part of a signature that describes this side."""
        if self.policy is None:
            return "none"
        how = f"tau={self.tau:g}" if self.tau is not None else f"rate={self.rate:g}"
        null = f",null={self.null_word}" if self.policy == "word_dropout" else ""
        encoded = ",encoded" if self.encoder else ""
        return f"{self.policy}({how}{null}),vocab={self.lexicon.digest}{encoded}"

    @property
    def needs_words(self) -> bool:
        """Whether there is noise, but nothing to draw from yet."""
        return self.policy is not None and not self.lexicon.known

    def check(self) -> None:
        """Refuse a wrong policy or parameter before any word is known."""
        if self.policy == "word_dropout":
            word_bytes(self.null_word, "null_word")
        if self.policy is not None:
            self._made(Words(2, special_ids=()))

    def with_words(
        self, entries: Sequence[bytes], special: set[str], name: str, options: NoiseOptions
    ) -> SideNoise:
        """Return the same noise with words to draw from.

        Args:
            entries: Of a vocabulary, in order.
            special: Those that are no words, besides what the options say.
            name: Where they come from, for messages.
            options: ``special_words`` and ``special_pattern`` count.
        """
        listed = options.get("special_words")
        lexicon = make_lexicon(
            entries,
            special_words={*(SPECIAL_WORDS if listed is None else listed), *special},
            special_pattern=options.get("special_pattern"),
            name=name,
        )
        if len(lexicon.known) < 2:
            raise SwitchOutError(
                f"{name}: holds {len(lexicon.known)} word(s) that may be drawn"
                f" ({lexicon.n_special} special): at least two are needed"
            )
        return replace(self, lexicon=lexicon)

    def split(self, lines: Lines, first_line: int) -> Lines:
        """Return lines as they are changed: raw text is split by the tokenizer, if there is one."""
        if self.encoder is None:
            return lines
        return encode_lines(lines, self.encoder, name=self.side, first_line=first_line)

    def made(self) -> RulePolicy | None:
        """Return the policy over the ranks of the known words."""
        return None if self.policy is None else self._made(self.lexicon.words)

    def _made(self, words: Words) -> RulePolicy:
        if self.policy not in POLICIES:
            near = did_you_mean(str(self.policy), POLICIES)
            raise SwitchOutError(f"policy_{self.xy}: no policy {self.policy!r}{near}")
        if (self.tau is None) == (self.rate is None):
            raise SwitchOutError(
                f"the {self.side} takes either tau_{self.xy} or rate_{self.xy}, not both"
            )
        try:
            return make_policy(self.policy, words, tau=self.tau, rate=self.rate)
        except (ValueError, TypeError) as error:
            message = re.sub(r"^(tau|rate)\b", rf"\1_{self.xy}", str(error))
            raise SwitchOutError(f"{self.side}: {message}") from None


def make_sides(options: NoiseOptions) -> tuple[SideNoise, SideNoise]:
    """Return the noise of both sides; one whose words must be counted first has an empty lexicon.

    Example:
        >>> source, target = make_sides({"tau_x": 1.0, "vocab_source": ["a", "b"]})
        >>> source.policy, source.lexicon.known, target.policy
        ('switchout', (b'a', b'b'), None)
    """
    source, target = (_make_side(side, options) for side in SIDES)
    if source.policy is None and target.policy is None:
        raise SwitchOutError("nothing to do: give tau_x, tau_y, rate_x or rate_y")
    return source, target


def refuse_unknown(options: Any, *known: Any) -> None:
    """Raise the `TypeError` that Python itself raises for a keyword that does not exist."""
    names = [name for kind in known for name in kind.__annotations__]
    for name in options:
        if name not in names:
            near = did_you_mean(name, names)
            raise TypeError(f"unexpected keyword argument {name!r}{near}")


def _make_side(side: str, options: NoiseOptions) -> SideNoise:
    asked: dict[str, Any] = {**options}
    xy = SideNoise(side).xy
    policy, tau, rate = (asked.get(f"{name}_{xy}") for name in ("policy", "tau", "rate"))
    vocabulary = asked.get(f"vocab_{side}")
    if tau is None and rate is None:
        if policy is not None:
            raise SwitchOutError(f"policy_{xy} {policy} needs tau_{xy} or rate_{xy}")
        return SideNoise(side, encoder=_encoder(side, vocabulary, options) if vocabulary else None)
    noise = SideNoise(
        side,
        policy or OF_SIDE[side],
        tau,
        rate,
        null_word=options.get("null_word", "<unk>"),
        encoder=_encoder(side, vocabulary, options),
    )
    noise.check()
    if vocabulary is None:
        return noise
    if isinstance(vocabulary, str | os.PathLike):
        name = os.fspath(vocabulary)
        return noise.with_words(*read_vocabulary(name), name, options)
    name = f"vocabulary of the {side}"
    return noise.with_words(_as_entries(vocabulary, name), set(), name, options)


def _as_entries(words: Iterable[str], name: str) -> list[bytes]:
    entries = []
    for number, word in enumerate(words, 1):
        try:
            entries.append(word.encode())
        except (UnicodeEncodeError, AttributeError):
            raise SwitchOutError(f"{name}: entry {number} {word!r} is no text") from None
    return entries


def _encoder(side: str, vocabulary: Vocabulary | None, options: NoiseOptions) -> str | None:
    if not options.get("encode"):
        return None
    if not isinstance(vocabulary, str | os.PathLike):
        raise SwitchOutError(
            f"encode= needs vocab_{side}=FILE (a sentencepiece .model or a tokenizer.json)"
        )
    return os.fspath(vocabulary)
