"""Making the folder of a run, or mending it: what all later visits rely on.

Making it can be interrupted anywhere: ``signature.json`` is written last, and without it a folder
is made again. It holds the hashes of all that training reads; every checkpoint repeats it in its
``facts.json``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any

from switchout.corpora import Corpus
from switchout.corpora.codec import Codecs, build_codecs, read_codecs, save_codecs
from switchout.corpora.encoded import EncodedPairs
from switchout.errors import SwitchOutError
from switchout.files import write_text
from switchout.files.writing import remove
from switchout.nmt.checkpoint import check
from switchout.runs.config import Config
from switchout.runs.config_file import RUN_FORMAT, file_hashes, run_key, to_toml
from switchout.runs.corpus_warnings import warn_if_seen, warn_if_small, warn_of_tags
from switchout.runs.earlier_visit import RESTART, earlier_visit
from switchout.runs.folder import SIGNATURE, check_place, of_kind, remove_folder, weights_folder
from switchout.runs.noise import build_noise
from switchout.runs.sealed import damaged, hashes, write_sealed

log = logging.getLogger(__name__)

SYNTHETIC_IDS = 1 << 40  # example ids of synthetic pairs start here; no corpus has as many lines


def prepare_run(config: Config, folder: Path) -> None:
    """Make the folder of a run, or check that it is this configuration's and whole.

    What is damaged and can be made again from the text is named and made again.
    """
    corpus = config.data.open()
    known = earlier_visit(config, folder, corpus)
    files = {} if known is None else known.get("files", {})
    if known is None:
        _check_new(folder, corpus)
        _write_codecs(config, folder, corpus)
        warn_if_seen(corpus)
        warn_if_small(corpus)
        warn_of_tags(config.augment, corpus, read_codecs(folder))
    if not files:
        _encode(config, folder, corpus)
    codecs = of_kind(files, "vocab.", "codec.", "pieces.")
    _mend(folder, codecs, lambda: _write_codecs(config, folder, corpus))
    _mend(folder, of_kind(files, "encoded"), lambda: _encode(config, folder, corpus))
    remove_folder(folder / "config.toml")
    # Free keys may have changed; the folder says what is true now.
    write_text(folder / "config.toml", to_toml(config))
    files = files or hashes(folder, [*_codec_files(folder), *_encoded_files(folder)])
    files |= hashes(folder, ["config.toml"])
    write_sealed(folder / SIGNATURE, {**_signature(config, corpus), "files": files})


def start_weights(config: Config) -> Path | None:
    """Return the checkpoint of ``train.init_from``, or None."""
    if config.train.init_from is None:
        return None
    start = Path(config.train.init_from)
    try:
        if not start.is_dir():
            raise SwitchOutError(f"{start}: no such run or checkpoint")
        weights = start if (start / "manifest.json").exists() else weights_folder(start)
        check(weights)
    except SwitchOutError as error:
        raise SwitchOutError(f"train.init_from: {error}") from None
    return weights


def _encode(config: Config, folder: Path, corpus: Corpus) -> None:
    """Write training and dev pairs as ids, and say what was left out."""
    remove(folder / "encoded")
    codecs = read_codecs(folder)
    has_synthetic = config.data.synthetic and "synthetic" in corpus.splits
    splits = ("train", "synthetic") if has_synthetic else ("train",)
    for name, parts, max_length in (
        ("train", splits, config.data.max_length),
        ("dev", ("dev",), config.model.max_length - 1),
    ):
        starts = (SYNTHETIC_IDS if part == "synthetic" else 0 for part in parts)
        numbered = map(enumerate, map(corpus.stream, parts), starts)
        examples = chain.from_iterable(numbered)
        where = folder / "encoded" / name
        pairs = EncodedPairs.build(where, examples, codecs, max_length=max_length)
        dropped = ", ".join(f"{n:,} {why}" for why, n in pairs.drops.items() if n) or "none"
        log.info("%s: %s pairs, dropped: %s", name, f"{len(pairs):,}", dropped)


def _check_new(folder: Path, corpus: Corpus) -> None:
    """Refuse a folder of other things, and text that cannot be read, before anything is written."""
    check_place(folder)
    for split in sorted({"dev", *corpus.splits} - {"train", "synthetic"}):
        corpus.pairs(split)


def _write_codecs(config: Config, folder: Path, corpus: Corpus) -> None:
    """Build and write the codecs; what does not go with them is refused before."""
    codecs = build_codecs(corpus, config.vocabulary.plan())
    build_noise(config.augment, *(codec.vocabulary for codec in codecs))
    _check_start(config, codecs)
    folder.mkdir(parents=True, exist_ok=True)
    save_codecs(codecs, folder)


def _check_start(config: Config, codecs: Codecs) -> None:
    """Refuse weights to start from that are over other words than these."""
    if (weights := start_weights(config)) is None:
        return
    home = weights.parent.parent
    for side, ours, theirs in zip(("src", "tgt"), codecs, read_codecs(home), strict=True):
        if ours.vocabulary != theirs.vocabulary:
            raise SwitchOutError(
                f"train.init_from: {home}/vocab.{side} is another vocabulary than this run's; set "
                f"vocabulary.kind = 'file' with {home}/vocab.src and {home}/vocab.tgt"
            )


def _mend(folder: Path, known: dict[str, str], make: Callable[[], None]) -> None:
    """Make files again from the text if some are damaged; they must be what they were."""
    if not (bad := damaged(folder, known)):
        return
    log.warning("%s: damaged; made again from the text", bad[0])
    for path in bad:
        remove(path)
    make()
    if bad := damaged(folder, known):
        raise SwitchOutError(f"{bad[0]}: made again it is another; restore it, or {RESTART}")


def _codec_files(folder: Path) -> list[str]:
    return [
        p.name for kind in ("vocab", "codec", "pieces") for p in sorted(folder.glob(f"{kind}.*"))
    ]


def _encoded_files(folder: Path) -> list[str]:
    paths = sorted((folder / "encoded").glob("*/*"))
    return [path.relative_to(folder).as_posix() for path in paths]


def _signature(config: Config, corpus: Corpus) -> dict[str, Any]:
    key, data = run_key(config, corpus.data_hash), corpus.data_hash
    parts = {
        **config.augment.summary(),
        **config.augment.more(),
        "seed": config.seed,
        "data": data[:12],
        "key": key,
        "version": f"switchout-{version('switchout')}",
    }
    line = "|".join(f"{name}:{value}" for name, value in parts.items())
    return {
        "signature": line,
        "key": key,
        "data_hash": data,
        "format": RUN_FORMAT,
        "named_files": file_hashes(config),
    }
