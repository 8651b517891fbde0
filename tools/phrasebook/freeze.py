"""How dev and test were chosen, and the hashes that freeze them.

Candidates are read from the evaluation stream in order. A candidate is taken if every word of it
occurs at least three times in the first 3,000 training pairs (on its side), neither side is a
training sentence or was taken before, and its cell (stratum and length) is not yet full. Cells are
equally large, so that the strata by nearness have the same lengths. Of every seven, two go to dev.

Run it again (``PYTHONPATH=tools python -m phrasebook.freeze``) only to make another corpus: results
on a new freeze do not compare with old ones.
"""

from __future__ import annotations

import hashlib
import json
import lzma
from collections import Counter
from collections.abc import Iterator
from itertools import count, repeat
from pathlib import Path

import phrasebook
from phrasebook.grammar import pair

BOUNDS = (("near", 0.45), ("close", 0.55), ("medium", 0.65), ("far", 9.0))  # WER up to
LENGTHS = range(11, 17)  # German words with punctuation, of the strata by nearness
LONG = 19  # words at least, of the stratum of long sentences
CELL = 56  # 40 test, 16 dev
FROZEN_LINES = 5_000
PACKAGE = Path(__file__).parents[2] / "src/switchout/corpora/phrasebook.tsv.xz"


class Neighbors:
    """Word error rates to the nearest of some sentences; words become characters."""

    def __init__(self, sentences: list[str]) -> None:
        self._codes: dict[str, str] = {}
        self._encoded = [self._encode(sentence) for sentence in sentences]

    def _encode(self, sentence: str) -> str:
        return "".join(
            self._codes.setdefault(word, chr(0xF0000 + len(self._codes)))
            for word in sentence.split(" ")
        )

    def error_rate(self, sentence: str) -> float:
        """Return the Levenshtein distance to the nearest sentence, divided by our length."""
        from rapidfuzz import process
        from rapidfuzz.distance import Levenshtein

        code = self._encode(sentence)
        nearest = process.extractOne(code, self._encoded, scorer=Levenshtein.distance)
        return float(nearest[1]) / len(code)


def stratum(length: int, error_rate: float) -> str:
    """Return the stratum of a sentence, or nothing for a length that is not tested."""
    if length >= LONG:
        return "long"
    if length not in LENGTHS:
        return ""
    return next(name for name, bound in BOUNDS if error_rate <= bound)


def select() -> dict[str, dict[str, list[int]]]:
    """Return split → stratum → indices of the evaluation stream."""
    train = phrasebook.training_pairs(phrasebook.TRAIN_PAIRS, without=frozenset())
    neighbors = Neighbors([de for de, _ in train])
    cells: Counter[tuple[str, int]] = Counter()
    wanted = {(name, length): CELL for name, _ in BOUNDS for length in LENGTHS}
    wanted["long", 0] = CELL * len(LENGTHS)
    chosen: dict[str, dict[str, list[int]]] = {
        split: {name: [] for name, _ in (*BOUNDS, ("long", 0))} for split in ("dev", "test")
    }
    for index, german in _candidates(train):
        length = len(german.split(" "))
        own = 0 if length >= LONG else length
        if all(cells[cell] == n for cell, n in wanted.items() if cell[1] == own):
            continue
        name = stratum(length, neighbors.error_rate(german))
        cell = (name, own)
        if cells[cell] == wanted[cell]:
            continue
        chosen["dev" if cells[cell] % 7 in (3, 6) else "test"][name].append(index)
        cells[cell] += 1
        if cells == wanted:
            break
    return chosen


def _candidates(train: list[tuple[str, str]]) -> Iterator[tuple[int, str]]:
    """Yield index and German side of pairs made of known words, new on both sides."""
    known = [
        {word for word, times in Counter(" ".join(side).split(" ")).items() if times >= 3}
        for side in zip(*train, strict=True)
    ]
    taken = {sentence for both in train for sentence in both}
    for index in count():
        both = pair(phrasebook.EVALUATION_SEED, index)
        if not taken.isdisjoint(both):
            continue
        if all(known[side].issuperset(both[side].split(" ")) for side in (0, 1)):
            taken.update(both)
            yield index, both[0]


def texts() -> dict[str, list[str]]:
    """Return all that is frozen: every split, monolingual text, other sentences."""
    found = {
        f"{name}.{language}": side
        for name, sides in phrasebook.splits(phrasebook.MOST_TRAIN_PAIRS).items()
        for language, side in zip(("de", "en"), sides, strict=True)
    }
    found["mono.de"], found["mono.en"] = phrasebook.monolingual(FROZEN_LINES)
    found["generate"] = [f"{de}\t{en}" for de, en in phrasebook.generate(FROZEN_LINES, seed=5)]
    return found


def hashes(found: dict[str, list[str]]) -> dict[str, str]:
    """Return the sha256 of each text, its lines ended by ``\\n``."""
    return {
        name: hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()
        for name, lines in found.items()
    }


def shipped(found: dict[str, list[str]]) -> bytes:
    """Return what the package holds: a line each of split (or stratum of test), German, English."""
    lines = []
    for split in ("train", "dev", "test", "mono"):
        pairs = zip(found[f"{split}.de"], found[f"{split}.en"], strict=True)
        kinds = phrasebook.strata() if split == "test" else repeat(split)
        lines += [f"{kind}\t{de}\t{en}\n" for kind, (de, en) in zip(kinds, pairs, strict=False)]
    return "".join(lines).encode()


def main() -> None:
    """Choose dev and test anew; write selection, hashes and the package's text."""
    content: dict[str, object] = {"selection": select()}
    phrasebook.FROZEN.write_text(json.dumps(content) + "\n")
    phrasebook.frozen.cache_clear()
    found = texts()
    content["sha256"] = hashes(found)
    phrasebook.FROZEN.write_text(json.dumps(content) + "\n")
    write_shipped(shipped(found))


def write_shipped(text: bytes) -> None:
    """Write the package's file and say which hash belongs into `switchout.corpora.phrasebook`."""
    PACKAGE.write_bytes(lzma.compress(text, preset=9 | lzma.PRESET_EXTREME))
    print(f"{PACKAGE}: SHA256 = {hashlib.sha256(text).hexdigest()!r}")


if __name__ == "__main__":
    main()
