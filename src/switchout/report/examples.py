"""Side-by-side translations: which words do two outputs not share, and are they right?"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from switchout.evaluation.examples import Example
from switchout.report.elements import Child, Html, element, join

HOW_TO_READ_EXAMPLES = (
    "Marked words are in one output and not in the other: underlined where the reference has "
    "them too, with a wavy line where it has not. The contribution of a sentence is what it adds "
    "to the corpus-level difference (jackknife, mean over runs); outputs are of the lower-median "
    "runs."
)
EMPTY = element("span", "(empty)", class_="empty")
Kind = Literal["same", "right", "wrong"]


@dataclass(frozen=True)
class Word:
    """A word of an output: shared with the other output, or its own and right or wrong."""

    text: str
    kind: Kind

    def html(self) -> Html:
        """Return the word, marked where it differs."""
        if self.kind == "same":
            return join(self.text)
        return element("mark", self.text, class_=self.kind)


def card(example: Example) -> Html:
    """Return a small card: every output beside the other one, a single one beside the reference."""
    lines: list[Child] = []
    if example.source is not None:
        lines += [element("dt", "source"), element("dd", example.source or EMPTY)]
    lines += [element("dt", "reference"), element("dd", example.reference or EMPTY)]
    others = [output for _, output in reversed(example.outputs)]
    if len(others) == 1:
        others = [example.reference]
    for (name, output), other in zip(example.outputs, others, strict=True):
        shown = [[word.html(), " "] for word in mark_words(output, other, example.reference)]
        lines += [element("dt", name), element("dd", shown or EMPTY)]
    caption = example.caption.replace("-", "−")
    header = " · ".join(part for part in (f"Sentence {example.number}", caption) if part)
    inside = (element("header", header), element("dl", lines))
    return element("article", *inside, class_="example")


def mark_words(output: str, other: str, reference: str) -> list[Word]:
    """Return the words of ``output``: those aligned with ``other``, else by the reference.

    Example:
        >>> [word.kind for word in mark_words("the cat sat", "a cat sat", "the cat sat")]
        ['right', 'same', 'same']
        >>> [word.kind for word in mark_words("a cat sat", "the cat sat", "the cat sat")]
        ['wrong', 'same', 'same']
    """
    words = output.split()
    shared, right = _aligned(words, other.split()), _aligned(words, reference.split())
    return [
        Word(word, "same" if i in shared else "right" if i in right else "wrong")
        for i, word in enumerate(words)
    ]


def _aligned(words: list[str], other: list[str]) -> set[int]:
    """Indices of ``words`` that a longest-match alignment pairs with the same word in ``other``."""
    blocks = SequenceMatcher(None, words, other, autojunk=False).get_matching_blocks()
    return {i for block in blocks for i in range(block.a, block.a + block.size)}
