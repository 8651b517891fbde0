"""The tables of the pages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean, median, stdev

from cells import interval, markdown, needed, on, p_value, slope_in_words
from effects import SMALL, Claim, Effect, effect
from studies import (
    EARLIER,
    FEWEST_DRAWN,
    IN_BOTH,
    ROWS_OF,
    SHORT,
    SPLITS,
    TITLES,
    by_distance,
    by_size,
    claims_of,
    distance_slope,
    distance_verdict,
    study_of,
    with_study_3,
)
from table import Study, read

from switchout.evaluation.trend import Trend
from switchout.evaluation.verdict import LEVEL
from switchout.experiments.paper import (
    BASELINE,
    BT,
    BT_RAML,
    BT_RAML_SWITCHOUT,
    BT_SWITCHOUT,
    RAML,
    RAML_SWITCHOUT,
    SWITCHOUT,
)
from switchout.runs.finished import RULES

RULE_NAMES = {
    "dev-perplexity": "lowest dev perplexity",
    "dev-bleu": "best dev BLEU",
    "last": "last step",
}
AGAINST = {"none": "no noise", "word dropout": "word dropout"}  # in study 3
FEW = 4  # verdicts that a line can list one by one, alike or not
AT = {"dev-bleu": "at the best dev BLEU", "last": "at the last step"}
BY_THREE_RULES = (
    "seeds",
    "test Δ (95%)",
    "dev Δ (95%)",
    *(f"Δ {at} (test, dev)" for at in AT.values()),
)
SETTINGS = {
    SWITCHOUT: "SwitchOut (`tau_x = 1`)",
    RAML: "RAML (`tau_y = 1.1`)",
    RAML_SWITCHOUT: "both",
}


def summary() -> str:
    """A line per declared study: how far it is, and its verdicts."""
    lines = []
    for name, title in TITLES.items():
        study, found = study_of(name), claims_of(name)
        done = "not begun"
        if study:
            done = n_done(study)
        verdicts_of = [f"{c.question}: {c.verdict}" for c in found]
        if len(found) > FEW and len({c.verdict for c in found}) == 1:
            verdicts_of = [f"all {len(found)} contrasts: {found[0].verdict}"]
        if name == "en-vi" and (slope := distance_slope()):
            verdicts_of.append(f"C4: {distance_verdict(slope)[0]}")
        said = "; ".join(verdicts_of) or "open"
        lines.append((f"[{title}](../studies/{name}.md)", done, said))
    return markdown(("study", "finished", "verdicts"), lines)


def n_done(study: Study) -> str:
    """How far a study is."""
    return f"{sum(len(study.of(row)) for row in study.rows)} of {study.n_planned} runs"


def rows_table(name: str) -> str:
    """A study's rows: every score that was promised, by rule, dev beside test."""
    study = study_of(name)
    if study is None:
        return "No run is finished yet."
    rules = [rule for rule in RULES if all(rule in r["rules"] for r in study.runs.values())]
    rules.sort(key=lambda rule: rule != study.selects_by)  # the one that counts comes first
    head = ["row", "seeds"]
    for rule in rules:
        head += [f"test, {RULE_NAMES[rule]}", "dev"]
    head.append("chose last step")
    lines = []
    for row in study.rows:
        if not study.of(row):
            continue
        cells = [row, str(len(study.of(row)))]
        for rule in rules:
            test, dev = (study.scores(row, f"{split}_bleu", rule) for split in SPLITS)
            spread = f" ± {stdev(test):.2f}" if len(test) > 1 else ""
            cells += [f"{fmean(test):.2f}{spread}", f"{fmean(dev):.2f}"]
        lines.append([*cells, chose_last(study, row)])
    return markdown(head, lines)


def chose_last(study: Study, row: str) -> str:
    """How many runs of a row chose their last checkpoint."""
    runs = study.of(row)
    n_last = sum(run["rules"][study.selects_by]["step"] == run["steps"] for run in runs)
    return f"{n_last} of {len(runs)}"


def claims_table(name: str) -> str:
    """What was declared, and what the runs say."""
    study = study_of(name)
    found = claims_of(name)
    if study is None or not found:
        return "No contrast has two seeds on both sides yet."
    lines: list[tuple[str, ...]] = [
        (
            claim.question,
            f"{claim.row} − {claim.against}" + (", paired" if claim.is_paired else ""),
            f"{len(study.of(claim.row))} and {len(study.of(claim.against))}",
            interval(claim.on_test),
            p_value(claim.on_test.test.p),
            p_value(claim.p_holm),
            interval(claim.on_dev),
            _and_what_it_needs(claim) if study.is_complete else "open",
        )
        for claim in found
    ]
    if name == "en-vi" and (slope := distance_slope()):
        lines.append(_slope_line(study, slope))
    head = ("", "rows", "seeds", "test Δ (95%)", "p", "Holm's p", "dev Δ (95%)", "verdict")
    return markdown(head, lines)


