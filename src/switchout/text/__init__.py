"""Whole corpora as text: `augment_files` for files of any size, `augment_lines` for iterators."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from switchout.text.files import augment_files
    from switchout.text.lines import augment_lines

__all__ = ["augment_files", "augment_lines"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module = import_module(f"switchout.text.{name.removeprefix('augment_')}")
    return getattr(module, name)
