"""What all charts share: the frame, ticks, a legend, and words for those who do not see it.

Charts stand in a page (`Chart.html`) or in a file of their own (`stacked`).

A drawing is `WIDTH` units wide whatever the screen: about a phone's width, so that its text can be
read there. Marks that belong together are one group, reached with the tab key and read aloud.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field

from switchout.report.charts.scale import Scale, printed, shown
from switchout.report.colours import colours_of
from switchout.report.elements import Attribute, Child, Html, element, style

WIDTH = 380
LEFT, RIGHT, TOP = 48, 18, 10
TITLE_LINE = 20  # of a title or legend in a file
LETTER = 6.9  # of a wide font; text is never measured
FIRST_NAME = 10.0  # of a legend: where it begins


@dataclass(frozen=True)
class Chart:
    """What all charts have: a caption, axes, colours.

    Attributes:
        title: Caption.
        x_label, y_label: Of the axes.
        colours: CSS classes by name; by default those of `colours_of`.
        note: Small print below.
    """

    title: str
    _: KW_ONLY
    x_label: str = ""
    y_label: str = ""
    colours: Mapping[str, str] = field(default_factory=dict)
    note: str = ""

    def marks(self) -> tuple[Child, float]:
        """Return all that is drawn, and the height of the drawing."""
        raise NotImplementedError

    def svg(self) -> Html:
        """Return the drawing alone."""
        marks, height = self.marks()
        return element("svg", marks, **_size(height), role="group", aria_label=self.title)

    def names(self) -> Sequence[str]:
        """Return what a legend explains: nothing where the drawing itself names its marks."""
        return ()

    def key(self) -> dict[str, str]:
        """Return the colours of the names."""
        names = self.names()
        colours = self.colours or colours_of(names)
        return {name: colours[name] for name in names}

    def html(self) -> Html:
        """Return the figure: the drawing, its title above, legend and note below."""
        caption, legend = element("figcaption", self.title), _legend(self.key())
        below = element("p", self.note, class_="note") if self.note else None
        return element("figure", caption, self.svg(), legend, below, class_="chart")


def _size(height: float, *, columns: int = 1, zoom: float = 1) -> dict[str, Attribute]:
    """The attributes of a drawing of so many times our width."""
    wide, tall = columns * WIDTH, round(height)
    return {
        "viewBox": f"0 0 {wide} {tall}",
        "width": round(zoom * wide),
        "height": round(zoom * tall),
    }


def group(*marks: Child, says: str, colour: str = "") -> Html:
    """Return marks that belong together; what they say is a tooltip and is read aloud."""
    tooltip = element("title", says)
    label = {"aria_label": says, "role": "img", "tabindex": "0"}
    return element("g", tooltip, *marks, class_=f"marks {colour}".strip(), **label)


def _legend(colours: Mapping[str, str]) -> Html | None:
    """The names beside their colours; None for a single one."""
    if len(colours) < 2:
        return None
    items = (element("li", _dot(colour), name) for name, colour in colours.items())
    return element("ul", items, class_="legend")


def _dot(colour: str) -> Html:
    dot = element("circle", cx=5, cy=5, r=3.5, class_=colour)
    return element("svg", dot, viewBox="0 0 10 10", aria_hidden="true")


def text(x: float, y: float, content: str, *, anchor: str = "middle", class_: str = "") -> Html:
    """Return a line of text."""
    anchor_or_none = None if anchor == "start" else anchor
    return element("text", content, x=x, y=y, text_anchor=anchor_or_none, class_=class_ or None)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Html:
    """Return a straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def x_axis(scale: Scale, *, top: float, bottom: float, label: str) -> list[Html]:
    """Return ticks below a drawing with lines up to its top, and what the axis is."""
    marks = []
    for tick in _apart(scale):
        x = scale.place(tick)
        marks += [
            line(x, top, x, bottom, "zero" if tick == 0 else "grid"),
            text(x, bottom + 14, shown(tick)),
        ]
    middle = (scale.start + scale.end) / 2
    return [*marks, text(middle, bottom + 30, label, class_="axis")]


