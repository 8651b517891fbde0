"""The figures of docs/results.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from statistics import median

from effects import Claim, Effect, effect
from studies import (
    EARLIER,
    ROWS_OF,
    SHORT,
    SPLITS,
    TITLES,
    by_distance,
    by_size,
    drawn_claims,
)
from table import read
from tables import RULE_NAMES, taus
from verdicts import ON_BACK_TRANSLATION

from switchout.report.buckets import gains_chart
from switchout.report.charts import (
    BarChart,
    Difference,
    ForestPlot,
    HeatMap,
    Series,
    stacked,
)

SIZES = "results-sizes.svg"
COLOURS = {"C1": "s2", "C2": "s5", "C5": "s3"}  # of the rows on the report's pages


def claim_figure(question: str) -> str:
    """A claim wherever it was asked."""
    row, against = ROWS_OF[question]
    places = [(label, against, test, dev) for label, test, dev in wherever(question)]
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
        for claim in drawn_claims(name):
            if claim.question == question:
                yield f"study {number}", claim.on_test, claim.on_dev
    for name, title in EARLIER.items():
        test, dev = (effect(read(name), *ROWS_OF[question], split=split) for split in SPLITS)
        yield title.removesuffix(" steps"), test, dev


def sizes_figure() -> str:
    """The gains of study 3 over the number of pairs; nothing before it has some."""
    gains = by_size()
    others = dict.fromkeys(against for found in gains.values() for against in found)
    of_sets = {split: [_bars(against, gains, split) for against in others] for split in SPLITS}
    panels = []
    for split, series in of_sets.items():
        panels.append(
            BarChart(
                f"Gain of SwitchOut by the size of the training text, on {split}",
                list(gains),
                series,
                x_label="training pairs",
                beside=[one for found in of_sets.values() for one in found],
                y_label="Δ BLEU, 95% interval",
                colours={
                    one.name: COLOURS["C1"] + look
                    for one, look in zip(series, ("", " hollow"), strict=False)
                },
            )
        )
    return stacked(panels, columns=2) if gains else ""


def sizes_link() -> str:
    """How the page shows it."""
    picture = f"![Gain by the number of training pairs]({SIZES})"
    return picture if by_size() else ""


def _bars(against: str, gains: dict[str, dict[str, Claim]], split: str) -> Series:
    """A series over all sizes; nothing where a contrast has too few seeds yet."""
    claims = [found.get(against) for found in gains.values()]
    effects = [one and (one.on_test if split == "test" else one.on_dev) for one in claims]
    low, high = ([one.test.ci95[i] if one else None for one in effects] for i in (0, 1))
    deltas = [one.delta if one else None for one in effects]
    return Series(f"SwitchOut − {against}", deltas, low, high)


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
