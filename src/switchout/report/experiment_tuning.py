"""What was tried on dev before the runs that count, and what was chosen."""

from __future__ import annotations

from switchout.experiments.findings import Finding
from switchout.report.page import Section
from switchout.report.tables import Cell, Column, Mark, Table

CHOSEN = "chosen"


def tuning_sections(finding: Finding, where: str) -> list[Section]:
    """Return one section, or none where nothing was tried."""
    if not finding.column.is_tuned:
        return []
    text = [
        "Runs with a seed or a length that is in no row. They chose by dev BLEU, at the checkpoint "
        "of the rule; test scores had no part in it."
    ]
    return [Section(f"{where}Tuning", text=text, tables=[tuning_table(finding)])]


def tuning_table(finding: Finding) -> Table:
    """A line per run, for the row it was spent on."""
    columns = [
        Column("for the row", "row"),
        Column("tried"),
        Column("dev BLEU", "dev_bleu", ".2f"),
        Column("dev perplexity", "dev_perplexity", ".2f"),
        Column("", CHOSEN),
    ]
    configs = {row.name: row.config for row in finding.column.rows}
    rows: list[tuple[Cell, ...]] = []
    marks: dict[tuple[int, int], Mark] = {}
    for name, tried in finding.tried.items():
        for record in tried:
            is_chosen = record.row.config == configs[name]
            if is_chosen:
                marks[len(rows), 2] = "good"
            scores = (record.median("dev_bleu"), record.median("dev_perplexity"))
            rows.append((name, record.name, *scores, CHOSEN if is_chosen else ""))
    return Table(f"{finding.column.name}: tried on dev", columns, rows, marks=marks)
