"""Reports of every kind from made runs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from made_runs import finish_row, make_config, make_experiment, write_corpus

from switchout.experiments.experiment import Question, Row
from switchout.experiments.paper import table1_rows, table2_rows, tau_name, wer_rows, with_taus
from switchout.report.write import write_report
from switchout.runs.config import Config

TAUS = (1.0, 1.1)


def write_reports(folder: Path, kinds: Iterable[str]) -> dict[str, Path]:
    """Return the page of every kind; ``nothing learned`` is table 1 of runs that did not."""
    config = make_config(write_corpus(folder / "corpus"))
    return {kind: _write(kind, config, folder / kind.replace(" ", "-")) for kind in kinds}


def _write(kind: str, config: Config, folder: Path) -> Path:
    rows = _rows(kind, config)
    for i, row in enumerate(rows):
        wrong = 1.0 if kind == "nothing learned" else 0.25 - 0.03 * i
        finish_row(row, folder / "runs", test=wrong, dev=wrong, last=wrong)
    name = "table1" if kind == "nothing learned" else kind
    make_experiment(name, rows, folder / "runs", folder / "out")
    write_report(folder / "out")
    return folder / "out" / "report.html"


def _rows(kind: str, config: Config) -> list[Row]:
    if kind == "table2":
        data = config.data.model_copy(update={"train_pairs": 100})
        synthetic = config.model_copy(update={"data": data})
        return table2_rows(config, synthetic, taus=TAUS, n_seeds=3)
    if kind == "wer":
        return wer_rows(config, taus=TAUS, n_seeds=3)
    if kind == "tau":
        cells = [(x, y) for x in (0.0, 0.8, 1.0, 1.2) for y in (0.0, 0.9, 1.111)]
        return [Row(tau_name(*cell), with_taus(config, *cell), (1, 2)) for cell in cells]
    if kind == "sweep":
        asked = (Question(("no noise",), "C1", is_paired=True),)
        return [
            Row("no noise", config, (1, 2, 3)),
            *(
                Row(f"tau_x {tau}, tau_y 1", with_taus(config, tau, 1.0), (1, 2, 3), asked)
                for tau in (0.5, 0.8, 1.0)
            ),
        ]
    return table1_rows(config, taus=TAUS, n_seeds=4)
