"""Side-by-side translations: which words do two outputs not share, and are they right?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from switchout.evaluation.examples import ChosenSentence
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


@dataclass(frozen=True)
class Example:
    """One test sentence with two outputs.

    Attributes:
        group: Why it is shown ("drawn at random", …).
        number: Line of the test set, from 1.
        caption: What the sentence contributes.
        source: Source sentence, if known.
        reference: The real translation.
        outputs: (system name, words) of the two sides.
    """

    group: str
    number: int
    caption: str
    source: str | None
    reference: str
    outputs: Sequence[tuple[str, Sequence[Word]]]

    def html(self) -> Html:
        """Return a small card."""
        lines: list[Child] = []
        if self.source is not None:
            lines += [element("dt", "source"), element("dd", self.source or EMPTY)]
        lines += [element("dt", "reference"), element("dd", self.reference or EMPTY)]
        for name, words in self.outputs:
            shown = [[word.html(), " "] for word in words]
            lines += [element("dt", name), element("dd", shown or EMPTY)]
        caption = " · ".join(part for part in (f"Sentence {self.number}", self.caption) if part)
        header = element("header", caption)
        return element("article", header, element("dl", lines), class_="example")


def examples_of(chosen: Sequence[ChosenSentence], label: str) -> list[Example]:
    """Return sentences to look at, the words in which their two outputs differ marked.

    Args:
        chosen: From `switchout.evaluation.examples`.
        label: Of the metric.
    """
    examples = []
    for one in chosen:
        (base_name, base), (name, output) = one.outputs
        caption = f"contributes {one.contribution:+.3f} {label}".replace("-", "−")
        outputs = [
            (base_name, mark_words(base, output, one.reference)),
            (name, mark_words(output, base, one.reference)),
        ]
        examples.append(Example(one.group, one.number, caption, one.source, one.reference, outputs))
    return examples


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
