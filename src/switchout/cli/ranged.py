"""Numbers of the command line, checked against `switchout.ranges`. Not a verb itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer

from switchout.ranges import Real, Whole


def within(limits: Whole | Real) -> Callable[..., Any]:
    """Return a typer callback that refuses what is out of range, by the option's name.

    Example:
        typer.Option(callback=within(WORKERS), help="Threads.")
    """

    def check(param: typer.CallbackParam, value: Any) -> Any:
        return None if value is None else limits.check(value, max(param.opts, key=len))

    return check
