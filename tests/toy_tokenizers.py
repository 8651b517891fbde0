"""Small tokenizers of the families that people use, trained here: nothing is downloaded."""

from __future__ import annotations

import io
import json
import os
from functools import cache
from pathlib import Path
from typing import Any

from switchout.corpora import phrasebook

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


@cache
def text(n: int = 600) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """German and English sentences."""
    german, english = phrasebook.splits(n)["train"]
    return tuple(german), tuple(english)


def sentencepiece_model(lines: tuple[str, ...], size: int, **settings: Any) -> Any:
    import sentencepiece

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, vocab_size=size, minloglevel=2,
        hard_vocab_limit=False, **settings,
    )  # fmt: skip
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


def pieces(model: Any) -> list[tuple[str, float]]:
    return [(model.id_to_piece(i), model.get_score(i)) for i in range(model.get_piece_size())]


def marian(folder: Path) -> Any:
    """Two sentencepiece models, one vocabulary; its language codes are in no list of specials."""
    from transformers import MarianTokenizer

    german, english = text()
    names = ["</s>", "<unk>"]
    for side, lines in (("source", german), ("target", english)):
        model = sentencepiece_model(lines, 400)
        (folder / f"{side}.spm").write_bytes(model.serialized_model_proto())
        names += [name for name, _ in pieces(model)[3:]]
    names = [*dict.fromkeys(names), ">>deu<<", ">>eng<<", "<pad>"]
    (folder / "vocab.json").write_text(json.dumps({name: i for i, name in enumerate(names)}))
    files = (str(folder / name) for name in ("source.spm", "target.spm", "vocab.json"))
    return MarianTokenizer(*files)


def bpe(specials: list[str]) -> Any:
    import tokenizers

    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(prepend_scheme="always")
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=700, special_tokens=specials, show_progress=False
    )
    german, english = text()
    tokenizer.train_from_iterator(german + english, trainer)
    return tokenizer


def nllb() -> Any:
    from transformers import NllbTokenizer

    model = json.loads(bpe(["<s>", "<pad>", "</s>", "<unk>"]).to_str())["model"]
    merges = [tuple(merge) for merge in model["merges"]]
    return NllbTokenizer(
        vocab=model["vocab"], merges=merges, src_lang="deu_Latn", tgt_lang="eng_Latn"
    )


def mbart() -> Any:
    from transformers import MBart50Tokenizer

    german, english = text()
    specials = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    vocabulary = specials + pieces(sentencepiece_model(german + english, 700))[3:]
    return MBart50Tokenizer(vocab=vocabulary, src_lang="de_DE", tgt_lang="en_XX")


def t5() -> Any:
    from transformers import T5Tokenizer

    german, english = text()
    settings = {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}
    return T5Tokenizer(vocab=pieces(sentencepiece_model(german + english, 700, **settings)))


def gpt2() -> Any:
    """Byte-level pieces, where a mark stands before every word but the first."""
    import tokenizers
    from transformers import PreTrainedTokenizerFast

    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=700, special_tokens=["<pad>", "<eos>"], show_progress=False,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    german, english = text()
    tokenizer.train_from_iterator(german + english, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<eos>")


def tokenizer_of(family: str, folder: Path) -> Any:
    return marian(folder) if family == "marian" else globals()[family]()
