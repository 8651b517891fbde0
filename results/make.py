"""Make what the documentation says of the results from the tables here: python results/make.py

Between ``<!-- NAME -->`` and ``<!-- /NAME -->`` its pages are written by this script. It also
writes the figures of docs/results.md, and the summaries that the demo shows.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import doses
import figures
import power
import progress
import tables
from studies import TITLES
from table import HERE
from verdicts import study_results, verdicts

from switchout.experiments.reference import SHIPPED, read_reference, write_reference

DOCS = HERE.parent / "docs"
PAGES = (
    DOCS / "results.md",
    DOCS / "results-tables.md",
    HERE.parent / "README.md",
)
TABLES: dict[str, Callable[[], str]] = {
    "verdicts": verdicts,
    "summary": tables.summary,
    "settings": tables.settings_table,
    "earlier": tables.earlier_table,
    "pooled": tables.pooled_table,
    "sizes": tables.sizes_table,
    "size-rules": tables.size_rules_table,
    "c1": partial(tables.question_table, "C1"),
    "c2": partial(tables.question_table, "C2"),
    "taus": tables.taus_table,
    "distance": tables.distance_table,
    "back-translation": tables.back_translation_table,
    "study3-figure": figures.sizes_link,
    "study4-state": doses.doses_state,
    "study4-figure": doses.doses_link,
    "doses": doses.doses_table,
    "seeds": power.seeds_table,
    "epochs": progress.epochs_table,
    "progress": progress.progress_table,
    "open-claims": power.open_claims_table,
}
for number, name in enumerate(TITLES, start=1):
    TABLES[f"study{number}-contrasts"] = partial(tables.claims_table, name)
    TABLES[f"study{number}-rows"] = partial(tables.rows_table, name)
FIGURES: dict[str, Callable[[], str]] = {
    "results-c1.svg": partial(figures.claim_figure, "C1"),
    "results-c2.svg": partial(figures.claim_figure, "C2"),
    "results-c3.svg": figures.taus_figure,
    "results-c4.svg": figures.distance_figure,
    "results-c5.svg": figures.back_translation_figure,
    "results-progress.svg": progress.progress_figure,
    figures.SIZES: figures.sizes_figure,
    doses.PICTURE: doses.doses_figure,
}


def made() -> dict[Path, str]:
    """Return all that this script writes, by its path."""
    pages = {page: filled(page.read_text(encoding="utf-8")) for page in PAGES}
    drawn = {DOCS / name: drawing for name, draw in FIGURES.items() if (drawing := draw())}
    return {**pages, **drawn, SHIPPED: _shipped()}


def filled(page: str) -> str:
    """Return a page with its tables as they are now."""
    pattern = re.compile(r"(<!-- (\S+) -->\n).*?(<!-- /\2 -->)", re.DOTALL)
    return pattern.sub(lambda found: f"{found[1]}\n{TABLES[found[2]]()}\n\n{found[3]}", page)


def _shipped() -> str:
    """The demo's reference with the studies as they stand."""
    reference = read_reference(SHIPPED)
    assert reference is not None
    with TemporaryDirectory() as folder:
        path = Path(folder) / SHIPPED.name
        write_reference(replace(reference, studies=tuple(study_results())), path)
        return path.read_text(encoding="utf-8")


def main() -> int:
    """Write what has changed, or with ``--check`` name it."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--check", action="store_true", help="write nothing, fail if it differs")
    is_check = parser.parse_args().check
    stale = {p: t for p, t in made().items() if not p.is_file() or p.read_text("utf-8") != t}
    for path, text in stale.items():
        if is_check:
            message = f"{path.name}: not what results/ says; run python results/make.py"
            print(message, file=sys.stderr)
        else:
            path.write_text(text, encoding="utf-8")
    return int(is_check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
