"""One table, five renderings: numbers right, text escaped."""

from __future__ import annotations

import csv
import io
import json
from html.parser import HTMLParser

import pytest

from switchout.report.tables import P_VALUE, Column, Table, escape_latex, with_interval

NASTY = '<unk> & "R&D" <script>alert(1)</script>'
TABLE = Table(
    "Scores of <all> & more",
    [Column("system"), Column("BLEU", "bleu", ".2f"), Column("Δ", "delta", "+.1f"),
     Column("p", "p", P_VALUE)],
    [("base", 27.123456789, None, None), (NASTY, 28.5, -1.25, 0.00012)],
    note="tok:13a|a<b",
    marks={(1, 1): "good", (0, 1): "quiet"},
)  # fmt: skip


class Cells(HTMLParser):
    """The text of all cells, as a browser would show it."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.cells: list[str] = []
        self.tags: list[str] = []
        self.classes: list[str] = []
        self._open = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._open = tag in ("td", "th")
        if self._open:
            self.cells.append("")
            self.classes.append(dict(attrs).get("class") or "")

    def handle_endtag(self, tag: str) -> None:
        self._open = self._open and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        if self._open:
            self.cells[-1] += data


def test_html_shows_every_cell_as_it_is() -> None:
    parsed = Cells(TABLE.html())
    assert parsed.cells == [
        "system", "BLEU", "Δ", "p",
        "base", "27.12", "–", "–",
        NASTY, "28.50", "−1.2", "<0.001",
    ]  # fmt: skip
    assert "script" not in parsed.tags
    assert "good" in parsed.classes[9]
    assert "number" in parsed.classes[9]


def test_csv_keeps_full_precision_and_reads_back() -> None:
    rows = list(csv.reader(io.StringIO(TABLE.csv())))
    assert rows == [
        ["system", "bleu", "delta", "p"],
        ["base", "27.123456789", "", ""],
        [NASTY, "28.5", "-1.25", "0.00012"],
    ]


def test_records_are_json_with_keys() -> None:
    records = json.loads(json.dumps(TABLE.records()))
    assert records[0] == {"system": "base", "bleu": 27.123456789, "delta": None, "p": None}


def test_latex_escapes_and_emphasises() -> None:
    text = TABLE.latex()
    assert r"\textless{}unk\textgreater{} \& " in text
    assert r"\textbf{28.50} & $-$1.2 & \textless{}0.001 \\" in text
    assert r"base & 27.12 & -- & -- \\" in text
    assert text.count("{") == text.count("}")


@pytest.mark.parametrize("character", list("&%$#_{}~^\\<>"))
def test_every_special_character_of_latex_is_escaped(character: str) -> None:
    assert escape_latex(character) not in ("", character)


def test_text_is_aligned() -> None:
    lines = TABLE.text().split("\n")
    assert lines[0].startswith("system")
    shown = zip(lines, ["BLEU", "27.12", "28.50"], strict=True)
    assert len({line.index(number) + len(number) for line, number in shown}) == 1


def test_what_is_too_wide_follows_below_under_the_same_names() -> None:
    columns = [Column("metric"), Column("system"), *(Column(f"p {n}", format="p") for n in "abcd")]
    table = Table("t", columns, [("BLEU", "noisy", 0.1, 0.2, 0.3, 0.4)])
    assert table.text(29) == (
        "metric  system    p a    p b\n"
        "BLEU    noisy   0.100  0.200\n"
        "\n"
        "metric  system    p c    p d\n"
        "BLEU    noisy   0.300  0.400"
    )
    assert table.text(42) == table.text()  # just wide enough
    assert table.text(41).count("metric") == 2
    assert table.text(1).count("metric") == 4  # a column stands somewhere, come what may


def test_joined_columns_follow_their_number_and_every_column_that_names_a_row_comes_along() -> None:
    columns = [
        Column("bucket"),
        Column("n", format="d"),
        Column("system"),
        *with_interval("Δ", "delta", "+.1f"),
        Column("per", is_joined=True),
        Column("p", format=P_VALUE),
    ]
    table = Table("t", columns, [("short", 7, "noisy", 1.0, 0.5, 1.5, "word", 0.04)])
    assert table.text(1) == (
        "bucket  n  system\n"
        "short   7  noisy\n"
        "\n"
        "bucket  system     Δ  95% from    to  per\n"
        "short   noisy   +1.0      +0.5  +1.5  word\n"
        "\n"
        "bucket  system      p\n"
        "short   noisy   0.040"
    )
    assert table.text() == (
        "bucket  n  system     Δ  95% from    to  per       p\n"
        "short   7  noisy   +1.0      +0.5  +1.5  word  0.040"
    )


def test_row_of_wrong_length_is_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        Table("t", [Column("a"), Column("b")], [("x",)]).text()


def test_no_cell_of_a_csv_is_a_formula():
    """A system may be called whatever a file is called, and a spreadsheet would run it."""
    names = ["=1+1", "+1", "-cmd", "@SUM(A1)", "  =1", "\t=1", "plain", "a=b"]
    table = Table("t", [Column("=title"), Column("x", format=".1f")], [(n, -1.5) for n in names])
    head, *rows = list(csv.reader(io.StringIO(table.csv())))
    assert head[0] == "'=title"
    assert [row[0] for row in rows] == [f"'{n}" for n in names[:6]] + names[6:]
    assert {row[1] for row in rows} == {"-1.5"}  # numbers stay numbers
