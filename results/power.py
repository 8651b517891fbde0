"""How many seeds an open question takes: from how much the runs of a set-up were seen to vary."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from statistics import fmean

from cells import markdown, needed, on, slope_in_words
from effects import Effect, effect
from studies import (
    ROWS_OF,
    SHORT,
    by_size,
    distance_slope,
    distance_verdict,
    study_of,
    with_study_3,
)
from table import Study, read
from verdicts import ON_BACK_TRANSLATION

GAPS = (0.3, 0.5, 1.0)  # BLEU
OF_THE_PAPER = 0.5
CORES = 2


def seeds_table() -> str:
    """A line per set-up: seeds a side that would show a true difference, and what they take."""
    lines = []
    for name, study, rows, is_paired in set_ups():
        one = effect(study, *rows, rule="dev-bleu", is_paired=is_paired)
        known = min(len(study.of(row)) for row in rows)
        numbers = [_in_words(seeds_for(one, gap), gap, one, known) for gap in GAPS]
        hours = _hours(study, rows, seeds_for(one, OF_THE_PAPER))
        lines.append((name, str(known), *numbers, hours))
    gaps = [f"seeds a side for {gap:g} BLEU" for gap in GAPS]
    head = ("set-up", "seeds so far", *gaps, f"hours for {OF_THE_PAPER:g} BLEU")
    return markdown(head, lines)


def _in_words(n_seeds: int | None, gap: float, one: Effect, known: int) -> str:
    """A number of seeds; for the paper's gain also what it would be at the ends of the spread."""
    if n_seeds is None or gap != OF_THE_PAPER:
        return _seeds(n_seeds)
    df = (known - 1) * (1 if one.test.is_paired else 2)
    ends = (seeds_for(one, gap, spread=share) for share in variance_ends(df))
    return f"{n_seeds} ({' to '.join(map(_seeds, ends))})"


def _seeds(number: int | None) -> str:
    return str(number) if number else "too few sentences"


def variance_ends(df: float) -> tuple[float, float]:
    """Return by how much a variance of so many degrees of freedom may be too large or too small.

    The ends of its 95% interval, as shares of it, by Wilson and Hilferty's cube of a normal
    variate, which is within a few percent of χ² for six degrees of freedom and more.
    """
    step = 2 / (9 * df)
    high, low = (1 / (1 - step + z * math.sqrt(step)) ** 3 for z in (-1.96, 1.96))
    return low, high


def open_claims_table() -> str:
    """What would show effects of the size that was seen, where a claim is open."""
    lines = []
    slope = distance_slope()
    if slope and slope.seeds is not None and distance_verdict(slope)[0] == "open":
        lines.append(("C4", f"study 2: {slope_in_words(slope)}", needed(slope.seeds)))
    study = read("table2-multi30k-5k-long")
    for rows in ON_BACK_TRANSLATION:
        one = effect(study, *rows)
        seen = f"SwitchOut over {rows[1]}, two seeds: {on(one)}"
        lines.append(("C5", seen, needed(one.test)))
    return markdown(("", "seen on test (C5: p in brackets)", "an effect of this size takes"), lines)


def seeds_for(one: Effect, gap: float, *, spread: float = 1.0) -> int | None:
    """Return what would show a true difference of this size four times in five, at 5%.

    Args:
        spread: The variance of runs, as a share of what was seen.
    """
    variance = spread * one.test.run_variance
    return replace(one.test, delta=gap, run_variance=variance).seeds_needed()


def set_ups() -> Iterator[tuple[str, Study, tuple[str, str], bool]]:
    """Where two rows were trained often enough: name, runs, rows, whether they are paired."""
    both, first, second = with_study_3(), study_of("multi30k-5k"), study_of("en-vi")
    if both:
        yield "Multi30k, 5,000 pairs", both, ROWS_OF["C1"], False
    if first:
        yield "the same with RAML", first, ROWS_OF["C2"], False
        yield "the same with RAML, paired by seed", first, ROWS_OF["C2"], True
    third = study_of("data-size")
    for size, found in by_size().items():
        if third and "none" in found and size != "5,000":
            claim = found["none"]
            yield f"Multi30k, {size} pairs", third, (claim.row, claim.against), False
    if second:
        yield SHORT["en-vi"].partition(": ")[2], second, ROWS_OF["C1"], False


def _hours(study: Study, rows: tuple[str, str], n_seeds: int | None) -> str:
    """What so many runs of both rows take on a small machine."""
    if n_seeds is None:
        return ""
    a_run = fmean(run["cpu_seconds"] for row in rows for run in study.of(row))
    return f"{2 * n_seeds * a_run / CORES / 3600:.1f}"
