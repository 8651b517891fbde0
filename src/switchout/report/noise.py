"""What noise does to sentences: each of them epoch by epoch, new words marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from switchout.report.elements import Child, Html, element

NoisyWords = Sequence[tuple[str, bool]]  # words, and whether noise put them there


def noise_figure(title: str, sentences: Sequence[tuple[str, Sequence[NoisyWords]]]) -> Html:
    """Return sentences with what a model sees of them in epoch 0, 1, …."""
    cards = [_card(original, epochs) for original, epochs in sentences]
    return element("figure", element("figcaption", title), cards)


def _card(original: str, epochs: Sequence[NoisyWords]) -> Html:
    """A sentence above the epochs that change it; the others are one line."""
    same = [i for i, words in enumerate(epochs) if not any(is_new for _, is_new in words)]
    lines: list[Child] = [element("dt", "as it is"), element("dd", original)]
    for epoch, words in enumerate(epochs):
        if epoch not in same:
            lines += [element("dt", f"epoch {epoch}"), element("dd", _marked(words))]
    if same:
        numbers = f"in epoch{'s' * (len(same) > 1)} {', '.join(map(str, same))}"
        lines += [element("dt", "the same"), element("dd", numbers, class_="empty")]
    return element("article", element("dl", lines), class_="example")


def _marked(words: NoisyWords) -> Iterator[Child]:
    for word, is_new in words:
        yield [element("mark", word, class_="new") if is_new else word, " "]
