"""Make the tables and figures of docs/results.md from the tables here: python results/make.py

Between ``<!-- NAME -->`` and ``<!-- /NAME -->`` the page is written by this script. It also writes
the figures beside the page, and the summaries that the demo shows.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import fmean, median, stdev
from tempfile import TemporaryDirectory

from effects import Claim, Effect, claims, effect, slope_over_distance
from table import HERE, Study, read

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
from switchout.report.charts import Difference, ForestPlot, HeatMap, stacked
from switchout.runs.finished import RULES

PAGE = HERE.parent / "docs" / "results.md"
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
ROWS_OF = {"C1": (SWITCHOUT, BASELINE), "C2": (RAML_SWITCHOUT, RAML)}
WHY_OPEN = {
    "C3": "depends on how the checkpoint is chosen; mostly single seeds",
    "C4": "slopes −0.9 and +0.4 BLEU per 1.0 of WER, intervals from −5 to +5; study 2 decides",
    "C5": "two seeds; −0.2 alone, −0.5 with RAML on test",
}
COLOURS = {"C1": "s2", "C2": "s5"}  # of the rows on the report's pages
RULE_NAMES = {
    "dev-perplexity": "lowest dev perplexity",
    "dev-bleu": "best dev BLEU",
    "last": "last step",
}


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
def distance_slope() -> Trend | None:
    """C4 in study 2; None before it has two seeds."""
    study = study_of("en-vi")
    if study is None or min(len(study.of(row)) for row in (RAML, RAML_SWITCHOUT)) < 2:
        return None
    return slope_over_distance(study, RAML_SWITCHOUT, RAML)


def distance_verdict(slope: Trend) -> tuple[str, str]:
    """By the rule that study 2 fixed: Holm's p over C1, C2 and this slope."""
    study, family = study_of("en-vi"), [c.on_test.test.p for c in claims_of("en-vi")]
    p = holm([*family, slope.p])[-1]
    low, high = slope.ci95
    why = f"Study 2: {slope.slope:+.1f} BLEU per 1.0 of WER ({low:+.1f} to {high:+.1f})"
    if study is None or not study.is_complete or p > LEVEL:
        return "open", why
    return "confirmed" if slope.slope > 0 else "refuted", why


def verdicts() -> str:
    """The paper's claims, each confirmed, refuted or open, and why."""
    said = {question: verdict_of(question) for question in CLAIMS}
    n_open = sum(verdict == "open" for verdict, _ in said.values())
    lines = [(q, CLAIMS[q], f"**{verdict}**", why) for q, (verdict, why) in said.items()]
    head = f"**Of the {len(said)} claims of the paper that we looked at, {n_open} are open.**"
    return f"{head}\n\n{markdown(('', 'claim of the paper', 'verdict', 'why'), lines)}"


def verdict_of(question: str) -> tuple[str, str]:
    """What decides a claim: the first complete study that asked it; else it is open."""
    slope = distance_slope() if question == "C4" else None
    if slope:
        return distance_verdict(slope)
    parts = []
    for name, title in TITLES.items():
        for claim in (c for c in claims_of(name) if c.question == question):
            short = title.partition(":")[0]
            parts.append(
                f"{short}: {interval(claim.on_test)} on test, {claim.on_dev.delta:+.2f} on dev"
            )
            if claim.verdict != "open":
                return claim.verdict, "; ".join(parts)
    if question in ROWS_OF:
        before = [effect(read(name), *ROWS_OF[question]) for name in EARLIER]
        first, *others = [f"{one.delta:+.2f} ({needed(one)}" for one in before]
        rest = "".join(f", {one})" for one in others)
        parts.append(
            "before the studies, with four seeds a side, on test: "
            f"{first} a side would be needed to show a difference of that size){rest}"
        )
    return "open", "; ".join(parts) if parts else WHY_OPEN[question]


def summary() -> str:
    """A line per declared study: how far it is, and its verdicts."""
    lines = []
    for name, title in TITLES.items():
        study, found = study_of(name), claims_of(name)
        done = "not begun"
        if study:
            done = f"{sum(len(study.of(row)) for row in study.rows)} of {study.n_planned} runs"
        said = "; ".join(f"{c.question}: {c.verdict}" for c in found) or "open"
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
    lines = []
    for row in study.rows:
        if not study.of(row):
            continue
        cells = [row, str(len(study.of(row)))]
        for rule in rules:
            test, dev = (study.scores(row, f"{split}_bleu", rule) for split in ("test", "dev"))
            spread = f" ± {stdev(test):.2f}" if len(test) > 1 else ""
            cells += [f"{fmean(test):.2f}{spread}", f"{fmean(dev):.2f}"]
        lines.append(cells)
    return markdown(head, lines)


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
            f"{claim.on_dev.delta:+.2f}",
            needed(claim.on_test),
            claim.verdict,
        )
        for claim in found
    ]
    head = ("", "rows", "seeds", "test Δ (95%)", "p", "Holm's p", "dev Δ", "would need", "verdict")
    return markdown(head, lines)


