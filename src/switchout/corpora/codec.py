"""One side of a corpus: text to ids and back, with everything needed to do it again.

* ``word``: words of the text, counted (`Codec.word`) or from a given `Vocabulary`.
* ``sentencepiece``: BPE or unigram pieces learned from the text (extra ``subword``).
* Tokenizer of word codecs: ``space`` for text that is tokenised already; ``punctuation`` splits
  punctuation off raw text and marks what it split, so that decoding restores the line exactly.
* Case: ``lower`` lowercases the text on its way in; the output is then lower case too.

A codec is saved beside the run that used it (``codec.src.json``, ``vocab.src``, ``pieces.src``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, Literal, get_args

from switchout.corpora.corpus import Corpus, Side, Tokenizer
from switchout.corpora.text import (
    JOINER,
    FilePairs,
    join_punctuation,
    split_punctuation,
    split_words,
)
from switchout.corpora.vocabulary import BOS, EOS, PAD, UNK, Vocabulary
from switchout.errors import SwitchOutError, needs
from switchout.files import atomic, read_bytes, read_json, write_json

Case = Literal["keep", "lower"]
DEFAULT_PIECES = 8000
MOST_LINES = 2_000_000  # of which pieces are learned; more would cost memory and change little
Unknown = Literal["keep", "drop", "copy"]


class Codec:
    """Turns the lines of one side into ids and ids into lines.

    Example:
        >>> codec = Codec.word(["Hallo, Welt!"], tokenizer="punctuation")
        >>> codec.tokens("Hallo, Welt!")
        ['Hallo', '￭,', 'Welt', '￭!']
        >>> codec.decode(codec.encode("Welt, Hallo!"))
        'Welt, Hallo!'
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        *,
        case: Case = "keep",
        tokenizer: Tokenizer = "space",
        pieces: bytes | None = None,
    ):
        self.vocabulary, self.case, self.tokenizer = vocabulary, case, tokenizer
        self.pieces = pieces
        self._processor = load_pieces(pieces) if pieces is not None else None

    @property
    def kind(self) -> str:
        """``word`` or ``sentencepiece``."""
        return "word" if self.pieces is None else "sentencepiece"

    @classmethod
    def word(
        cls,
        lines: Iterable[str],
        *,
        min_count: int = 1,
        max_size: int | None = None,
        case: Case = "keep",
        tokenizer: Tokenizer = "space",
    ) -> Codec:
        """Count the words of ``lines``."""
        tokens, counts = _tokens_of(case, tokenizer), Counter[str]()
        for line in lines:
            counts.update(tokens(line))
        vocabulary = Vocabulary.from_counts(counts, min_count=min_count, max_size=max_size)
        return cls(vocabulary, case=case, tokenizer=tokenizer)

    @classmethod
    def sentencepiece(
        cls,
        lines: Iterable[str],
        *,
        size: int,
        model: Literal["bpe", "unigram"] = "bpe",
        case: Case = "keep",
    ) -> Codec:
        """Learn ``size`` pieces (specials included) from the first two million ``lines``."""
        text = (line.lower() if case == "lower" else line for line in lines)
        return cls._of_pieces(_learn_pieces(text, size=size, model=model), case)

    @classmethod
    def _of_pieces(cls, pieces: bytes, case: Case) -> Codec:
        processor = load_pieces(pieces)
        tokens = [processor.id_to_piece(id) for id in range(processor.get_piece_size())]
        return cls(Vocabulary(tokens), case=case, pieces=pieces)

    def tokens(self, line: str) -> list[str]:
        """Return the words or pieces of a line, known or not."""
        if self._processor is None:
            return _tokens_of(self.case, self.tokenizer)(line)
        pieces: list[str] = self._processor.encode(self._cased(line), out_type=str)
        return pieces

    def encode(self, line: str) -> list[int]:
        """Return the ids of a line, without ``<s>`` and ``</s>``."""
        if self._processor is None:
            return self.vocabulary.ids(self.tokens(line))
        ids: list[int] = self._processor.encode(self._cased(line))
        return ids

    def decode(
        self,
        ids: Iterable[int],
        *,
        unk: Unknown = "keep",
        aligned: Sequence[str] | None = None,
    ) -> str:
        """Return the text of ids up to the first ``</s>``, without specials.

        Args:
            ids: Word ids.
            unk: What an unknown word becomes: ``<unk>``, nothing, or the source word it attends to.
            aligned: For ``copy``: the source word of each position of ``ids``.
        """
        if unk == "copy" and aligned is None:
            raise ValueError("unk='copy' needs the aligned source words")
        tokens: list[str] = []
        for position, id in enumerate(ids):
            if id == EOS:
                break
            if id in (PAD, BOS) or (id == UNK and unk == "drop"):
                continue
            if id == UNK and unk == "copy" and aligned is not None:
                tokens.append(aligned[position].strip("▁").removeprefix(JOINER))
            else:
                tokens.append(self.vocabulary.tokens[id])
        return self._join(tokens)

    def save(self, folder: Path | str, side: Literal["src", "tgt"]) -> None:
        """Write this codec into ``folder`` as the codec of ``side``."""
        folder = Path(folder)
        self.vocabulary.save(folder / f"vocab.{side}")
        if self.pieces is not None:
            with atomic(folder / f"pieces.{side}") as partial:
                partial.write_bytes(self.pieces)
        facts = {"kind": self.kind, "case": self.case, "tokenizer": self.tokenizer}
        write_json(folder / f"codec.{side}.json", {**facts, "sha256": self.vocabulary.sha256})

    @classmethod
    def load(cls, folder: Path | str, side: Literal["src", "tgt"]) -> Codec:
        """Read what `save` wrote."""
        folder = Path(folder)
        path = folder / f"codec.{side}.json"
        facts = read_json(path)
        given: list[Any] = [facts.get(key) for key in ("kind", "case", "tokenizer")]
        kind, case, tokenizer = given
        if (
            kind not in ("word", "sentencepiece")
            or case not in get_args(Case)
            or tokenizer not in get_args(Tokenizer)
        ):
            raise SwitchOutError(f"{path}: not a codec written by switchout")
        source = folder / (f"pieces.{side}" if kind == "sentencepiece" else f"vocab.{side}")
        if kind == "sentencepiece":
            codec = cls._of_pieces(read_bytes(source), case)
        else:
            codec = cls(Vocabulary.load(source), case=case, tokenizer=tokenizer)
        if facts.get("sha256", codec.vocabulary.sha256) != codec.vocabulary.sha256:
            raise SwitchOutError(f"{source}: damaged, not the vocabulary that {path.name} names")
        return codec

    def _cased(self, line: str) -> str:
        return line.lower() if self.case == "lower" else line

    def _join(self, tokens: list[str]) -> str:
        if self._processor is not None:
            return " ".join(split_words(self._processor.decode_pieces(tokens)))
        return join_punctuation(tokens) if self.tokenizer == "punctuation" else " ".join(tokens)


