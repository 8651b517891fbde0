"""``switchout vocab``: the words of a text, counted."""

from __future__ import annotations

import json
from typing import Annotated

from switchout.cli.options import Json
from switchout.cli.verb import Argument, Option


def vocab(
    text: Annotated[str, Argument("FILE", "Tokenised text; '-': standard input.")],
    out: Annotated[str, Option("The vocabulary: a word and its count a line.", "FILE")],
    min_count: Annotated[int, Option("Leave out rarer words.", "N")] = 1,
    max_words: Annotated[int | None, Option("Keep only the most frequent.", "N")] = None,
    as_json: Json = False,
) -> None:
    """Count the words of a text into a vocabulary.

    'switchout augment' needs one where the corpus comes from a pipe, which can be read only once
    (--vocab-src, --vocab-tgt). Training takes it as [vocabulary] kind = "file". Words are separated
    by white space; the file may end in .gz, .xz, .bz2 or .zst.

    Examples:
      switchout vocab train.de --out train.de.vocab
      zcat train.en.gz | switchout vocab - --out en.vocab --max-words 50000
    """
    from switchout.text.word_counter import count_vocabulary

    counted = count_vocabulary(text, out, min_count=min_count, max_words=max_words)
    if as_json:
        print(json.dumps(counted))
        return
    share = counted["kept"] / max(counted["running"], 1)
    print(f"{out}: {counted['words']:,} words, {share:.1%} of the text")
