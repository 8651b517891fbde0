"""Make what the documentation says of the results from the tables here: python results/make.py

Between ``<!-- NAME -->`` and ``<!-- /NAME -->`` its pages are written by this script. It also
writes the figures of docs/results.md, and the summaries that the demo shows.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import fmean, median, stdev
from tempfile import TemporaryDirectory

from effects import Claim, Effect, claims, effect, gains_by_distance
from table import HERE, Study, read

from switchout.evaluation.buckets import Breakdown
from switchout.evaluation.significance import holm
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
from switchout.experiments.reference import (
    SHIPPED,
    StudyResult,
    read_reference,
    write_reference,
)
from switchout.report.buckets import gains_chart
from switchout.report.charts import Difference, ForestPlot, HeatMap, stacked
from switchout.runs.finished import RULES

DOCS = HERE.parent / "docs"
PAGES = (DOCS / "results.md", DOCS / "choosing-tau.md", HERE.parent / "README.md")
TITLES = {
    "multi30k-5k": "Study 1: Multi30k, 5,000 pairs",
    "en-vi": "Study 2: English–Vietnamese, 133,166 pairs",
    "data-size": "Study 3: Multi30k, four sizes",
    "dose": "Study 4: the dose",
}
SHORT = {
    "multi30k-5k": "Study 1: Multi30k 5k",
    "en-vi": "Study 2: en-vi",
    "data-size": "Study 3: sizes of Multi30k",
    "dose": "Study 4: the dose",
}
EARLIER = {
    "table1-multi30k-5k": "untuned, 2,400 steps",
    "table1-multi30k-5k-tuned": "tuned, 2,400 steps",
    "table1-multi30k-5k-tuned-long": "tuned, 4,800 steps",
}
CLAIMS = {
    "C1": "SwitchOut is better than a plain Transformer",
    "C2": "On top of RAML, SwitchOut still gains",
    "C3": "The best temperature of SwitchOut is not 0",
    "C4": "It gains most far from the training text",
    "C5": "It gains on top of back-translation",
}
ON_BACK_TRANSLATION = ((BT_SWITCHOUT, BT), (BT_RAML_SWITCHOUT, BT_RAML))
ROWS_OF = {"C1": (SWITCHOUT, BASELINE), "C2": (RAML_SWITCHOUT, RAML)}
COLOURS = {"C1": "s2", "C2": "s5", "C5": "s3"}  # of the rows on the report's pages
VERDICTS = ("confirmed", "confirmed in part", "refuted", "mixed", "open")
SPLITS = ("test", "dev")
RULE_NAMES = {
    "dev-perplexity": "lowest dev perplexity",
    "dev-bleu": "best dev BLEU",
    "last": "last step",
}
AT = {"dev-bleu": "at the best dev BLEU", "last": "at the last step"}


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
    slope = distance_slope() if name == "en-vi" else None
    return tuple(claims(study, others=[slope.p] if slope else []))


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
    p = holm([*family, slope.p])[-1]
    if study is None or not study.is_complete or p > LEVEL:
        return "open", p
    return ("confirmed" if slope.slope > 0 else "refuted"), p


def slope_in_words(slope: Trend) -> str:
    """Per 0.1 of WER: the sentences of a test set lie within a few tenths."""
    low, high = (bound / 10 for bound in slope.ci95)
    return f"{slope.slope / 10:+.2f} BLEU per 0.1 of WER ({low:+.2f} to {high:+.2f})"


def verdicts() -> str:
    """The paper's claims, each confirmed, refuted or open, and why."""
    said = {question: verdict_of(question) for question in CLAIMS}
    counts = Counter(_kind(verdict) for verdict, _ in said.values())
    counted = ", ".join(f"{counts[word]} {word}" for word in VERDICTS if counts[word])
    lines = [(q, CLAIMS[q], f"**{verdict}**", why) for q, (verdict, why) in said.items()]
    head = f"**Of the {len(said)} claims of the paper that we looked at: {counted}.**"
    return f"{head}\n\n{markdown(('', 'claim of the paper', 'verdict', 'why'), lines)}"


def _kind(verdict: str) -> str:
    """What a verdict counts as."""
    if ", " in verdict:
        return "mixed"
    return "confirmed in part" if " for " in verdict else verdict


