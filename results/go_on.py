"""Train what the table of a declared study lacks: python results/go_on.py NAME --runs DIR

For a machine without the folders of finished runs, which ``switchout sweep`` would train again. Run
it from a clone at the study's commit. The same command goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from declared import experiment_of
from table import HERE, read

from switchout.engines import Engine
from switchout.errors import SwitchOutError
from switchout.experiments.training import train_all
from switchout.runs.job import Job


def missing_jobs(name: str, runs: Path) -> list[Job]:
    """Return the runs of a study that its table does not have, in the order of the study."""
    kept = read(name).runs if (HERE / f"{name}.jsonl").is_file() else {}
    return [job for job in experiment_of(name, root=runs).jobs() if job.key not in kept]


def main() -> int:
    """Train them; fail if one did."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("name", help="of the study")
    parser.add_argument("--runs", type=Path, required=True, help="folder of the runs")
    parser.add_argument("--workers", type=int, default=None, help="runs at a time")
    given = parser.parse_args()
    try:
        jobs = missing_jobs(given.name, given.runs)
        failures = train_all(jobs, Engine(workers=given.workers), label=given.name)
    except (SwitchOutError, OSError) as error:
        parser.error(str(error))
    for failure in failures:
        print(f"{failure.job.label}: {failure.reason}", file=sys.stderr)
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
