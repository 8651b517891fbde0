"""A tiny translation model in a Hugging Face Trainer that remembers what the model read."""

from __future__ import annotations

import hashlib
from typing import Any

import torch
from datasets import Dataset
from transformers import (
    DataCollatorForSeq2Seq,
    MarianConfig,
    MarianMTModel,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
    TrainerCallback,
    logging,
)

import switchout as so
import toy_tokenizers as toys

logging.set_verbosity_error()
BATCH = 8


class Rows(torch.utils.data.Dataset):
    """A plain map-style set."""

    def __init__(self, rows: list[Any]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Any:
        return self.rows[index]


class Recording:
    """Of a Trainer: remembers what the model read."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.seen: list[tuple[int, dict[str, torch.Tensor]]] = []
        self.evaluated: list[dict[str, torch.Tensor]] = []
        self.epoch_now = -1
        self.add_callback(Epochs(self))

    def training_step(self, model: Any, inputs: Any, *args: Any, **settings: Any) -> Any:
        self.seen.append((self.epoch_now, {k: v.clone() for k, v in inputs.items()}))
        return super().training_step(model, inputs, *args, **settings)

    def prediction_step(self, model: Any, inputs: Any, *args: Any, **settings: Any) -> Any:
        self.evaluated.append({k: v.clone() for k, v in inputs.items()})
        return super().prediction_step(model, inputs, *args, **settings)

    def batches(self) -> list[dict[str, torch.Tensor]]:
        return [batch for _, batch in self.seen]

    def pairs_of(self, epoch: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Sorted (source, target) without padding, as the model read them in an epoch."""
        return sorted(pair for e, batch in self.seen if e == epoch for pair in pairs(batch))


class Recorder(Recording, Seq2SeqTrainer):
    pass


class OwnLoader(Recorder):
    """Has a loader of its own, ``own_loader``, as overridden methods in scripts do."""

    own_loader: Any = None

    def get_train_dataloader(self) -> Any:
        return self.accelerator.prepare(self.own_loader)


class Epochs(TrainerCallback):
    """Counts epochs for the recorder, apart from the callback under test."""

    def __init__(self, recorder: Recording) -> None:
        self.recorder = recorder

    def on_train_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        self.recorder.epoch_now = int(state.epoch or 0) - 1

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        self.recorder.epoch_now += 1


class EarlyEnd(TrainerCallback):
    """Ends every epoch after some steps."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.left = 0

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        self.left = self.steps

    def on_step_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        self.left -= 1
        control.should_epoch_stop = self.left == 0


def tokenised(tokenizer: Any, n: int, first: int = 0) -> Dataset:
    german, english = (list(side[first : first + n]) for side in toys.text())
    data = Dataset.from_dict({"de": german, "en": english})
    rows = tokenizer(german, text_target=english)
    for name in ("input_ids", "attention_mask", "labels"):
        data = data.add_column(name, rows[name])
    return data


def make(tokenizer: Any, train: Any, dev: Any, folder: Any, **settings: Any) -> Recorder:
    torch.manual_seed(0)
    config = MarianConfig(
        vocab_size=len(tokenizer), d_model=16, encoder_layers=1, decoder_layers=1,
        encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=16,
        decoder_ffn_dim=16, pad_token_id=tokenizer.pad_token_id, max_position_embeddings=64,
        eos_token_id=tokenizer.eos_token_id, decoder_start_token_id=tokenizer.pad_token_id,
        dropout=settings.pop("dropout", 0.1),
    )  # fmt: skip
    model = MarianMTModel(config)
    kind = settings.pop("kind", Recorder)
    steps = {"num_train_epochs": 3, "save_strategy": "no"} | settings
    arguments = Seq2SeqTrainingArguments(
        str(folder), per_device_train_batch_size=BATCH, report_to="none", disable_tqdm=True,
        use_cpu=True, learning_rate=1e-3, seed=1, dataloader_pin_memory=False,
        logging_strategy="no", **steps,
    )  # fmt: skip
    return kind(
        model, arguments, data_collator=DataCollatorForSeq2Seq(tokenizer, model),
        train_dataset=train, eval_dataset=dev, processing_class=tokenizer,
    )  # fmt: skip


def policies(
    tokenizer: Any, train: Any, *, tau_x: float, tau_y: float, seed: int, draw: str = "corpus"
) -> tuple[so.SwitchOut, so.RAML]:
    """What `switch_out` should use, made by hand."""
    seen = [train[key] if draw == "corpus" else None for key in ("input_ids", "labels")]
    x, y = (so.Words.from_tokenizer(tokenizer, rows) for rows in seen)
    return so.SwitchOut(x, tau=tau_x), so.RAML(y, tau=tau_y)


def switched_pairs(
    train: Any, source: Any, target: Any, seed: int, epoch: int
) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    address = {"seed": seed, "example_ids": range(len(train)), "epoch": epoch}
    x = source.sample_lists(list(train["input_ids"]), side="source", **address)
    y = target.sample_lists(list(train["labels"]), side="target", **address)
    return sorted((tuple(a), tuple(b)) for a, b in zip(x, y, strict=True))


def pairs(batch: Any) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    rows = zip(batch["input_ids"], batch["attention_mask"], batch["labels"], strict=True)
    return [(tuple(x[m.bool()].tolist()), tuple(y[y != -100].tolist())) for x, m, y in rows]


def digest(batches: list[dict[str, torch.Tensor]]) -> str:
    state = hashlib.sha256()
    for batch in batches:
        for name in sorted(batch):
            state.update(f"{name} {tuple(batch[name].shape)}".encode())
            state.update(batch[name].numpy().tobytes())
    return state.hexdigest()


def weights(model: Any) -> str:
    return digest([{name: tensor.detach() for name, tensor in model.state_dict().items()}])