def verdict_of(question: str) -> tuple[str, str]:
    """What the complete studies that asked it say; without one it is open."""
    slope = distance_slope() if question == "C4" else None
    if slope:
        verdict, p = distance_verdict(slope)
        so_far = "" if study_of("en-vi").is_complete else " so far"
        return verdict, f"study 2{so_far}: {slope_in_words(slope)}, Holm's p {p_value(p)}"
    if question == "C3" and all(verdict_of(q)[0].startswith("confirmed") for q in ("C1", "C2")):
        return "confirmed for two tau_y", why_it_follows()
    decided: dict[str, list[str]] = {}
    parts = []
    for name, title in TITLES.items():
        study, short = study_of(name), title.partition(":")[0].lower()
        for claim in (c for c in claims_of(name) if c.question == question):
            assert study is not None
            if study.is_complete:
                decided.setdefault(claim.verdict, []).append(short)
            else:
                short += " so far"
            by_bleu = [
                effect(study, claim.row, claim.against, split=split, rule="dev-bleu").delta
                for split in SPLITS
            ]
            parts.append(
                f"{short}: {interval(claim.on_test)} on test, {claim.on_dev.delta:+.2f} on dev "
                f"(checkpoint by best dev BLEU: {by_bleu[0]:+.2f} and {by_bleu[1]:+.2f})"
            )
    if len(decided) > 1:
        said = [f"{verdict} in {' and '.join(where)}" for verdict, where in decided.items()]
        return ", ".join(said), "; ".join(parts)
    return next(iter(decided), "open"), "; ".join(parts) or WHY_OPEN[question]()


def why_it_follows() -> str:
    """C3, once C1 and C2 are confirmed: a temperature that beats 0 was found, twice."""
    return (
        "follows from C1 and C2: tau_x = 1 beats 0 without RAML and with RAML at tau_y = 1.11; "
        "other tau_y, and which tau_x is best, are open"
    )


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
        f"two seeds cannot tell: {alone.delta:+.2f} on test over +BT ({needed(alone)} a side could "
        f"show a difference of that size), {with_raml.delta:+.2f} over +BT +RAML "
        f"({needed(with_raml)})"
    )


WHY_OPEN = {"C3": why_temperatures, "C4": why_distance, "C5": why_back_translation}


def summary() -> str:
    """A line per declared study: how far it is, and its verdicts."""
    lines = []
    for name, title in TITLES.items():
        study, found = study_of(name), claims_of(name)
        done = "not begun"
        if study:
            done = f"{sum(len(study.of(row)) for row in study.rows)} of {study.n_planned} runs"
        verdicts_of = [f"{c.question}: {c.verdict}" for c in found]
        if name == "en-vi" and (slope := distance_slope()):
            verdicts_of.append(f"C4: {distance_verdict(slope)[0]}")
        said = "; ".join(verdicts_of) or "open"
        lines.append((f"[{title}](../studies/{name}.md)", done, said))
    return markdown(("study", "finished", "verdicts"), lines)


