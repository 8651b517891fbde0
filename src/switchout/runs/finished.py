"""What a finished run left: its result, what other checkpoint rules would say, its translations."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from switchout.errors import SwitchOutError
from switchout.evaluation.metrics import Array, Metric
from switchout.files import read_lines
from switchout.runs.sealed import check_files, read_sealed

log = logging.getLogger(__name__)

RULES = ("dev-perplexity", "dev-bleu", "last")
RECORD = "record.json"  # beside result.json: the other checkpoint rules, and where it was made


@dataclass(frozen=True)
class Finished:
    """What a finished run left.

    Attributes:
        folder: Where.
        result: ``result.json``.
        record: ``record.json``: ``rules`` (rule → step, dev_bleu, test_bleu), ``machine``.
    """

    folder: Path
    result: dict[str, Any]
    record: dict[str, Any]

    @property
    def seed(self) -> int:
        return int(self.result["seed"])

    @property
    def is_last(self) -> bool:
        """Whether the selected checkpoint is the last one."""
        return bool(self.result["selected_step"] == self.result["steps"])

    def number(self, name: str, *, rule: str | None = None) -> float:
        """Return a score, as selected or as another checkpoint rule would have it."""
        value = self.result[name] if rule is None else self.record["rules"][rule][name]
        return float(value)

    def lines(self, split: str, *, rule: str | None = None) -> list[str]:
        """Return the translations of ``dev`` or, by any rule, ``test``."""
        chosen = {"is_selected": True} if rule is None else self.record["rules"][rule]
        name = split if chosen["is_selected"] else f"{split}.step-{chosen['step']}"
        known = {**self.result.get("files", {}), **self.record.get("files", {})}
        advice = f"remove {self.folder / RECORD} and repeat the command that made it"
        check_files(
            self.folder, {k: v for k, v in known.items() if k == f"{name}.hyp"}, advice=advice
        )
        return read_lines(self.folder / f"{name}.hyp")

    def statistics(self, metric: Metric, split: str, *, rule: str | None = None) -> Array:
        """Return the statistics of its translations, [sentence, statistic]."""
        return metric.statistics(self.lines(split, rule=rule))


def finished(folder: Path) -> Finished | None:
    """Return what a run left, or None while it is not finished."""
    try:
        result, record = read_sealed(folder / "result.json"), read_sealed(folder / RECORD)
        is_done = result["state"] == "done" and record["steps"] == result["steps"]
        return Finished(folder, result, record) if is_done else None
    except (SwitchOutError, KeyError, TypeError) as error:
        if (folder / RECORD).exists():  # the last file to be written
            log.warning("%s: not used, as if it were not finished (%s)", folder, error)
        return None
