"""Whole corpora as text: files of any size, or the sentences that a program has in its hands."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from switchout.text.file_augmenter import augment_files
    from switchout.text.line_augmenter import LineAugmenter, augment_lines

_HOME = {
    "augment_files": "file_augmenter",
    "augment_lines": "line_augmenter",
    "LineAugmenter": "line_augmenter",
}
__all__ = ["LineAugmenter", "augment_files", "augment_lines"]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"switchout.text.{_HOME[name]}"), name)
    globals()[name] = value
    return value
