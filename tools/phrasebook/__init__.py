"""The grammar behind the embedded corpus `switchout.corpora.phrasebook`: what wrote its text.

Text is true-cased (the first word keeps its own case) and tokenised: words and punctuation are
separated by one blank, the genitive is *Anna 's*. BLEU is therefore computed with tokenize "none".

* `generate` yields as many pairs as wanted; pair i of a seed does not depend on the others.
* `splits`, `strata`, `monolingual`: the frozen data of the experiments, made anew. The package
  ships them as text, which ``python -m phrasebook.freeze`` writes. See docs/phrasebook.md.

Only the standard library is used, and none of its random numbers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Set
from functools import cache
from itertools import count
from pathlib import Path

from phrasebook.grammar import pair

TRAIN_SEED, EVALUATION_SEED, GERMAN_SEED, ENGLISH_SEED = 1, 2, 3, 4
TRAIN_PAIRS, MOST_TRAIN_PAIRS = 3_000, 20_000
FROZEN = Path(__file__).with_name("frozen.json")

Pair = tuple[str, str]
Sides = tuple[list[str], list[str]]


def generate(n: int, seed: int) -> Iterator[Pair]:
    """Yield ``n`` pairs (German, English), the same for a seed on every Python version.

    Example:
        >>> next(generate(1, seed=3))
        ('liegt der Brief neben dem Regal ?', 'is the letter next to the shelf ?')
    """
    for index in range(n):
        yield pair(seed, index)


def splits(train_pairs: int = TRAIN_PAIRS) -> dict[str, Sides]:
    """Return train, dev and test as (German lines, English lines).

    No German and no English sentence occurs in two of them, and every word of dev and test occurs
    at least three times in the first 3,000 training pairs: what is new is the combination.

    Args:
        train_pairs: Up to 20,000; a longer training set begins with the shorter one.
    """
    if not 1 <= train_pairs <= MOST_TRAIN_PAIRS:
        raise ValueError(f"train_pairs must be 1 to {MOST_TRAIN_PAIRS}, got {train_pairs}")
    dev, test = evaluation_pairs("dev"), evaluation_pairs("test")
    train = training_pairs(train_pairs, without=_sentences(dev + test))
    return {"train": _sides(train), "dev": _sides(dev), "test": _sides(test)}


def strata() -> list[str]:
    """Return the stratum of each test sentence: near, close, medium, far, or long.

    The first four are by the word error rate to the nearest of 3,000 training sentences and have
    the same lengths; long sentences are the fifth.
    """
    return [stratum for _, stratum in _selected("test")]


def monolingual(lines: int = 5_000) -> Sides:
    """Return German lines and English lines that are no translations of one another.

    Neither they nor their translations occur in train (all 20,000 pairs), dev or test.
    """
    evaluation = evaluation_pairs("dev") + evaluation_pairs("test")
    taken = _sentences(evaluation)
    taken |= _sentences(training_pairs(MOST_TRAIN_PAIRS, without=taken))
    german = _distinct(GERMAN_SEED, lines, without=taken)
    english = _distinct(ENGLISH_SEED, lines, without=taken | _sentences(german))
    return [de for de, _ in german], [en for _, en in english]


def training_pairs(number: int, *, without: Set[str]) -> list[Pair]:
    """Return the first distinct training pairs neither side of which is in ``without``."""
    return _distinct(TRAIN_SEED, number, without=without)


def evaluation_pairs(split: str, *, canonical: bool = False) -> list[Pair]:
    """Return dev or test; ``canonical`` with the most probable English wording (the oracle)."""
    return [pair(EVALUATION_SEED, index, canonical=canonical) for index, _ in _selected(split)]


@cache
def frozen() -> dict[str, dict[str, list[int]]]:
    """Return the committed selection: split → stratum → indices in the evaluation stream."""
    selection: dict[str, dict[str, list[int]]] = json.loads(FROZEN.read_text())["selection"]
    return selection


def _selected(split: str) -> list[tuple[int, str]]:
    return sorted((index, name) for name, indices in frozen()[split].items() for index in indices)


def _distinct(seed: int, number: int, *, without: Set[str]) -> list[Pair]:
    found: dict[Pair, None] = {}
    for index in count():
        if len(found) == number:
            break
        candidate = pair(seed, index)
        if candidate[0] not in without and candidate[1] not in without:
            found[candidate] = None
    return list(found)


def _sentences(pairs: list[Pair]) -> set[str]:
    return {sentence for both in pairs for sentence in both}


def _sides(pairs: list[Pair]) -> Sides:
    return [de for de, _ in pairs], [en for _, en in pairs]
