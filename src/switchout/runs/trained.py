"""Trained runs: opened for translation (weights, codecs, engine), or exported for use elsewhere."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import torch
from safetensors import SafetensorError

from switchout.corpora.codec import Codecs, read_codecs, save_codecs
from switchout.errors import SwitchOutError
from switchout.files import atomic_folder
from switchout.nmt.checkpoint import read_facts, read_tensors, step_folders, write_files
from switchout.nmt.ctranslate2 import (
    QUANTIZATIONS,
    CTranslate2Searcher,
    tokens_of,
    write_ctranslate2,
)
from switchout.nmt.flat import copy_parameters
from switchout.nmt.machine import find_device
from switchout.nmt.model import ModelSpec, Transformer
from switchout.nmt.search import SearchOptions
from switchout.nmt.translate import Searcher, TorchSearcher
from switchout.runs.config import Search
from switchout.runs.folder import check_run_files, read_run_config, weights_folder
from switchout.runs.sealed import check_files, hashes, read_sealed, write_sealed

log = logging.getLogger(__name__)

EXPORTED = "model.json"  # of a folder that `export_run` wrote

EngineName = Literal["torch", "ctranslate2"]
Format = Literal["ctranslate2", "safetensors"]


def load_codecs(run: Path) -> Codecs:
    """Return the run's codecs of source and target, as they were written."""
    _check_is_run(run)
    check_run_files(run, "vocab.", "codec.", "pieces.")
    if (run / EXPORTED).is_file():
        files = read_sealed(run / EXPORTED).get("files", {})
        check_files(run, files, advice="export the run again")
    return read_codecs(run)


def _check_is_run(run: Path) -> None:
    """Refuse what is neither a run nor an export, before anything of it is missed by name."""
    if not run.is_dir():
        raise SwitchOutError(f"{run}: no such run")
    if not any((run / name).exists() for name in ("config.toml", "codec.src.json", EXPORTED)):
        raise SwitchOutError(f"{run}: not the folder of a run")


def run_search(run: Path) -> Search:
    """Return how the run was searched when it was scored: ``[search]`` of its configuration."""
    if (run / EXPORTED).is_file():
        return Search.model_validate(read_sealed(run / EXPORTED).get("search", {}))
    if not (run / "config.toml").exists():
        search = Search()
        log.warning(
            "%s: missing; searching with beam %d and length penalty %g",
            *(run / "config.toml", search.beam, search.length_penalty),
        )
        return search
    check_run_files(run, "config.toml")
    return read_run_config(run).search


def run_device(run: Path) -> str:
    """Return where the run was trained, if that can be used here."""
    wanted = "auto"
    if (run / "config.toml").is_file() and not (run / EXPORTED).is_file():
        wanted = read_run_config(run).train.device
    return find_device(wanted)


