"""The verdict on each claim of the paper, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from cells import interval, markdown, on, p_value, slope_in_words
from effects import Claim, by_dev_bleu, effect
from studies import (
    SHORT,
    TITLES,
    by_distance,
    claims_of,
    distance_slope,
    distance_verdict,
    drawn_claims,
    study_of,
)
from table import read

from switchout.evaluation.trend import Trend
from switchout.experiments.paper import BT, BT_RAML, BT_RAML_SWITCHOUT, BT_SWITCHOUT
from switchout.experiments.reference import StudyResult

CLAIMS = {
    "C1": "SwitchOut is better than a plain Transformer",
    "C2": "On top of RAML, SwitchOut still gains",
    "C3": "The best temperature of SwitchOut is not 0",
    "C4": "It gains most far from the training text",
    "C5": "It gains on top of back-translation",
}
ON_BACK_TRANSLATION = ((BT_SWITCHOUT, BT), (BT_RAML_SWITCHOUT, BT_RAML))
VERDICTS = ("confirmed", "confirmed in part", "refuted", "mixed", "open")


def verdicts() -> str:
    """The paper's claims, each confirmed, refuted or open, and why."""
    said = {question: verdict_of(question) for question in CLAIMS}
    counts = Counter(_kind(verdict) for verdict, _ in said.values())
    counted = ", ".join(f"{counts[word]} {word}" for word in VERDICTS if counts[word])
    lines = [(q, CLAIMS[q], f"**{verdict}**", why) for q, (verdict, why) in said.items()]
    head = f"**Of the {len(said)} claims of the paper that we looked at: {counted}.**"
    if counts["mixed"]:
        head += (
            " None of our studies has the paper's budget: study 1 sees 5,000 pairs 66 times, study "
            "2 sees 133,166 pairs 3.6 times."
        )
    return f"{head}\n\n{markdown(('', 'claim of the paper', 'verdict', 'why'), lines)}"


def _kind(verdict: str) -> str:
    """What a verdict counts as."""
    if ", " in verdict:
        return "mixed"
    return "confirmed in part" if " for " in verdict else verdict


def verdict_of(question: str) -> tuple[str, str]:
    """What the complete studies that asked it say; without one it is open."""
    if question == "C4" and (slope := distance_slope()):
        return verdict_on_distance(slope)
    if question == "C3" and _all_confirmed("multi30k-5k"):
        return "confirmed in study 1 for two tau_y", why_it_follows()
    decided: dict[str, list[str]] = {}
    parts = []
    for name, title in TITLES.items():
        study, short = study_of(name), title.partition(":")[0].lower()
        for claim in (c for c in claims_of(name) if c.question == question):
            assert study is not None
            if study.is_complete and claim.verdict != "open":
                decided.setdefault(claim.verdict, []).append(short)
            short += f" ({claim.verdict})" if study.is_complete else " so far (open)"
            parts.append(
                f"{short}: {interval(claim.on_test)} on test, {claim.on_dev.delta:+.2f} on dev"
            )
    if len(decided) > 1:
        said = [f"{verdict} in {' and '.join(where)}" for verdict, where in decided.items()]
        return ", ".join(said), "; ".join(parts)
    return next(iter(decided), "open"), "; ".join(parts) or WHY_OPEN[question]()


def verdict_on_distance(slope: Trend) -> tuple[str, str]:
    """C4 by study 2, and what its slope means where there is no gain at all."""
    study = study_of("en-vi")
    verdict, p = distance_verdict(slope)
    so_far = "" if study and study.is_complete else " so far"
    why = f"study 2{so_far}: {slope_in_words(slope)}, Holm's p {p_value(p)}"
    for claim in claims_of("en-vi"):
        if claim.question == "C2" and claim.on_test.delta < 0:
            why += (
                f"; it loses there as a whole ({claim.on_test.delta:+.2f}), so a slope could only "
                "say where it loses most"
            )
    return verdict, why


def _all_confirmed(name: str) -> bool:
    """Whether a study confirms both C1 and C2."""
    known = {claim.question: claim.verdict for claim in claims_of(name)}
    return known.get("C1") == known.get("C2") == "confirmed"


def why_it_follows() -> str:
    """C3, once study 1 confirms C1 and C2: a temperature that beats 0 was found, twice."""
    why = (
        "implied by C1 and C2 of study 1, not declared itself: there tau_x = 1 beats 0, without "
        "RAML and with RAML at tau_y = 1.11; which tau_x is best is open"
    )
    if any(claim.on_test.delta < 0 for claim in claims_of("en-vi")):
        why += "; in study 2 tau_x = 1 is below 0, other values were not tried"
    second = study_of("dose-second")
    if second and second.is_complete:  # which asks it at two doses, whatever it found
        found = (f"{c.row.removeprefix('SwitchOut, ')} {c.verdict}" for c in claims_of(second.name))
        why += f"; study 4, against no noise and by best dev BLEU: {', '.join(found)}"
    return why


def why_temperatures() -> str:
    """C3: what a grid of mostly single seeds leaves open."""
    study = read("tau-multi30k-5k")
    n_seeds = [len(study.of(row)) for row in study.rows]
    return (
        f"{n_seeds.count(1)} of {len(n_seeds)} cells have one seed, and the best one depends on "
        "how the checkpoint is chosen; nine fresh seeds for the two best cells would be a fair test"
    )


def why_distance() -> str:
    """C4 before study 2: the slope of study 1, which did not declare it."""
    found = by_distance("multi30k-5k")
    assert found is not None
    trend = found.trends[0]
    assert trend is not None
    return f"study 1, which did not declare it: {slope_in_words(trend)}; study 2 is to decide"


def why_back_translation() -> str:
    """C5: two seeds, and how many would do."""
    study = read("table2-multi30k-5k-long")
    alone, with_raml = (effect(study, *rows) for rows in ON_BACK_TRANSLATION)
    return (
        f"two seeds, nothing declared: {on(alone)} on test over +BT, {on(with_raml)} over "
        "+BT +RAML (p in brackets)"
    )


WHY_OPEN = {"C3": why_temperatures, "C4": why_distance, "C5": why_back_translation}


def study_results() -> Iterator[StudyResult]:
    """What the demo and the first page show of the declared studies."""
    for name in TITLES:
        study = study_of(name)
        for claim in drawn_claims(name):
            assert study is not None
            names = (SHORT[name], in_short(claim), claim.row, claim.against)
            on_test, on_dev = claim.on_test, claim.on_dev
            measured = (on_test.delta, *on_test.test.ci95, on_dev.delta, *by_dev_bleu(study, claim))
            delta, low, high, dev, test_by, dev_by = (round(x, 2) for x in measured)
            n_seeds = min(len(study.of(row)) for row in (claim.row, claim.against))
            verdict = claim.verdict if study.is_complete else "open"
            numbers = delta, low, high, dev, test_by, dev_by
            yield StudyResult(*names, *numbers, n_seeds, verdict)


def in_short(claim: Claim) -> str:
    """What SwitchOut is compared with, for lines without room.

    The number of pairs of study 3 and the dose of study 4 stand before it.
    """
    pairs, comma, against = claim.against.partition(" pairs, ")
    if comma:
        return f"{pairs} vs {against}"
    dose = claim.row.partition(", ")[2]
    return f"{dose} vs {claim.against.removesuffix(f', {dose}')}".strip()
