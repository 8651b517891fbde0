"""The folder of a run: what is in it, how it is opened, moved aside or removed."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from switchout.corpora import Corpus
from switchout.corpora.codec import Codecs, read_codecs
from switchout.corpora.encoded import EncodedPairs
from switchout.errors import SwitchOutError
from switchout.files import read_toml
from switchout.files.writing import free_name, remove
from switchout.nmt.checkpoint import is_whole, step_folders
from switchout.runs.config import Config
from switchout.runs.config_file import parse_config
from switchout.runs.leases import RunIsBusyError, held
from switchout.runs.sealed import check_files, read_sealed

if TYPE_CHECKING:
    from switchout.nmt.model import ModelSpec

log = logging.getLogger(__name__)

SIGNATURE = "signature.json"
LEARNED = ("resume", "checkpoints", "result.json")  # what a run has once it trains
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


def open_run(folder: Path) -> Run:
    """Open what `preparing.prepare_run` left."""
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
        check_files(folder, of_kind(files, *names), advice="the same 'switchout train' mends it")


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


def check_place(folder: Path) -> None:
    """Refuse a folder of other things, which is neither a run nor the beginning of one."""
    found = {path.name for path in folder.iterdir()} if folder.exists() else set()
    if not found & {SIGNATURE, *LEARNED} and found - own_files(folder):
        raise SwitchOutError(f"{folder}: is not empty and not a run; choose another folder")


def of_kind(files: dict[str, str], *starts: str) -> dict[str, str]:
    """Return the noted files whose names begin so."""
    return {name: value for name, value in files.items() if name.startswith(starts)}


def own_files(folder: Path) -> set[str]:
    """Return what a run that has learned nothing yet may have in its folder."""
    codec_files = {f"{name}.{side}" for name in ("vocab", "pieces") for side in ("src", "tgt")}
    partial = {path.name for path in folder.glob(".*")}
    return {*OUR_FILES, *codec_files, "codec.src.json", "codec.tgt.json", *partial}


def remove_folder(path: Path) -> None:
    """Remove a folder that stands where a file of a run belongs."""
    if path.is_dir():
        log.warning("%s: is a folder, expected a file; removed", path)
        shutil.rmtree(path)
