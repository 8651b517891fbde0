"""What a setting does to the user's corpus: the function behind ``augment --preview``, asked live.

The vocabulary is that of the first lines, counted once: a slider that moves asks many times.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from switchout.corpora.text import write_lines
from switchout.corpora.vocabulary import SPECIALS
from switchout.explore.corpus_lines import CorpusLines
from switchout.explore.question import NoiseQuestion, SideQuestion
from switchout.explore.vocabularies import Side, Vocabularies
from switchout.text.preview import Preview, SwitchedLine, preview

N_LINES, N_EPOCHS = 5, 3  # shown


@dataclass(frozen=True)
class LineInEpochs:
    """A line as it is, the epochs that change it, and those in which it stays the same."""

    line: int
    side: str
    words: list[str]
    changed: list[SwitchedLine]
    same: list[int]


def in_epochs(samples: Iterable[SwitchedLine]) -> list[LineInEpochs]:
    """Return samples by line and side, each told once, as ``switchout preview`` prints them."""
    found = []
    for (line, side), group in groupby(samples, key=lambda sample: (sample.line, sample.side)):
        epochs = list(group)
        changed = [e for e in epochs if any(word.is_changed for word in e.words)]
        same = [e.epoch for e in epochs if e not in changed]
        found.append(LineInEpochs(line, side, [w.was for w in epochs[0].words], changed, same))
    return found


class CorpusLook:
    """Looks at the files of the user, or at the embedded corpus.

    Args:
        files: Source and target of the user; None: there is no such side.
        lines: What is looked at where there are no files.
        vocabularies: Words to draw from, by side.
    """

    def __init__(
        self, files: tuple[Path | None, Path | None], lines: CorpusLines, vocabularies: Vocabularies
    ):
        self.is_own = any(files)
        self.title = lines.title
        self._files, self._lines, self._vocabularies = files, lines, vocabularies

    def look(self, question: NoiseQuestion) -> Preview:
        """Return sentences, and shares by length."""
        source, target = self._paths
        options: Any = {}
        sides: tuple[tuple[str, Side, SideQuestion, Path | None], ...] = (
            ("x", "source", question.source, source),
            ("y", "target", question.target, target),
        )
        for letter, side, asked, path in sides:
            if path is not None and asked.policy != "none":
                strength = {f"{name}_{letter}": value for name, value in asked.strength.items()}
                options |= {f"policy_{letter}": asked.policy, **strength}
                options[f"vocab_{side}"] = self._words(side)
        if not options:
            return Preview([], [])
        return preview(
            source, target, seed=question.seed, epoch=question.epoch, lines=N_LINES,
            epochs=N_EPOCHS, **options,
        )  # fmt: skip

    def _words(self, side: Side) -> list[str]:
        name = "corpus" if self.is_own else "embedded"
        return self._vocabularies.codec(name, side).vocabulary.tokens[len(SPECIALS) :]

    @cached_property
    def _paths(self) -> tuple[Path | None, Path | None]:
        """The files; the embedded corpus becomes files that go away with the server."""
        if self.is_own:
            return self._files
        self._folder = TemporaryDirectory(prefix="switchout-explore-")
        paths = Path(self._folder.name, "train.src"), Path(self._folder.name, "train.tgt")
        for path, lines in zip(paths, (self._lines.source, self._lines.target), strict=True):
            write_lines(path, lines)
        return paths
