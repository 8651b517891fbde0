"""The folder of a run: made once, checked on every later visit, used by one trainer at a time.

Making it can be interrupted anywhere: ``signature.json`` is written last, and without it a folder
is made again.
"""

from __future__ import annotations

import fcntl
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from switchout.corpora import Corpus, open_corpus
from switchout.corpora.codec import Codec, build_codecs
from switchout.corpora.encoded import EncodedPairs
from switchout.errors import SwitchOutError
from switchout.runs.config import Config, Side
from switchout.runs.config_file import RUN_FORMAT, changed_keys, parse_config, run_key, to_toml
from switchout.files import atomic, read_bytes, read_toml

if TYPE_CHECKING:
    from switchout.nmt.model import ModelSpec

log = logging.getLogger(__name__)

SYNTHETIC_IDS = 1 << 40  # example ids of synthetic pairs start here; no corpus has as many lines
OUR_FILES = frozenset({"config.toml", ".lock", "encoded"})  # of a folder not yet finished


@dataclass(frozen=True)
class Run:
    """All that training needs, opened."""

    folder: Path
    config: Config
    corpus: Corpus
    codecs: tuple[Codec, Codec]
    train: EncodedPairs
    dev: EncodedPairs
    signature: dict[str, Any]


def prepare_run(config: Config, folder: Path) -> None:
    """Make the folder of a run, or check that it is this configuration's."""
    corpus = _open_corpus(config)
    if (folder / "signature.json").exists():
        _check(config, folder, corpus)
    elif folder.is_dir() and {path.name for path in folder.iterdir()} - _own_files(folder):
        raise SwitchOutError(f"{folder}: is not empty and not a run; choose another --out")
    else:
        for split in sorted({"dev", *corpus.splits} - {"train", "synthetic"}):
            corpus.pairs(split)  # refuses what cannot be read, before anything is written
        folder.mkdir(parents=True, exist_ok=True)
        for codec, side in zip(_build_codecs(config, corpus), ("src", "tgt"), strict=True):
            codec.save(folder, side)  # type: ignore[arg-type]
        _write(folder / "config.toml", to_toml(config))
    if not all((folder / "encoded" / name).exists() for name in ("train", "dev")):
        _encode(config, folder, corpus)
    # Free keys may have changed; the folder says what is true now.
    _write(folder / "config.toml", to_toml(config))
    _write(folder / "signature.json", json.dumps(_signature(config, corpus), indent=1) + "\n")


def open_run(folder: Path) -> Run:
    """Open what `prepare_run` left."""
    config = read_run_config(folder)
    return Run(
        folder=folder,
        config=config,
        corpus=_open_corpus(config),
        codecs=(Codec.load(folder, "src"), Codec.load(folder, "tgt")),
        train=EncodedPairs.open(folder / "encoded" / "train"),
        dev=EncodedPairs.open(folder / "encoded" / "dev"),
        signature=json.loads(read_bytes(folder / "signature.json")),
    )


def model_spec(run: Run) -> ModelSpec:
    """Return the shape of the run's model."""
    from switchout.nmt.model import ModelSpec

    src, tgt = (len(codec.vocabulary) for codec in run.codecs)
    return ModelSpec(src_size=src, tgt_size=tgt, **run.config.model.model_dump())


def read_run_config(folder: Path) -> Config:
    """Return the configuration a run was made with."""
    path = folder / "config.toml"
    return parse_config(read_toml(path), where=str(path))


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other trainers out of ``folder``; the lock ends with the process, however it ends."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SwitchOutError(f"{folder}: another process is training this run") from None
        yield


def move_aside(folder: Path) -> None:
    """Rename the run in ``folder``, if there is one, to a free name beside it."""
    if folder.exists():
        with locked(folder):  # nobody trains what moves
            folder.rename(_free_name(folder))


def policy_name(config: Config) -> str:
    """Return the policies of both sides in one word, such as ``switchout+raml``; or ``none``."""
    sides = (config.augment.source.policy, config.augment.target.policy)
    return "+".join(name for name in sides if name != "none") or "none"


