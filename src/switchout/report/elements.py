"""HTML and SVG as nested calls: text is escaped, unless it is `Html` already.

There are no templates: a component is a function or a method that returns `Html`. jinja2 takes
`Html` as it is, so that an application may put these components into its own templates.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from html import escape
from importlib.resources import files

VOID = frozenset({"br", "hr", "img", "input", "link", "meta"})  # elements without an end tag


class Html(str):
    """Markup, shown as it is."""

    __slots__ = ()

    def __html__(self) -> Html:
        return self


Child = str | None | Iterable["Child"]
Attribute = str | float | bool | None


def element(name: str, /, *children: Child, **attributes: Attribute) -> Html:
    """Return an element with its children; None and iterables are children too.

    A final underscore of an attribute is dropped, others become hyphens. None and False leave an
    attribute out, True writes its name alone.

    Example:
        >>> element("p", "1 < 2", element("br"), class_="note", data_rows=3, hidden=True)
        '<p class="note" data-rows="3" hidden>1 &lt; 2<br></p>'
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{join(children)}</{name}>")


def join(children: Child) -> Html:
    """Return children one after the other, each escaped if it is plain text.

    Example:
        >>> join(["a & b", None, [element("b", "c")]])
        'a &amp; b<b>c</b>'
    """
    if children is None:
        return Html("")
    if isinstance(children, Html):
        return children
    if isinstance(children, str):
        return Html(escape(children, quote=False))
    return Html("".join(map(join, children)))


@cache
def style() -> str:
    """Return the style sheet of all pages and drawings; colours follow the reader's setting."""
    return files("switchout.report").joinpath("style.css").read_text(encoding="utf-8")


def _attribute(key: str, value: Attribute) -> str:
    if value is None or value is False:
        return ""
    name = key.removesuffix("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(_plain(value))}"'


def _plain(value: str | float) -> str:
    """Coordinates to a tenth: enough for a drawing, and the same on every machine."""
    return f"{round(value, 1):g}" if isinstance(value, float) else str(value)
