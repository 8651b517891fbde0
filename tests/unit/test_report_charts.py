"""Charts: every axis has ticks, nothing is cut off, one row has one colour, words for all marks."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from switchout.experiments.paper import TABLE1_ROWS, TABLE2_ROWS, tuned_name
from switchout.report.charts import (
    BarChart,
    Difference,
    ForestPlot,
    HeatMap,
    Line,
    LineChart,
    Series,
    stacked,
)
from switchout.report.charts.chart import LETTER, WIDTH
from switchout.report.charts.scale import Scale
from switchout.report.colours import colours_of
from switchout.report.elements import element, join

NASTY = '<b>R&D</b> "x"'
LONG = ["< 0.333", "0.333–0.444", "0.444–0.556", "0.556–0.667", "≥ 0.667"]
SVG = "{http://www.w3.org/2000/svg}"  # as ElementTree names it
CHARTS = {
    "lines": LineChart(
        NASTY,
        [Line(NASTY, [(100, 5.5), (3000, 8.9)]), Line("b", [])],
        True,
        x_label="step",
        y_label="perplexity",
    ),
    "one point": LineChart("t", [Line("a", [(100, 5.0)])], True, x_label="step", y_label="y"),
    "below zero": LineChart("t", [Line("a", [(0, -5.0), (9, 1.0)])], x_label="x", y_label="y"),
    "bars": BarChart(
        NASTY,
        LONG,
        [Series(NASTY, [0.5, None, -1, 0, 2], [0, None, -2, 0, 1], [1, None, 0, 0, 4])],
        y_label="Δ BLEU",
        x_label="WER",
    ),
    "law": BarChart(
        "t",
        [str(i) for i in range(40)],
        [Series("exact", [0.1] * 40)],
        y_label="p",
        x_label="words",
    ),
    "forest": ForestPlot(
        NASTY,
        [
            Difference("Transformer", "Transformer", None, dots=[-0.4, 0.4]),
            Difference("+RAML +WordDropout and a name without end", "Transformer", -1, -3, 1, [-1]),
            Difference(NASTY, "Transformer", 0.5, None, None, [0.5]),
            Difference(NASTY, "+RAML", 0.2, -0.5, 0.9, [0.1, 0.3]),
        ],
        x_label="Δ BLEU",
    ),
    "heat map": HeatMap(
        NASTY, ["0", "1"], ["0", "1.111"], [[1, 2], [None, 3]], x_label="tau_x", best=(1, 1)
    ),
}


@pytest.fixture(params=list(CHARTS))
def chart(request):
    return CHARTS[request.param]


def texts(drawn: str) -> list[ElementTree.Element]:
    return [node for node in ElementTree.fromstring(drawn).iter() if node.tag == "text"]


def test_chart_is_well_formed_and_escaped(chart):
    tree = ElementTree.fromstring(chart.html())
    assert tree.find("figcaption").text == chart.title
    assert not list(tree.iter("b"))


def test_text_is_within_the_drawing(chart):
    for node in texts(chart.svg()):
        if "transform" in node.attrib:
            continue
        x, width = float(node.get("x")), LETTER * len(node.text or "")
        left = x - {None: 0.0, "middle": 0.5, "end": 1.0}[node.get("text-anchor")] * width
        assert left > -1, node.text
        assert left + width < WIDTH + 1, node.text


def test_labels_of_an_axis_do_not_touch(chart):
    by_line: dict[str, list[tuple[float, float]]] = {}
    for node in texts(chart.svg()):
        if node.get("text-anchor") == "middle" and node.get("y") and node.text:
            half = LETTER * len(node.text) / 2
            by_line.setdefault(node.get("y"), []).append((float(node.get("x")), half))
    for line in by_line.values():
        for (x1, half1), (x2, half2) in zip(sorted(line), sorted(line)[1:], strict=False):
            assert x1 + half1 < x2 - half2 + 1


def test_all_marks_are_reached_by_keyboard_and_said_in_words(chart):
    groups = [g for g in ElementTree.fromstring(chart.svg()).iter("g") if g.get("tabindex")]
    assert groups
    for group in groups:
        assert group.get("aria-label")
        assert group.find("title").text == group.get("aria-label")
    assert ElementTree.fromstring(chart.svg()).get("aria-label") == chart.title


def test_forest_plot_says_both_comparisons():
    drawn = CHARTS["forest"].svg()
    said = [g.get("aria-label") for g in ElementTree.fromstring(drawn).iter("g")]
    assert f"{NASTY} against +RAML: +0.20 (−0.50 to +0.90); 2 runs" in said
    assert "Transformer; 2 runs" in said
    assert "vs +RAML" in [node.text for node in texts(drawn)]
    assert drawn.count('class="run"') == 6


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0, 1.0, 3.2], [0, 1, 2, 3, 4]),
        ([-0.03, 0.02], [-0.03, -0.02, -0.01, 0, 0.01, 0.02]),
        ([0.0], [-0.5, 0, 0.5]),
        ([-250.0, 0], [-250, -200, -150, -100, -50, 0]),
    ],
    ids=["positive", "around zero", "all zero", "negative"],
)
def test_ticks_are_round_and_span_the_values(values, expected):
    assert Scale.over(values, start=0, end=1).rounded().ticks() == pytest.approx(expected)


@pytest.mark.parametrize("high", [1.01, 1.2, 1.6, 2.1, 3.3, 8, 12, 90, 4000, 1e7])
@pytest.mark.parametrize("low", [0.02, 1, 3.7, 5.5, 9.4, 11])
def test_a_logarithmic_axis_always_has_ticks(low, high):
    scale = Scale.over([low, low * high], start=0, end=1, is_log=True)
    assert 3 <= len(scale.ticks()) <= 12
    assert all(low <= tick <= low * high for tick in scale.ticks())


def test_a_row_has_one_colour_in_every_table_and_chart():
    first, second = colours_of(TABLE1_ROWS), colours_of([*TABLE2_ROWS, "mine"])
    assert len({*first.values()}) == 6
    assert all(first[name] == second[name] for name in first if name in second)
    assert colours_of([tuned_name("+SwitchOut")]) == {"+SwitchOut, tuned": "s2 hollow"}
    assert second["+BT +RAML"] == f"{first['+RAML']} hollow"
    assert second["mine"] not in [second[name] for name in TABLE2_ROWS]


def test_more_names_than_colours_are_told_apart():
    names = [f"row {i}" for i in range(12)]
    assert len({*colours_of(names).values()}) == 12
    lines = [Line(name, [(1.0, 2.0), (2.0, 3.0)]) for name in names]
    assert LineChart("t", lines).svg().count('class="marks s1 hollow"') == 1


def test_negative_numbers_have_a_real_minus(chart):
    assert not re.search(r"-\d", "".join(ElementTree.fromstring(chart.svg()).itertext()))
    for group in ElementTree.fromstring(chart.svg()).iter("g"):
        assert not re.search(r"-\d", group.get("aria-label") or "")


def test_intervals_enclose_their_bars():
    tree = ElementTree.fromstring(CHARTS["bars"].svg())
    [group] = [g for g in tree.iter("g") if g.get("tabindex")]
    assert len(list(group.iter("rect"))) == 4
    whiskers = [[float(x.get(k)) for k in ("y1", "y2")] for x in group.iter("line")][::3]
    places = [float(r.get("y")) for r in group.iter("rect")]
    for (low, high), place in zip(whiskers, places, strict=True):
        assert high <= place <= low  # svg: down is positive


def _places(svg: str) -> list[str]:
    """Where the charts of a file begin."""
    groups = ElementTree.fromstring(svg).findall(f"{SVG}g")
    return [place for g in groups if (place := g.get("transform"))]


def test_charts_in_a_file_are_below_each_other():
    chart = CHARTS["bars"]
    height = 20 + int(ElementTree.fromstring(chart.svg()).get("height"))
    svg = stacked([chart, chart])
    assert _places(svg) == ["translate(0 0)", f"translate(0 {height})"]
    assert f'viewBox="0 0 {WIDTH} {2 * height}"' in svg


def test_charts_in_columns_make_a_file_of_the_same_width():
    low, high = CHARTS["bars"], CHARTS["forest"]
    svg = stacked([low, high, low], columns=2)
    tallest = 20 + max(int(ElementTree.fromstring(c.svg()).get("height")) for c in (low, high))
    places = ["translate(0 0)", f"translate({WIDTH} 0)", f"translate(0 {tallest})"]
    assert _places(svg) == places
    widths = {ElementTree.fromstring(one).get("width") for one in (svg, stacked([low]))}
    assert widths == {str(2 * WIDTH)}


def test_a_legend_in_a_file_has_as_many_lines_as_it_needs():
    names = [f"a row with a name {i}" for i in range(5)] + ["x" * 80]
    lines = [Line(name, [(1.0, 2.0), (2.0, 3.0)]) for name in names]
    chart = ElementTree.fromstring(stacked([LineChart("t", lines)])).find(f"{SVG}g")
    legend = {t.text: t for t in chart.findall(f"{SVG}text") if t.text in names}
    assert [*legend] == names
    for name in names[:5]:
        assert float(legend[name].get("x")) + LETTER * len(name) < WIDTH
    rows = [float(legend[name].get("y")) for name in names]
    assert len({*rows}) == 4  # two of five in a line, and the one that fits nowhere
    [drawing] = [g for g in chart.findall(f"{SVG}g") if g.get("transform")]
    assert drawing.get("transform") == f"translate(0 {20 * 5})"
    assert max(rows) < 20 * 5


def test_attributes_and_text_are_escaped():
    assert element("a", NASTY, title=NASTY) == (
        '<a title="&lt;b&gt;R&amp;D&lt;/b&gt; &quot;x&quot;">&lt;b&gt;R&amp;D&lt;/b&gt; "x"</a>'
    )
    assert join([element("i", "a"), "<", None]) == "<i>a</i>&lt;"
    assert not re.search("<b>", CHARTS["forest"].html())
