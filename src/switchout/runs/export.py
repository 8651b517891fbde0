"""A run's model for use elsewhere: one folder, complete or absent, with its vocabularies."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from switchout.corpora.codec import save_codecs
from switchout.errors import SwitchOutError
from switchout.files import atomic_folder
from switchout.nmt.checkpoint import write_files
from switchout.nmt.ctranslate2 import QUANTIZATIONS, tokens_of, write_ctranslate2
from switchout.runs.sealed import hashes, write_sealed
from switchout.runs.translate import EXPORTED, load_ensemble, run_search

Format = Literal["ctranslate2", "safetensors"]


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
    searched, so ``out`` serves as ``--run`` of ``switchout translate``.
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