Codecs = tuple[Codec, Codec]  # of source and target


def save_codecs(codecs: Codecs, folder: Path) -> None:
    """Write the codecs of both sides into ``folder``."""
    codecs[0].save(folder, "src")
    codecs[1].save(folder, "tgt")


def read_codecs(folder: Path) -> Codecs:
    """Read what `save_codecs` wrote."""
    return Codec.load(folder, "src"), Codec.load(folder, "tgt")


@dataclass(frozen=True)
class CodecPlan:
    """How the text of a corpus becomes ids.

    Attributes:
        kind: ``file`` reads ``files``, or the corpus's own ``vocab.<lang>``. None: that, if there
            are such files and no limit is asked for, else ``word``.
        min_count, max_size: Limits of a word vocabulary; ``max_size`` is also the number of pieces.
        model: The algorithm of sentencepiece.
        shared: One vocabulary for both sides.
        case, tokenizer: See the module; the tokenizer is the corpus's own unless given.
        files: Vocabulary files of source and target.
    """

    kind: Literal["word", "sentencepiece", "file"] | None = None
    min_count: int = 1
    max_size: int | None = None
    model: Literal["bpe", "unigram"] = "bpe"
    shared: bool = False
    case: Case = "keep"
    tokenizer: Tokenizer | None = None
    files: tuple[Path | str, Path | str] | None = None

    def for_corpus(self, corpus: Corpus) -> CodecPlan:
        """Return the plan with what it leaves to the corpus."""
        kind = self.kind
        if kind is None:
            is_limited = self.min_count > 1 or self.max_size is not None or self.shared
            has_files = self.files is not None or corpus.vocabulary_files() is not None
            kind = "file" if has_files and not is_limited else "word"
        return replace(self, kind=kind, tokenizer=self.tokenizer or corpus.tokenizer)


