"""Make the report of a declared study from its table: python results/report.py NAME… --out DIR

The page is the one of ``switchout report``, without what needs the texts of the runs. The corpus
has to be at hand (``SWITCHOUT_DATA``), the runs need not. Several studies are corrected together.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from effects import DECLARED
from table import read

from switchout.errors import SwitchOutError
from switchout.experiments.experiment import CorpusRows, Experiment
from switchout.experiments.reproduce import corpus_title
from switchout.experiments.sweep import read_sweep
from switchout.report.write import write_pages


def experiment_of(name: str) -> Experiment:
    """Return a study as it was declared, with the runs of its table as its runs."""
    path = DECLARED / f"{name}.toml"
    rows = tuple(read_sweep(path))
    command = f"switchout sweep studies/{path.name} --out studies-out/{name}"
    planned = CorpusRows(corpus_title(rows[0].config), rows)
    return Experiment("sweep", (planned,), command, find=read(name).kept)


def main() -> None:
    """Write a folder per study."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("names", nargs="+", metavar="NAME", help="of studies with a table here")
    parser.add_argument("--out", type=Path, required=True, help="folder of the pages")
    given = parser.parse_args()
    try:
        studies = {given.out / name: experiment_of(name) for name in given.names}
        for folder in studies:
            folder.mkdir(parents=True, exist_ok=True)
        write_pages(studies)
    except (SwitchOutError, OSError) as error:
        parser.error(str(error))
    for folder in studies:
        print(folder / "report.html")


if __name__ == "__main__":
    main()
