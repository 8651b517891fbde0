"""A table of results, once, and its renderings: text, HTML, CSV, LaTeX, JSON records.

Values stay numbers until they are rendered: CSV and records keep full precision, the others round
as the column says. Every rendering escapes what it must.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from switchout.report.elements import Html, element

Cell = str | float | int | None
Mark = Literal["good", "bad", "quiet", "warn"]
Item = TypeVar("Item")

P_VALUE = "p"  # a column's format for p-values
MISSING = "–"


@dataclass(frozen=True)
class Column:
    """How a column is headed and its numbers are shown.

    Attributes:
        title: Heading.
        key: Name in CSV and records; the title if empty.
        format: Of numbers, as for `format` (".2f", "+.2f"), or "p" for p-values; empty: text.
        is_joined: Whether it means nothing without the number before it, as an interval does.
    """

    title: str
    key: str = ""
    format: str = ""
    is_joined: bool = False

    @property
    def is_number(self) -> bool:
        return bool(self.format)

    def show(self, value: Cell) -> str:
        """Return the cell as people read it."""
        if value is None:
            return MISSING
        if isinstance(value, str) or not self.format:
            return str(value)
        if self.format == P_VALUE:
            return "<0.001" if value < 0.001 else f"{value:.3f}"
        # a real minus sign is as wide as a plus and a digit
        return format(value, self.format).replace("-", "−")


@dataclass(frozen=True)
class Table:
    """Rows of cells under columns.

    Attributes:
        title: Caption.
        columns: One per cell of a row.
        rows: Cells; None is shown as a dash and left empty in CSV.
        note: The line below that identifies the numbers: signature, tokenizer, version.
        marks: (row, column) → "good", "bad", "quiet" or "warn", for emphasis.

    Example:
        >>> columns = [Column("system"), Column("BLEU", format=".1f")]
        >>> table = Table("Scores", columns, [("a", 27.04)])
        >>> print(table.text())
        system  BLEU
        a       27.0
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    note: str = ""
    marks: Mapping[tuple[int, int], Mark] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        title: str,
        items: Iterable[Item],
        cells: Mapping[Column, Callable[[Item], Cell]],
        *,
        note: str = "",
        marks: Mapping[tuple[int, int], Mark] | None = None,
    ) -> Table:
        """Return a table with a row per item; every column says how its cells are found."""
        rows = [[cell(item) for cell in cells.values()] for item in items]
        return cls(title, list(cells), rows, note, marks or {})

    def text(self, width: int | None = None) -> str:
        """Return aligned columns for a terminal.

        Args:
            width: Of the terminal. Columns that do not fit follow below, in a table of their own
                with the same names; joined columns stay together, even where they are too wide.
                None: all stand side by side.
        """
        lines = [[column.title for column in self.columns], *self._shown()]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self.columns))]
        align = [str.rjust if column.is_number else str.ljust for column in self.columns]
        return "\n\n".join(
            "\n".join(
                "  ".join(align[i](line[i], widths[i]) for i in block).rstrip() for line in lines
            )
            for block in self._blocks(widths, width)
        )

    def _blocks(self, widths: Sequence[int], limit: int | None) -> list[list[int]]:
        """Return which columns stand side by side, the names always among them."""
        names, groups = self._groups()
        blocks = [names]
        for group in groups:
            taken = sum(widths[i] + 2 for i in (*blocks[-1], *group)) - 2
            if limit is not None and taken > limit and blocks[-1] != names:
                blocks.append(names)
            blocks[-1] = sorted([*blocks[-1], *group])
        return blocks

    def _groups(self) -> tuple[list[int], list[list[int]]]:
        """Return the columns that name a row, and the others, each with those joined to it."""
        names: list[int] = []
        groups: list[list[int]] = []
        for i, column in enumerate(self.columns):
            if column.is_joined:
                groups[-1].append(i)
            elif column.is_number:
                groups.append([i])
            else:
                names.append(i)
        return names, groups

    def csv(self) -> str:
        """Return comma-separated values with a heading, numbers at full precision."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(_harmless(column.key or column.title) for column in self.columns)
        writer.writerows([_harmless(cell) for cell in row] for row in self.rows)
        return out.getvalue()

    def records(self) -> list[dict[str, Any]]:
        """Return a dictionary per row, ready for JSON."""
        keys = [column.key or column.title for column in self.columns]
        return [dict(zip(keys, row, strict=True)) for row in self.rows]

    def latex(self) -> str:
        """Return a ``table`` with ``tabular`` for the ``booktabs`` package; good cells are bold."""
        alignment = "".join("r" if column.is_number else "l" for column in self.columns)
        heading = " & ".join(escape_latex(column.title) for column in self.columns)
        body = [
            " & ".join(self._latex_cell(i, j, cell) for j, cell in enumerate(row))
            for i, row in enumerate(self._shown())
        ]
        lines = [
            r"\begin{table}",
            r"\centering",
            rf"\begin{{tabular}}{{{alignment}}}",
            r"\toprule",
            heading + r" \\",
            r"\midrule",
            *(line + r" \\" for line in body),
            r"\bottomrule",
            r"\end{tabular}",
            rf"\caption{{{escape_latex(self.title)}}}",
            *([rf"% {' '.join(self.note.split())}"] if self.note else []),
            r"\end{table}",
        ]
        return "\n".join(lines) + "\n"

    def html(self) -> Html:
        """Return the table in a frame that scrolls sideways where a screen is too narrow."""
        heading = [
            element("th", column.title, scope="col", class_=_class(column))
            for column in self.columns
        ]
        body = [
            element("tr", (self._html_cell(i, j, cell) for j, cell in enumerate(row)))
            for i, row in enumerate(self._shown())
        ]
        table = element("table", element("thead", element("tr", heading)), element("tbody", body))
        # A frame that may scroll has to be reachable by keyboard.
        label = {"role": "region", "aria_label": self.title, "tabindex": "0"}
        return element(
            "figure",
            element("figcaption", self.title) if self.title else None,
            element("div", table, class_="scroll", **label),
            element("p", self.note, class_="note") if self.note else None,
        )

    def _shown(self) -> list[list[str]]:
        return [
            [column.show(cell) for column, cell in zip(self.columns, row, strict=True)]
            for row in self.rows
        ]

    def _html_cell(self, row: int, column: int, shown: str) -> Html:
        kind = _class(self.columns[column])
        mark = self.marks.get((row, column), "")
        if column == 0 and not kind:
            return element("th", shown, scope="row", class_=mark or None)
        return element("td", shown, class_=f"{kind or ''} {mark}".strip() or None)

    def _latex_cell(self, row: int, column: int, shown: str) -> str:
        cell = escape_latex(shown)
        return rf"\textbf{{{cell}}}" if self.marks.get((row, column)) == "good" else cell


def _class(column: Column) -> str | None:
    return "number" if column.is_number else None


def _harmless(cell: Cell) -> Cell:
    """Return a cell that no spreadsheet takes for a formula: text with = + - @ gets a quote."""
    is_formula = isinstance(cell, str) and cell.lstrip().startswith(("=", "+", "-", "@"))
    return f"'{cell}" if is_formula else cell


def interval(bounds: Sequence[float] | None, format: str = "+.2f") -> str | None:
    """Return an interval as a cell; None where there is none.

    Example:
        >>> interval((-1, 2.5))
        '−1.00 to +2.50'
    """
    if bounds is None:
        return None
    column = Column("", format=format)
    return f"{column.show(bounds[0])} to {column.show(bounds[1])}"


def with_interval(title: str, key: str, format: str) -> list[Column]:
    """Return the columns of a number and the two ends of its 95% interval."""
    ends = [("95% from", "ci95_low"), ("to", "ci95_high")]
    return [Column(title, key, format), *(Column(*end, format, is_joined=True) for end in ends)]


_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "−": "$-$",
        "–": "--",
        "Δ": r"$\Delta$",
    }
    | {character: "\\" + character for character in "&%$#_{}"}
)


def escape_latex(text: str) -> str:
    """Return text that LaTeX prints as it is.

    Example:
        >>> print(escape_latex("R&D <unk> 50%"))
        R\\&D \\textless{}unk\\textgreater{} 50\\%
    """
    return text.translate(_LATEX)
