"""Charts as inline SVG: readable on a phone, by keyboard and by screen readers; no script."""

from switchout.report.charts.bars import BarChart, Series
from switchout.report.charts.chart import stacked
from switchout.report.charts.forest import Difference, ForestPlot
from switchout.report.charts.heatmap import HeatMap
from switchout.report.charts.lines import Line, LineChart

__all__ = [
    "BarChart",
    "Difference",
    "ForestPlot",
    "HeatMap",
    "Line",
    "LineChart",
    "Series",
    "stacked",
]
