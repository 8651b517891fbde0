"""Fine-tune a decoder-only model on prompts and completions with TRL: two lines more.

python examples/trl_sft.py              # a tiny random model, offline, in seconds; or:
python examples/trl_sft.py Qwen/Qwen3-0.6B-Base train.de train.en

Completions change (RAML), in what the model reads and in its labels. Prompts change (SwitchOut)
outside of their instruction.
"""

import sys

from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from trl import SFTConfig, SFTTrainer

from switchout.corpora import open_corpus
from switchout.files import read_lines
from switchout.integrations.huggingface import switch_out  # the first line

INSTRUCTION = "Translate German to English:"


def tiny(lines):
    """Return a tokenizer trained on the lines and a random model."""
    bpe = Tokenizer(models.BPE(unk_token="<unk>"))
    bpe.pre_tokenizer = pre_tokenizers.Metaspace()
    how = trainers.BpeTrainer(vocab_size=500, special_tokens=["<eos>", "<pad>", "<unk>"])
    bpe.train_from_iterator(lines, how)
    names = {"eos_token": "<eos>", "pad_token": "<pad>", "unk_token": "<unk>"}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe, **names)
    size = {"n_embd": 32, "n_layer": 1, "n_head": 2, "bos_token_id": 0, "eos_token_id": 0}
    return tokenizer, GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), **size))


if len(sys.argv) == 4:
    german, english = map(read_lines, sys.argv[2:])
    tokenizer, model = None, sys.argv[1]
else:
    german, english = (side[:300] for side in open_corpus("phrasebook").pairs("train"))
    tokenizer, model = tiny([INSTRUCTION, *german, *english])

prompts = [f"{INSTRUCTION} {line}\n" for line in german]
rows = Dataset.from_dict({"prompt": prompts, "completion": list(english)})
parts = rows.train_test_split(0.1, seed=1)
data = {"train_dataset": parts["train"], "eval_dataset": parts["test"]}
arguments = SFTConfig("sft-switchout", num_train_epochs=2, report_to="none", bf16=False)
trainer = SFTTrainer(model, arguments, **data, processing_class=tokenizer)
n_fixed = len(trainer.processing_class(INSTRUCTION)["input_ids"])


def instruction(row):
    return [i < n_fixed for i in range(len(row["input_ids"]))]


switch_out(trainer, tau_x=1.0, tau_y=1.1, seed=1, frozen_x=instruction)  # the second
print(trainer.train().metrics, trainer.evaluate())
