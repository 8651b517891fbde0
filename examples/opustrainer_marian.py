"""OpusTrainer in front of Marian: SwitchOut as a modifier of its YAML; ``cat`` stands for Marian.

python examples/opustrainer_marian.py
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from switchout.corpora import open_corpus

CONFIG = """
datasets: {clean: train.tsv}
stages: [start]
start:
  - clean 1.0
  - until clean 2
modifiers:
  - SwitchOut: 1.0              # share of the lines that it looks at
    tau_x: 1.0
    tau_y: 1.1
    vocab_src: vocab.de         # one word a line; relative to this file
    vocab_trg: vocab.en
  - UpperCase: 0.05
seed: 1111
trainer: cat                    # marian --tsv --train-sets stdin …
"""

folder = Path(tempfile.mkdtemp())
(folder / "config.yml").write_text(CONFIG)
german, english = (side[:200] for side in open_corpus("phrasebook").pairs("train"))
pairs = "".join(f"{a}\t{b}\n" for a, b in zip(german, english))
(folder / "train.tsv").write_text(pairs, "utf-8")
for name, lines in (("de", german), ("en", english)):
    words = sorted({word for line in lines for word in line.split()})
    (folder / f"vocab.{name}").write_text("\n".join(words) + "\n", "utf-8")

command = [sys.executable, "-m", "switchout.integrations.opustrainer", "-c", "config.yml"]
done = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True)
lines = done.stdout.splitlines()
print("\n".join(lines[:3]))
print(len(lines), "lines, of them changed:", sum(line not in pairs for line in lines))
