"""One of two gloo processes: trains, and writes what its model read, epoch by epoch."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import toy_tokenizers as toys
import trainers
from switchout.integrations.huggingface import switch_out

folder = Path(sys.argv[1])
tokenizer = toys.marian(Path(tempfile.mkdtemp()))
train = trainers.tokenised(tokenizer, 48)
trainer = trainers.make(tokenizer, train, None, folder, ddp_backend="gloo")
switch_out(trainer, tau_x=1.0, tau_y=1.1, seed=5)
trainer.train()
seen = {epoch: trainer.pairs_of(epoch) for epoch in range(3)}
(folder / f"rank-{trainer.args.process_index}.json").write_text(json.dumps(seen))
