"""Draw the picture of the README: one sentence pair, epoch by epoch, and how many words change.

    python tools/readme_picture.py docs/images/epochs.svg

Everything in it is computed by the package: the words by `SwitchOut.sample` and `RAML.sample`, the
chart by `SwitchOut.change_probabilities`. A test draws it again and compares.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import switchout as so
from switchout.corpora import open_corpus
from switchout.report.elements import Html, element, join

LINE = 47  # of the embedded corpus: ten German and nine English words
SEED, N_EPOCHS = 8, 6
TAU_X, TAU_Y = 1.0, 1.1
TAUS = (0.5, 1.0, 2.0)
LETTER, WIDTH, HEIGHT = 7.2, 1000, 430  # pixels; a letter of the monospaced font

STYLE = """
  text { font: 13px sans-serif; fill: #1f2328 }
  .w { font: 12px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #1f2328 }
  .n { fill: #0b5fae; font-weight: bold }
  .quiet { fill: #59636e; font-size: 12px }
  .title { font-weight: bold; font-size: 14px }
  .mark { fill: #d6e9ff }
  .page { fill: #ffffff }
  .axis { stroke: #8c959f }
  .t0 { fill: #8fb8de } .t1 { fill: #2f81c7 } .t2 { fill: #0a3d73 }
  @media (prefers-color-scheme: dark) {
    text, .w { fill: #e6edf3 } .n { fill: #9ecbff } .quiet { fill: #9198a1 }
    .mark { fill: #123b66 } .page { fill: #0d1117 } .axis { stroke: #656c76 }
    .t0 { fill: #9ecbff } .t1 { fill: #3f8ede } .t2 { fill: #1f5fa8 }
  }"""


def vocabulary(lines: list[str]) -> list[str]:
    return sorted({word for text in lines for word in text.split()})


def epochs(policy: so.Policy, lines: list[str]) -> list[list[tuple[str, bool]]]:
    """Return the words of the line in every epoch, each with whether it was changed."""
    words = vocabulary(lines)
    old = lines[LINE].split()
    ids = np.array([[words.index(word) for word in old]])
    drawn = [
        [words[i] for i in policy.sample(ids, seed=SEED, example_ids=[LINE], epoch=epoch)[0]]
        for epoch in range(N_EPOCHS)
    ]
    return [[(new, new != was) for new, was in zip(row, old, strict=True)] for row in drawn]


def label(text: str, x: float, y: float, style: str = "quiet", **more: str) -> Html:
    return element("text", text, class_=style, x=float(x), y=float(y), **more)


def bar(style: str, x: float, y: float, width: float, height: float) -> Html:
    place = {"x": float(x), "y": float(y), "width": float(width), "height": float(height)}
    return element("rect", class_=style, **place, rx=4 if style == "mark" else None)


def sentence(words: list[tuple[str, bool]], y: float) -> Html:
    """Return the words side by side, changed ones bold on a coloured ground."""
    parts, x = [], 100.0
    for word, is_new in words:
        width = len(word) * LETTER
        if is_new:
            parts.append(bar("mark", x - 3, y - 13, width + 6, 18))
        fit = {"textLength": width, "lengthAdjust": "spacingAndGlyphs"}
        parts.append(element("text", word, class_="w n" if is_new else "w", x=x, y=y, **fit))
        x += width + LETTER
    return join(parts)


def sentences() -> Html:
    """Return the left half: the pair of the corpus, then the pair of every epoch."""
    source, target = open_corpus("phrasebook").pairs("train")
    words_x, words_y = (
        so.Words(len(vocabulary(side)), special_ids=()) for side in (source, target)
    )
    noisy = zip(
        epochs(so.SwitchOut(words_x, tau=TAU_X), source),
        epochs(so.RAML(words_y, tau=TAU_Y), target),
        strict=True,
    )
    clean = [[(word, False) for word in side[LINE].split()] for side in (source, target)]
    names = ["corpus", *(f"epoch {epoch}" for epoch in range(N_EPOCHS))]
    parts, y = [label("The same pair, other words every epoch", 24, 34, "title")], 60.0
    for name, pair in zip(names, [clean, *noisy], strict=True):
        parts += [label(name, 24, y), sentence(pair[0], y), sentence(pair[1], y + 21)]
        y += 50
    return join(parts)


def chart(x: float, y: float, width: float, height: float) -> Html:
    """Return the right half: how probable 0 to 6 changed words of ten are, in bars."""
    laws = [so.SwitchOut(so.Words(32000), tau=tau).change_probabilities(10)[:7] for tau in TAUS]
    group, thick = width / 7, width / 28
    parts = [label("How many of 10 words change", x, 34, "title")]
    for share in (0, 0.25, 0.5, 0.75, 1):
        at = y + height * (1 - share)
        line = {"x1": x, "x2": x + width, "y1": at, "y2": at}
        parts.append(element("line", class_="axis", **line, stroke_width="0.3" if share else "1"))
        parts.append(label(f"{share:.0%}", x - 8, at + 4, text_anchor="end"))
    for n in range(7):
        left = x + n * group + thick / 2
        parts.append(label(str(n), left + 1.5 * thick, y + height + 18, text_anchor="middle"))
        for i, law in enumerate(laws):
            tall = height * float(law[n])
            parts.append(bar(f"t{i}", left + i * thick, y + height - tall, thick - 1, tall))
    for i, (tau, law) in enumerate(zip(TAUS, laws, strict=True)):
        at = y + 16 + i * 22
        parts.append(bar(f"t{i}", x + width - 190, at - 10, 12, 12))
        parts.append(label(f"tau = {tau:g}: {law[0]:.0%} unchanged", x + width - 172, at, "plain"))
    parts.append(label("changed words", x, y + height + 42))
    parts.append(label(f"left: SwitchOut tau {TAU_X:g}, RAML tau {TAU_Y:g}, seed {SEED}", x, 406))
    return join(parts)


def picture() -> str:
    """Return the whole drawing as SVG."""
    about = (
        "Left: a German-English pair in six epochs, changed words marked. Right: the probability "
        "of 0 to 6 changed words of ten at tau 0.5, 1 and 2."
    )
    drawing = element(
        "svg",
        element("title", "SwitchOut on one sentence pair", id="title"),
        element("desc", about, id="desc"),
        element("style", Html(STYLE)),
        bar("page", 0, 0, WIDTH, HEIGHT),
        sentences(),
        chart(660.0, 60.0, 310.0, 270.0),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        aria_labelledby="title desc",
    )
    return f"{drawing}\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(picture(), encoding="utf-8")
