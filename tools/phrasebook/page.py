"""Measure the phrasebook and print the generated part of docs/phrasebook.md; draw its figures.

    PYTHONPATH=tools python -m phrasebook.page [PAIRS]      # default 1,000,000: about a minute

Text between the two marker lines of docs/phrasebook.md is replaced. Needs sacrebleu and rapidfuzz.
"""

from __future__ import annotations

import math
import sys
import time
from collections import Counter
from pathlib import Path

import sacrebleu

import phrasebook
from phrasebook import freeze
from phrasebook.lexicon import adjectives, expressions, frames, nouns
from phrasebook.situations import topics
from switchout.report.charts import Line, LineChart, stacked

DOCS = Path(__file__).parents[2] / "docs"
MARKERS = "<!-- measured by tools/phrasebook/page.py -->\n", "<!-- end of measured part -->\n"
LANGUAGES = ("German", "English")
Curve = list[tuple[float, float]]


def main() -> None:
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    page = DOCS / "phrasebook.md"
    before, _, rest = page.read_text().partition(MARKERS[0])
    after = rest.partition(MARKERS[1])[2]
    parts = [examples(), size(pairs), vocabulary(), strata(), bounds()]
    page.write_text(before + MARKERS[0] + "\n" + "\n".join(parts) + "\n" + MARKERS[1] + after)
    figures()


def table(head: list[str], rows: list[list[object]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"


def examples() -> str:
    rows: list[list[object]] = [list(both) for both in phrasebook.generate(20, seed=2018)]
    return "## Twenty random pairs (`generate(20, seed=2018)`)\n\n" + table(list(LANGUAGES), rows)


def size(pairs: int) -> str:
    """Generate many pairs: time, distinct ones, and how many a sample predicts."""
    start = time.process_time()
    seen = Counter(hash(both) for both in phrasebook.generate(pairs, seed=0))
    seconds = time.process_time() - start
    once = sum(times == 1 for times in seen.values())
    twice = sum(times == 2 for times in seen.values())
    chao = len(seen) + once * once // (2 * max(twice, 1))
    lexicon = {
        "nouns": len(nouns()),
        "verb frames": len(frames()),
        "adjectives": len(adjectives()),
        "names, places, times, adverbs": sum(map(len, expressions().values())),
    }
    deeds = sum(len(deeds) for topic in topics() for deeds in topic)
    return (
        "## Size and speed\n\n"
        f"* {pairs:,} pairs in {seconds:.0f} s of one core ({seconds / pairs * 1e6:.0f} µs a pair, "
        "hashing included).\n"
        f"* {len(seen):,} of them distinct, {once:,} seen once: the next pair is new with "
        f"probability {once / pairs:.2f} (Good–Turing), and the grammar has at least "
        f"{chao / 1e6:.0f} million pairs (Chao's lower bound from {once:,} seen once and "
        f"{twice:,} seen twice).\n"
        f"* Lexicon: {sum(lexicon.values()):,} entries ("
        + ", ".join(f"{number} {name}" for name, number in lexicon.items())
        + f"), and {deeds} deeds and reasons for *weil*, *wenn*, *obwohl*.\n"
    )


def vocabulary() -> str:
    rows: list[list[object]] = []
    splits = phrasebook.splits(phrasebook.MOST_TRAIN_PAIRS)
    samples = {
        "train, 3,000 pairs": [side[:3000] for side in splits["train"]],
        "train, 20,000 pairs": splits["train"],
        "dev": splits["dev"],
        "test": splits["test"],
    }
    for name, sides in samples.items():
        row: list[object] = [name]
        for side in sides:
            words = " ".join(side).split(" ")
            row += [f"{len(set(words)):,}", f"{len(words) / len(side):.1f}"]
        rows.append(row)
    head = ["text", "German word forms", "words a line", "English word forms", "words a line"]
    return "## Vocabulary and length (punctuation counts as words)\n\n" + table(head, rows)


def strata() -> str:
    splits, names = phrasebook.splits(), phrasebook.strata()
    neighbors = freeze.Neighbors(splits["train"][0])
    rows: list[list[object]] = []
    for name in ("near", "close", "medium", "far", "long"):
        found = [de for de, own in zip(splits["test"][0], names, strict=True) if own == name]
        rates = [neighbors.error_rate(sentence) for sentence in found]
        lengths = [len(sentence.split(" ")) for sentence in found]
        dev = len(phrasebook.frozen()["dev"][name])
        rows.append(
            [
                name,
                len(found),
                dev,
                f"{min(rates):.2f} – {max(rates):.2f}",
                f"{sum(rates) / len(rates):.2f}",
                f"{min(lengths)} – {max(lengths)}",
                f"{sum(lengths) / len(lengths):.2f}",
            ]
        )
    head = ["stratum", "test", "dev", "WER", "mean WER", "German words", "mean"]
    return "## Strata of the test set\n\n" + table(head, rows)


def bounds() -> str:
    """Return BLEU of the oracle and of copying, per direction that makes sense."""
    german, english = phrasebook.splits()["test"]
    oracle = [en for _, en in phrasebook.evaluation_pairs("test", canonical=True)]

    def bleu(hypotheses: list[str], references: list[str]) -> str:
        score = sacrebleu.corpus_bleu(hypotheses, [references], tokenize="none", force=True).score
        return f"{score:.1f}"

    exact = sum(a == b for a, b in zip(oracle, english, strict=True)) / len(english)
    rows: list[list[object]] = [
        ["oracle: most probable wording", bleu(oracle, english), f"{100 * exact:.1f} %"],
        ["copy of the source", bleu(german, english), "0.0 %"],
    ]
    return "## Ceiling and floor\n\n" + table(["system, de → en", "BLEU", "exact"], rows)


def figures() -> None:
    splits = phrasebook.splits()
    ranks, lengths = [], []
    for side in splits["train"]:
        counts = Counter(" ".join(side).split(" ")).most_common()
        points = [(math.log10(i), math.log10(n)) for i, (_, n) in enumerate(counts, 1)]
        ranks.append(points)
        histogram = Counter(len(line.split(" ")) for line in side)
        lengths.append([(float(k), 100 * n / len(side)) for k, n in sorted(histogram.items())])
    draw("phrasebook-frequency.svg", "Frequency by rank", ranks, "log10 rank", "log10 frequency")
    share = "% of 3,000 training pairs"
    draw("phrasebook-length.svg", "Sentence lengths", lengths, "words in a sentence", share)


def draw(name: str, title: str, curves: list[Curve], x_label: str, y_label: str) -> None:
    """Write a chart of a German and an English curve."""
    lines = [Line(name, thin(curve)) for name, curve in zip(LANGUAGES, curves, strict=True)]
    chart = LineChart(title, lines, x_label=x_label, y_label=y_label)
    (DOCS / name).write_text(stacked([chart]), encoding="utf-8")


def thin(curve: Curve) -> Curve:
    """Return the points that a reader can tell apart: neighbours at least 0.02 apart."""
    kept = curve[:1]
    for x, y in curve[1:]:
        if abs(x - kept[-1][0]) > 0.02 or (x, y) == curve[-1]:
            kept.append((x, y))
    return kept


if __name__ == "__main__":
    main()
