"""What a setting does to a corpus, before anything is written: sentences, and shares."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Unpack

import numpy as np

from switchout.policies.hamming_policy import HammingPolicy
from switchout.ranges import COUNT, EPOCH
from switchout.text.augmentation import Augmentation
from switchout.text.file_augmenter import FileOptions, make_job, named_inputs
from switchout.text.first_look import LINES, look_at
from switchout.text.formats import Part
from switchout.text.line_augmenter import rewrite_sentences
from switchout.text.rewriter import Copies, Rewriter
from switchout.text.side_noise import SIDES, NoiseOptions, SideNoise, refuse_unknown
from switchout.text.word_counter import count_missing_words, with_counted

FilePath = str | os.PathLike[str]
LOOK = 10_000  # lines from which shares are computed
GROUPS = (5, 10, 20, 40, 80)  # a line's words: 1 to 5, 6 to 10, …, more than 80
_LONGEST = 2000  # words; of longer lines the chance to stay untouched is that of so many


@dataclass(frozen=True)
class SwitchedWord:
    """A word of a changed sentence, and what it was."""

    text: str
    was: str

    @property
    def is_changed(self) -> bool:
        """Whether there was another word."""
        return self.text != self.was


@dataclass(frozen=True)
class SwitchedLine:
    """One sentence in one epoch."""

    line: int
    side: str
    epoch: int
    words: list[SwitchedWord]


@dataclass(frozen=True)
class LengthGroup:
    """Lines of about the same length; shares are expected values, from 0 to 1."""

    words: str  # such as "6-10"
    lines: int
    changed: float  # share of the words
    untouched: float  # share of the lines


@dataclass(frozen=True)
class Effect:
    """What happens to one side, as expected over all epochs."""

    side: str
    signature: str
    lines: int  # that were looked at
    words: int
    known: float  # share of the words that are in the vocabulary and not special
    changed: float  # share of the words
    untouched: float  # share of the lines
    by_length: list[LengthGroup]


@dataclass(frozen=True)
class Preview:
    """Sentences of several epochs, and the effect on each side that has noise."""

    samples: list[SwitchedLine]
    effects: list[Effect]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; a word is its text, or [text, what it was] if it has changed."""
        plain = asdict(self)
        for sample, shown in zip(self.samples, plain["samples"], strict=True):
            shown["words"] = [[w.text, w.was] if w.is_changed else w.text for w in sample.words]
        return plain


def preview(
    source: FilePath | None = None,
    target: FilePath | None = None,
    *,
    seed: int,
    lines: int = 5,
    epochs: int = 3,
    **options: Unpack[FileOptions],
) -> Preview:
    """Look at what `augment_files` would write; nothing is written.

    Args:
        source, target: As of `augment_files`; ``pairs`` works, too.
        seed: Seed of all randomness.
        lines: How many sentences to show.
        epochs: In how many epochs, from ``epoch`` on.
        options: All other options of `augment_files`.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> path = Path(tempfile.mkdtemp()) / "train.de"
        >>> _ = path.write_text("ein Hund bellt\\neine Katze schläft\\n")
        >>> seen = preview(path, tau_x=1.0, seed=1, lines=1, epochs=2)
        >>> [" ".join(word.text for word in sample.words) for sample in seen.samples]
        ['schläft bellt eine', 'ein Hund bellt']
        >>> round(seen.effects[0].changed, 3), round(seen.effects[0].untouched, 3)
        (0.169, 0.717)
    """
    refuse_unknown(options, NoiseOptions, FileOptions)
    COUNT.check(lines, "lines")
    COUNT.check(epochs, "epochs")
    job = make_job(named_inputs(source, target, options), seed, options)
    counted = count_missing_words(job, options.get("min_count", 1), options.get("max_words"))
    job = with_counted(job, counted, options)
    first_epoch = job.copies.epoch
    EPOCH.check(first_epoch + epochs - 1, "epoch")
    samples: list[SwitchedLine] = []
    effects: list[Effect] = []
    for noise, texts in zip(job.noises, _read(job), strict=True):
        if noise.policy is None or texts is None:
            continue
        look_at(b"\n".join(texts[:LINES]), noise)
        sentences = [text.decode(errors="replace") for text in texts]
        rewriter = Rewriter(noise)
        as_it_is = Copies(seed, count=0, with_original=True)
        old = rewrite_sentences(rewriter, sentences, 0, as_it_is) if sentences else []
        effects.append(effect(noise, old))
        for epoch in range(first_epoch, first_epoch + epochs) if old else ():
            new = rewrite_sentences(rewriter, sentences[:lines], 0, Copies(seed, epoch))
            samples += _samples(noise.side, epoch, old[:lines], new)
    samples.sort(key=lambda sample: (sample.line, sample.side))
    return Preview(samples, effects)


def effect(noise: SideNoise, sentences: Iterable[str]) -> Effect:
    """Return what is expected to happen to a side."""
    known = set(noise.lexicon.known)
    split = [sentence.encode().split() for sentence in sentences]
    lengths = np.array([sum(word in known for word in words) for words in split], np.int64)
    sizes = np.array([len(words) for words in split], np.int64)
    policy = noise.made()
    assert isinstance(policy, HammingPolicy)
    distinct, which = np.unique(lengths, return_inverse=True)
    changes = policy.expected_changes(distinct)[which]
    untouched = np.array([policy.untouched(min(int(n), _LONGEST)) for n in distinct])[which]
    n_words = int(sizes.sum())
    return Effect(
        side=noise.side,
        signature=noise.signature,
        lines=len(split),
        words=n_words,
        known=_share(lengths, n_words),
        changed=_share(changes, n_words),
        untouched=_share(untouched, len(split)),
        by_length=list(_groups(sizes, changes, untouched)),
    )


def _groups(sizes: Any, changes: Any, untouched: Any) -> Iterator[LengthGroup]:
    for low, high in zip((0, *GROUPS), (*GROUPS, None), strict=True):
        inside = (sizes > low) & (sizes <= (high or np.inf))
        if inside.any():
            yield LengthGroup(
                words=f"{low + 1}-{high}" if high else f"{low + 1}+",
                lines=int(inside.sum()),
                changed=_share(changes[inside], sizes[inside].sum()),
                untouched=_share(untouched[inside], inside.sum()),
            )


def _share(part: Any, whole: Any) -> float:
    return float(np.sum(part) / whole) if whole else 0.0


def _samples(side: str, epoch: int, before: list[str], after: list[str]) -> Iterator[SwitchedLine]:
    for line, (old, new) in enumerate(zip(before, after, strict=True)):
        pairs = zip(_words(new), _words(old), strict=True)
        yield SwitchedLine(line, side, epoch, [SwitchedWord(text, was) for text, was in pairs])


def _words(line: str) -> list[str]:
    """Split where the core does: a no-break space stands inside a word."""
    return [word.decode() for word in line.encode().split()]


def _read(job: Augmentation) -> list[list[bytes] | None]:
    """Return the first lines of each side."""
    sides: list[list[bytes] | None] = [[] if side in job.format.sides else None for side in SIDES]
    for chunk in job.format.chunks(Part(), job.chunk_bytes):
        for texts, lines in zip(sides, chunk.sides, strict=True):
            if texts is not None and lines is not None:
                texts += lines.texts()
        if chunk.first_line + chunk.n_lines >= LOOK:
            break
    if not any(sides):
        raise job.empty()
    return [texts and texts[:LOOK] for texts in sides]
