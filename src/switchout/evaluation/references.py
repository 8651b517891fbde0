"""Reading what is to be scored: files that must match a reference, line by line."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from pathlib import Path

from switchout.corpora import BleuSpec, Corpus
from switchout.errors import SwitchOutError
from switchout.evaluation.comparison import System
from switchout.evaluation.metrics import Array
from switchout.evaluation.neighbors import read_wer
from switchout.files import read_lines

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class References:
    """The real text of a test set; all that is scored must match it line by line.

    Attributes:
        path: Its file, for messages.
        lines: A sentence each.
        bleu: How it is scored, unless one says otherwise.
    """

    path: Path
    lines: list[str]
    bleu: BleuSpec = field(default_factory=BleuSpec)

    @classmethod
    def read(cls, path: Path) -> References:
        """Read the file; one without a word is an error."""
        lines = read_lines(path)
        if not any(line.strip() for line in lines):
            raise SwitchOutError(f"{path}: the reference is empty: nothing to score")
        return cls(path, lines)

    @classmethod
    def of_corpus(cls, corpus: Corpus) -> References:
        """Take the test set of a corpus, and how that is scored."""
        path = (corpus.folder or Path(corpus.name)) / f"test.{corpus.target}"
        return cls(path, corpus.pairs("test")[1], corpus.bleu)

    def matching(self, path: str | os.PathLike[str]) -> list[str]:
        """Return the lines of an output or of the source side: as many as there are here."""
        found = read_lines(output_file(path))
        self._check(len(found), path, "they must match line by line")
        return found

    def system(self, text: str) -> System:
        """Read the outputs of a system; see `files_of_system`."""
        name, paths = files_of_system(text)
        runs = [self.matching(path) for path in paths]
        _refuse_twins(paths, runs)
        return System(name, runs, run_names=paths)

    def distances(self, path: str | os.PathLike[str]) -> Array:
        """Return the WER of every sentence from a file of ``switchout neighbors``, [sentence]."""
        wer = read_wer(path)
        self._check(len(wer), path, "make it from the same test set with 'switchout neighbors'")
        return wer

    def _check(self, n: int, path: str | os.PathLike[str], advice: str) -> None:
        if n != len(self.lines):
            raise SwitchOutError(
                f"{path} has {n} lines but {self.path} has {len(self.lines)}: {advice}"
            )


def _refuse_twins(paths: list[str], runs: list[list[str]]) -> None:
    """A run that counts twice makes chance look like evidence: it must be another seed."""
    for (path, run), (other, its_run) in combinations(zip(paths, runs, strict=True), 2):
        if output_file(path).samefile(output_file(other)):
            raise SwitchOutError(f"{path} is given twice as runs of one system; give it once")
        if run == its_run:
            log.warning(
                "%s and %s are the same, line by line: are they one run? Runs of a system must have"
                " different seeds, or the tests over seeds mean nothing", path, other,
            )  # fmt: skip


def refuse_shared(systems: Sequence[System]) -> None:
    """A run of two systems makes them alike: it belongs to one of them."""
    for first, second in combinations(systems, 2):
        for path, other in product(first.run_names, second.run_names):
            if output_file(path).samefile(output_file(other)):
                raise SwitchOutError(
                    f"{other} is a run of {first.name!r} and of {second.name!r}; give it to one"
                )


def output_file(path: str | os.PathLike[str]) -> Path:
    """Return the file of an output: itself, or for the folder of a run its ``test.hyp``.

    Example:
        >>> import tempfile
        >>> run = Path(tempfile.mkdtemp())
        >>> (run / "test.hyp").touch()
        >>> output_file(run).name, str(output_file("a.hyp"))
        ('test.hyp', 'a.hyp')
    """
    path = Path(path)
    if not path.is_dir():
        return path
    if not (path / "test.hyp").is_file():
        raise SwitchOutError(f"{path}: a folder without test.hyp; is it a finished run?")
    return path / "test.hyp"


def files_of_system(text: str) -> tuple[str, list[str]]:
    """Return name and files of ``NAME=f1,f2,…``, or of a bare path as a system of one run.

    Example:
        >>> files_of_system("base=b1.hyp,b2.hyp")
        ('base', ['b1.hyp', 'b2.hyp'])
    """
    name, equals, files = text.partition("=")
    if not equals or os.path.lexists(text):  # a path may hold a "=" too
        return text, [text]
    paths = files.split(",")
    if not name or not all(paths):
        raise SwitchOutError(f"{text!r}: expected NAME=file1,file2,… or one path")
    return name, paths
