"""The exception for a user's mistake, whose text is all that the command line prints."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

TRAINING = ("torch", "safetensors")  # the second only to save
WEB = ("fastapi", "uvicorn", "jinja2", "starlette")
EXTRAS = {  # what may be missing, and which extra of ours brings it
    **dict.fromkeys(TRAINING, "train"),
    **dict.fromkeys(WEB, "web"),
    **dict.fromkeys(("sentencepiece", "tokenizers"), "subword"),
    "transformers": "huggingface",
    "pyarrow": "parquet",
    "ctranslate2": "serve",
    **{name: name for name in ("ray", "eole", "opustrainer")},
}


NEAR = 0.6  # of 1, by difflib: below, it is another word
MOST_NEAR = 3  # that are as near: more are no help


class SwitchOutError(ValueError):
    """Bad input. The message names the file, line or key, and says what to do, in one line."""


class NotInstalledError(ImportError, SwitchOutError):
    """Packages that are missing. The message says how to install them."""


@contextmanager
def needs(*packages: str, where: str = "") -> Iterator[None]:
    """Around imports: say all that is missing at once, and how to install it.

    Args:
        packages: By the names they are imported by.
        where: What needs them, for the message: a file or a format.

    Example:
        >>> with needs("numpy", "salt"):
        ...     import numpy
        Traceback (most recent call last):
        switchout.errors.NotInstalledError: salt is not installed: pip install salt
    """
    check_installed(*packages, where=where)
    yield


def check_installed(*packages: str, where: str = "") -> None:
    """Refuse what cannot be done without these packages; none of them is imported."""
    if missing := [package for package in packages if not is_installed(package)]:
        raise not_installed(*missing, where=where)


def is_installed(package: str) -> bool:
    """Return whether a package can be imported, or stands in for one that can."""
    from importlib.util import find_spec

    if package in sys.modules:  # find_spec takes offence at a stub
        return sys.modules[package] is not None
    return find_spec(package) is not None


def not_installed(*packages: str, where: str = "") -> NotInstalledError:
    """Return what to say of packages that are missing."""
    are = "is" if len(packages) == 1 else "are"
    text = f"{listed(packages, 'and')} {are} not installed: {how_to_install(*packages)}"
    return NotInstalledError(f"{where}: {text}" if where else text, name=packages[0])


def how_to_install(*packages: str) -> str:
    """Return the command. Extras are those of a clone: this package is in no index.

    Example:
        >>> how_to_install("torch", "lightning")
        "pip install '.[train]' lightning in your clone of switchout"
    """
    extras = ",".join(dict.fromkeys(EXTRAS[p] for p in packages if p in EXTRAS))
    others = [package for package in packages if package not in EXTRAS]
    ours = [f"'.[{extras}]'"] if extras else []
    command = " ".join(["pip install", *ours, *others])
    return f"{command} in your clone of switchout" if extras else command


def listed(words: Sequence[str], last: str) -> str:
    """Return words as one reads them out.

    Example:
        >>> listed(["a", "b", "c"], "and"), listed(["a", "b"], "or"), listed(["a"], "or")
        ('a, b and c', 'a or b', 'a')
    """
    *first, end = words
    return f"{', '.join(first)} {last} {end}" if first else end


def did_you_mean(word: str, choices: list[str]) -> str:
    """Return ``" (did you mean 'x'?)"`` for a near miss, else the list of what exists.

    Example:
        >>> did_you_mean("table9", ["table1", "table2", "tau"])
        " (did you mean 'table1' or 'table2'?)"
    """
    begun = [choice for choice in choices if choice.startswith(f"{word}_")][:1]
    near = [repr(choice) for choice in begun or nearest(word, choices)]
    if not near or len(near) > MOST_NEAR:
        return f" (choose from: {', '.join(choices)})"
    return f" (did you mean {listed(near, 'or')}?)"


def nearest(word: str, choices: Sequence[str]) -> list[str]:
    """Return the choices that are near a word, all that are as near as the nearest."""
    from difflib import SequenceMatcher

    ratios = {choice: SequenceMatcher(None, choice, word).ratio() for choice in choices}
    best = max(ratios.values(), default=0.0)
    return [choice for choice in ratios if ratios[choice] == best >= NEAR]