def tau_of(side: Side) -> float | None:
    """Return the temperature: 0 without a policy, None where a rate was given instead."""
    return 0.0 if side.policy == "none" else side.tau


def _open_corpus(config: Config) -> Corpus:
    data = config.data
    return open_corpus(
        data.corpus, source=data.source, target=data.target, train_pairs=data.train_pairs
    )


def _build_codecs(config: Config, corpus: Corpus) -> tuple[Codec, Codec]:
    v = config.vocabulary
    files = (v.source_file, v.target_file) if v.source_file and v.target_file else None
    return build_codecs(
        corpus,
        kind=v.kind,
        min_count=v.min_count,
        max_size=v.max_size,
        model=v.model,
        shared=v.shared,
        case=v.case,
        tokenizer=v.tokenizer,
        files=files,
    )


def _encode(config: Config, folder: Path, corpus: Corpus) -> None:
    """Write training and dev pairs as ids, and say what was left out."""
    src_codec, tgt_codec = Codec.load(folder, "src"), Codec.load(folder, "tgt")
    has_synthetic = config.data.synthetic and "synthetic" in corpus.splits
    splits = ("train", "synthetic") if has_synthetic else ("train",)
    for name, parts, max_length in (
        ("train", splits, config.data.max_length),
        ("dev", ("dev",), config.model.max_length - 1),
    ):
        pairs = EncodedPairs.build(
            folder / "encoded" / name,
            chain.from_iterable(corpus.lines(part, "source") for part in parts),
            chain.from_iterable(corpus.lines(part, "target") for part in parts),
            src_codec,
            tgt_codec,
            max_length,
            example_ids=_example_ids(corpus, parts),
        )
        dropped = ", ".join(f"{n:,} {why}" for why, n in pairs.drops.items() if n) or "none"
        log.info("%s: %s pairs, dropped: %s", name, f"{len(pairs):,}", dropped)


def _example_ids(corpus: Corpus, parts: tuple[str, ...]) -> Iterator[int]:
    for part in parts:
        start = SYNTHETIC_IDS if part == "synthetic" else 0
        yield from (i for i, _ in zip(count(start), corpus.stream(part), strict=False))


def _check(config: Config, folder: Path, corpus: Corpus) -> None:
    changed = changed_keys(read_run_config(folder), config)
    if changed:
        raise SwitchOutError(
            f"{folder}: made with another configuration ({'; '.join(changed)}); choose another "
            "--out, or --restart to move this run aside"
        )
    known = json.loads(read_bytes(folder / "signature.json"))["data_hash"]
    if known != corpus.data_hash:
        raise SwitchOutError(
            f"{folder}: the text of corpus {corpus.name} has changed since this run was made; "
            "restore it, or --restart to move this run aside"
        )


def _signature(config: Config, corpus: Corpus) -> dict[str, Any]:
    key, data = run_key(config, corpus.data_hash), corpus.data_hash
    parts = {
        "policy": policy_name(config),
        "tau_x": tau_of(config.augment.source),
        "tau_y": tau_of(config.augment.target),
        "seed": config.seed,
        "data": data[:12],
        "key": key,
        "version": f"switchout-{version('switchout')}",
    }
    line = "|".join(f"{name}:{value}" for name, value in parts.items())
    return {"signature": line, "key": key, "data_hash": data, "format": RUN_FORMAT}


def _own_files(folder: Path) -> set[str]:
    codec_files = {f"{name}.{side}" for name in ("vocab", "pieces") for side in ("src", "tgt")}
    partial = {path.name for path in folder.glob(".*")}
    return {*OUR_FILES, *codec_files, "codec.src.json", "codec.tgt.json", *partial}


def _free_name(folder: Path) -> Path:
    names = (folder.with_name(f"{folder.name}.old-{n}") for n in count(1))
    return next(name for name in names if not name.exists())


def _write(path: Path, text: str) -> None:
    with atomic(path) as partial:
        partial.write_text(text, encoding="utf-8")
