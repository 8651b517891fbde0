"""What noise on pieces does to words: the table of docs/subwords.md.

    python benchmarks/subwords.py train.de train.en       # without files: the phrasebook

Pieces are learned from both files together (sentencepiece, unigram), as for a shared vocabulary.
SwitchOut at tau = 1 then changes each file; a changed word counts as no word if the file lacks it.
"""

from __future__ import annotations

import io
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import sentencepiece as spm

import switchout as so
from switchout.corpora import open_corpus
from switchout.pieces import Pieces
from switchout.policies.whole_words import WholeWords, WordBook

SIZES = (500, 1000, 2000, 8000)


def main() -> None:
    texts = [Path(name).read_text(encoding="utf-8").splitlines() for name in sys.argv[1:]]
    texts = texts or list(open_corpus("phrasebook").pairs("train"))
    print("| pieces known | pieces a word | never occur on that side | no words: pieces | words |")
    print("|---|---|---|---|---|")
    for size in SIZES:
        model = learn([line for lines in texts for line in lines], size)
        for lines in texts:
            print(f"| {size:,} | {' | '.join(measure(model, lines))} |", flush=True)


def learn(lines: list[str], size: int) -> spm.SentencePieceProcessor:
    model = io.BytesIO()
    settings = {"vocab_size": size, "hard_vocab_limit": False, "minloglevel": 2}
    spm.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=model, **settings)
    return spm.SentencePieceProcessor(model_proto=model.getvalue())


def measure(model: spm.SentencePieceProcessor, lines: list[str]) -> list[str]:
    """Return the cells of a row: pieces a word, drawn but absent, non-words by pieces and words."""
    rows = model.encode(lines)
    occur = {piece for row in rows for piece in row}
    everything, here = so.Words.from_tokenizer(model), so.Words.from_tokenizer(model, rows=rows)
    joint = sample(so.SwitchOut(everything, tau=1.0), rows)
    drawn = [
        b for row, new in zip(rows, joint, strict=True) for a, b in zip(row, new, strict=True)
        if a != b
    ]  # fmt: skip
    book = WordBook(Pieces.of(model), rows)
    by_piece = sample(so.SwitchOut(here, tau=1.0), rows)
    by_word = sample(WholeWords(book, so.SwitchOut(book.words, tau=1.0)), rows)
    share = sum(map(len, rows)) / sum(len(line.split()) for line in lines)
    absent = sum(piece not in occur for piece in drawn) / len(drawn)
    odd = (non_words(model, rows, new) for new in (by_piece, by_word))
    return [f"{share:.2f}", f"{absent:.0%}", *(f"{value:.1%}" for value in odd)]


def sample(policy: Any, rows: list[list[int]]) -> list[list[int]]:
    return policy.sample_lists(rows, seed=1, example_ids=range(len(rows)))


def non_words(model: spm.SentencePieceProcessor, rows: list[list[int]], new: list[Any]) -> float:
    """Return the share of changed words that stand nowhere in the corpus."""
    before = [model.decode(row).split() for row in rows]
    known = {word for words in before for word in words}
    changed = [
        word
        for old, row in zip(before, new, strict=True)
        for word in (Counter(model.decode(list(row)).split()) - Counter(old)).elements()
    ]
    return sum(word not in known for word in changed) / len(changed)


if __name__ == "__main__":
    main()
