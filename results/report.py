"""Make the report of a declared study from its table: python results/report.py NAME… --out DIR

The page is the one of ``switchout report``, without what needs the texts of the runs. The corpus
has to be at hand (``SWITCHOUT_DATA``), the runs need not. Several studies are corrected together.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from declared import experiment_of
from studies import distance_slope
from table import read

from switchout.errors import SwitchOutError
from switchout.experiments.experiment import Experiment
from switchout.report.write import write_pages


def _from_its_table(name: str) -> Experiment:
    slope = distance_slope() if name == "en-vi" else None
    other_p = (slope.p,) if slope else ()
    study = read(name)
    experiment = experiment_of(name, find=study.kept, other_p=other_p)
    if not any(job.key in study.runs for job in experiment.jobs()):
        raise SwitchOutError(
            f"{name}: the corpus that was found under the name of the study's is another one; "
            f"studies/{name}.md says which it is"
        )
    return experiment


def main() -> None:
    """Write a folder per study."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("names", nargs="+", metavar="NAME", help="of studies with a table here")
    parser.add_argument("--out", type=Path, required=True, help="folder of the pages")
    given = parser.parse_args()
    try:
        pages = {given.out / name: _from_its_table(name) for name in given.names}
        for folder in pages:
            folder.mkdir(parents=True, exist_ok=True)
        write_pages(pages)
    except (SwitchOutError, OSError) as error:
        parser.error(str(error))
    for folder in pages:
        print(folder / "report.html")


if __name__ == "__main__":
    main()
