"""One self-contained HTML page made of sections: text, tables, charts, examples.

Everything comes in as plain data and is escaped by the templates. The page needs no network:
style is inlined, charts are inline SVG, and it has no script.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from switchout.report.charts import Chart
from switchout.report.differences import Example
from switchout.report.heatmap import HeatMap
from switchout.report.lines import LineChart
from switchout.report.rendering import render
from switchout.report.tables import Table


@dataclass(frozen=True)
class Section:
    """A part of a page, with an entry in its table of contents.

    Attributes:
        title: Heading.
        text: Paragraphs.
        tables, charts, remarks, examples: Shown in this order; remarks are a list.
    """

    title: str
    text: Sequence[str] = ()
    tables: Sequence[Table] = ()
    charts: Sequence[Chart | HeatMap | LineChart] = ()
    remarks: Sequence[str] = ()
    examples: Sequence[Example] = ()


def render_page(
    title: str, sections: Sequence[Section], *, lead: Sequence[str] = (), made_by: str
) -> str:
    """Return a whole HTML page.

    Args:
        title: Of the page.
        sections: In order.
        lead: Paragraphs under the title: the answer.
        made_by: The line that identifies the page: version, data, settings.
    """
    context = {"title": title, "sections": sections, "lead": lead, "made_by": made_by}
    return render("page.html", context)
