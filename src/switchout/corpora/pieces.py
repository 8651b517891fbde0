"""Subword pieces by sentencepiece (extra ``subword``), with our ids for the specials."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any, Literal

from switchout.corpora.vocabulary import BOS, EOS, PAD, UNK
from switchout.errors import SwitchOutError

MOST_LINES = 2_000_000  # more text would cost memory and hardly change the pieces


def learn_pieces(
    lines: Iterable[str], *, size: int, model: Literal["bpe", "unigram"] = "bpe"
) -> bytes:
    """Return a model of ``size`` pieces (specials included) learned from the first lines."""
    sink = _Sink()
    try:
        _sentencepiece().SentencePieceTrainer.train(
            sentence_iterator=islice(lines, MOST_LINES),
            model_writer=sink,
            vocab_size=size,
            model_type=model,
            character_coverage=1.0,
            normalization_rule_name="identity",  # so that decoding gives the text back
            pad_id=PAD,
            bos_id=BOS,
            eos_id=EOS,
            unk_id=UNK,
            unk_surface="<unk>",
            num_threads=1,
            minloglevel=2,
        )
    except (RuntimeError, OSError) as error:
        reason = str(error).rpartition("] ")[2].strip() or "is the corpus empty?"
        raise SwitchOutError(f"sentencepiece could not learn {size} pieces: {reason}") from None
    return sink.content


def load_pieces(model: bytes) -> Any:
    """Return sentencepiece's processor of a model."""
    try:
        return _sentencepiece().SentencePieceProcessor(model_proto=model)
    except RuntimeError as error:
        raise SwitchOutError(f"not a sentencepiece model ({error})") from None


class _Sink:
    """The least that sentencepiece writes a model to."""

    content = b""

    def write(self, content: bytes) -> None:
        self.content += content


def _sentencepiece() -> Any:
    try:
        import sentencepiece
    except ImportError:
        raise SwitchOutError(
            "sentencepiece is not installed: pip install 'switchout[subword]'"
        ) from None
    return sentencepiece
