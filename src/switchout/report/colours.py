"""One colour for one row, on every chart of every page.

The rows of the paper have fixed colours. A row with back-translation or with tuned temperatures
has the colour of the row without, drawn hollow. Other names take what is left, in their order.
"""

from __future__ import annotations

from collections.abc import Iterable

from switchout.experiments.paper import (
    BASELINE,
    BT,
    RAML,
    RAML_SWITCHOUT,
    RAML_WORD_DROPOUT,
    SWITCHOUT,
    TUNED,
    WORD_DROPOUT,
)

PAPER = (BASELINE, WORD_DROPOUT, SWITCHOUT, RAML, RAML_WORD_DROPOUT, RAML_SWITCHOUT)
N_COLOURS = 8  # of style.css


def colours_of(names: Iterable[str]) -> dict[str, str]:
    """Return the CSS classes of every name: ``s0`` to ``s7``, and ``hollow``.

    Example:
        >>> colours_of(["+SwitchOut", "+BT +SwitchOut", "mine"])
        {'+SwitchOut': 's2', '+BT +SwitchOut': 's2 hollow', 'mine': 's0'}
    """
    wanted = list(dict.fromkeys(names))
    fixed = {name: colour for name in wanted if (colour := _of_the_paper(name))}
    free = [f"s{i}" for i in range(N_COLOURS) if f"s{i}" not in fixed.values()] or ["s0"]
    others = [name for name in wanted if name not in fixed]
    taken = {
        name: free[i % len(free)] + (" hollow" if i // len(free) % 2 else "")
        for i, name in enumerate(others)
    }
    return {name: fixed.get(name) or taken[name] for name in wanted}


def _of_the_paper(name: str) -> str:
    plain = name.removesuffix(TUNED).removeprefix(BT).strip() or BASELINE
    if plain not in PAPER:
        return ""
    return f"s{PAPER.index(plain)}" + (" hollow" if plain != name else "")
