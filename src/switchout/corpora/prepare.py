"""From a corpus as it is found to a folder ready for training.

The folder has ``{train,dev,test}.<lang>`` (training pairs cleaned; dev and test as they are),
``vocab.<lang>`` or ``pieces.<lang>.model``, and ``corpus.json`` (counts, drops by reason, rates of
unknown words, hashes). It appears when complete. Text is streamed: memory grows with the
vocabulary, not with the corpus.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from switchout.corpora.cleaning import Cleaning, hold_out
from switchout.corpora.codec import CodecPlan, Codecs, build_codecs
from switchout.corpora.corpus import Corpus
from switchout.corpora.opening import FACTS
from switchout.corpora.registry import find_entry
from switchout.corpora.text import FilePairs
from switchout.corpora.vocabulary import UNK
from switchout.errors import SwitchOutError
from switchout.files import atomic_folder, check_output_folder, sha256_of
from switchout.progress import Meter

LEFT_OUT = "shares a side with dev or test"


def prepare_corpus(
    corpus: Corpus,
    out: Path,
    *,
    plan: CodecPlan = CodecPlan(),
    cleaning: Cleaning = Cleaning(),
    held_out: tuple[int, int] | None = None,
) -> dict[str, Any]:
    """Clean and describe a corpus; write it all to ``out`` and return the description.

    Args:
        corpus: As `open_corpus` found it.
        out: The new folder; an earlier result there is replaced.
        plan: How the cleaned text becomes ids.
        cleaning: Which training pairs to leave out.
        held_out: Dev and test pairs to take from train, for a corpus that has neither.

    Example:
        >>> import tempfile
        >>> from switchout.corpora import open_corpus
        >>> out = Path(tempfile.mkdtemp()) / "made"
        >>> facts = prepare_corpus(open_corpus("phrasebook"), out, plan=CodecPlan(min_count=2))
        >>> facts["pairs"]["test"]
        1200
    """
    files = corpus.folder.iterdir() if corpus.folder else ()
    texts = [path for path in files if path.is_file()]  # links may lead into out
    inputs = {"corpus folder": corpus.folder, "corpus file": texts, "vocabulary file": plan.files}
    check_output_folder("out", out, inputs, marker=FACTS)
    drops: Counter[str] = Counter()
    if held_out is not None:
        corpus = _hold_out(corpus, *held_out, drops)
    for split in ("train", "dev", "test"):
        if split not in corpus.splits:
            raise SwitchOutError(
                f"{corpus.folder}: no {split} pairs; add {split}.{corpus.source} and "
                f"{split}.{corpus.target}, or hold pairs out of train by dev= and test="
            )
    with atomic_folder(out, marker=FACTS) as partial:
        cleaned, counts = _write_text(corpus, cleaning, drops, partial)
        codecs = build_codecs(cleaned, plan)
        _write_vocabularies(cleaned, codecs, partial)
        facts = {
            **_describe(corpus, codecs),
            **counts,
            "unknown": _unknown_rates(cleaned, codecs),
            "sources also in train": {x: n for x, (n, _) in cleaned.seen_in_train().items()},
            "data_hash": cleaned.data_hash,
            "sha256": {path.name: sha256_of(path) for path in sorted(partial.glob("*.*"))},
        }
        text = json.dumps(facts, indent=1, ensure_ascii=False)
        (partial / FACTS).write_text(text + "\n", encoding="utf-8")
    return facts


def _hold_out(corpus: Corpus, dev: int, test: int, drops: Counter[str]) -> Corpus:
    if "dev" in corpus.splits or "test" in corpus.splits:
        raise SwitchOutError(f"{corpus.folder}: has dev or test pairs already; none are held out")
    corpus.stream("train")  # complains where there is none
    splits, drops[LEFT_OUT] = hold_out(corpus.splits["train"], dev=dev, test=test)
    return replace(corpus, splits={**corpus.splits, **splits})


def _write_text(
    corpus: Corpus, cleaning: Cleaning, drops: Counter[str], folder: Path
) -> tuple[Corpus, dict[str, Any]]:
    """Write the text of every split; return the corpus as written, and what was counted."""
    splits: dict[str, FilePairs] = {}
    counts: dict[str, int] = {}
    synthetic_drops: Counter[str] = Counter()
    for split, pairs in corpus.splits.items():
        if split in ("dev", "test"):
            good: Iterable[tuple[str, str]] = zip(*corpus.pairs(split), strict=True)
        else:
            good = cleaning.clean(pairs, drops if split == "train" else synthetic_drops)
        splits[split] = FilePairs(
            *(folder / f"{split}.{x}" for x in (corpus.source, corpus.target))
        )
        counts[split] = _write_pairs(splits[split], good, f"{corpus.name} {split}")
    if not counts["train"]:
        lost = ", ".join(f"{n:,} {why}" for why, n in drops.items()) or "the files are empty"
        raise SwitchOutError(f"{corpus.where}: no training pair left ({lost})")
    facts: dict[str, Any] = {
        "found": counts | {"train": counts["train"] + drops.total()},
        "drops": dict(drops),
        "pairs": counts,
    }
    if "synthetic" in counts:
        facts["found"]["synthetic"] += synthetic_drops.total()
        facts["synthetic drops"] = dict(synthetic_drops)
    return replace(corpus, splits=splits), facts


def _write_pairs(files: FilePairs, pairs: Iterable[tuple[str, str]], label: str) -> int:
    n = 0
    with (
        files.src.open("w", encoding="utf-8", newline="\n") as src_file,
        files.tgt.open("w", encoding="utf-8", newline="\n") as tgt_file,
        Meter(label, unit="pairs") as meter,
    ):
        for n, (src, tgt) in enumerate(pairs, 1):  # noqa: B007  # n is the count
            src_file.write(src + "\n")
            tgt_file.write(tgt + "\n")
            meter.advance()
    return n


def _write_vocabularies(corpus: Corpus, codecs: Codecs, folder: Path) -> None:
    for codec, language in zip(codecs, (corpus.source, corpus.target), strict=True):
        if codec.pieces is None:
            codec.vocabulary.save(folder / f"vocab.{language}")
        else:
            (folder / f"pieces.{language}.model").write_bytes(codec.pieces)


def _describe(corpus: Corpus, codecs: Codecs) -> dict[str, Any]:
    entry = find_entry(corpus.name)
    src, tgt = codecs
    return {
        "name": corpus.name if entry else Path(corpus.name).name,
        "title": entry.title if entry else "",
        "source": corpus.source,
        "target": corpus.target,
        "from": str(corpus.folder or "embedded"),
        "bleu": asdict(corpus.bleu),
        "tokenizer": src.tokenizer if src.kind == "word" else corpus.tokenizer,
        "codec": {"kind": src.kind, "case": src.case, "tokenizer": src.tokenizer},
        "vocabulary": {"source": src.vocabulary.entries, "target": tgt.vocabulary.entries},
        "declared": {
            "pairs": entry.pairs if entry else {},
            "vocabulary": entry.vocabulary if entry else None,
        },
        "paper": asdict(entry.paper) if entry and entry.paper else None,
    }


def _unknown_rates(corpus: Corpus, codecs: Codecs) -> dict[str, list[float]]:
    """Return the share of unknown tokens by split: source, target."""
    rates: dict[str, list[float]] = {}
    for split in ("train", "dev", "test"):
        unknown, tokens = [0, 0], [0, 0]
        for pair in corpus.stream(split):
            for side, (codec, line) in enumerate(zip(codecs, pair, strict=True)):
                ids = codec.encode(line)
                unknown[side] += ids.count(UNK)
                tokens[side] += len(ids)
        rates[split] = [n / max(of, 1) for n, of in zip(unknown, tokens, strict=True)]
    return rates
