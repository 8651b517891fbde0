"""How wide the terminal is, and prose that fits it. Not a verb itself."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap

LEAST = 40  # columns; below, lines of one word are harder to read than broken ones


def columns() -> int:
    """Return the width of the terminal; 80 where there is none."""
    return max(LEAST, shutil.get_terminal_size().columns)


def table_width() -> int | None:
    """Return the width that tables keep to; None: any, as in a file, where nothing is cut off."""
    return columns() if sys.stdout.isatty() or "COLUMNS" in os.environ else None


def wrapped(paragraph: str, *, hanging: str = "") -> str:
    """Return lines that fit; words are never broken, as signatures and paths are such.

    Args:
        paragraph: Of prose.
        hanging: What all lines but the first begin with.
    """
    return textwrap.fill(
        paragraph, columns(), subsequent_indent=hanging,
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip
