"""Options for a corpus that does not say from which language to which. Not a verb itself."""

from __future__ import annotations

from typing import Annotated

import typer

Source = Annotated[
    str | None, typer.Option(metavar="LANG", help="Source language, where the corpus is silent.")
]
Target = Annotated[
    str | None, typer.Option(metavar="LANG", help="Target language, where the corpus is silent.")
]


def direction(source: str | None, target: str | None) -> list[str]:
    """Return them as settings of a configuration.

    Example:
        >>> direction("de", None)
        ['data.source="de"']
    """
    given = {"data.source": source, "data.target": target}
    return [f'{key}="{value}"' for key, value in given.items() if value is not None]
