"""Fine-tune NLLB, Marian, mBART or any other AutoModelForSeq2SeqLM with SwitchOut: two lines more.

python examples/nllb_finetune.py        # a tiny random model, offline, in seconds; or:
python examples/nllb_finetune.py facebook/nllb-200-distilled-600M train.de train.en
"""

import json
import sys

from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import (
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    DataCollatorForSeq2Seq,
    M2M100Config,
    NllbTokenizer,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
)

from switchout.corpora import open_corpus
from switchout.files import read_lines
from switchout.integrations.huggingface import switch_out  # the first line

LANGUAGES = {"src_lang": "deu_Latn", "tgt_lang": "eng_Latn"}


def tiny(lines):
    """Return a tokenizer trained on the lines and a random model, both of NLLB's kind."""
    bpe = Tokenizer(models.BPE(unk_token="<unk>"))
    bpe.pre_tokenizer = pre_tokenizers.Metaspace()
    how = trainers.BpeTrainer(vocab_size=500, special_tokens=["<s>", "<pad>", "</s>", "<unk>"])
    bpe.train_from_iterator(lines, how)
    made = json.loads(bpe.to_str())["model"]
    tokenizer = NllbTokenizer(made["vocab"], list(map(tuple, made["merges"])), **LANGUAGES)
    heads = {"encoder_attention_heads": 2, "decoder_attention_heads": 2, "d_model": 32}
    config = M2M100Config(vocab_size=len(tokenizer), encoder_layers=1, decoder_layers=1, **heads)
    return tokenizer, AutoModelForSeq2SeqLM.from_config(config)


if len(sys.argv) == 4:
    german, english = map(read_lines, sys.argv[2:])
    tokenizer = AutoTokenizer.from_pretrained(sys.argv[1], **LANGUAGES)
    model = AutoModelForSeq2SeqLM.from_pretrained(sys.argv[1])
else:
    german, english = (side[:300] for side in open_corpus("phrasebook").pairs("train"))
    tokenizer, model = tiny([*german, *english])

rows = Dataset.from_dict(
    dict(tokenizer(german, text_target=english, max_length=64, truncation=True))
)
parts = rows.train_test_split(0.1, seed=1)
arguments = Seq2SeqTrainingArguments("nllb-switchout", num_train_epochs=2, report_to="none")
data = {"train_dataset": parts["train"], "eval_dataset": parts["test"]}
data["data_collator"] = DataCollatorForSeq2Seq(tokenizer, model)
trainer = Seq2SeqTrainer(model, arguments, **data, processing_class=tokenizer)
switch_out(trainer, tau_x=1.0, tau_y=1.1, seed=1)  # the second
print(trainer.train().metrics, trainer.evaluate())
