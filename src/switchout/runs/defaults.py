"""A configuration for somebody's own folder: what the data suggest, all of it written down.

Only the corpus is looked at: how many pairs, how long, and whether its text is tokenised. The
choices are rules of thumb for one CPU, not tuned; a TOML file says something else.
"""

from __future__ import annotations

import logging
import math
from itertools import islice
from typing import Any

from switchout.corpora import Corpus, open_corpus
from switchout.corpora.opening import LOOKED_AT
from switchout.corpora.text import Marks
from switchout.errors import is_installed
from switchout.runs.config import Config

log = logging.getLogger(__name__)

EPOCHS = 60  # docs/results.md: SwitchOut needs 41 to catch up, with RAML 50
STEPS = (500, 20_000)
BATCH_TOKENS = 1024
LARGE = 20_000  # pairs from which pieces are learned, and regularisation can be lighter


def default_config(
    corpus: str, *, source: str | None = None, target: str | None = None, seed: int = 1
) -> Config:
    """Return a configuration for a corpus, without noise, and say what was chosen.

    Args:
        corpus: A registry name, or a folder with ``train`` and ``dev`` (and ``test``).
        source, target: Languages; may be left out where the folder says the direction.

    Example:
        >>> default_config("phrasebook").vocabulary.kind
        'word'
    """
    opened = open_corpus(corpus, source=source, target=target)
    n_pairs, n_words = _size(opened)
    vocabulary = _vocabulary(opened, n_pairs)
    steps = min(max(math.ceil(EPOCHS * n_words / BATCH_TOKENS), STEPS[0]), STEPS[1])
    every = max(steps // 6, 1)
    is_large = n_pairs >= LARGE
    config = Config.model_validate(
        {
            "seed": seed,
            "data": {"corpus": corpus, "source": opened.source, "target": opened.target},
            "vocabulary": vocabulary,
            "model": {"dropout": 0.1 if is_large else 0.2, "tied": True},
            "train": {
                "steps": steps,
                "batch_tokens": BATCH_TOKENS,
                "clip": 5.0,
                "select": "dev-bleu",  # docs/results.md: lowest perplexity stops too early
                "checkpoint_every": every,
                "save_every": min(every, 400),
            },
        }
    )
    log.info(
        "%s to %s: %s pairs; %s",  # progress names the steps, which options may change
        opened.source,
        opened.target,
        f"{n_pairs:,}",
        _told(vocabulary),
    )
    return config


def _size(corpus: Corpus) -> tuple[int, int]:
    """Return the number of training pairs, and of words on their longer sides."""
    n_pairs = n_words = 0
    for src, tgt in corpus.stream("train"):
        n_pairs += 1
        n_words += max(src.count(" "), tgt.count(" ")) + 1
    return n_pairs, n_words


def _vocabulary(corpus: Corpus, n_pairs: int) -> dict[str, Any]:
    min_count = 2 if n_pairs >= 1000 else 1
    if corpus.tokenizer == "punctuation" or not is_raw(corpus):
        return {"kind": "word", "min_count": min_count, "max_size": 32_000}
    if n_pairs >= LARGE and is_installed("sentencepiece"):
        return {"kind": "sentencepiece", "max_size": 8000}
    return {
        "kind": "word",
        "tokenizer": "punctuation",
        "min_count": min_count,
        "max_size": 32_000,
    }


def is_raw(corpus: Corpus) -> bool:
    """Return whether punctuation still hangs on the words, as in text nobody tokenised."""
    pairs = islice(corpus.stream("train"), LOOKED_AT)
    return Marks.of(word for pair in pairs for line in pair for word in line.split()).is_raw


def _told(vocabulary: dict[str, Any]) -> str:
    if vocabulary["kind"] == "sentencepiece":
        return f"raw text, {vocabulary['max_size']:,} pieces"
    if vocabulary.get("tokenizer") == "punctuation":
        return "raw text, punctuation is split off"
    return "tokenised text, words as they are"
