"""Back-translation: a reverse model turns monolingual target text into synthetic pairs.

The result is a corpus folder: the real splits as they are, and ``synthetic``. Real text is always
the target; only the source is machine-made. Training uses both unless ``data.synthetic = false``.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

from switchout.corpora import Corpus, open_corpus, phrasebook
from switchout.corpora.opening import FACTS
from switchout.corpora.text import stream_lines, write_lines
from switchout.engines import Engine
from switchout.errors import SwitchOutError
from switchout.experiments.training import train_all
from switchout.files import atomic_folder
from switchout.progress import Meter
from switchout.runs.config import Augment, Config
from switchout.runs.finished import finished
from switchout.runs.folder import read_run_config
from switchout.runs.job import Job, corpus_of, job_of, runs_root

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Recipe:
    """How synthetic pairs are made.

    Attributes:
        ratio: Synthetic pairs per real pair, at most.
        tag: Put before every synthetic source, such as ``<BT>``; empty: none.
        beam: Of the search.
    """

    ratio: float = 1.0
    tag: str = ""
    beam: int = 5

    def __post_init__(self) -> None:
        if self.tag.split() != [self.tag] * bool(self.tag) or not self.tag.isprintable():
            raise SwitchOutError(f"tag {self.tag!r}: expected one word, such as <BT>")


def reverse_config(config: Config) -> Config:
    """Return the configuration of the reverse model: other direction, no noise."""
    corpus = corpus_of(config)
    update = {"source": corpus.target, "target": corpus.source, "synthetic": False}
    data = config.data.model_copy(update=update)
    vocabulary = config.vocabulary
    swapped = {"source_file": vocabulary.target_file, "target_file": vocabulary.source_file}
    return config.model_copy(
        update={
            "data": data,
            "augment": Augment(),
            "vocabulary": vocabulary.model_copy(update=swapped),
        }
    )


def train_reverse(config: Config, engine: Engine, *, beside: Sequence[Job] = ()) -> Path:
    """Train the reverse model of a configuration, or find it; return its folder.

    Args:
        config: Of the forward model.
        engine: Where to train.
        beside: Runs that workers may train meanwhile instead of waiting; they may fail.
    """
    reverse = job_of(reverse_config(config), label="reverse model")
    if finished(reverse.folder) is None:
        for failure in train_all([reverse, *beside], engine, label="reverse model"):
            if failure.job is reverse:
                raise SwitchOutError(f"reverse model: {failure.reason}")
    return reverse.folder


def backtranslate(
    corpus: Corpus, reverse: Path, mono: Sequence[str], out: Path, *, recipe: Recipe
) -> dict[str, Any]:
    """Write the corpus with synthetic pairs to folder ``out``; return what was done.

    Args:
        corpus: The real pairs.
        reverse: A run from its target to its source.
        mono: Sentences in its target language; empty ones are passed over.
        out: A new folder, or an earlier result.
        recipe: How much, and how.
    """
    _check_direction(corpus, reverse)
    n_real = len(corpus.pairs("train")[0])
    wanted = round(recipe.ratio * n_real)
    chosen = list(islice((line for line in mono if line.strip()), wanted))
    if not chosen:
        raise SwitchOutError(f"ratio {recipe.ratio:g} of {n_real:,} pairs: no line to translate")
    if len(chosen) < wanted:
        log.warning("only %d of %d monolingual lines wanted are there", len(chosen), wanted)
    _warn_of_leaks(chosen, corpus)
    sources = _translate(reverse, chosen, recipe)
    pairs = [(src, tgt) for src, tgt in zip(sources, chosen, strict=True) if src]
    facts = {
        "name": corpus.name if corpus.folder is None else out.name,
        "title": f"{corpus.name} with back-translated pairs",
        "source": corpus.source,
        "target": corpus.target,
        "tokenizer": corpus.tokenizer,
        "bleu": asdict(corpus.bleu),
        "from": str(corpus.folder or corpus.name),
        "reverse": reverse.name,
        "recipe": asdict(recipe),
        "pairs": {"train": n_real, "synthetic": len(pairs)},
        "dropped": len(chosen) - len(pairs),
    }
    with atomic_folder(out, marker=FACTS) as partial:
        _write(corpus, pairs, partial)
        text = json.dumps(facts, indent=1, ensure_ascii=False)
        (partial / FACTS).write_text(text + "\n", encoding="utf-8")
    return facts


def with_synthetic(
    config: Config,
    engine: Engine,
    *,
    mono: Sequence[str] | None,
    recipe: Recipe,
    beside: Sequence[Job] = (),
) -> tuple[Config, Config]:
    """Return the configuration without and with synthetic pairs, made if the corpus has none.

    ``beside`` as in `train_reverse`.
    """
    corpus = corpus_of(config)
    if "synthetic" in corpus.splits:
        return _use_synthetic(config, False), _use_synthetic(config, True)
    lines = monolingual(config) if mono is None else mono
    reverse = train_reverse(config, engine, beside=beside)
    address = json.dumps([reverse.name, asdict(recipe), lines], ensure_ascii=False)
    name = f"{Path(corpus.name).name}-bt-{sha256(address.encode()).hexdigest()[:12]}"
    folder = runs_root() / "corpora" / name
    if not (folder / FACTS).is_file():
        backtranslate(corpus, reverse, lines, folder, recipe=recipe)
    update = {"corpus": str(folder), "train_pairs": None}
    return config, config.model_copy(update={"data": config.data.model_copy(update=update)})


def monolingual(config: Config) -> list[str]:
    """Return target text that a corpus has beside its training pairs, or say what to give."""
    corpus, data = corpus_of(config), config.data
    if corpus.name == "phrasebook":
        return phrasebook.monolingual()[("de", "en").index(corpus.target)]
    if data.train_pairs is not None:
        whole = open_corpus(data.corpus, source=data.source, target=data.target)
        rest = list(islice(whole.lines("train", "target"), data.train_pairs, None))
        if rest:
            log.info("monolingual text: the target side of train beyond train_pairs")
            return rest
    raise SwitchOutError(
        f"{corpus.name}: no monolingual {corpus.target} text; give mono=, or put "
        f"synthetic.{corpus.source} and synthetic.{corpus.target} into the corpus"
    )


def read_mono(path: Path) -> list[str]:
    """Return the lines of a text file, plain or compressed."""
    return list(stream_lines(path))


def _use_synthetic(config: Config, is_used: bool) -> Config:
    return config.model_copy(update={"data": config.data.model_copy(update={"synthetic": is_used})})


def _check_direction(corpus: Corpus, reverse: Path) -> None:
    if finished(reverse) is None and not (reverse / "result.json").is_file():
        raise SwitchOutError(f"{reverse}: not a finished run")
    theirs = corpus_of(read_run_config(reverse))
    if (theirs.source, theirs.target) != (corpus.target, corpus.source):
        raise SwitchOutError(
            f"{reverse}: translates {theirs.source} to {theirs.target}, but back-translation for "
            f"{corpus.source} to {corpus.target} needs {corpus.target} to {corpus.source}"
        )


def _warn_of_leaks(chosen: Sequence[str], corpus: Corpus) -> None:
    for split in ("dev", "test"):
        if split in corpus.splits:
            held_out = set(corpus.lines(split, "target"))
            if n := sum(line in held_out for line in chosen):
                log.warning(
                    "%d of %d monolingual lines are sentences of %s: it is trained on, and its"
                    " scores will be too good", n, len(chosen), split,
                )  # fmt: skip


def _translate(reverse: Path, lines: Sequence[str], recipe: Recipe) -> list[str]:
    from switchout.nmt.translate import translate_windows
    from switchout.runs.trained import OpenRuns

    with (
        OpenRuns([reverse]) as runs,
        Meter("back-translating", total=len(lines), unit="lines") as meter,
    ):
        windows = translate_windows(
            runs.searcher,
            [lines],
            runs.codecs,
            options=runs.options(beam=recipe.beam),
            done=meter.advance,
        )
        texts = [best.text for window in windows for best, *_ in window]
    return [f"{recipe.tag} {text}" if recipe.tag and text else text for text in texts]


def _write(corpus: Corpus, pairs: Sequence[tuple[str, str]], folder: Path) -> None:
    for split in ("train", "dev", "test"):
        if split in corpus.splits:
            for language, lines in zip(
                (corpus.source, corpus.target), corpus.pairs(split), strict=True
            ):
                write_lines(folder / f"{split}.{language}", lines)
    write_lines(folder / f"synthetic.{corpus.source}", (src for src, _ in pairs))
    write_lines(folder / f"synthetic.{corpus.target}", (tgt for _, tgt in pairs))
    for path in corpus.vocabulary_files() or ():
        shutil.copyfile(path, folder / path.name)
