"""Words such as ``>>en<<`` that say something about a sentence: of a language, of a domain."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

_KINDS = (r">>.*<<", r"<.*>", r"__.*__")
_SHARE = 0.1  # of the lines, from which on a tag is no accident


def find_tags(
    lines: Iterable[Sequence[str]], is_word: Callable[[str], bool]
) -> list[tuple[str, str]]:
    """Return one tag of each kind at an end of many lines, and the pattern of its kind.

    Args:
        lines: Words of some lines.
        is_word: Whether noise takes it for a word; other tags are in no danger.

    Example:
        >>> find_tags([[">>en<<", "ein", "Haus"], [">>fr<<", "ein", "Hund"]], lambda word: True)
        [('>>en<<', '>>.*<<')]
    """
    ends: Counter[str] = Counter()
    n_lines = 0
    for words in filter(None, lines):
        ends.update({words[0], words[-1]})
        n_lines += 1
    found = []
    for pattern in _KINDS:
        tags = [end for end in ends if re.fullmatch(pattern, end) and is_word(end)]
        if sum(ends[tag] for tag in tags) > _SHARE * n_lines:
            found.append((min(tags), pattern))
    return found
