"""Templates of the package, filled in and escaped."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from switchout.errors import SwitchOutError
from switchout.report import charts

if TYPE_CHECKING:
    from jinja2 import Environment


def render(template: str, context: Mapping[str, Any]) -> str:
    """Return one of the package's templates filled in, everything escaped."""
    return _environment().get_template(template).render(context)


@cache
def _environment() -> Environment:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise SwitchOutError("HTML reports need jinja2: pip install 'switchout[report]'") from None
    environment = Environment(
        loader=PackageLoader("switchout.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        width=charts.WIDTH, height=charts.HEIGHT, left=charts.LEFT, right=charts.RIGHT
    )
    return environment
