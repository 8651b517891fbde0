"""Reading what is to be scored: files that must match a reference, line by line."""

from __future__ import annotations

import os
from pathlib import Path

from switchout.errors import SwitchOutError
from switchout.evaluation.comparison import System
from switchout.evaluation.neighbors import read_wer
from switchout.evaluation.statistics import Array
from switchout.files import read_lines


def read_references(path: str | os.PathLike[str]) -> list[str]:
    """Return the reference lines; a file without a word is an error."""
    references = read_lines(path)
    if not any(line.strip() for line in references):
        raise SwitchOutError(f"{path}: the reference is empty: nothing to score")
    return references


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


def read_hypotheses(path: str | os.PathLike[str], *, references: Path, n_lines: int) -> list[str]:
    """Return as many lines as there are references; another number is an error."""
    hypotheses = read_lines(output_file(path))
    if len(hypotheses) != n_lines:
        raise SwitchOutError(
            f"{path} has {len(hypotheses)} lines but {references} has {n_lines}: "
            "they must match line by line"
        )
    return hypotheses


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


def read_system(text: str, *, references: Path, n_lines: int) -> System:
    """Read the outputs of a system; see `files_of_system`."""
    name, paths = files_of_system(text)
    runs = [read_hypotheses(path, references=references, n_lines=n_lines) for path in paths]
    return System(name, runs, run_names=paths)


def read_distances(path: str | os.PathLike[str], *, references: Path, n_lines: int) -> Array:
    """Return the WER of every test sentence from a file of ``switchout neighbors``, [sentence]."""
    wer = read_wer(path)
    if len(wer) != n_lines:
        raise SwitchOutError(
            f"{path} has {len(wer)} lines but {references} has {n_lines}: "
            "make it from the same test set with 'switchout neighbors'"
        )
    return wer
