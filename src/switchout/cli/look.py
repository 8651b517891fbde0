"""One look for the help of all verbs, and one way to build their parsers.

Verbs declare what they take; how help looks is decided here: ``-h`` everywhere, every default
shown, names of values that say what they are, options in groups, 80 columns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import typer
from typer.core import TyperCommand

SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 80, "show_default": True}
# What typer and click call the types of values, and what we call them.
NAMES = {
    "path": "FILE",
    "int": "N",
    "integer": "N",
    "float": "NUMBER",
    "str": "TEXT",
    "text": "TEXT",
}
TYPE = re.compile(
    r" <?(?:list\[)?(path|integer|int|float|str|text)(?: range)?\]?>?$", flags=re.IGNORECASE
)


class Verb(TyperCommand):
    """A command whose help names its values and lists its options in groups.

    An option's group is its ``rich_help_panel``.
    """

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then a section for each group of options."""
        for title, records in self._groups(ctx):
            with formatter.section(title):
                formatter.write_dl(records, col_max=24)

    def _groups(self, ctx: Any) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            is_option = parameter.param_type_name == "option"
            default = "Options" if is_option else "Arguments"
            title = getattr(parameter, "rich_help_panel", None) or default
            if record is not None:
                names = TYPE.sub(lambda found: f" {NAMES[found[1].lower()]}", record[0])
                groups.setdefault(title, []).append((names, record[1]))
        last = groups.pop("Options", [])  # what is common to all verbs stands at the end
        yield from groups.items()
        if last:
            yield "Options", last


def parser(app: typer.Typer) -> Any:
    """Return the parser of a verb (or of a family of them, as ``switchout data`` is)."""
    for info in app.registered_commands:
        info.cls = Verb
        info.context_settings = SETTINGS
    app.info.context_settings = SETTINGS
    return typer.main.get_command(app)