def build_codecs(corpus: Corpus, plan: CodecPlan = CodecPlan()) -> Codecs:
    """Return the codecs of source and target, learned from the training text, streaming.

    Example:
        >>> from switchout.corpora import open_corpus
        >>> source, target = build_codecs(open_corpus("phrasebook"), CodecPlan(min_count=2))
        >>> source.decode(source.encode("der Hund schläft ."))
        'der Hund schläft .'
    """
    plan = plan.for_corpus(corpus)
    if plan.kind == "file":
        if plan.shared:
            raise SwitchOutError(
                "shared vocabularies are learned; give the same file twice instead"
            )
        files = plan.files or corpus.vocabulary_files()
        if files is None:
            wanted = f"vocab.{corpus.source} and vocab.{corpus.target}"
            raise SwitchOutError(f"{corpus.where}: no vocabulary files {wanted}")
        tokenizer = plan.tokenizer or corpus.tokenizer
        src, tgt = (
            Codec(Vocabulary.load(path), case=plan.case, tokenizer=tokenizer) for path in files
        )
        return src, tgt
    if plan.shared:
        lines = (line for pair in corpus.stream("train") for line in pair)
        codec = _learn(_with_words(lines, corpus.where), plan=plan)
        return codec, codec
    train = corpus.splits["train"]
    names = (train.src, train.tgt) if isinstance(train, FilePairs) else [corpus.where] * 2
    src, tgt = (
        _learn(_with_words(corpus.lines("train", side), name), plan=plan)
        for side, name in zip(get_args(Side), names, strict=True)
    )
    return src, tgt


def _with_words(lines: Iterable[str], name: Path | str) -> Iterator[str]:
    """Yield lines; refuse them, by the name of their text, if no word stands in any."""
    has_words = False
    for line in lines:
        has_words = has_words or not (line == "" or line.isspace())
        yield line
    if not has_words:
        raise SwitchOutError(f"{name}: no word in it to train on")


def _learn(lines: Iterable[str], *, plan: CodecPlan) -> Codec:
    if plan.kind == "sentencepiece":
        size = plan.max_size or DEFAULT_PIECES
        return Codec.sentencepiece(lines, size=size, model=plan.model, case=plan.case)
    return Codec.word(
        lines,
        min_count=plan.min_count,
        max_size=plan.max_size,
        case=plan.case,
        tokenizer=plan.tokenizer or "space",
    )


def _tokens_of(case: Case, tokenizer: Tokenizer) -> Callable[[str], list[str]]:
    split = split_words if tokenizer == "space" else split_punctuation
    return split if case == "keep" else lambda line: split(line.lower())


def _learn_pieces(
    lines: Iterable[str], *, size: int, model: Literal["bpe", "unigram"] = "bpe"
) -> bytes:
    """Return a model of ``size`` pieces (specials included) learned from the first lines."""
    model_file = BytesIO()
    try:
        _sentencepiece().SentencePieceTrainer.train(
            sentence_iterator=islice(lines, MOST_LINES),
            model_writer=model_file,
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
    return model_file.getvalue()


def load_pieces(model: bytes) -> Any:
    """Return sentencepiece's processor of a model."""
    try:
        return _sentencepiece().SentencePieceProcessor(model_proto=model)
    except RuntimeError as error:
        raise SwitchOutError(f"not a sentencepiece model ({error})") from None


def _sentencepiece() -> Any:
    with needs("sentencepiece"):
        import sentencepiece
    return sentencepiece
