"""All that the pages are about: a folder of runs, a corpus, vocabularies."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from switchout.errors import SwitchOutError
from switchout.evaluation.examples import Example
from switchout.explore.catalogue import Catalogue
from switchout.explore.corpus import CorpusLook
from switchout.explore.corpus_lines import CorpusLines, embedded_lines, file_lines
from switchout.explore.playground import SideAnswer, play
from switchout.explore.question import PlayQuestion, SideQuestion
from switchout.explore.snippets import snippets
from switchout.explore.translation import Translators
from switchout.explore.units import UnitAnswer, compare_units
from switchout.explore.vocabularies import Side, Vocabularies
from switchout.files import read_lines
from switchout.report.elements import Html
from switchout.report.examples import card
from switchout.runs.folder import read_run_config
from switchout.runs.job import corpus_of

MOST_EXAMPLES = 50


class Site:
    """What one ``switchout explore`` shows.

    Args:
        runs: Folder of the runs; need not exist yet.
        source, target: The user's own text files, if any.
    """

    def __init__(self, runs: Path, source: Path | None = None, target: Path | None = None):
        self.catalogue = Catalogue(runs)
        self.embedded = embedded_lines()
        self.files = source, target
        self.corpus = file_lines(*self.files)
        self.vocabularies = Vocabularies(self.embedded, self.corpus, self.catalogue)
        self.translators = Translators(self.catalogue)
        self.look = CorpusLook(self.files, self.lines, self.vocabularies).look

    @cached_property
    def lines(self) -> CorpusLines:
        """The user's lines, or the embedded ones."""
        return self.corpus or self.embedded

    def filled(self, question: PlayQuestion) -> PlayQuestion:
        """Return a question that names its vocabularies; by default those of the user's files."""
        x, y = (
            "corpus" if self.corpus and self.corpus.of(side) else "embedded"
            for side in ("source", "target")
        )
        names = {"vocab_x": question.vocab_x or x, "vocab_y": question.vocab_y or y}
        return question.model_copy(update=names)

    def answer(self, question: PlayQuestion) -> dict[str, SideAnswer]:
        """Return what the playground says, by side."""
        asked = {"source": question.source, "target": question.target}
        sides: tuple[Side, Side] = ("source", "target")
        return {
            side: play(
                asked[side], self.vocabularies.codec(asked[side].vocabulary, side), side=side,
                seed=question.seed, epoch=question.epoch, n_samples=question.n_samples,
            )
            for side in sides
        }  # fmt: skip

    def units(self, question: PlayQuestion) -> dict[str, list[UnitAnswer]]:
        """Return pieces beside whole words, for sides whose vocabulary has pieces."""
        sides: tuple[tuple[Side, SideQuestion], ...] = (
            ("source", question.source),
            ("target", question.target),
        )
        found: dict[str, list[UnitAnswer]] = {}
        for side, asked in sides:
            book = self.vocabularies.book(asked.vocabulary, side)
            if book is not None:
                address = {"seed": question.seed, "epoch": question.epoch, "side": side}
                found[side] = compare_units(asked, book, **address)
        return {side: answers for side, answers in found.items() if answers}

    def snippets(self, question: PlayQuestion) -> dict[str, str]:
        """Return what to paste."""
        x = self.vocabularies.codec(question.vocab_x, "source")
        y = self.vocabularies.codec(question.vocab_y, "target")
        return snippets(question, (len(x.vocabulary), len(y.vocabulary)), self.files)

    def reports(self) -> dict[str, Path]:
        """Return the reports below the folder of runs, by name."""
        root = self.catalogue.root
        found = [*root.glob("report.html"), *root.glob("*/report.html")]
        # A link may lead anywhere: what is shown is in the folder itself.
        inside = [
            path for path in found if path.resolve() == root.resolve() / path.relative_to(root)
        ]
        return {path.relative_to(root).as_posix(): path for path in sorted(inside)}

    def translations(self, name: str) -> list[Html]:
        """Return the first test sentences with what a run made of them; none without its corpus."""
        folder = self.catalogue.folder(name)
        try:
            lines = read_lines(folder / "test.hyp")
            sources, references = corpus_of(read_run_config(folder)).pairs("test")
        except SwitchOutError:
            return []
        return [
            card(Example(i, src, ref, [("translation", line)]))
            for i, (src, ref, line) in enumerate(
                zip(sources, references, lines[:MOST_EXAMPLES], strict=False), 1
            )
        ]
