"""From lines of text to lines of text, over anything that searches ids.

* One line in, one line out, in order; an empty line stays empty.
* A line longer than the model's positions is cut, with a warning that names it.
* Inside a window of lines the searcher is free to sort by length.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Protocol

import torch

from switchout.corpora.codec import Codec, Codecs, Unknown
from switchout.corpora.vocabulary import EOS, UNK
from switchout.nmt.model import Transformer
from switchout.nmt.search import Hypothesis, SearchOptions, translate_ids

log = logging.getLogger(__name__)

WINDOW = 2048  # lines that are sorted by length together
BATCH_WORDS = 1500  # padded source words searched at once, a compromise of cache and overhead


@dataclass(frozen=True)
class Translation:
    """A line of output and its score: log-probability by length to the power of the penalty."""

    text: str
    score: float


class Searcher(Protocol):
    """Whatever finds target ids for source ids (words only, no EOS)."""

    max_words: int

    def search(
        self, sentences: Sequence[list[int]], options: SearchOptions, done: Callable[[int], None]
    ) -> list[list[Hypothesis]]:
        """Return the n-best of every sentence; call ``done`` with numbers of finished ones."""


class TorchSearcher:
    """Searches with our own models, one or an ensemble, wherever they are."""

    def __init__(self, models: Sequence[Transformer]):
        self.models = models
        self.device = models[0].positions.device
        self.max_words = min(model.spec.max_length for model in models) - 1

    def search(
        self, sentences: Sequence[list[int]], options: SearchOptions, done: Callable[[int], None]
    ) -> list[list[Hypothesis]]:
        """See `Searcher`."""
        found: list[list[Hypothesis]] = [[] for _ in sentences]
        for batch in _by_length(sentences):
            lengths = torch.tensor([len(sentences[i]) + 1 for i in batch])
            src = torch.zeros((len(batch), int(lengths.max())), dtype=torch.long)
            for row, i in enumerate(batch):
                src[row, : lengths[row]] = torch.tensor([*sentences[i], EOS])
            results = translate_ids(
                self.models, src.to(self.device), lengths.to(self.device), options
            )
            for i, hypotheses in zip(batch, results, strict=True):
                found[i] = hypotheses
            done(len(batch))
        return found


def translate_lines(
    models: Sequence[Transformer],
    lines: Sequence[str],
    codecs: Codecs,
    options: SearchOptions = SearchOptions(),
) -> list[str]:
    """Return the best translation of every line: what training needs for its dev and test sets."""
    windows = translate_windows(TorchSearcher(models), [lines], codecs, options=options)
    return [best.text for window in windows for best, *_ in window]


def translate_windows(
    searcher: Searcher,
    windows: Iterable[Sequence[str]],
    codecs: Codecs,
    *,
    options: SearchOptions,
    unk: Unknown = "keep",
    done: Callable[[int], None] = lambda n: None,
) -> Iterator[list[list[Translation]]]:
    """Yield, for every window of lines, the n-best translations of each line.

    Args:
        codecs: Of source and target.
        unk: What an unknown word becomes: ``<unk>``, nothing, or the source word most looked at.
            For ``copy`` set ``options.need_attention``.
        done: Called with numbers of finished lines.
    """
    first = 1
    for lines in chain.from_iterable(map(_cut, windows)):
        sentences = [codecs[0].encode(line) for line in lines]
        for number, ids in enumerate(sentences, first):
            if len(ids) > searcher.max_words:
                log.warning(
                    "line %d: %d words, cut to the model's %d", number, len(ids), searcher.max_words
                )
                del ids[searcher.max_words :]
        full = [i for i, ids in enumerate(sentences) if ids]
        done(len(lines) - len(full))
        found = searcher.search([sentences[i] for i in full], options, done)
        translations = [[Translation("", 0.0)] * options.n_best for _ in lines]
        for i, hypotheses in zip(full, found, strict=True):
            words = codecs[0].tokens(lines[i]) if unk == "copy" else []
            translations[i] = [_text(h, words, codecs[1], unk) for h in hypotheses]
        first += len(lines)
        yield translations


def _text(hypothesis: Hypothesis, words: list[str], codec: Codec, unk: Unknown) -> Translation:
    if unk != "copy" or UNK not in hypothesis.ids or hypothesis.attention is None:
        return Translation(codec.decode(hypothesis.ids, unk=unk, aligned=[]), hypothesis.score)
    seen = hypothesis.attention[:, : len(words)].argmax(dim=1).tolist()
    aligned = [words[i] for i in seen]
    return Translation(codec.decode(hypothesis.ids, unk=unk, aligned=aligned), hypothesis.score)


def _cut(lines: Sequence[str]) -> Iterator[list[str]]:
    rest = iter(lines)
    while window := list(islice(rest, WINDOW)):
        yield window


def _by_length(sentences: Sequence[list[int]]) -> Iterator[list[int]]:
    """Yield indices of sentences of similar length, longest first: a lack of memory shows early."""
    batch: list[int] = []
    longest = 0
    for i in sorted(range(len(sentences)), key=lambda i: -len(sentences[i])):
        if batch and (len(batch) + 1) * (longest + 1) > BATCH_WORDS:
            yield batch
            batch = []
        longest = longest if batch else len(sentences[i])
        batch.append(i)
    if batch:
        yield batch
