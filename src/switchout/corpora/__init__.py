"""Parallel corpora: real data in, clean ids out.

`open_corpus` finds the text, `codec` turns it into ids and back, `encoded` keeps the ids on disk.
"""

from switchout.corpora.corpus import BleuSpec, Corpus
from switchout.corpora.opening import open_corpus

__all__ = ["BleuSpec", "Corpus", "open_corpus"]
