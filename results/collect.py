"""Copy the numbers of an experiment's finished runs here: python results/collect.py DIR NAME

A file per run: configuration, result.json and record.json, no model and no sentence.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from switchout.experiments.experiment import load, records


def main(source: Path, name: str) -> None:
    target = Path(__file__).parent / name
    target.mkdir(exist_ok=True)
    experiment = load(source)
    for column in experiment.columns:
        for row in records(experiment, column):
            for run in row.runs:
                config = row.row.config.model_dump() | {"seed": run.seed}
                config["data"]["corpus"] = Path(config["data"]["corpus"]).name  # no machine's path
                facts = {"corpus": column.name, "row": row.name, "config": config}
                content = {**facts, "result": run.result, "record": run.record}
                text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
                (target / f"{run.folder.name}.json").write_text(text, encoding="utf-8")
    print(f"{len(list(target.glob('*.json')))} runs in {target}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