def _slope_line(study: Study, slope: Trend) -> tuple[str, ...]:
    """C4 among the contrasts of study 2: declared on test only."""
    verdict, p_holm = distance_verdict(slope)
    return (
        "C4",
        f"slope of {RAML_SWITCHOUT} − {RAML} over WER",
        f"{len(study.of(RAML_SWITCHOUT))} and {len(study.of(RAML))}",
        slope_in_words(slope),
        p_value(slope.p),
        p_value(p_holm),
        "",
        _open_slope(verdict, slope),
    )


def _open_slope(verdict: str, slope: Trend) -> str:
    if verdict != "open" or slope.seeds is None:
        return verdict
    return f"open; {needed(slope.seeds)} could show a slope of this size"


def _and_what_it_needs(claim: Claim) -> str:
    if claim.verdict != "open":
        return claim.verdict
    if claim.p_holm <= LEVEL:  # seeds showed it on test: more of them are not what is missing
        return "open; dev does not agree"
    of_the_papers_size = replace(claim.on_test.test, delta=SMALL)
    return f"open; {needed(of_the_papers_size)} could show a difference of {SMALL:g}"


def sizes_table() -> str:
    """Study 3 in short: a line a size."""
    study = study_of("data-size")
    lines = []
    for size, found in by_size().items():
        assert study is not None
        rows = {row for claim in found.values() for row in (claim.row, claim.against)}
        seeds = sorted({len(study.of(row)) for row in rows})
        plain = fmean(study.scores(f"{size} pairs, none", "test_bleu"))
        gains = [_gain(found.get(against)) for against in AGAINST]
        lines.append((size, "–".join(map(str, seeds)), f"{plain:.1f}", *gains))
    head = [f"SwitchOut over {name}" for name in AGAINST.values()]
    table = markdown(("pairs", "seeds", "test BLEU without noise", *head), lines)
    if study and not study.is_complete:
        table += f"\n\n{n_done(study)} so far; what is open is decided with the last."
    return table


def _gain(claim: Claim | None) -> str:
    if claim is None:
        return ""
    return f"{_on_both(claim)}: **{claim.verdict}**"


def size_rules_table() -> str:
    """What the checkpoint rule does at each size of study 3, which no study declared."""
    study = study_of("data-size")
    lines = []
    for size, found in by_size().items():
        assert study is not None
        claim = found["none"]
        by_bleu, by_perplexity = (
            study.scores(claim.against, "test_bleu", rule)
            for rule in ("dev-bleu", "dev-perplexity")
        )
        deltas = [
            [effect(study, claim.row, claim.against, split=s, rule=rule).delta for s in SPLITS]
            for rule in RULE_NAMES
        ]
        cells = [f"{test:+.2f}, {dev:+.2f}" for test, dev in deltas]
        lines.append((size, f"{fmean(by_bleu) - fmean(by_perplexity):+.2f}", *cells))
    gains = [f"SwitchOut − none by {name} (test, dev)" for name in RULE_NAMES.values()]
    without = "none: best dev BLEU − lowest perplexity (test)"
    return markdown(("pairs", without, *gains), lines)


def pooled_table() -> str:
    """C1 at 5,000 pairs by the rules that study 1 did not declare, alone and with study 3."""
    of_study_3 = tuple(f"5,000 pairs, {noise}" for noise in reversed(IN_BOTH))
    sides = {
        "study 1": (study_of("multi30k-5k"), ROWS_OF["C1"]),
        "study 3": (study_of("data-size"), of_study_3),
        "both": (with_study_3(), ROWS_OF["C1"]),
    }
    lines = []
    for name, (study, rows) in sides.items():
        if study is None or min(len(study.of(row)) for row in rows) < FEWEST_DRAWN:
            continue
        numbers = sorted({len(study.of(row)) for row in rows})
        cells = [
            interval(effect(study, *rows, split=split, rule=rule))
            for rule in AT
            for split in SPLITS
        ]
        lines.append((name, " and ".join(map(str, numbers)), *cells))
    head = [f"{split} Δ {at} (95%)" for at in AT.values() for split in SPLITS]
    return markdown(("", "seeds", *head), lines)


def settings_table() -> str:
    """Each setting against no noise in study 1, which declared only the first, by best dev BLEU."""
    study = study_of("multi30k-5k")
    assert study is not None
    lines = []
    for row, setting in SETTINGS.items():
        sets = [effect(study, row, BASELINE, split=s, rule="dev-bleu") for s in SPLITS]
        lines.append((setting, str(len(study.of(row))), *(interval(one) for one in sets)))
    return markdown(("against no noise", "seeds", "test Δ (95%)", "dev Δ (95%)"), lines)


