"""The table of ``switchout score``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from switchout.evaluation.metrics import LABELS
from switchout.report.tables import Cell, Column, Table, interval


def score_table(records: Sequence[Mapping[str, Any]], *, metrics: Sequence[str]) -> Table:
    """Return a row per output, a score and its 95% interval per metric, signatures below."""
    columns = [Column("system")]
    for name in metrics:
        columns.append(Column(LABELS[name], name, ".2f"))
        if "ci95" in records[0]:
            columns.append(Column("95% interval", f"{name}_ci95"))
    rows: list[list[Cell]] = []
    for record in records:
        row: list[Cell] = [record["system"]]
        for name in metrics:
            row.append(record[name])
            if "ci95" in record:
                row.append(interval(record["ci95"][name], ".2f"))
        rows.append(row)
    signatures = records[0]["signatures"]
    note = "\n".join(f"{LABELS[name]} {signatures[name]}" for name in metrics)
    return Table("Scores", columns, rows, note=note)