def rows_table(name: str) -> str:
    """A study's rows: every score that was promised, by rule, dev beside test."""
    study = study_of(name)
    if study is None:
        return "No run is finished yet."
    rules = [rule for rule in RULES if all(rule in r["rules"] for r in study.runs.values())]
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
    lines = [
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
    head = ("", "rows", "seeds", "test Δ (95%)", "p", "Holm's p", "dev Δ (95%)", "verdict")
    return markdown(head, lines)


def _and_what_it_needs(claim: Claim) -> str:
    if claim.verdict != "open":
        return claim.verdict
    return f"open; {needed(claim.on_test)} a side could show a difference of this size"


def both_table() -> str:
    """SwitchOut and RAML together against nothing, which no study declared."""
    study = study_of("multi30k-5k")
    if study is None or len(study.of(RAML_SWITCHOUT)) < 2:
        return "No run is finished yet."
    lines = []
    for rule in RULES:
        sets = [effect(study, RAML_SWITCHOUT, BASELINE, split=s, rule=rule) for s in SPLITS]
        lines.append((RULE_NAMES[rule], *(interval(one) for one in sets)))
    return markdown(("checkpoint", "test Δ (95%)", "dev Δ (95%)"), lines)


def question_table(question: str) -> str:
    """A claim wherever it was asked: declared studies first, then the runs before them."""
    lines = []
    for name, title in TITLES.items():
        study = study_of(name)
        for claim in (c for c in claims_of(name) if c.question == question):
            assert study is not None
            where = f"{title.partition(':')[0]}" + (", paired" if claim.is_paired else "")
            said = claim.verdict if study.is_complete else "open until it is complete"
            sets = claim.on_test, claim.on_dev
            lines.append(
                (where, *_sides(study, question, sets), f"{said}, Holm's p {p_value(claim.p_holm)}")
            )
    for name, title in EARLIER.items():
        study = read(name)
        sets = tuple(effect(study, *ROWS_OF[question], split=split) for split in SPLITS)
        p = p_value(sets[0].test.p)
        lines.append((f"before, {title}", *_sides(study, question, sets), f"not declared, p {p}"))
    others = [f"Δ {AT[rule]} (test, dev)" for rule in RULES[1:]]
    return markdown(("", "seeds", "test Δ (95%)", "dev Δ (95%)", *others, "verdict"), lines)


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
    lines = []
    for name in ("multi30k-5k", "en-vi"):
        found = by_distance(name)
        if found is None:
            continue
        for bucket, gain in zip(found.buckets, found.gains[0], strict=True):
            if gain.delta is None or gain.ci95 is None:
                continue
            low, high = gain.ci95
            cell = f"{gain.delta:+.2f} ({low:+.2f} to {high:+.2f})"
            lines.append((SHORT[name], bucket.label, f"{len(bucket.members):,}", cell))
        if trend := found.trends[0]:
            slope = f"{slope_in_words(trend)}, p {p_value(trend.p)}"
            lines.append((SHORT[name], "slope", "all", slope))
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


def claim_figure(question: str) -> str:
    """A claim wherever it was asked."""
    row, against = ROWS_OF[question]
    places = [(label, against, *sets) for label, *sets in wherever(question)]
    return test_and_dev(f"{question}: {row} − {against}", places, COLOURS[question])


def test_and_dev(title: str, places: Iterable[tuple[str, str, Effect, Effect]], colour: str) -> str:
    """Differences one under the other on one axis, test filled and dev hollow."""
    lines: list[Difference] = []
    colours: dict[str, str] = {}
    for label, against, *sets in places:
        for split, one, look in zip(SPLITS, sets, ("", " hollow"), strict=True):
            name = f"{label}, {split}"  # short: the chart cuts longer names
            colours[name] = colour + look
            lines.append(Difference(name, against, one.delta, *one.test.ci95, dots=one.dots))
    plot = ForestPlot(title, lines, x_label="Δ BLEU, 95% interval", colours=colours)
    return stacked([plot])


def wherever(question: str) -> Iterator[tuple[str, Effect, Effect]]:
    """A question in the declared studies, then in the runs before them."""
    for number, name in enumerate(TITLES, start=1):
        for claim in claims_of(name):
            if claim.question == question:
                yield f"study {number}", claim.on_test, claim.on_dev
    for name, title in EARLIER.items():
        test, dev = (effect(read(name), *ROWS_OF[question], split=split) for split in SPLITS)
        yield title.removesuffix(" steps"), test, dev


def distance_figure() -> str:
    """The gain by distance, as in figure 2, in every study that kept what it needs."""
    panels = []
    for name in ("multi30k-5k", "en-vi"):
        if found := by_distance(name):
            panels.append(replace(gains_chart(found), title=SHORT[name]))
    return stacked(panels)


def back_translation_figure() -> str:
    """What SwitchOut adds on top of back-translation."""
    study = read("table2-multi30k-5k-long")
    places = []
    for row, against in ON_BACK_TRANSLATION:
        test, dev = (effect(study, row, against, split=split) for split in SPLITS)
        places.append((f"over {against}", against, test, dev))
    title = "C5: SwitchOut on top of back-translation, two seeds"
    return test_and_dev(title, places, COLOURS["C5"])


def taus_figure() -> str:
    """The grid of temperatures as a heat map."""
    study = read("tau-multi30k-5k")
    cells = taus(study)
    xs, ys = (sorted({cell[i] for cell in cells}) for i in (0, 1))
    panels = []
    for rule in ("dev-perplexity", "last"):
        values = [[median(study.scores(cells[x, y], "dev_bleu", rule)) for x in xs] for y in ys]
        best = max((value, i, j) for i, line in enumerate(values) for j, value in enumerate(line))
        title = f"Dev BLEU, checkpoint by {RULE_NAMES[rule]}"
        chart = HeatMap(
            title,
            [f"{x:g}" for x in xs],
            [f"{y:.3g}" for y in ys],
            values,
            x_label="tau_x (0: no SwitchOut)",
            y_label="tau_y (RAML)",
            best=best[1:],
        )
        panels.append(chart)
    return stacked(panels)


def study_results() -> Iterator[StudyResult]:
    """What the demo shows of the studies on real data, and of what was there before them."""
    for name in TITLES:
        study = study_of(name)
        for claim in claims_of(name):
            assert study is not None
            n_seeds = min(len(study.of(row)) for row in (claim.row, claim.against))
            verdict = claim.verdict if study.is_complete else "open"
            sets = claim.on_test, claim.on_dev
            names = (SHORT[name], claim.question, claim.row, claim.against)
            yield _result(names, sets, n_seeds, verdict)
    for name, title in EARLIER.items():
        for question, (row, against) in ROWS_OF.items():
            test, dev = (effect(read(name), row, against, split=split) for split in SPLITS)
            names = (f"Multi30k 5k, {title}", question, row, against)
            yield _result(names, (test, dev), len(test.dots), "open")


def studies_table() -> str:
    """C1 and C2 wherever they were asked, in short."""
    found: dict[str, dict[str, StudyResult]] = {}
    for one in study_results():
        if one.question in ROWS_OF:
            found.setdefault(one.study, {})[one.question] = one
    lines = [
        (
            name,
            "–".join(map(str, sorted({one.n_seeds for one in asked.values()}))),
            *(_short(asked.get(q)) for q in ROWS_OF),
        )
        for name, asked in found.items()
    ]
    asked = [f"{row} over {against}" for row, against in ROWS_OF.values()]
    return markdown(("data", "seeds", *asked), lines)


def _short(one: StudyResult | None) -> str:
    if one is None:
        return ""
    numbers = f"{one.delta:+.2f} ({one.low:+.2f} to {one.high:+.2f}), dev {one.dev_delta:+.2f}"
    return f"{numbers}: **{one.verdict}**"


def _result(
    names: tuple[str, str, str, str], sets: tuple[Effect, Effect], n_seeds: int, verdict: str
) -> StudyResult:
    test, dev = sets
    numbers = [round(number, 2) for number in (test.delta, *test.test.ci95, dev.delta)]
    return StudyResult(*names, *numbers, n_seeds=n_seeds, verdict=verdict)


def needed(one: Effect) -> str:
    """Seeds a side that would show a true difference of this size four times in five."""
    n_seeds = one.test.seeds_needed()
    return "a larger test set" if n_seeds is None else f"{n_seeds} seeds"


def on(one: Effect) -> str:
    """A difference and its p-value, in a cell."""
    return f"{one.delta:+.2f} ({p_value(one.test.p)})"


def interval(one: Effect) -> str:
    """A difference and its interval, in a cell."""
    low, high = one.test.ci95
    return f"{one.delta:+.2f} ({low:+.2f} to {high:+.2f})"


def p_value(p: float) -> str:
    """A p-value, in a cell."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a table; minus signs as printed."""
    table = [head, ["---"] * len(head), *lines]
    text = "\n".join(f"| {' | '.join(cells)} |" for cells in table)
    return re.sub(r"(?<![\w-])-(?=\d)", "−", text)


TABLES: dict[str, Callable[[], str]] = {
    "verdicts": verdicts,
    "summary": summary,
    "studies": studies_table,
    "both": both_table,
    "c1": lambda: question_table("C1"),
    "c2": lambda: question_table("C2"),
    "taus": taus_table,
    "distance": distance_table,
    "back-translation": back_translation_table,
    "study1-contrasts": lambda: claims_table("multi30k-5k"),
    "study1-rows": lambda: rows_table("multi30k-5k"),
    "study2-rows": lambda: rows_table("en-vi"),
    "study3-contrasts": lambda: claims_table("data-size"),
    "study3-rows": lambda: rows_table("data-size"),
    "study4-contrasts": lambda: claims_table("dose"),
    "study4-rows": lambda: rows_table("dose"),
}
FIGURES: dict[str, Callable[[], str]] = {
    "results-c1.svg": lambda: claim_figure("C1"),
    "results-c2.svg": lambda: claim_figure("C2"),
    "results-c3.svg": taus_figure,
    "results-c4.svg": distance_figure,
    "results-c5.svg": back_translation_figure,
}


def made() -> dict[Path, str]:
    """Return all that this script writes, by its path."""
    pages = {page: filled(page.read_text(encoding="utf-8")) for page in PAGES}
    figures = {DOCS / name: draw() for name, draw in FIGURES.items()}
    return {**pages, **figures, SHIPPED: _shipped()}


def filled(page: str) -> str:
    """Return a page with its tables as they are now."""
    for name, table in TABLES.items():
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
        if pattern.search(page):
            content = table()
            page = pattern.sub(lambda m, c=content: f"{m[1]}\n{c}\n\n{m[2]}", page)
    return page


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
