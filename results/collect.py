"""Copy the numbers of an experiment's finished runs here: python results/collect.py DIR NAME

A file per run: the rows it is in, configuration, result.json and record.json, no model and no
sentence. A run that only chose settings on dev is in no row; it says for which it was tried.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from switchout.errors import SwitchOutError
from switchout.experiments.experiment import Column, Experiment, load, records


def main(source: Path, name: str) -> None:
    experiment = load(source)
    target = Path(__file__).parent / name
    target.mkdir(exist_ok=True)
    for column in experiment.columns:
        for key, run in collect(experiment, column).items():
            text = json.dumps(run, indent=1, ensure_ascii=False) + "\n"
            (target / f"{key}.json").write_text(text, encoding="utf-8")
    print(f"{len(list(target.glob('*.json')))} runs in {target}")


def collect(experiment: Experiment, column: Column) -> dict[str, dict]:
    """Return all runs by their key; two rows may share some."""
    found: dict[str, dict] = {}
    groups = {"": column.rows, **column.tried}
    for tried_for, rows in groups.items():
        for row in records(experiment, rows):
            for run in row.runs:
                config = row.row.config.model_dump() | {"seed": run.seed}
                config["data"]["corpus"] = Path(config["data"]["corpus"]).name  # no machine's path
                facts = {"corpus": column.name, "rows": [], "tried_for": tried_for}
                results = {"config": config, "result": run.result, "record": run.record}
                found.setdefault(run.folder.name, {**facts, **results})["rows"].append(row.name)
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("dir", type=Path, help="what --out named")
    parser.add_argument("name", help="of the folder here")
    given = parser.parse_args()
    try:
        main(given.dir, given.name)
    except SwitchOutError as error:
        parser.error(str(error))
