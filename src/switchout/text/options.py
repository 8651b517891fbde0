"""From what a user asks for to the noise of the two sides: checked, vocabularies read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypedDict

from switchout.errors import SwitchOutError, did_you_mean
from switchout.files import is_stream
from switchout.text.lexicon import SPECIAL_WORDS, Lexicon, make_lexicon, read_vocabulary
from switchout.text.side_noise import SIDES, SideNoise

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


def lexicon_of(entries: Sequence[bytes], special: set[str], name: str, o: NoiseOptions) -> Lexicon:
    """Return the lexicon of vocabulary entries, with what the options call special left out."""
    listed = o.get("special_words")
    return make_lexicon(
        entries,
        special_words={*(SPECIAL_WORDS if listed is None else listed), *special},
        special_pattern=o.get("special_pattern"),
        name=name,
    )


def refuse_unknown(options: Any, *known: Any) -> None:
    """Raise the `TypeError` that Python itself raises for a keyword that does not exist."""
    names = [name for kind in known for name in kind.__annotations__]
    for name in options:
        if name not in names:
            near = did_you_mean(name, names)
            raise TypeError(f"unexpected keyword argument {name!r}{near}")


def refuse_shared_streams(files: dict[str, Any]) -> None:
    """Refuse one pipe under two names: whoever reads it first leaves nothing to the other."""
    seen: dict[Any, str] = {}
    for name, path in files.items():
        if isinstance(path, str | os.PathLike) and is_stream(path):
            status = os.fstat(0) if os.fspath(path) == "-" else Path(path).stat()
            first = seen.setdefault((status.st_dev, status.st_ino), name)
            if first != name:
                raise SwitchOutError(f"{first} and {name} are one stream; it can be read only once")


def _make_side(side: str, o: NoiseOptions) -> SideNoise:
    xy = "x" if side == "source" else "y"
    asked: dict[str, Any] = {**o}
    policy, tau, rate, vocabulary = (
        asked.get(f"{name}_{end}")
        for name, end in (("policy", xy), ("tau", xy), ("rate", xy), ("vocab", side))
    )
    if tau is None and rate is None:
        if policy is not None:
            raise SwitchOutError(f"policy_{xy} {policy} needs tau_{xy} or rate_{xy}")
        return SideNoise(side, encoder=_encoder(side, vocabulary, o) if vocabulary else None)
    noise = SideNoise(
        side,
        policy or ("switchout" if side == "source" else "raml"),
        tau,
        rate,
        null_word=o.get("null_word", "<unk>"),
        encoder=_encoder(side, vocabulary, o),
    )
    noise.check()
    if vocabulary is None:
        return noise
    return noise.with_lexicon(_read(vocabulary, side, o))


def _read(vocabulary: Vocabulary, side: str, o: NoiseOptions) -> Lexicon:
    if isinstance(vocabulary, str | os.PathLike):
        entries, special = read_vocabulary(os.fspath(vocabulary))
        return lexicon_of(entries, special, os.fspath(vocabulary), o)
    name = f"vocabulary of the {side}"
    entries = []
    for number, word in enumerate(vocabulary, 1):
        try:
            entries.append(word.encode())
        except (UnicodeEncodeError, AttributeError):
            raise SwitchOutError(f"{name}: entry {number} {word!r} is no text") from None
    return lexicon_of(entries, set(), name, o)


def _encoder(side: str, vocabulary: Vocabulary | None, o: NoiseOptions) -> str | None:
    if not o.get("encode"):
        return None
    if not isinstance(vocabulary, str | os.PathLike):
        raise SwitchOutError(f"encode needs the {side}'s tokenizer file as its vocabulary")
    return os.fspath(vocabulary)
