"""Print the runs collected in a folder here as a Markdown table: python results/table.py NAME

Test BLEU of every seed and its median, by each of the three rules that choose a checkpoint; by the
first, the paper's, also medians on dev and the chosen steps.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path
from statistics import median

from switchout.experiments.paper import TABLE1_ROWS, TABLE2_ROWS
from switchout.runs.finished import RULES

ORDER = list(dict.fromkeys((*TABLE1_ROWS, *TABLE2_ROWS)))


def main(folder: Path) -> None:
    rows: dict[str, list[dict]] = defaultdict(list)
    for path in folder.glob("*.json"):
        run = json.loads(path.read_text(encoding="utf-8"))
        for row in [] if run["tried_for"] else run["rows"]:
            rows[row].append(run)
    scores = [f"{rule}: median (seeds)" for rule in RULES]
    _print("row", *scores, "dev BLEU", "dev perplexity", "chosen steps")
    _print(*["---"] * (len(scores) + 4))
    for row in [*(name for name in ORDER if name in rows), *sorted({*rows} - {*ORDER})]:
        runs = sorted(rows[row], key=lambda run: run["config"]["seed"])
        bleu = [[run["record"]["rules"][rule]["test_bleu"] for run in runs] for rule in RULES]
        dev = [median(run["result"][key] for run in runs) for key in ("dev_bleu", "dev_perplexity")]
        _print(
            row,
            *(f"{median(b):.2f} ({', '.join(f'{one:.1f}' for one in b)})" for b in bleu),
            *(f"{number:.2f}" for number in dev),
            ", ".join(f"{run['result']['selected_step']:,}" for run in runs),
        )


def _print(*cells: str) -> None:
    print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("name", help="of a folder here")
    folder = Path(__file__).parent / parser.parse_args().name
    if not folder.is_dir():
        parser.error(f"{folder}: no such folder")
    main(folder)
