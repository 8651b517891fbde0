"""Whole corpora as text: files of any size, or the sentences that a program has in its hands."""

from __future__ import annotations

from switchout.text.file_augmenter import augment_files
from switchout.text.line_augmenter import LineAugmenter, augment_lines

__all__ = ["LineAugmenter", "augment_files", "augment_lines"]
