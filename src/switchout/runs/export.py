"""A run's model for use elsewhere: one folder, complete or absent, with its vocabularies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from switchout.errors import SwitchOutError
from switchout.runs.translate import load_ensemble
from switchout.files import atomic_folder
from switchout.nmt.checkpoint import write_checkpoint
from switchout.nmt.export import QUANTIZATIONS, write_ctranslate2

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

    Both formats hold the codecs and ``model.json``, the shape of the network, so ``out`` serves
    as ``--run`` of ``switchout translate``.
    """
    if quantization is not None and (to != "ctranslate2" or quantization not in QUANTIZATIONS):
        raise SwitchOutError(
            f"quantization {quantization!r}: one of {', '.join(QUANTIZATIONS)}, for ctranslate2"
        )
    ((model,), codecs) = load_ensemble([run], step=step)
    with atomic_folder(out, marker="model.json") as folder:
        if to == "safetensors":
            weights = dict(model.named_parameters())
            inner = folder / "weights"
            write_checkpoint(inner, {"model": weights}, {"model": model.spec.to_dict()})
            for path in inner.iterdir():
                path.rename(folder / path.name)
            inner.rmdir()
        else:
            src_tokens, tgt_tokens = (codec.vocabulary.tokens for codec in codecs)
            write_ctranslate2(
                model,
                folder,
                src_tokens=src_tokens,
                tgt_tokens=tgt_tokens,
                quantization=quantization,
            )
        shape = json.dumps(model.spec.to_dict(), indent=1)
        (folder / "model.json").write_text(shape + "\n", encoding="utf-8")
        codecs[0].save(folder, "src")
        codecs[1].save(folder, "tgt")
    return sorted(path.name for path in out.iterdir())
