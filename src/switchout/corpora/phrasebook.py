"""The embedded corpus: German–English sentence pairs as a good phrasebook has them.

A synchronous grammar of ours wrote them (``tools/phrasebook``; see docs/phrasebook.md); the package
holds its text, compressed, and the hash that froze it. Text is true-cased (the first word keeps its
own case) and tokenised: words and punctuation are separated by one blank, the genitive is
*Anna 's*. BLEU is therefore computed with tokenize "none".
"""

from __future__ import annotations

import hashlib
import lzma
from functools import cache
from pathlib import Path

from switchout.errors import SwitchOutError

TRAIN_PAIRS, MOST_TRAIN_PAIRS, MONOLINGUAL_LINES = 3_000, 20_000, 5_000
TEXT = Path(__file__).with_name("phrasebook.tsv.xz")  # split or stratum, German, English
SHA256 = "c01f473ef3b3c31705435b5d7fb13aa35db6d2194830a8bd30703a57f2efaf0b"
STRATA = ("near", "close", "medium", "far", "long")

Sides = tuple[list[str], list[str]]


def splits(train_pairs: int = TRAIN_PAIRS) -> dict[str, Sides]:
    """Return train, dev and test as (German lines, English lines).

    No German and no English sentence occurs in two of them, and every word of dev and test occurs
    at least three times in the first 3,000 training pairs: what is new is the combination.

    Args:
        train_pairs: Up to 20,000; a longer training set begins with the shorter one.

    Example:
        >>> {name: len(de) for name, (de, en) in splits().items()}
        {'train': 3000, 'dev': 480, 'test': 1200}
    """
    if not 1 <= train_pairs <= MOST_TRAIN_PAIRS:
        raise ValueError(f"train_pairs must be 1 to {MOST_TRAIN_PAIRS}, got {train_pairs}")
    return {
        "train": _sides("train", n=train_pairs),
        "dev": _sides("dev"),
        "test": _sides(*STRATA),
    }


def strata() -> list[str]:
    """Return the stratum of each test sentence: near, close, medium, far, or long.

    The first four are by the word error rate to the nearest of 3,000 training sentences and have
    the same lengths; long sentences are the fifth.
    """
    return [kind for kind, _, _ in _rows() if kind in STRATA]


def monolingual() -> Sides:
    """Return 5,000 German and 5,000 English lines that are no translations of one another.

    Neither they nor their translations occur in train (all 20,000 pairs), dev or test.
    """
    return _sides("mono")


def _sides(*kinds: str, n: int | None = None) -> Sides:
    rows = [row for row in _rows() if row[0] in kinds][:n]
    return [de for _, de, _ in rows], [en for _, _, en in rows]


@cache
def _rows() -> list[tuple[str, str, str]]:
    """Read the text; what is not the frozen one is refused."""
    try:
        content = lzma.decompress(TEXT.read_bytes())
    except (OSError, lzma.LZMAError) as error:
        raise SwitchOutError(f"{TEXT}: damaged ({error}); install switchout again") from None
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise SwitchOutError(f"{TEXT}: not the text this version froze; install switchout again")
    rows = (line.split("\t") for line in content.decode("utf-8").splitlines())
    return [(kind, german, english) for kind, german, english in rows]
