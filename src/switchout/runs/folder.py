"""The folder of a run: made once, checked on every later visit, used by one trainer at a time.

Making it can be interrupted anywhere: ``signature.json`` is written last, and without it a folder
is made again. It holds the hashes of all that training reads; every checkpoint repeats it in its
``facts.json``.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from switchout.corpora import Corpus
from switchout.corpora.codec import Codecs, build_codecs, read_codecs, save_codecs
from switchout.corpora.encoded import EncodedPairs
from switchout.errors import SwitchOutError
from switchout.files import read_toml, write_text
from switchout.files.writing import free_name, remove
from switchout.nmt.checkpoint import check, is_whole, read_facts, step_folders
from switchout.runs.config import Config, flatten
from switchout.runs.config_file import (
    RUN_FORMAT,
    changed_keys,
    file_hashes,
    parse_config,
    run_key,
    to_toml,
)
from switchout.runs.corpus_warnings import warn_if_seen, warn_if_small, warn_of_tags
from switchout.runs.leases import RunIsBusyError, held
from switchout.runs.noise import build_noise
from switchout.runs.sealed import check_files, damaged, hashes, read_sealed, write_sealed

if TYPE_CHECKING:
    from switchout.nmt.model import ModelSpec

log = logging.getLogger(__name__)

SYNTHETIC_IDS = 1 << 40  # example ids of synthetic pairs start here; no corpus has as many lines
SIGNATURE = "signature.json"
LEARNED = ("resume", "checkpoints", "result.json")  # what a run has once it trains
RESTART = "restart=True to move this run aside"
OUR_FILES = frozenset({"config.toml", "encoded", "metrics.jsonl", "tensorboard"})  # of a new run


@dataclass(frozen=True)
class Run:
    """All that training needs, opened."""

    folder: Path
    config: Config
    corpus: Corpus
    codecs: Codecs
    train: EncodedPairs
    dev: EncodedPairs
    signature: dict[str, Any]

    def model_spec(self) -> ModelSpec:
        """Return the shape of the run's model."""
        from switchout.nmt.model import ModelSpec

        src, tgt = (len(codec.vocabulary) for codec in self.codecs)
        return ModelSpec(src_size=src, tgt_size=tgt, **self.config.model.model_dump())


def prepare_run(config: Config, folder: Path) -> None:
    """Make the folder of a run, or check that it is this configuration's and whole.

    What is damaged and can be made again from the text is named and made again.
    """
    corpus = config.data.open()
    known = _earlier_visit(config, folder, corpus)
    files = {} if known is None else known.get("files", {})
    if known is None:
        _check_new(folder, corpus)
        _write_codecs(config, folder, corpus)
        warn_if_seen(corpus)
        warn_if_small(corpus)
        warn_of_tags(config.augment, corpus, read_codecs(folder))
    if not files:
        _encode(config, folder, corpus)
    codecs = _of(files, "vocab.", "codec.", "pieces.")
    _mend(folder, codecs, lambda: _write_codecs(config, folder, corpus))
    _mend(folder, _of(files, "encoded"), lambda: _encode(config, folder, corpus))
    remove_folder(folder / "config.toml")
    # Free keys may have changed; the folder says what is true now.
    write_text(folder / "config.toml", to_toml(config))
    files = files or hashes(folder, [*_codec_files(folder), *_encoded_files(folder)])
    files |= hashes(folder, ["config.toml"])
    write_sealed(folder / SIGNATURE, {**_signature(config, corpus), "files": files})


def open_run(folder: Path) -> Run:
    """Open what `prepare_run` left."""
    config = read_run_config(folder)
    return Run(
        folder=folder,
        config=config,
        corpus=config.data.open(),
        codecs=read_codecs(folder),
        train=EncodedPairs(folder / "encoded" / "train"),
        dev=EncodedPairs(folder / "encoded" / "dev"),
        signature=read_sealed(folder / SIGNATURE),
    )


def check_run_files(folder: Path, *names: str) -> None:
    """Refuse files of a run that are not what was written; older runs cannot tell.

    Args:
        folder: Of the run; without ``signature.json`` nothing is known.
        names: Files, or what their names begin with.
    """
    if (folder / SIGNATURE).exists():
        files = read_sealed(folder / SIGNATURE).get("files", {})
        check_files(folder, _of(files, *names), advice="the same 'switchout train' mends it")


def weights_folder(run: Path) -> Path:
    """Return the weights to translate with: those ``result.json`` names, else the newest whole."""
    result = run / "result.json"
    named = read_sealed(result).get("weights") if result.exists() else None
    if isinstance(named, str):
        return run / named
    found = next((f for f in reversed(step_folders(run / "checkpoints")) if is_whole(f)), None)
    if found is None:
        raise SwitchOutError(f"{run}: no weights yet in checkpoints/; is this a trained run?")
    return found


def read_run_config(folder: Path) -> Config:
    """Return the configuration a run was made with."""
    path = folder / "config.toml"
    return parse_config(read_toml(path), where=str(path))


def move_aside(folder: Path) -> Path | None:
    """Rename the run in ``folder``, if there is one, to a free name beside it, and return that."""
    if not folder.exists():
        return None
    with held(folder):  # nobody trains what moves
        return folder.rename(free_name(folder))


