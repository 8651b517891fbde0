"""Draw the layers of the package, from the arrows that tests/test_layering.py checks.

    python tools/layers_picture.py docs/images/layers.svg

A package stands above all that it may import. Arrows that follow from others are left out.
"""

from __future__ import annotations

import runpy
import sys
from functools import cache
from pathlib import Path

from switchout.report.elements import Html, element, join

ROOT = Path(__file__).parents[1]
ABOUT = {
    "cli": "a verb is a thin file",
    "explore": "pages to play with",
    "report": "renders, computes nothing",
    "experiments": "many runs",
    "runs": "one run",
    "integrations": "drop-ins for toolkits",
    "text": "corpora as text",
    "nmt": "the Transformer (torch)",
    "evaluation": "scores and tests",
    "policies": "what users name",
    "sampling": "law, address, backends",
    "corpora": "texts and vocabularies",
    "engines": "one pool: local, Ray",
    "core": "compiled, C",
    "files": "open and write safely",
}
COLUMNS = (
    ("integrations", "text", "policies", "sampling", "core"),
    ("cli", "explore", "report", "experiments", "runs", "nmt", "corpora"),
    ("evaluation", "engines"),
    ("files",),
)
BOX, GAP, ROW = (180.0, 46.0), 40.0, 78.0
STYLE = """
  text { font: 13px sans-serif; fill: #1f2328 } .about { font-size: 11px; fill: #59636e }
  .page { fill: #ffffff } .box { fill: #eef4fb; stroke: #2f81c7 }
  .arrow { stroke: #8c959f; fill: none }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .about { fill: #9198a1 } .page { fill: #0d1117 }
    .box { fill: #10243a; stroke: #3f8ede } .arrow { stroke: #656c76 }
  }"""


def arrows() -> dict[str, set[str]]:
    """Return which package may import which, without what follows from other arrows."""
    all_of = {
        k: set(v) for k, v in runpy.run_path(str(ROOT / "tests/test_layering.py"))["ARROWS"].items()
    }

    @cache
    def below(name: str) -> frozenset[str]:
        return frozenset(all_of[name]).union(*(below(other) for other in all_of[name]))

    return {
        name: {one for one in others if not any(one in below(other) for other in others - {one})}
        for name, others in all_of.items()
    }


def places(graph: dict[str, set[str]]) -> dict[str, tuple[float, float]]:
    """Return where each box stands: its height is the longest way down from it."""

    @cache
    def depth(name: str) -> int:
        return 1 + max((depth(other) for other in graph[name]), default=-1)

    top = max(map(depth, graph))
    return {
        name: (GAP + column * (BOX[0] + GAP), GAP + (top - depth(name)) * ROW)
        for column, names in enumerate(COLUMNS)
        for name in names
    }


def picture() -> str:
    """Return the drawing as SVG."""
    graph = arrows()
    at = places(graph)
    width = max(x for x, _ in at.values()) + BOX[0] + GAP
    height = max(y for _, y in at.values()) + BOX[1] + GAP
    lines = [
        element(
            "path",
            class_="arrow",
            d=f"M{x + BOX[0] / 2:.0f} {y + BOX[1]:.0f} L{at[o][0] + BOX[0] / 2:.0f} {at[o][1]:.0f}",
        )
        for name, (x, y) in at.items()
        for o in sorted(graph[name])
    ]
    boxes = [_box(name, x, y) for name, (x, y) in at.items()]
    drawing = element(
        "svg",
        element("title", "Layers of switchout: each package may import those below it", id="t"),
        element("style", Html(STYLE)),
        element("rect", class_="page", width=width, height=height),
        lines,
        boxes,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        role="img",
        aria_labelledby="t",
    )
    return f"{drawing}\n"


def _box(name: str, x: float, y: float) -> Html:
    size = {"width": BOX[0], "height": BOX[1]}
    middle = {"x": x + BOX[0] / 2, "text_anchor": "middle"}
    return join(
        [
            element("rect", class_="box", x=x, y=y, rx=6, **size),
            element("text", name, **middle, y=y + 20),
            element("text", ABOUT[name], class_="about", **middle, y=y + 36),
        ]
    )


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(picture(), encoding="utf-8")
