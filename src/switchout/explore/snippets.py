"""The answer of the playground as something to paste: Python, Hugging Face, command line, TOML."""

from __future__ import annotations

import shlex
from pathlib import Path

from switchout.explore.question import PlayQuestion, SideQuestion

CLASSES = {
    "switchout": "SwitchOut",
    "raml": "RAML",
    "hamming": "Hamming",
    "word_dropout": "WordDropout",
}
HF_IMPORT = "from switchout.integrations.huggingface import switch_out"


Files = tuple[Path | None, Path | None]
NO_FILES: Files = (None, None)


def snippets(
    question: PlayQuestion, sizes: tuple[int, int], files: Files = NO_FILES
) -> dict[str, str]:
    """Return what to paste where, by the name of the place.

    Args:
        question: What was asked.
        sizes: Ids in the vocabularies of source and target.
        files: Source and target of the corpus that is open, if any.
    """
    return {
        "Python": python(question, sizes),
        "Hugging Face": huggingface(question),
        "Command line": command_line(question, files),
        "TOML": toml(question),
    }


def python(question: PlayQuestion, sizes: tuple[int, int]) -> str:
    """Return Python that samples for arrays ``x`` and ``y`` of ids, with ``ids`` and ``epoch``."""
    sides = {"source": (question.source, sizes[0]), "target": (question.target, sizes[1])}
    made = [
        f"    {name}={_constructor(side, f'so.Words({size})')},"
        for name, (side, size) in sides.items()
        if _is_on(side)
    ]
    return "\n".join(
        [
            "import switchout as so",
            "",
            "pair = so.Pair(",
            *made,
            ")  # ids 0 to 3 are <pad> <s> </s> <unk>: never changed, never drawn",
            "# x, y: [batch, time] ids; ids: the number of each pair in your corpus",
            f"x_hat, y_hat = pair.sample(x, y, seed={question.seed}, example_ids=ids, epoch=epoch)",
        ]
    )


def command_line(question: PlayQuestion, files: Files = NO_FILES) -> str:
    """Return the command that does it to a corpus: the one that is open, or one to be named."""
    inputs, outputs, noise = [], [], []
    sides = zip("xy", ("src", "tgt"), files, (question.source, question.target), strict=True)
    for letter, suffix, path, side in sides:
        if path is None and any(files):
            continue  # the corpus has no such side
        old = path or Path(f"train.{suffix}")
        new = old.with_name(f"augmented.{old.name if path else suffix}")
        inputs.append(f"--{suffix} {quoted(old)}")
        outputs.append(f"--out-{suffix} {quoted(new)}")
        if _is_on(side):
            name, value = next(iter(side.strength.items()))
            noise.append(f"--policy-{letter} {side.policy} --{name}-{letter} {value:g}")
    address = f"--seed {question.seed} --epoch {question.epoch}"
    lines = [f"switchout augment {' '.join(inputs)}", " ".join(outputs), *noise, address]
    return " \\\n  ".join(lines)


def quoted(path: Path) -> str:
    """Return a path as a shell takes it; one that begins with a hyphen is no option."""
    return shlex.quote(f"./{path}" if str(path).startswith("-") else str(path))


def train_command(root: Path) -> str:
    """Return a command that works as it stands and leaves a run in a folder of runs."""
    return f"switchout train phrasebook --out {quoted(root / 'first')}"


def toml(question: PlayQuestion) -> str:
    """Return the part of a training config that does it."""
    tables = []
    for name, side in (("source", question.source), ("target", question.target)):
        setting = (
            "".join(f"{k} = {v!r}\n" for k, v in side.strength.items()) if _is_on(side) else ""
        )
        tables.append(f'[augment.{name}]\npolicy = "{side.policy}"\n{setting}')
    return f"seed = {question.seed}\n\n" + "\n".join(tables)


def huggingface(question: PlayQuestion) -> str:
    """Return what switches it on in a Trainer of Hugging Face."""
    named = [
        (x, side) for x, side in (("x", question.source), ("y", question.target)) if _is_on(side)
    ]
    short = [f"{k}_{x}={v!r}" for x, side in named for k, v in side.strength.items()]
    if all(side.policy in ("switchout", "raml") for _, side in named):
        return "\n".join(
            [HF_IMPORT, "", f"switch_out(trainer, {', '.join(short + _seed(question))})"]
        )
    sides = {"x": "source", "y": "target"}
    long = [f"{sides[x]}={_constructor(side, 'words')}" for x, side in named]
    return "\n".join(
        [
            "import switchout as so",
            HF_IMPORT,
            "",
            "words = so.Words.from_tokenizer(tokenizer)",
            f"switch_out(trainer, {', '.join(long + _seed(question))})",
        ]
    )


def _constructor(side: SideQuestion, words: str) -> str:
    strength = side.strength
    if side.policy == "word_dropout" and "tau" in strength:
        return f"so.WordDropout.for_tau({words}, tau={side.tau!r})"
    if side.policy == "hamming" and "rate" in strength:
        return f"so.Hamming.for_rate({words}, rate={side.rate!r})"
    name, value = next(iter(strength.items()))
    return f"so.{CLASSES[side.policy]}({words}, {name}={value!r})"


def _is_on(side: SideQuestion) -> bool:
    return side.policy != "none"


def _seed(question: PlayQuestion) -> list[str]:
    return [f"seed={question.seed}"]