@contextmanager
def removed_if_refused(folder: Path, *, aside: Path | None = None) -> Iterator[Callable[[], None]]:
    """Remove what an attempt made in a new folder, unless it called what this yields.

    Args:
        folder: Of the run.
        aside: An earlier run that made place; it then comes back.

    Example:
        with removed_if_refused(Path("runs/a")) as keep:
            prepare_run(config, Path("runs/a"))
            keep()
    """
    is_new = not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    is_kept = False

    def keep() -> None:
        nonlocal is_kept
        is_kept = True

    try:
        yield keep
    except RunIsBusyError:
        raise  # what is there is another process's
    except (SwitchOutError, OSError):
        if is_new and not is_kept and folder.is_dir():
            for path in folder.iterdir():
                remove(path)
            for path in made:
                with suppress(OSError):
                    path.rmdir()
            if aside is not None and not folder.exists():
                aside.rename(folder)
        raise


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


def check_place(folder: Path) -> None:
    """Refuse a folder of other things, which is neither a run nor the beginning of one."""
    found = {path.name for path in folder.iterdir()} if folder.exists() else set()
    if not found & {SIGNATURE, *LEARNED} and found - _own_files(folder):
        raise SwitchOutError(f"{folder}: is not empty and not a run; choose another folder")


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


def _earlier_visit(config: Config, folder: Path, corpus: Corpus) -> dict[str, Any] | None:
    """Return what an earlier visit noted, checked against the configuration; None for a new run."""
    try:
        known = _noted(folder)
    except SwitchOutError as error:
        if (known := _noted_in_checkpoints(folder)) is None:
            if _own_files(folder) | {SIGNATURE} >= {path.name for path in folder.iterdir()}:
                log.warning("%s; nothing was learned yet, made again", error)
                remove(folder / SIGNATURE)
                return None
            raise SwitchOutError(f"{error}; restore it, or {RESTART}") from None
        log.warning("%s; made again from the checkpoints", error)
        remove(folder / SIGNATURE)
    if known is None:
        return None
    _check_config(config, folder, corpus, known)
    if known.get("data_hash") != corpus.data_hash:
        raise SwitchOutError(
            f"{folder}: the text of corpus {corpus.name} has changed since this run was made; "
            f"restore it, or {RESTART}"
        )
    if (done := _steps_done(folder)) > config.train.steps:
        raise SwitchOutError(
            f"{folder}: {done} steps are done already; train.steps={config.train.steps} is fewer: "
            "choose another folder"
        )
    return known


def _steps_done(folder: Path) -> int:
    """Return the highest step of the checkpoints and the result; a damaged result says nothing."""
    parents = (folder / "resume", folder / "checkpoints")
    steps = [int(path.name[5:]) for parent in parents for path in step_folders(parent)]
    with suppress(SwitchOutError, KeyError, TypeError, ValueError, OSError):
        steps.append(int(read_sealed(folder / "result.json")["steps"]))
    return max(steps, default=0)


def _noted(folder: Path) -> dict[str, Any] | None:
    path = folder / SIGNATURE
    if path.exists():
        return read_sealed(path)
    if any((folder / name).exists() for name in LEARNED):
        raise SwitchOutError(f"{path}: missing")
    return None


def _noted_in_checkpoints(folder: Path) -> dict[str, Any] | None:
    """Return the same from the newest whole checkpoint, which has a copy."""
    for parent in (folder / "resume", folder / "checkpoints"):
        for path in reversed(step_folders(parent)):
            if is_whole(path) and isinstance(noted := read_facts(path).get("run"), dict):
                return noted
    return None


def _check_config(config: Config, folder: Path, corpus: Corpus, known: dict[str, Any]) -> None:
    try:
        changed = changed_keys(read_run_config(folder), config)
        problem = f"{folder}: made with another configuration ({'; '.join(changed)})"
    except SwitchOutError as error:
        changed, problem = ["config.toml"], str(error)
    if not changed:
        _check_named_files(config, folder, known)
        return
    if known.get("key") != run_key(config, corpus.data_hash):
        raise SwitchOutError(f"{problem}; choose another folder, or {RESTART}")
    log.warning("%s: damaged; written again", folder / "config.toml")


def _check_named_files(config: Config, folder: Path, known: dict[str, Any]) -> None:
    """Refuse a file that has changed in its place; runs of older versions did not note any."""
    before = known.get("named_files", {})
    for key, value in file_hashes(config).items():
        if before.get(key, value) != value:
            path = flatten(config)[key]
            raise SwitchOutError(
                f"{folder}: {path} ({key}) has changed since this run was made; restore it, or "
                f"{RESTART}"
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


def _of(files: dict[str, str], *starts: str) -> dict[str, str]:
    return {name: value for name, value in files.items() if name.startswith(starts)}


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


def _own_files(folder: Path) -> set[str]:
    codec_files = {f"{name}.{side}" for name in ("vocab", "pieces") for side in ("src", "tgt")}
    partial = {path.name for path in folder.glob(".*")}
    return {*OUR_FILES, *codec_files, "codec.src.json", "codec.tgt.json", *partial}


def remove_folder(path: Path) -> None:
    """Remove a folder that stands where a file of a run belongs."""
    if path.is_dir():
        log.warning("%s: is a folder, expected a file; removed", path)
        shutil.rmtree(path)
