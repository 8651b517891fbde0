"""Charts in a file of their own: SVG that any program shows, style inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from switchout.report.charts.figure import LETTER, WIDTH, size, text
from switchout.report.elements import Html, element
from switchout.report.style import style

LINE = 20


class Panel(Protocol):
    """A chart that can stand in a file."""

    @property
    def title(self) -> str: ...
    def svg(self) -> Html: ...
    def key(self) -> Mapping[str, str]: ...


def stacked(panels: Sequence[Panel]) -> str:
    """Return charts one below the other, each under its title and the names of its colours."""
    parts: list[Html] = []
    y = 0
    for panel in panels:
        drawn = panel.svg()
        parts.append(text(WIDTH / 2, y + 14, panel.title, class_="axis"))
        names = _key(panel.key(), y + 14 + LINE) if len(panel.key()) > 1 else []
        y += LINE * (1 + bool(names))
        parts += [*names, element("g", drawn, transform=f"translate(0 {y})")]
        y += _height(drawn)
    page = element("rect", width="100%", height="100%", class_="page")
    inside = (element("style", Html(style())), page, parts)
    return element("svg", *inside, xmlns="http://www.w3.org/2000/svg", **size(y, zoom=2)) + "\n"


def _key(colours: Mapping[str, str], y: float) -> list[Html]:
    """Names beside dots, in one line."""
    marks, x = [], 10.0
    for name, colour in colours.items():
        dot = element("circle", cx=x, cy=y - 4, r=3.5)
        marks += [element("g", dot, class_=f"marks {colour}"), text(x + 8, y, name, anchor="start")]
        x += 24 + LETTER * len(name)
    return marks


def _height(drawn: Html) -> int:
    return int(drawn.partition(' height="')[2].partition('"')[0])
