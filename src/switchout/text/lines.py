"""`augment_lines`: the same for sentences that a program has in its hands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from switchout.errors import SwitchOutError
from switchout.text.arrays import PADDING, Lines
from switchout.text.formats import Chunk, TextFiles
from switchout.text.job import Job
from switchout.text.rewriter import Rewritten
from switchout.text.sides import SideChoice, Vocabulary, WordChoice, make_noise

_AT_ONCE = 1024


def augment_lines(
    source: Iterable[str] | None = None,
    target: Iterable[str] | None = None,
    *,
    tau_x: float | None = None,
    tau_y: float | None = None,
    rate_x: float | None = None,
    rate_y: float | None = None,
    policy_x: str | None = None,
    policy_y: str | None = None,
    vocab_source: Vocabulary | None = None,
    vocab_target: Vocabulary | None = None,
    seed: int,
    epoch: int = 0,
    copies: int = 1,
    keep_original: bool = False,
    special_words: Sequence[str] | None = None,
    special_pattern: str | None = None,
    null_word: str = "<unk>",
    encode: bool = False,
    first_line: int = 0,
) -> Iterator[Any]:
    """Yield augmented sentences, or pairs of them where both sides are given.

    Sentence i is example ``first_line + i``; all else is as in `augment_files`. It reads up to
    1,024 sentences ahead.

    Example:
        >>> lines = augment_lines(["a b c", "d e"], tau_x=0.0, vocab_source=list("abcde"), seed=1)
        >>> list(lines)
        ['a b c', 'd e']
    """
    words = WordChoice(special_words, special_pattern, null_word, encode)
    noises = []
    for side, sentences, choice in (
        ("source", source, SideChoice(policy_x, tau_x, rate_x, vocab_source)),
        ("target", target, SideChoice(policy_y, tau_y, rate_y, vocab_target)),
    ):
        noise = make_noise(choice, words, side=side)
        if noise.policy is not None and (sentences is None or not noise.lexicon.known):
            needed = "sentences" if sentences is None else f"vocab_{side}"
            raise SwitchOutError(f"the {side} has a policy but no {needed}")
        noises.append(noise)
    if source is None and target is None:
        raise SwitchOutError("augment_lines needs source or target sentences")
    job = Job(TextFiles(None, None), noises[0], noises[1], seed, epoch, copies, keep_original)
    return _augmented(job, source, target, first_line)


def _augmented(
    job: Job, source: Iterable[str] | None, target: Iterable[str] | None, line: int
) -> Iterator[Any]:
    rewriters = job.rewriters()
    iterators = [None if side is None else iter(side) for side in (source, target)]
    while True:
        batches = [None if it is None else list(islice(it, _AT_ONCE)) for it in iterators]
        sizes = {len(batch) for batch in batches if batch is not None}
        if len(sizes) > 1:
            raise SwitchOutError("source and target must have the same number of sentences")
        n_lines = sizes.pop()
        if n_lines == 0:
            return
        left, right = (None if batch is None else _as_lines(batch) for batch in batches)
        chunk = Chunk(line, (left, right), n_lines, (0,), (False, False))
        _, written, _ = job.work(chunk, rewriters)
        sides = [_as_strings(side) for side in written.sides if side is not None]
        yield from sides[0] if len(sides) == 1 else zip(*sides, strict=True)
        line += n_lines


def _as_lines(sentences: list[str]) -> Lines:
    encoded = [sentence.encode() for sentence in sentences]
    ends = np.cumsum([len(sentence) for sentence in encoded])
    data = np.frombuffer(bytearray(b"".join(encoded) + bytes(PADDING)), np.uint8)
    return Lines(data, np.concatenate([[0], ends[:-1]]), ends, 0)


def _as_strings(side: Rewritten) -> list[str]:
    text, ends = side.data[: side.size].tobytes(), side.ends.tolist()
    starts = [0, *ends[:-1]]
    return [text[start:end].decode() for start, end in zip(starts, ends, strict=True)]