def load_model(run: Path, *, step: str | None = None, device: str = "cpu") -> Transformer:
    """Return a run's model; nothing that could run code is read.

    Args:
        run: A run, or a folder written by ``export --to safetensors``.
        step: A number, ``average``, or None for the weights the run selected.
    """
    try:
        folder = _weights(run, step)
        spec = ModelSpec(**read_facts(folder)["model"])
        tensors = read_tensors(folder, "model")
    except SwitchOutError:
        raise
    except (KeyError, TypeError, ValueError, SafetensorError) as error:
        raise SwitchOutError(f"{run}: no weights written by switchout ({error})") from None
    model = Transformer(spec)
    try:
        copy_parameters(tensors, dict(model.named_parameters()))  # a tied one appears once
    except ValueError as error:
        raise SwitchOutError(f"{folder}: {error}") from None
    try:
        model.requires_grad_(False).to(device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        reason = str(error).splitlines()[0]
        raise SwitchOutError(f"device {device!r}: {reason}; use cpu") from None
    return model


def load_ensemble(
    runs: Sequence[Path], *, step: str | None = None, device: str = "cpu"
) -> tuple[list[Transformer], Codecs]:
    """Return the models of several runs over the same vocabularies, and their codecs."""
    codecs = load_codecs(runs[0])
    models = [load_model(run, step=step, device=device) for run in runs]
    for run, model in zip(runs, models, strict=True):
        sizes = model.spec.src_size, model.spec.tgt_size
        for side, first, own, size in zip(
            ("src", "tgt"), codecs, load_codecs(run), sizes, strict=True
        ):
            if own.vocabulary != first.vocabulary:
                raise SwitchOutError(
                    f"{run}/vocab.{side} differs from {runs[0]}/vocab.{side}: "
                    "an ensemble needs the same vocabularies"
                )
            if size != len(own.vocabulary):
                raise SwitchOutError(
                    f"{run}/vocab.{side} has {len(own.vocabulary)} words, its model {size}: "
                    "these files are not of the same run"
                )
    return models, codecs


class OpenRuns(AbstractContextManager["OpenRuns"]):
    """One run or an ensemble, ready to translate.

    Example:
        with OpenRuns([Path("runs/a")]) as runs:
            translate_windows(runs.searcher, [lines], runs.codecs, options=runs.options())
    """

    searcher: Searcher
    codecs: Codecs
    search: Search  # of the first run

    def __init__(
        self,
        runs: Sequence[Path],
        *,
        step: str | None = None,
        engine: EngineName = "torch",
        device: str | None = None,
    ):
        """Open runs.

        Args:
            runs: One, or an ensemble.
            step: See `load_model`.
            engine: What searches.
            device: Where; None: where the first run was trained.
        """
        self._stack = ExitStack()
        for run in runs:
            _check_is_run(run)
        self.search = run_search(runs[0])
        device = device or run_device(runs[0])
        if engine == "torch":
            models, self.codecs = load_ensemble(runs, step=step, device=device)
            self.searcher = TorchSearcher(models)
            return
        if len(runs) > 1:
            raise SwitchOutError("ctranslate2 knows no ensembles: give one run")
        folder = runs[0]
        self.codecs = load_codecs(folder)
        if (folder / "model.bin").is_file():
            max_words = _exported_max_words(folder)
        else:
            ((model,), _) = load_ensemble(runs, step=step)
            max_words = model.spec.max_length - 1
            folder = Path(self._stack.enter_context(TemporaryDirectory(prefix="switchout-")))
            write_ctranslate2(model, folder, tokens_of(self.codecs))
        self.searcher = CTranslate2Searcher(
            folder,
            tokens_of(self.codecs),
            max_words=max_words,
            device=torch.device(device).type,
        )

    def options(
        self,
        *,
        beam: int | None = None,
        length_penalty: float | None = None,
        n_best: int = 1,
        need_attention: bool = False,
    ) -> SearchOptions:
        """Return how to search: as the run was searched, but for what is given."""
        return SearchOptions(
            self.search.beam if beam is None else beam,
            self.search.length_penalty if length_penalty is None else length_penalty,
            n_best,
            need_attention,
        )

    def __exit__(self, *error: object) -> None:
        self._stack.close()


def export_run(
    run: Path,
    out: Path,
    *,
    to: Format,
    step: str | None = None,
    quantization: str | None = None,
) -> list[str]:
    """Write the run's model to the folder ``out`` and return the names of its files.

    Both formats hold the codecs and ``model.json``, the shape of the network and how the run is
    searched, so ``out`` can be opened like the run itself.
    """
    if quantization is not None and (to != "ctranslate2" or quantization not in QUANTIZATIONS):
        raise SwitchOutError(
            f"quantization {quantization!r}: one of {', '.join(QUANTIZATIONS)}, for ctranslate2"
        )
    search = run_search(run)
    ((model,), codecs) = load_ensemble([run], step=step)
    with atomic_folder(out, marker=EXPORTED) as folder:
        if to == "safetensors":
            weights = dict(model.named_parameters())
            write_files(folder, {"model": weights}, {"model": model.spec.to_dict()})
        else:
            write_ctranslate2(model, folder, tokens_of(codecs), quantization=quantization)
        save_codecs(codecs, folder)
        files = hashes(folder, sorted(path.name for path in folder.iterdir()))
        about = {"search": search.model_dump(), "files": files}
        write_sealed(folder / EXPORTED, {**model.spec.to_dict(), **about})
    return sorted(path.name for path in out.iterdir())


def _weights(run: Path, step: str | None) -> Path:
    if step is None:
        return run if (run / "model.safetensors").is_file() else weights_folder(run)
    folder = run / "checkpoints" / ("average" if step == "average" else f"step-{step}")
    if not folder.is_dir():
        kept = ", ".join(f.name.removeprefix("step-") for f in step_folders(folder.parent))
        hint = "; an average is written where train.average > 1" if step == "average" else ""
        raise SwitchOutError(f"{folder}: no such checkpoint; steps kept: {kept or 'none'}{hint}")
    return folder


def _exported_max_words(folder: Path) -> int:
    path = folder / EXPORTED
    try:
        return int(read_sealed(path)["max_length"]) - 1
    except (ValueError, KeyError, TypeError):
        raise SwitchOutError(f"{path}: not written by 'switchout export'") from None
