"""The same bytes on every Python, and words that spelling dictionaries know."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

import phrasebook
from phrasebook.lexicon import expressions, frames

TOOLS = Path(phrasebook.__file__).parents[1]
PROGRAM = """
import hashlib, sys
sys.path.insert(0, sys.argv[1])
from phrasebook import generate, splits
text = [f"{de}\\t{en}\\n" for de, en in generate(3000, seed=0)]
text += [line + "\\n" for sides in splits().values() for side in sides for line in side]
print(hashlib.sha256("".join(text).encode()).hexdigest())
"""


def _digest() -> str:
    text = [f"{de}\t{en}\n" for de, en in phrasebook.generate(3000, seed=0)]
    sides = (side for sides in phrasebook.splits().values() for side in sides)
    text += [line + "\n" for side in sides for line in side]
    return hashlib.sha256("".join(text).encode()).hexdigest()


def _interpreter(version: str) -> str | None:
    """Return an interpreter that runs; pyenv's shims may be on the path and not run."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    installed = sorted(pyenv.glob(f"versions/{version}.*/bin/python"))
    for candidate in (shutil.which(f"python{version}"), *map(str, installed)):
        if candidate and subprocess.run([candidate, "-V"], capture_output=True).returncode == 0:
            return candidate
    return None


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
@pytest.mark.parametrize("hash_seed", ["0", "1"])
def test_same_bytes_on_every_python(version: str, hash_seed: str) -> None:
    interpreter = _interpreter(version)
    if interpreter is None:
        pytest.skip(f"no python{version} that runs, on the path or under pyenv")
    command = [interpreter, "-X", "utf8", "-c", PROGRAM, str(TOOLS)]
    run = subprocess.run(
        command, capture_output=True, text=True, env={"PYTHONHASHSEED": hash_seed}, check=False
    )
    assert run.stdout.strip() == _digest(), run.stderr


NAMES = {
    name
    for group in ("male name", "female name", "surname", "city")
    for row in expressions()[group]
    for name in row
}
KNOWN = {  # correct, but missing from Debian's dictionaries
    "de_DE": {"T-Shirt", "T-Shirts", "sechstausend", "siebentausend"},
    "en_US": set(),
}


@pytest.mark.slow
@pytest.mark.parametrize(("side", "language"), [(0, "de_DE"), (1, "en_US")])
def test_every_word_is_in_the_dictionary(side: int, language: str) -> None:
    if shutil.which("hunspell") is None:
        pytest.skip("hunspell is not installed")
    words = {word for pair in phrasebook.generate(200_000, seed=10) for word in pair[side].split()}
    unknown = _misspelt(words, language) - KNOWN[language] - NAMES
    unknown = {word for word in unknown if word.removesuffix("s") not in NAMES}
    if side == 0:  # a separable verb is right if what follows its prefix is
        stems = {word: _without_prefix(word) for word in unknown}
        wrong = _misspelt(set(stems.values()), language)
        unknown = {word for word, stem in stems.items() if stem == word or stem in wrong}
    assert unknown == set()
    assert _misspelt({"Bärn", "oftened"}, language) == {"Bärn", "oftened"}


def _without_prefix(word: str) -> str:
    found = {frame.verb.prefix.strip() for frame in frames()} - {""}
    prefixes = sorted(found, key=len, reverse=True)  # zurück before zu
    return next(
        (word.removeprefix(p).removeprefix("zu") for p in prefixes if word.startswith(p)), word
    )


def _misspelt(words: set[str], language: str) -> set[str]:
    run = subprocess.run(
        ["hunspell", "-d", language, "-i", "utf-8", "-l"],
        input="\n".join(sorted(words)),
        capture_output=True,
        text=True,
        check=False,
    )
    if "Can't open affix or dictionary files" in run.stderr:
        pytest.skip(f"hunspell has no dictionary {language}")
    return set(run.stdout.split())
