"""Study 4: how many words each dose changes, and what it gave."""

from __future__ import annotations

from statistics import fmean
from typing import Any

from cells import interval, markdown
from effects import Claim
from figures import test_and_dev
from studies import claims_of, drawn_claims, study_of
from table import Study
from tables import n_done

from switchout.policies import make_policy
from switchout.policies.hamming_policy import HammingPolicy
from switchout.words import Words

NAME, SECOND = "dose", "dose-second"
N_CONFIRMED = 2  # doses that go on to the second part
AGAIN = "again"  # with fresh seeds, in the second part
PICTURE = "results-doses.svg"
COLOUR = "s2"  # of SwitchOut on the report's pages


def doses_table() -> str:
    """A line per dose against no noise, the two laws at the same dose, then the second part."""
    study, claims = study_of(NAME), drawn_claims(NAME)
    if study is None or not claims:
        return "No dose has three seeds yet."
    lines = [_line(study, study, claim) for claim in claims]
    second, again = study_of(SECOND), drawn_claims(SECOND)
    if second:
        lines += [_line(study, second, claim, f", {AGAIN}") for claim in again]
    table = markdown(("dose", "words changed", "seeds", "dev Δ (95%)", "test Δ (95%)"), lines)
    return table if study.is_complete else f"{table}\n\n{n_done(study)} so far."


def _line(screening: Study, study: Study, claim: Claim, suffix: str = "") -> tuple[str, ...]:
    """A difference in one of the parts; what a dose changes is the same in both."""
    dose = claim.row if claim.against == "none" else f"{claim.row} − {claim.against}"
    seeds = min(len(study.of(row)) for row in (claim.row, claim.against))
    changed = f"{share_changed(screening, claim.row):.1%}"
    return f"{dose}{suffix}", changed, str(seeds), interval(claim.on_dev), interval(claim.on_test)


def share_changed(study: Study, row: str) -> float:
    """Return the expected share of source words that a row's policy changes, on the dev set."""
    lengths = study.sentences("dev", "source")
    assert lengths is not None  # every table since the studies has them
    settings: dict[str, Any] = {
        key.removeprefix("augment.source."): value
        for key, value in study.of(row)[0]["set"].items()
        if key.startswith("augment.source.")
    }
    if settings.get("policy", "none") == "none":
        return 0.0
    words = Words(32_000)  # how many there are makes no difference to these policies
    policy = make_policy(settings.pop("policy"), words, null_id=0, **settings)
    assert isinstance(policy, HammingPolicy)  # whose changes do not depend on the words
    changed = policy.expected_changes(lengths.astype(int))
    return float(changed.sum() / lengths.sum())


def doses_figure() -> str:
    """The doses one under the other, on test and on dev; nothing before they have seeds."""
    parts = ((NAME, ""), (SECOND, f" {AGAIN}"))
    places = [
        (f"{_short(claim.row)}{suffix}", "none", claim.on_test, claim.on_dev)
        for name, suffix in parts
        for claim in drawn_claims(name)
        if claim.against == "none"
    ]
    title = "SwitchOut on 5,000 pairs by dose, against no noise"
    return test_and_dev(title, places, COLOUR) if places else ""


def _short(row: str) -> str:
    return row.removeprefix("SwitchOut, ")


def doses_state() -> str:
    """What may be said of it, in a line."""
    study = study_of(NAME)
    if study is None:
        return "**Open**: declared, no run is finished yet."
    if not study.is_complete:
        return f"**Open**: {n_done(study)} of the screening are finished."
    named = " and ".join(_short(row) for row in best_doses(study))
    begun = (
        f"**Open**: the screening is complete. The doses with the highest dev BLEU, {named}, are "
        "trained again with nine fresh seeds"
    )
    second = study_of(SECOND)
    if second is None:
        return f"{begun}; none of these runs is finished."
    if not second.is_complete:
        return f"{begun}: {n_done(second)} so far."
    decided = "; ".join(f"{_short(c.row)}: **{c.verdict}**" for c in claims_of(SECOND))
    return f"{decided}, by nine fresh seeds. The screening, which chose the two, decides nothing."


def best_doses(study: Study) -> list[str]:
    """Return the doses of SwitchOut with the highest mean dev BLEU: test has no say in it."""
    rows = [row for row in study.rows if row.startswith("SwitchOut")]
    by_dev = sorted(rows, key=lambda row: fmean(study.scores(row, "dev_bleu")), reverse=True)
    return by_dev[:N_CONFIRMED]


def doses_link() -> str:
    """How the page shows it."""
    has_some = any(claim.against == "none" for claim in drawn_claims(NAME))
    return f"![What each dose gave, on test and on dev]({PICTURE})" if has_some else ""
