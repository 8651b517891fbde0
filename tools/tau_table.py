"""Write the table of docs/choosing-tau.md: what a temperature does to sentences of some lengths.

    python tools/tau_table.py docs/choosing-tau.md

Closed forms of the package, no sampling. A test makes the table again and compares.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import switchout as so

TAUS = (0.3, 0.5, 0.7, 1.0, 1.11, 1.5, 2.0, 3.0, 5.0)
LENGTHS = (5, 10, 20, 40)
PLACE = re.compile(r"(\|---\|---\|---\|---\|---\|---\|\n)(.*?)(<!-- /tau -->)", flags=re.DOTALL)


def rows() -> str:
    """Return the lines of the table, one temperature a line."""
    lines = []
    for tau in TAUS:
        policy = so.SwitchOut(so.Words(32000), tau=tau)
        changes = policy.expected_changes(LENGTHS)
        cells = [
            f"{n / length:.1%} / {policy.change_probabilities(length)[0]:.0%}"
            for n, length in zip(changes, LENGTHS, strict=True)
        ]
        few, many = min(changes), max(changes)
        lines.append(f"| {tau:g} | {' | '.join(cells)} | {few:.2f} to {many:.2f} |\n")
    return "".join(lines)


def with_table(page: str) -> str:
    """Return the page with the present table between its marks."""
    return PLACE.sub(lambda found: found[1] + rows() + found[3], page)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    path.write_text(with_table(path.read_text(encoding="utf-8")), encoding="utf-8")
