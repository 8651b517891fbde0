"""How rows with noise fall behind the row without and catch up, and where that ends."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean

from cells import interval, markdown
from effects import effect
from studies import EPOCHS, SHORT, TITLES, by_size, study_of, with_study_3
from table import Study

from switchout.experiments.paper import BASELINE, SWITCHOUT, WORD_DROPOUT
from switchout.report.charts import Line, LineChart
from switchout.report.charts.chart import stacked
from switchout.report.colours import colours_of

PARTS = {"¼": 0.25, "½": 0.5, "end": 1.0}  # of the training
FIRST_PART = {"dose-second": "dose"}  # whose colours the second has


def progress_figure() -> str:
    """How rows with noise fall behind and catch up: dev BLEU of greedy search over the steps."""
    panels = []
    for name in TITLES:
        for title, study, rows in _alike(name):
            seeds = set.intersection(*({run["seed"] for run in study.of(row)} for row in rows))
            if len(seeds) < 2 or len(rows) < 2:  # one seed is mostly luck
                continue
            before = study.progress(rows[0], seeds)
            lines = [
                Line(_of_the_paper(row), _behind(study.progress(row, seeds), before))
                for row in rows
            ]
            where = f"{SHORT[name].partition(':')[0]}, {title}" if title else SHORT[name]
            head = f"{where}, {len(seeds)} seeds"
            colours = _colours(name, rows)
            panels.append(
                LineChart(head, lines, x_label="steps", y_label="Δ dev BLEU", colours=colours)
            )
    return stacked(panels, columns=2)


def _of_the_paper(row: str) -> str:
    """The name under which a row has its colour in all studies; study 3 also names the size."""
    names = {"none": BASELINE, "SwitchOut": SWITCHOUT, "word dropout": WORD_DROPOUT}
    return names.get(row.partition(" pairs, ")[2], row)


def _colours(name: str, rows: list[str]) -> dict[str, str]:
    """A row without a colour of the paper's has that of its place in the study, or first part."""
    study = study_of(FIRST_PART.get(name, name))
    return colours_of([*(study.rows if study else []), *map(_of_the_paper, rows)])


def _alike(name: str) -> Iterator[tuple[str, Study, list[str]]]:
    """Rows of a study that have runs and differ in their noise only, the one without first."""
    study = study_of(name)
    groups: dict[str, list[str]] = {}
    for row in study.rows if study else []:
        size, _, noise = row.partition(" pairs, ")
        groups.setdefault(f"{size} pairs" if noise else "", []).append(row)
    for title, rows in groups.items():
        if study and study.of(rows[0]):
            yield title, study, [row for row in rows if study.of(row)]


def _behind(progress: dict[int, float], before: dict[int, float]) -> list[tuple[float, float]]:
    return [(step, bleu - before[step]) for step, bleu in progress.items()]


def progress_table() -> str:
    """How far rows with noise are from the one without, on the way and at the end.

    On the way by greedy search, at the end by beam search too, which helps noise more.
    """
    lines: list[tuple[str, ...]] = []
    for name in TITLES:
        for title, study, rows in _alike(name):
            if study.is_complete and name in EPOCHS:
                of_rows = [_way(study, row, rows[0]) for row in rows[1:]]
                where = title or SHORT[name].partition(":")[0]
                heads = [where, *[""] * (len(of_rows) - 1)]
                epochs = f"{EPOCHS[name][title]:g}"
                lines += [(head, epochs, *one) for head, one in zip(heads, of_rows, strict=True)]
    greedy = [f"dev, greedy: {part}" for part in PARTS]
    return markdown(("", "epochs", "row", *greedy, "dev, beam: end", "test, beam: end"), lines)


def _way(study: Study, row: str, plain: str) -> tuple[str, ...]:
    """A row's name, and its differences."""
    seeds = {run["seed"] for run in study.of(plain)}
    behind = dict(_behind(study.progress(row, seeds), study.progress(plain, seeds)))
    steps = [min(s for s in behind if s >= part * max(behind)) for part in PARTS.values()]
    by_beam = [
        fmean(study.scores(row, name, "last")) - fmean(study.scores(plain, name, "last"))
        for name in ("dev_bleu", "test_bleu")
    ]
    deltas = [*(behind[step] for step in steps), *by_beam]
    return row.partition(" pairs, ")[2] or row, *(f"{delta:+.2f}" for delta in deltas)


def epochs_table() -> str:
    """What SwitchOut alone gave by size and epochs, checkpoints by dev BLEU."""
    third, second, both = study_of("data-size"), study_of("en-vi"), with_study_3()
    lines = []
    for size, found in by_size().items():
        if third and "none" in found:
            claim, epochs = found["none"], EPOCHS["data-size"][f"{size} pairs"]
            one = (both, SWITCHOUT, BASELINE) if both and size == "5,000" else None
            lines.append(_gain(size, epochs, *(one or (third, claim.row, claim.against))))
    if second:
        lines.append(_gain("133,166", EPOCHS["en-vi"][""], second, SWITCHOUT, BASELINE))
    return markdown(("pairs", "epochs", "seeds", "test Δ (95%)", "dev Δ (95%)"), lines)


def _gain(size: str, epochs: float, study: Study, row: str, against: str) -> tuple[str, ...]:
    """The same rule everywhere, which study 2 had not declared."""
    n_seeds = min(len(study.of(name)) for name in (row, against))
    sets = (effect(study, row, against, split=s, rule="dev-bleu") for s in ("test", "dev"))
    return size, f"{epochs:g}", str(n_seeds), *map(interval, sets)
