"""eole: its own YAML, run with our command; then a stock eole translates with the model.

python examples/eole_train.py
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from switchout.corpora import open_corpus

CONFIG = """
seed: 1
src_vocab: vocab.de
tgt_vocab: vocab.en
overwrite: true
data:
  corpus_1: {path_src: train.de, path_tgt: train.en}
  valid: {path_src: dev.de, path_tgt: dev.en}
transforms: [switchout_exact]
transforms_configs:
  switchout_exact: {tau_x: 1.0, tau_y: 1.1}   # temperatures of the paper's text, one a side
training:
  train_steps: 20
  valid_steps: 20
  save_checkpoint_steps: 20
  model_path: model
  batch_type: tokens
  batch_size: 512
  bucket_size: 300
  compute_dtype: fp32
model:
  architecture: transformer
  hidden_size: 32
  embeddings: {word_vec_size: 32, position_encoding_type: SinusoidalInterleaved}
  encoder: {layers: 1, heads: 2, transformer_ff: 64}
  decoder: {layers: 1, heads: 2, transformer_ff: 64}
"""

folder = Path(tempfile.mkdtemp())
(folder / "config.yaml").write_text(CONFIG)
for part, n in (("train", 300), ("dev", 10)):
    for name, lines in zip(("de", "en"), open_corpus("phrasebook").pairs(part)):
        (folder / f"{part}.{name}").write_text("\n".join(lines[:n]) + "\n", "utf-8")
        if part == "train":
            words = sorted({word for line in lines for word in line.split()})
            (folder / f"vocab.{name}").write_text("\n".join(words) + "\n", "utf-8")

train = [sys.executable, "-m", "switchout.integrations.eole", "train", "-c", "config.yaml"]
subprocess.run(train, cwd=folder, check=True)
eole = str(Path(sys.executable).with_name("eole"))
predict = [eole, "predict", "-model_path", "model", "-src", "dev.de", "-output", "out.en"]
predict += ["-beam_size", "1", "-max_length", "20"]
subprocess.run(predict, cwd=folder, check=True)
print(len((folder / "out.en").read_text("utf-8").splitlines()), "lines translated in", folder)
