"""The compiled core: the loops that decide bits, in C (docs/core.md)."""

from __future__ import annotations

try:
    from switchout.core import _core as compiled
except ImportError as error:  # a source tree in which nothing was built
    raise ImportError(
        f"the compiled core of switchout is missing ({error}): run `make core`, or pip install"
    ) from None

__all__ = ["compiled"]
