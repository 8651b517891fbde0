"""The same noise for sentences that a program has in its hands."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Unpack

from switchout.errors import SwitchOutError
from switchout.ranges import EPOCH, EXAMPLE, SEED
from switchout.text.first_look import FirstLook
from switchout.text.lines import Lines
from switchout.text.rewriter import Copies, Rewriter, Rewritten
from switchout.text.side_noise import (
    NoiseOptions,
    SideNoise,
    Vocabulary,
    make_sides,
    refuse_unknown,
)

Pair = tuple[str, str]
_AT_ONCE = 1024


class CopyOptions(NoiseOptions, total=False):
    """What `augment_lines` takes besides the noise."""

    epoch: int
    copies: int  # changed copies of each line, one after the other
    keep_original: bool  # each line itself comes before its copies
    first_line: int  # example id of the first sentence


class Numbered:
    """Notices that some line of an epoch got the same noise twice: more lines than numbers."""

    def __init__(self) -> None:
        self._n_lines = 0
        self._most = 0
        self._is_warned = False

    def add(self, first_line: int, n_lines: int) -> None:
        """Take in the lines of a call; warn once."""
        self._n_lines += n_lines
        self._most = max(self._most, first_line + n_lines)
        if self._n_lines > self._most and not self._is_warned:
            self._is_warned = True
            warnings.warn(
                "some line numbers came twice in one epoch, and get the same noise: give"
                " first_line=, how many lines came before, and epoch=",
                stacklevel=3,
            )


_seen: defaultdict[Hashable, Numbered] = defaultdict(Numbered)  # by `augment_lines`, by noise


class LineAugmenter:
    """Augments lists of sentences or of pairs; vocabulary and tables are built once.

    Line i of a call is example ``first_line + i``, so any cut of a corpus into calls gives the same
    lines as `augment_files`: say with every call where it begins, and in which ``epoch``. The same
    numbers again mean the same noise again, which is warned of. Every line has one line that comes
    out, an empty one stays empty.

    Args:
        source_words, target_words: Vocabulary file, or the words in order, of a side with noise.
        seed: Seed of all randomness.
        noise: ``tau_x``, ``tau_y``, ``rate_x``, ``policy_x``, …: see `NoiseOptions`. A side
            without tau and rate stays as it is.

    Example:
        >>> augmenter = LineAugmenter(source_words=["a", "b", "c"], tau_x=2.0, seed=1)
        >>> augmenter(["a b c", "a a"])
        ['b c a', 'b b']
        >>> augmenter([("a a", "x y")], first_line=1)
        [('b b', 'x y')]

        Line by line, from standard input or a generator:

        >>> [augmenter([line], first_line=i)[0] for i, line in enumerate(["a b c", "a a"])]
        ['b c a', 'b b']
    """

    def __init__(
        self,
        *,
        source_words: Vocabulary | None = None,
        target_words: Vocabulary | None = None,
        seed: int,
        **noise: Unpack[NoiseOptions],
    ) -> None:
        refuse_unknown(noise, NoiseOptions)
        self.seed = SEED.check(seed, "seed")
        words = {"vocab_source": source_words, "vocab_target": target_words}
        given = {name: value for name, value in words.items() if value is not None}
        self.sides: Sequence[SideNoise] = make_sides(noise | given)  # type: ignore[arg-type]
        for side in self.sides:
            if side.needs_words:
                raise SwitchOutError(
                    f"the {side.side} has noise: give {side.side}_words"
                    f" (to augment_lines vocab_{side.side})"
                )
        self._rewriters = [Rewriter(side) for side in self.sides]
        self._looks = [FirstLook(side) for side in self.sides]
        self._seen: defaultdict[int, Numbered] = defaultdict(Numbered)

    def __call__(
        self, lines: Sequence[str] | Sequence[Pair], first_line: int = 0, epoch: int = 0
    ) -> list[Any]:
        """Return the lines, changed; each a string, or a (source, target) pair.

        Strings are of the side that has noise. A pair's side without noise stays as it is.

        Args:
            lines: Sentences or pairs.
            first_line: How many lines of the corpus came before.
            epoch: Which time the corpus is read; each has noise of its own.
        """
        if isinstance(lines, str):
            raise SwitchOutError("expected a list of sentences, got one text")
        lines = list(lines)  # type: ignore[assignment]
        EXAMPLE.check(first_line, "first_line")
        EXAMPLE.check(first_line + len(lines), "first_line + the number of lines")
        changed = self.copies_of(lines, first_line, Copies(self.seed, EPOCH.check(epoch, "epoch")))
        self._seen[epoch].add(first_line, len(lines))
        return changed

    def copies_of(self, lines: Sequence[Any], first_line: int, copies: Copies) -> list[Any]:
        """Return the copies of each line, one after the other."""
        if not lines:
            return []
        if isinstance(lines[0], str):
            return self._rewrite(self._noisy_side(), lines, first_line, copies)
        columns = _columns(lines, first_line)
        source, target = (
            self._rewrite(side, column, first_line, copies) for side, column in enumerate(columns)
        )
        return list(zip(source, target, strict=True))

    def _rewrite(
        self, side: int, sentences: Sequence[str], first_line: int, copies: Copies
    ) -> list[str]:
        new = rewrite_sentences(self._rewriters[side], sentences, first_line, copies)
        self._looks[side].add(sentences)  # only now are they known to be text
        return new

    def _noisy_side(self) -> int:
        noisy = [i for i, side in enumerate(self.sides) if side.policy is not None]
        if len(noisy) == 2:
            raise SwitchOutError("both sides have noise: give (source, target) pairs")
        return noisy[0]


def rewrite_sentences(
    rewriter: Rewriter, sentences: Sequence[str], first_line: int, copies: Copies
) -> list[str]:
    """Return the copies of each of at least one sentence of a side, one after the other."""
    lines = rewriter.noise.split(_as_lines(sentences, first_line), first_line)
    return _as_strings(rewriter.rewrite(lines, first_line, copies))


def augment_lines(
    source: Iterable[str] | None = None,
    target: Iterable[str] | None = None,
    *,
    seed: int,
    **options: Unpack[CopyOptions],
) -> Iterator[Any]:
    """Yield augmented sentences, or pairs of them where both sides are given.

    Sentence i is example ``first_line + i``; all else is as in `augment_files`: pairs with an empty
    side are left out, ``copies`` of a line follow each other. It reads 1,024 sentences ahead. Call
    it once for each epoch of a corpus, or say with every call where it begins: as of
    `LineAugmenter`, the same noise again is warned of.

    Example:
        >>> lines = augment_lines(["a b c", "d e"], tau_x=0.0, vocab_source=list("abcde"), seed=1)
        >>> list(lines)
        ['a b c', 'd e']
    """
    refuse_unknown(options, NoiseOptions, CopyOptions)
    noise: Any = {k: v for k, v in options.items() if k in NoiseOptions.__annotations__}
    if source is None and target is None:
        raise SwitchOutError("augment_lines needs source or target sentences")
    if isinstance(source, str) or isinstance(target, str):
        raise SwitchOutError("augment_lines takes a list of sentences, not one text")
    augmenter = LineAugmenter(seed=seed, **noise)
    for side, sentences in zip(augmenter.sides, (source, target), strict=True):
        if side.policy is not None and sentences is None:
            raise SwitchOutError(f"the {side.side} has noise but no sentences")
    copies = Copies(
        seed,
        options.get("epoch", 0),
        options.get("copies", 1),
        bool(options.get("keep_original")),
    )
    copies.check()
    sides = [side for side in (source, target) if side is not None]
    first_line = EXAMPLE.check(options.get("first_line", 0), "first_line")
    return _augmented(augmenter, sides, first_line, copies)


def _augmented(
    augmenter: LineAugmenter, sides: list[Iterable[str]], first_line: int, copies: Copies
) -> Iterator[Any]:
    """Yield the copies of each sentence, or of each pair without an empty side."""
    iterators = [iter(side) for side in sides]
    seen = _seen[(*(side.signature for side in augmenter.sides), copies)]
    while True:
        batches = [list(islice(iterator, _AT_ONCE)) for iterator in iterators]
        if len({len(batch) for batch in batches}) > 1:
            raise SwitchOutError("source and target must have the same number of sentences")
        if not batches[0]:
            return
        lines: Any = batches[0] if len(batches) == 1 else list(zip(*batches, strict=True))
        written = iter(augmenter.copies_of(lines, first_line, copies))
        seen.add(first_line, len(lines))
        for line in lines:
            some = list(islice(written, copies.per_line))
            if len(batches) == 1 or all(side.encode().split() for side in line):
                yield from some
        first_line += len(lines)


def _columns(lines: Sequence[Any], first_line: int) -> tuple[list[str], list[str]]:
    for i, line in enumerate(lines):
        if not isinstance(line, tuple | list) or len(line) != 2:
            raise SwitchOutError(
                f"line {first_line + i}: expected a string, or a pair of strings, in every line,"
                f" got {type(line).__name__}"
            )
    return [line[0] for line in lines], [line[1] for line in lines]


def _as_lines(sentences: Sequence[str], first_line: int) -> Lines:
    try:
        encoded = [sentence.encode() for sentence in sentences]
    except (AttributeError, UnicodeEncodeError):
        raise _no_text(sentences, first_line) from None
    return Lines.joined(encoded)


def _no_text(sentences: Sequence[Any], first_line: int) -> SwitchOutError:
    """Return the complaint about the first sentence that is none."""
    for i, sentence in enumerate(sentences):
        if not isinstance(sentence, str):
            kind = type(sentence).__name__
            return SwitchOutError(f"line {first_line + i}: expected a string, got {kind}")
        if any("\ud800" <= character <= "\udfff" for character in sentence):
            return SwitchOutError(f"line {first_line + i}: holds half a character: {sentence!r}")
    raise AssertionError("every sentence is text")


def _as_strings(side: Rewritten) -> list[str]:
    text, ends = side.data[: side.size].tobytes(), side.ends.tolist()
    starts = [0, *ends[:-1]]
    return [text[start:end].decode() for start, end in zip(starts, ends, strict=True)]