def y_axis(scale: Scale, *, left: float, right: float, label: str) -> list[Html]:
    """Return ticks left of a drawing with lines across it, and what the axis is."""
    marks = []
    for tick in scale.ticks():
        y = scale.place(tick)
        marks += [
            line(left, y, right, y, "zero" if tick == 0 else "grid"),
            text(left - 5, y + 4, shown(tick), anchor="end"),
        ]
    return [*marks, sideways(label, (scale.start + scale.end) / 2)]


def sideways(label: str, y: float) -> Html:
    """Return the name of a vertical axis."""
    turned = f"translate(12 {y:g}) rotate(-90)"
    return element("text", label, transform=turned, text_anchor="middle", class_="axis")


def whisker(low: float, high: float, across: float, *, is_vertical: bool) -> list[Html]:
    """Return an interval as a line with an end mark at either side."""
    ends = [(low, across - 3.5, low, across + 3.5), (high, across - 3.5, high, across + 3.5)]
    spans = [(low, across, high, across), *ends]
    if is_vertical:
        spans = [(y1, x1, y2, x2) for x1, y1, x2, y2 in spans]
    return [line(*span, "whisker") for span in spans]


def interval_in_words(low: float | None, high: float | None) -> str:
    """Return an interval as it is read aloud; nothing where there is none."""
    if low is None or high is None:
        return ""
    return f" ({printed(low, '+.2f')} to {printed(high, '+.2f')})"


def longest(names: Iterable[str]) -> float:
    """Return how wide the longest of some texts may be."""
    return LETTER * max(map(len, names), default=0)


def shortened(name: str, width: float) -> str:
    """Return a text that fits; what is cut off is an ellipsis."""
    room = int(width / LETTER)
    return name if len(name) <= room else name[: max(room - 1, 1)] + "…"


def _apart(scale: Scale) -> list[float]:
    """Ticks whose labels do not touch: every second one where they would."""
    ticks = scale.ticks()
    room = abs(scale.end - scale.start) / max(len(ticks), 1)
    return ticks if room > longest(map(shown, ticks)) + 4 else ticks[::2]


def stacked(charts: Sequence[Chart], *, columns: int = 1) -> str:
    """Return charts in a file, line by line, each under its title and the names of its colours.

    Args:
        charts: What is drawn.
        columns: So many stand side by side; the file is as wide as with one.
    """
    parts: list[Html] = []
    y = 0
    for first in range(0, len(charts), columns):
        abreast = [_with_head(chart) for chart in charts[first : first + columns]]
        for i, (marks, _) in enumerate(abreast):
            parts.append(element("g", marks, transform=f"translate({i * WIDTH} {y})"))
        y += max(height for _, height in abreast)
    page = element("rect", width="100%", height="100%", class_="page")
    inside = (element("style", Html(style())), page, parts)
    size = _size(y, columns=columns, zoom=2 / columns)
    return element("svg", *inside, xmlns="http://www.w3.org/2000/svg", **size) + "\n"


def _with_head(chart: Chart) -> tuple[list[Html], int]:
    """A chart under its title and legend, and how tall they are together."""
    drawn = chart.svg()
    parts = [text(WIDTH / 2, 14, chart.title, class_="axis")]
    y = TITLE_LINE
    for names in _rows(chart.key()) if len(chart.key()) > 1 else []:
        parts += _names(names, y + 14)
        y += TITLE_LINE
    parts.append(element("g", drawn, transform=f"translate(0 {y})"))
    return parts, y + _height(drawn)


def _rows(colours: Mapping[str, str]) -> list[dict[str, str]]:
    """Names and their colours, cut into lines that fit."""
    rows: list[dict[str, str]] = [{}]
    for name, colour in colours.items():
        if rows[-1] and FIRST_NAME + sum(map(_room, rows[-1])) + _room(name) > WIDTH:
            rows.append({})
        rows[-1][name] = colour
    return rows


def _room(name: str) -> float:
    """How far the next name stands to the right."""
    return 24 + LETTER * len(name)


def _names(colours: Mapping[str, str], y: float) -> list[Html]:
    """Names beside dots, in one line."""
    marks, x = [], FIRST_NAME
    for name, colour in colours.items():
        dot = element("circle", cx=x, cy=y - 4, r=3.5)
        marks += [element("g", dot, class_=f"marks {colour}"), text(x + 8, y, name, anchor="start")]
        x += _room(name)
    return marks


def _height(drawn: Html) -> int:
    return int(drawn.partition(' height="')[2].partition('"')[0])
