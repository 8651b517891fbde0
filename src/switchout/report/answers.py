"""What an experiment answers: claims with verdicts, doubts, and what would settle the rest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from switchout.evaluation.trend import Trend
from switchout.evaluation.verdict import (
    LEVEL,
    delta_in_words,
    is_significant,
    p_in_words,
    what_settles,
)
from switchout.experiments.analysis import Analysis
from switchout.experiments.contrasts import Contrast
from switchout.experiments.experiment import Experiment
from switchout.experiments.tau_grid import TauGrid
from switchout.report.page import Claim, Tone

TONES: dict[str, Tone] = {
    "helps": "good",
    "hurts": "bad",
    "undecided": "quiet",
    "nothing was learned": "warn",
}
_OPEN = TONES["undecided"]
NOTHING_YET = "No comparison is finished yet."
MOST_NAMED = 3  # runs that learned nothing; the others are counted


@dataclass(frozen=True)
class Answers:
    """What a report says first; made once for the page, the terminal and ``results.json``.

    Attributes:
        claims: A claim per contrast, or those of the paper's figures.
        warnings: What a reader must know before, and what makes the claims doubtful.
    """

    claims: Sequence[Claim]
    warnings: Sequence[str]

    @property
    def sentences(self) -> list[str]:
        """All of it as plain sentences."""
        told = [*(claim.text for claim in self.claims), *self.warnings]
        return told or [NOTHING_YET]

    @property
    def settles(self) -> str:
        """One sentence: what would settle what is open."""
        return settles(self.claims) if self.claims else NOTHING_YET


def answers(experiment: Experiment, analyses: Sequence[Analysis]) -> Answers:
    """Return what the analyses of an experiment say."""
    claims: list[Claim] = []
    warnings = [*experiment.notes]
    for analysis in analyses:
        where = f"{analysis.name}: " if len(analyses) > 1 else ""
        claims += [_of_contrast(contrast, where) for contrast in analysis.contrasts]
        if analysis.taus:
            claims += _of_taus(analysis.taus, analysis, where)
        if experiment.kind == "wer":
            claims += [_of_trend(name, trend, where) for name, trend in _distance_trends(analysis)]
        doubts = [_about_unlearned(analysis), _about_length(analysis), _about_missing(analysis)]
        doubts += [_about_checkpoints(contrast, analysis) for contrast in analysis.contrasts]
        warnings += [f"{where}{doubt}" for doubt in doubts if doubt]
    return Answers(claims, warnings)


def settles(claims: Iterable[Claim]) -> str:
    """Return one sentence: what would settle what is open."""
    needed: dict[str, list[str]] = {}
    for claim in claims:
        if claim.settles:
            needed.setdefault(claim.settles, []).append(claim.about)
    if not needed:
        return ""
    parts = [f"{' and '.join(about)}: {what}" for what, about in needed.items()]
    sure = (
        " (for gaps as large as they look, four times in five)"
        if any(what.endswith("seeds a side") for what in needed)
        else ""
    )
    return f"What would settle it{sure}. {'; '.join(parts)}."


def _of_contrast(contrast: Contrast, where: str) -> Claim:
    return Claim(
        about=f"{where}{_name(contrast)}",
        verdict=contrast.verdict,
        tone=TONES[contrast.verdict],
        evidence=_evidence(contrast),
        settles=_what_settles(contrast),
    )


def _name(contrast: Contrast) -> str:
    asked = contrast.question
    return contrast.row if not asked or asked in contrast.row else f"{asked}, {contrast.row}"


def _evidence(contrast: Contrast) -> str:
    if contrast.verdict == "nothing was learned":
        rows = " and ".join(dict.fromkeys(run.row for run in contrast.unlearned))
        return f"runs of {rows} learned nothing, so that Δ to {contrast.against} means nothing."
    on_dev = f"; on dev {contrast.dev.delta:+.2f}."
    said = (delta_in_words(contrast.test) + on_dev, contrast.disagreement, contrast.remark)
    return " ".join(part for part in said if part)


def _what_settles(contrast: Contrast) -> str:
    if contrast.verdict == "nothing was learned":
        return "runs that learn something"
    if contrast.n_missing:
        return f"the runs that are not finished ({contrast.n_missing})"
    if contrast.verdict == "undecided" and not what_settles(contrast.test):
        return "fresh seeds, since dev and test disagree"
    return what_settles(contrast.test)


def _of_taus(taus: TauGrid, analysis: Analysis, where: str) -> list[Claim]:
    """The best pair, and whether a tau_x above 0 is always best."""
    if 2 * len(analysis.unlearned) > analysis.n_runs:
        told = "most runs learned nothing, so that the grid means nothing."
        return [_claim_of_best(where, "nothing was learned", told, "runs that learn something")]
    tau_x, tau_y = taus.best
    n_runs = len(taus.cells[taus.best].runs)
    evidence = f"tau_x = {tau_x:.4g}, tau_y = {tau_y:.4g} ({n_runs} run{'s' * (n_runs > 1)})."
    needed = ""
    if taus.against_none:
        evidence += (
            f" On dev, against no noise: {delta_in_words(taus.against_none)}; the best of "
            f"{len(taus.cells)} cells is partly the luckiest."
        )
        needed = f"a test with fresh seeds, --tau-x {tau_x:.4g} --tau-y {tau_y:.4g}"
    claims = [_claim_of_best(where, "undecided", evidence, needed)]
    if taus.best_tau_x:
        n_above, n_all = sum(x > 0 for x in taus.best_tau_x.values()), len(taus.best_tau_x)
        is_always = n_above == n_all
        word, tone = ("best everywhere", TONES["helps"]) if is_always else ("not always", _OPEN)
        evidence = (
            "The paper finds the best tau_x never 0, whatever tau_y: here it is above 0 for "
            f"{n_above} of {n_all} values of tau_y."
        )
        claims.append(Claim(f"{where}tau_x above 0", word, tone, evidence))
    return claims


def _claim_of_best(where: str, word: str, evidence: str, needed: str) -> Claim:
    return Claim(f"{where}Best on dev", word, TONES[word], evidence, needed)


def _distance_trends(analysis: Analysis) -> list[tuple[str, Trend]]:
    return [
        (name, trend)
        for breakdown in analysis.breakdowns
        if breakdown.feature.name == "wer"
        for name, trend in zip(breakdown.systems, breakdown.trends, strict=True)
        if trend is not None
    ]


def _of_trend(name: str, trend: Trend, where: str) -> Claim:
    """Does the gain grow with the distance to the training text, as the paper has it?"""
    word, short = "is not shown to change", "undecided"
    if trend.p <= LEVEL:
        word, short = ("grows", "grows") if trend.slope > 0 else ("shrinks", "shrinks")
    low, high = trend.ci95
    alone = "" if trend.counts_seeds else ", over sentences alone"
    evidence = (
        f"The gain of {name} {word} with the distance to the nearest training sentence: "
        f"{trend.slope:+.2f} BLEU per 1.0 of WER (95% interval {low:+.2f} to {high:+.2f}, "
        f"p {p_in_words(trend.p)}{alone}). In the paper it grows."
    )
    tone: dict[str, Tone] = {"grows": "good", "shrinks": "bad", "undecided": "quiet"}
    return Claim(f"{where}Gain by distance", short, tone[short], evidence)


def _about_unlearned(analysis: Analysis) -> str:
    if not analysis.unlearned:
        return ""
    named = [f"{run.row} seed {run.seed}: {run.reason}" for run in analysis.unlearned[:MOST_NAMED]]
    more = len(analysis.unlearned) - len(named)
    named += [f"{more} more"] if more else []
    return (
        f"{len(analysis.unlearned)} of {analysis.n_runs} runs learned nothing "
        f"({'; '.join(named)}): differences between them mean nothing."
    )


def _about_length(analysis: Analysis) -> str:
    if not analysis.is_cut_short or analysis.taus:
        return ""
    return (
        f"{analysis.n_last} of {analysis.n_runs} runs selected their last checkpoint: most had not "
        "passed their best point; longer training may change this."
    )


def _about_checkpoints(contrast: Contrast, analysis: Analysis) -> str:
    """Tell of a difference that is shown, and that another checkpoint rule would not show so."""
    if not is_significant(contrast.test):
        return ""
    pair = (contrast.row, contrast.against)
    by_rule = {
        rule: other
        for rule, found in analysis.by_rule.items()
        for other in found
        if (other.row, other.against) == pair
    }
    if all(_says_the_same(contrast, other) for other in by_rule.values()):
        return ""
    others = [f"{c.test.delta:+.2f} (dev {c.dev.delta:+.2f}) by {r}" for r, c in by_rule.items()]
    return (
        f"{_name(contrast)} against {contrast.against} depends on how checkpoints are chosen: "
        f"{contrast.test.delta:+.2f} (dev {contrast.dev.delta:+.2f}) by "
        f"{analysis.planned.base.train.select}, {', '.join(others)}."
    )


def _says_the_same(contrast: Contrast, other: Contrast) -> bool:
    """Whether most of a difference is there by another rule too, on test as on dev."""
    return (
        other.test.delta * contrast.test.delta > 0
        and 3 * abs(other.test.delta) >= 2 * abs(contrast.test.delta)
        and other.dev.delta * contrast.dev.delta > 0
    )


def _about_missing(analysis: Analysis) -> str:
    n_missing = sum(row.n_missing for row in analysis.rows)
    are = "run is" if n_missing == 1 else "runs are"
    return f"{n_missing} {are} not finished; this is what is there." if n_missing else ""
