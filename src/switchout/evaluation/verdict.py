"""What a comparison says, in words: better or not, how sure, and what would settle it."""

from __future__ import annotations

from switchout.evaluation.comparison import Comparison
from switchout.evaluation.significance import ENOUGH_RUNS, SeedsTest

LEVEL = 0.05


def verdict(result: Comparison) -> str:
    """Return one to three sentences about one comparison."""
    if result.ci95 is None:
        return "One sentence only: nothing can be resampled, so nothing is tested."
    return " ".join(part for part in (difference_in_words(result), _about_seeds(result)) if part)


def is_significant(result: Comparison) -> bool:
    """Whether the difference holds at the 5% level after Holm's correction.

    Without a test over seeds p is of two runs: it says nothing of a mean on their other side.
    """
    is_of_delta = result.seeds is not None or result.tested_delta * result.delta > 0
    return is_of_delta and result.p_holm <= LEVEL


def is_better(result: Comparison) -> bool:
    """Whether the system's mean is on the better side of the baseline's."""
    return (result.delta > 0) == result.metric.higher_is_better and result.delta != 0


def runs_compared(result: Comparison) -> str:
    """Which runs the single-run tests compared; empty with one run a side."""
    sides = (result.baseline, result.system)
    if max(len(side.scores) for side in sides) == 1:
        return ""
    base, other = (side.tested_run for side in sides)
    text = f"The sentence tests compare the lower-median runs, {base} and {other}"
    return f"{text}." if result.seeds else f"{text}; the interval is of the means over runs."


def difference_in_words(result: Comparison) -> str:
    """Return one sentence: the difference, and how sure it is."""
    names = f"{result.system.name} and {result.baseline.name}"
    size = f"{abs(result.delta):.2f} {result.metric.label}"
    if is_significant(result):
        word = "better" if is_better(result) else "worse"
        return (
            f"{result.system.name} is {word} than {result.baseline.name} "
            f"by {size} ({_evidence(result)})."
        )
    return f"No difference between {names} is shown: Δ = {result.delta:+.2f} ({_evidence(result)})."


def delta_in_words(result: Comparison) -> str:
    """Return the same in short, for where the system was named already."""
    against = result.baseline.name
    return f"Δ {result.delta:+.2f} {result.metric.label} to {against} ({_evidence(result)})"


def _evidence(result: Comparison) -> str:
    low, high = result.ci95 or (0.0, 0.0)
    which = "p_seeds" if result.seeds else "p_bootstrap"
    which = f"paired by seed, {which}" if result.is_paired else which
    corrected = f", p_holm {p_in_words(result.p_holm)}" if result.p_holm != result.p else ""
    return f"95% interval {low:+.2f} to {high:+.2f}, {which} {p_in_words(result.p)}{corrected}"


def what_settles(result: Comparison) -> str:
    """Return what it would take to tell the systems apart; empty where they are told apart.

    A number of seeds is for a gap as large as it looks now, and four times in five, after Holm's
    correction as it stands.
    """
    is_few = min(len(side.scores) for side in (result.baseline, result.system)) < ENOUGH_RUNS
    if result.ci95 is None:
        return "a test set of more than one sentence"
    if result.seeds is None:
        return f"at least {ENOUGH_RUNS} seeds a side"
    if is_significant(result):
        return f"at least {ENOUGH_RUNS} seeds a side, to confirm it" if is_few else ""
    if abs(result.delta) < 1e-9:
        return "nothing, while the means are equal"
    needed = _seeds_needed(result, result.seeds)
    if not needed:
        return "a larger test set: on this one no number of seeds shows so small a gap"
    return f"{needed} seeds a side"


def _seeds_needed(result: Comparison, seeds: SeedsTest) -> str:
    """Return a number of seeds a side, in words where it is a bound; empty where none will do."""
    is_corrected = result.p_holm > result.p
    # Holm multiplies p by a number that its family sets: this level p itself has to reach.
    level = LEVEL * result.p / result.p_holm if is_corrected else LEVEL
    needed = seeds.seeds_needed(level)
    if needed is None:
        return ""
    present = min(len(side.scores) for side in (result.baseline, result.system))
    if needed <= present:  # as many have just failed to show it
        return f"more than {present}"
    # p_holm stops at 1 and then hides how strict the level really is.
    return f"at least {needed}" if is_corrected and result.p_holm >= 1 else str(needed)


def p_in_words(value: float) -> str:
    """Return what stands after a p: ``= 0.012`` or ``< 0.001``."""
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"


def _about_seeds(result: Comparison) -> str:
    n_base, n_system = len(result.baseline.scores), len(result.system.scores)
    if min(n_base, n_system) >= ENOUGH_RUNS:
        return ""
    if result.seeds is not None and is_significant(result):
        return f"{_runs(n_base, n_system)} few: confirm it with at least {ENOUGH_RUNS} a side."
    few = f"{_runs(n_base, n_system)} too few to settle a difference between the methods."
    if result.seeds is None:
        return (
            f"{few} The p-value speaks of these outputs only; "
            f"train at least {ENOUGH_RUNS} seeds a side."
        )
    if abs(result.delta) < 1e-9:
        return few
    needed = _seeds_needed(result, result.seeds)
    if not needed:
        return (
            f"{few} No number of seeds would settle a gap of this size: "
            "the test set is too small for it."
        )
    return (
        f"{few} For a gap of this size and this spread, {needed} seeds a side "
        "would (four times in five)."
    )


def _runs(n_base: int, n_system: int) -> str:
    if n_base == n_system:
        return "One run a side is" if n_base == 1 else f"{n_base} runs a side are"
    if 1 in (n_base, n_system):
        return f"One run against {max(n_base, n_system)} is"
    return f"{n_base} and {n_system} runs are"
