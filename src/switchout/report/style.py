"""The style sheet of all pages and drawings."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def style() -> str:
    """Return it; colours follow the reader's light or dark setting."""
    return files("switchout.report").joinpath("style.css").read_text(encoding="utf-8")
