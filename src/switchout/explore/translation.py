"""Translations by the runs of a folder: models are opened when first asked and kept, a few."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from switchout.errors import TRAINING, SwitchOutError, needs
from switchout.explore.catalogue import Catalogue

if TYPE_CHECKING:
    from switchout.runs.trained import OpenRuns

MOST_MODELS = 4


@dataclass(frozen=True)
class Translated:
    """What a run made of a sentence."""

    run: str
    text: str
    score: float
    seconds: float


class Translators:
    """Runs that are ready to translate; one sentence at a time, as two cores have no more."""

    def __init__(self, catalogue: Catalogue):
        self._catalogue = catalogue
        self._open: OrderedDict[str, tuple[int, OpenRuns]] = OrderedDict()
        self._lock = Lock()

    def translate(self, run: str, line: str, *, beam: int = 5) -> Translated:
        """Return the best translation of a line."""
        folder = self._catalogue.folder(run)
        with needs(*TRAINING, where="translating"):
            from switchout.nmt.translate import translate_windows
        with self._lock:
            opened = self._opened(run, folder)
            began = time.perf_counter()
            options = opened.options(beam=beam)
            ((best, *_),) = next(
                translate_windows(opened.searcher, [[line]], opened.codecs, options=options)
            )
        return Translated(run, best.text, best.score, time.perf_counter() - began)

    def _opened(self, run: str, folder: Path) -> OpenRuns:
        from switchout.runs.trained import OpenRuns

        stamp = _stamp(folder)
        known = self._open.get(run)
        if known is None or known[0] != stamp:
            self._open[run] = known = stamp, OpenRuns([folder])
        self._open.move_to_end(run)
        while len(self._open) > MOST_MODELS:
            self._open.popitem(last=False)
        return known[1]


def _stamp(folder: Path) -> int:
    """Return what changes when the run selects other weights."""
    path = folder / "result.json"
    if not path.exists():
        raise SwitchOutError(f"run {folder.name} has no selected weights yet: it is not finished")
    return path.stat().st_mtime_ns