def question_table(question: str) -> str:
    """A claim in the studies that declared it."""
    lines = []
    for name, title in TITLES.items():
        study = study_of(name)
        for claim in (c for c in claims_of(name) if c.question == question):
            assert study is not None
            where = f"{title.partition(':')[0]}" + (", paired" if claim.is_paired else "")
            said = claim.verdict if study.is_complete else "open until it is complete"
            sets = claim.on_test, claim.on_dev
            cells = _sides(study, question, sets)
            lines.append((where, *cells, p_value(claim.p_holm), f"**{said}**"))
    return markdown(("", *BY_THREE_RULES, "Holm's p", "verdict"), lines)


def earlier_table() -> str:
    """C1 and C2 in the runs before the studies."""
    lines = []
    for question, rows in ROWS_OF.items():
        for name, title in EARLIER.items():
            study = read(name)
            before = [effect(study, *rows, split=split) for split in SPLITS]
            cells = _sides(study, question, before)
            p = p_value(before[0].test.p)
            lines.append((question, title, *cells, p, f"`results/{name}.jsonl`"))
    return markdown(("", "settings", *BY_THREE_RULES, "p", "table"), lines)


def _sides(study: Study, question: str, sets: Sequence[Effect]) -> list[str]:
    """Seeds, test and dev by the rule that counts, and both by the others."""
    rows = ROWS_OF[question]
    numbers = sorted({len(study.of(name)) for name in rows})
    cells = [" and ".join(map(str, numbers)), *(interval(one) for one in sets)]
    for rule in RULES[1:]:
        deltas = [effect(study, *rows, split=split, rule=rule).delta for split in SPLITS]
        cells.append(", ".join(f"{delta:+.2f}" for delta in deltas))
    return cells


def distance_table() -> str:
    """The gain by distance, bucket by bucket, and its slope."""
    lines: list[tuple[str, ...]] = []
    for name in ("multi30k-5k", "en-vi"):
        found = by_distance(name)
        if found is None:
            continue
        first = len(lines)
        for bucket, gain in zip(found.buckets, found.gains[0], strict=True):
            if gain.delta is None or gain.ci95 is None:
                continue
            low, high = gain.ci95
            cell = f"{gain.delta:+.2f} ({low:+.2f} to {high:+.2f})"
            lines.append(("", bucket.label, f"{len(bucket.members):,}", cell))
        if trend := found.trends[0]:
            slope = f"{slope_in_words(trend)}, p {p_value(trend.p)}"
            lines.append(("", "slope", "all", slope))
        if len(lines) > first:
            lines[first] = (SHORT[name], *lines[first][1:])
    return markdown(("", "WER to the nearest training sentence", "sentences", "gain (95%)"), lines)


def taus_table() -> str:
    """Dev BLEU over the temperatures, by the paper's rule and at the last step."""
    study = read("tau-multi30k-5k")
    cells = taus(study)
    xs, ys = (sorted({cell[i] for cell in cells}) for i in (0, 1))
    lines = []
    for y in reversed(ys):
        line = [f"{y:.3g}"]
        for x in xs:
            row = cells[x, y]
            by_rule = [median(study.scores(row, "dev_bleu", rule)) for rule in (None, "last")]
            n = len(study.of(row))
            line.append(f"{by_rule[0]:.1f} ({by_rule[1]:.1f})" + (f", {n} seeds" if n > 1 else ""))
        lines.append(line)
    return markdown(["tau_y \\ tau_x", *(f"{x:g}" for x in xs)], lines)


def taus(study: Study) -> dict[tuple[float, float], str]:
    """Return the rows of the grid by their temperatures."""
    found = {}
    for row in study.rows:
        numbers = re.findall(r"tau_[xy] ([\d.]+)", row)
        found[float(numbers[0]), float(numbers[1])] = row
    return found


def back_translation_table() -> str:
    """Table 2: every row against the row it is built on."""
    study = read("table2-multi30k-5k-long")
    above = {
        SWITCHOUT: BASELINE, BT: BASELINE, BT_RAML: BT, BT_SWITCHOUT: BT,
        BT_RAML_SWITCHOUT: BT_RAML,
    }  # fmt: skip
    lines = []
    for row in study.rows:
        scores = ", ".join(f"{s:.1f}" for s in study.scores(row, "test_bleu"))
        against = above.get(row)
        changes = (
            [on(effect(study, row, against, split=split)) for split in SPLITS]
            if against
            else ["", ""]
        )
        lines.append((row, scores, against or "", *changes, chose_last(study, row)))
    head = (
        "row",
        "test BLEU of the seeds",
        "against",
        "test Δ (p)",
        "dev Δ (p)",
        "chose last step",
    )
    return markdown(head, lines)


def _on_both(claim: Claim) -> str:
    return f"{interval(claim.on_test)}, dev {claim.on_dev.delta:+.2f}"
