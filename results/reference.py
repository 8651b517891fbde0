"""Ship a finished demo of many seeds as the package's reference: python results/reference.py DEMO

Made by ``switchout demo --full --seeds 9``; the studies shown beside it are those of make.py.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from switchout.errors import SwitchOutError
from switchout.experiments.reference import (
    SHIPPED,
    read_reference,
    reference_of,
    write_reference,
)
from switchout.report.write import write_report

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("demo", type=Path, help="what --out named")
    folder = parser.parse_args().demo
    try:
        reference = reference_of(folder, write_report(folder)["answers"])
    except SwitchOutError as error:
        parser.error(str(error))
    before = read_reference(SHIPPED)
    write_reference(replace(reference, studies=before.studies if before else ()), SHIPPED)
    print(f"reference: {SHIPPED.name}, {reference.n_seeds} seeds a row")
