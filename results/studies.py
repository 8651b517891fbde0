"""The studies and the tables before them: their names, and what each of them asks and answers."""

from __future__ import annotations

from functools import cache

from declared import contrasts_of
from effects import Claim, claims, gains_by_distance
from table import HERE, Study, read

from switchout.evaluation.buckets import Breakdown
from switchout.evaluation.significance import holm
from switchout.evaluation.trend import Trend
from switchout.evaluation.verdict import LEVEL
from switchout.experiments.paper import BASELINE, RAML, RAML_SWITCHOUT, SWITCHOUT

TITLES = {
    "multi30k-5k": "Study 1: Multi30k, 5,000 pairs",
    "en-vi": "Study 2: English–Vietnamese, 133,166 pairs",
    "data-size": "Study 3: Multi30k, four sizes",
    "dose": "Study 4: the dose, a screening",
    "dose-second": "Study 4, second part: two doses",
}
SHORT = {
    "multi30k-5k": "Study 1: Multi30k 5k, 66 epochs",
    "en-vi": "Study 2: en-vi 133k, 3.6 epochs",
    "data-size": "Study 3: Multi30k, 120 to 23 epochs",
    "dose": "Study 4: Multi30k 5k, by dose",
    "dose-second": "Study 4, second part: fresh seeds",
}
# How often a training sees its pairs, by what its rows have in common: studies/NAME.md.
EPOCHS: dict[str, dict[str, float]] = {
    "multi30k-5k": {"": 66},
    "en-vi": {"": 3.6},
    "data-size": {"2,000 pairs": 120, "5,000 pairs": 66, "14,500 pairs": 35, "29,000 pairs": 23},
    "dose": {"": 66},
    "dose-second": {"": 66},
}
EARLIER = {
    "table1-multi30k-5k": "untuned, 2,400 steps",
    "table1-multi30k-5k-tuned": "tuned, 2,400 steps",
    "table1-multi30k-5k-tuned-long": "tuned, 4,800 steps",
}
ROWS_OF = {"C1": (SWITCHOUT, BASELINE), "C2": (RAML_SWITCHOUT, RAML)}
IN_BOTH = {"none": BASELINE, "SwitchOut": SWITCHOUT}  # rows of study 3 that study 1 has too
SPLITS = ("test", "dev")
FEWEST_DRAWN = 3  # seeds a side


@cache
def study_of(name: str) -> Study | None:
    """Return a study that has a run, else None."""
    study = read(name) if (HERE / f"{name}.jsonl").is_file() else None
    return study if study and study.runs else None


@cache
def claims_of(name: str) -> tuple[Claim, ...]:
    """Return what a declared study says so far; in study 2 the slope of C4 is of the family."""
    study = study_of(name)
    if study is None:
        return ()
    if name != "en-vi":
        return tuple(claims(study))
    slope = distance_slope()
    return tuple(claims(study, others=[slope.p if slope else 1.0]))


def drawn_claims(name: str) -> list[Claim]:
    """Return those for pictures and summaries: with two seeds an interval hides all others."""
    study = study_of(name)
    return [
        claim
        for claim in claims_of(name)
        if study and min(len(study.of(row)) for row in (claim.row, claim.against)) >= FEWEST_DRAWN
    ]


def by_size() -> dict[str, dict[str, Claim]]:
    """Return what study 3 says: by the number of pairs, then by what SwitchOut is compared with."""
    found: dict[str, dict[str, Claim]] = {}
    for claim in drawn_claims("data-size"):
        size, _, against = claim.against.partition(" pairs, ")
        found.setdefault(size, {})[against] = claim
    return found


def with_study_3() -> Study | None:
    """Study 1 and the 5,000 pairs of study 3 as one: they differ in how often they validate."""
    first, third = study_of("multi30k-5k"), study_of("data-size")
    if first is None or third is None:
        return None
    names = {f"5,000 pairs, {noise}": row for noise, row in IN_BOTH.items()}
    added = {
        key: {**run, "rows": [names[row]]}
        for key, run in third.runs.items()
        if (row := run["rows"][0]) in names
    }
    return Study("5,000 pairs", first.shared, {**first.runs, **added})


@cache
def by_distance(name: str) -> Breakdown | None:
    """C4 in a study; None before it has two seeds."""
    study = study_of(name)
    if study is None or min(len(study.of(row)) for row in (RAML, RAML_SWITCHOUT)) < 2:
        return None
    return gains_by_distance(study, RAML_SWITCHOUT, RAML)


def distance_slope() -> Trend | None:
    """What decides C4: its slope in study 2."""
    found = by_distance("en-vi")
    return found.trends[0] if found else None


def distance_verdict(slope: Trend) -> tuple[str, float]:
    """By the rule that study 2 fixed, with Holm's p over C1, C2 and this slope."""
    study, family = study_of("en-vi"), [c.on_test.test.p for c in claims_of("en-vi")]
    unknown = [1.0] * (len(contrasts_of("en-vi")) - len(family))
    p = holm([*family, *unknown, slope.p])[-1]
    if study is None or not study.is_complete or p > LEVEL:
        return "open", p
    return ("confirmed" if slope.slope > 0 else "refuted"), p