def earlier_table() -> str:
    """The runs made before anything was declared: three set-ups, two contrasts, three rules."""
    lines = []
    for name, title in EARLIER.items():
        study = read(name)
        for row, against in ((SWITCHOUT, BASELINE), (RAML_SWITCHOUT, RAML)):
            cells = [
                f"{on(effect(study, row, against, split=split, rule=rule))}"
                for rule in RULES
                for split in ("test", "dev")
            ]
            lines.append((title, f"{row} − {against}", *cells))
    head = ["set-up", "rows"]
    for rule in RULES:
        head += [f"test, {RULE_NAMES[rule]}", "dev"]
    return markdown(head, lines)


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
            [on(effect(study, row, against, split=split)) for split in ("test", "dev")]
            if against
            else ["", ""]
        )
        n_last = sum(
            run["rules"]["dev-perplexity"]["step"] == run["steps"] for run in study.of(row)
        )
        lines.append((row, scores, against or "", *changes, f"{n_last} of {len(study.of(row))}"))
    head = (
        "row",
        "test BLEU of the seeds",
        "against",
        "test Δ (p)",
        "dev Δ (p)",
        "chose last step",
    )
    return markdown(head, lines)


def contrasts_figure() -> str:
    """C1 and C2 wherever they were asked, test filled and dev hollow, on one axis."""
    lines: list[Difference] = []
    colours: dict[str, str] = {}
    for question, (row, against) in ROWS_OF.items():
        for label, on_test, on_dev in wherever(question, row, against):
            for split, one, look in (("test", on_test, ""), ("dev", on_dev, " hollow")):
                name = f"{label} {split}"  # short: the chart cuts longer names
                colours[name] = COLOURS[question] + look
                lines.append(Difference(name, against, one.delta, *one.test.ci95, dots=one.dots))
    title = "C1: +SwitchOut − Transformer; C2: +RAML +SwitchOut − +RAML"
    plot = ForestPlot(title, lines, x_label="Δ BLEU, 95% interval", colours=colours)
    return stacked([plot])


def wherever(question: str, row: str, against: str) -> Iterator[tuple[str, Effect, Effect]]:
    """A question in the declared studies, then in the runs before them."""
    for number, name in enumerate(TITLES, start=1):
        for claim in claims_of(name):
            if claim.question == question:
                yield f"{question} study {number}", claim.on_test, claim.on_dev
    for name, title in EARLIER.items():
        test, dev = (effect(read(name), row, against, split=split) for split in ("test", "dev"))
        yield f"{question} {title.removesuffix(' steps').replace(',', '', 1)}", test, dev


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
            test, dev = (effect(read(name), row, against, split=split) for split in ("test", "dev"))
            names = (f"Multi30k 5k, {title}", question, row, against)
            yield _result(names, (test, dev), len(test.dots), "open")


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
    "study1-contrasts": lambda: claims_table("multi30k-5k"),
    "study1-rows": lambda: rows_table("multi30k-5k"),
    "study2-contrasts": lambda: claims_table("en-vi"),
    "study2-rows": lambda: rows_table("en-vi"),
    "study3-contrasts": lambda: claims_table("data-size"),
    "study4-contrasts": lambda: claims_table("dose"),
    "earlier": earlier_table,
    "taus": taus_table,
    "back-translation": back_translation_table,
}
FIGURES: dict[str, Callable[[], str]] = {
    "results-contrasts.svg": contrasts_figure,
    "results-taus.svg": taus_figure,
}


def made() -> dict[Path, str]:
    """Return all that this script writes, by its path."""
    page = PAGE.read_text(encoding="utf-8")
    for name, table in TABLES.items():
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
        if pattern.search(page):
            content = table()
            page = pattern.sub(lambda m, c=content: f"{m[1]}\n{c}\n\n{m[2]}", page)
    figures = {PAGE.parent / name: draw() for name, draw in FIGURES.items()}
    return {PAGE: page, **figures, SHIPPED: _shipped()}


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
