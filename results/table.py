"""Print the runs collected in a folder here as a Markdown table: python results/table.py NAME

Test BLEU of every seed and its median, by each of the three rules that choose a checkpoint.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections import defaultdict
from pathlib import Path

RULES = ("dev-perplexity", "dev-bleu", "last")


def main(name: str) -> None:
    rows: dict[str, list[dict]] = defaultdict(list)
    for path in (Path(__file__).parent / name).glob("*.json"):
        run = json.loads(path.read_text(encoding="utf-8"))
        for row in [] if run["tried_for"] else run["rows"]:
            rows[row].append(run)
    print("| row |" + "".join(f" {rule}: median (seeds) |" for rule in RULES) + " chosen steps |")
    print("|---" * (len(RULES) + 2) + "|")
    for row, runs in sorted(rows.items(), key=lambda item: (item[0].count("+"), item[0])):
        runs.sort(key=lambda run: run["config"]["seed"])
        cells = []
        for rule in RULES:
            bleu = [run["record"]["rules"][rule]["test_bleu"] for run in runs]
            seeds = ", ".join(f"{b:.1f}" for b in bleu)
            cells.append(f"{statistics.median(bleu):.2f} ({seeds})")
        steps = ", ".join(f"{run['result']['selected_step']:,}" for run in runs)
        print(f"| {row} | " + " | ".join(cells) + f" | {steps} |")


if __name__ == "__main__":
    main(sys.argv[1])
