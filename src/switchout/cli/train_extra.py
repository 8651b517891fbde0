"""What verbs say where torch is missing. Not a verb itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from switchout.errors import SwitchOutError


@contextmanager
def needs_train_extra() -> Iterator[None]:
    """Turn a failed import of torch or safetensors into advice."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "safetensors"):
            raise
        raise SwitchOutError(
            f"{error.name} is not installed: pip install 'switchout[train]'"
        ) from None
