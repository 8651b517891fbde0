"""A small corpus and a configuration for eole, and its commands as people call them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

import toy_tokenizers as toys

N = 400


def prepare(folder: Path) -> None:
    """Write text, sentencepiece models and vocabularies into a folder."""
    german, english = toys.text(N + 40)
    for language, lines in (("de", german), ("en", english)):
        (folder / f"train.{language}").write_text("\n".join(lines[:N]) + "\n", "utf-8")
        (folder / f"dev.{language}").write_text("\n".join(lines[N:]) + "\n", "utf-8")
        model = toys.sentencepiece_model(lines, 400)
        (folder / f"{language}.model").write_bytes(model.serialized_model_proto())
        names = [name for name, _ in toys.pieces(model)[3:]]
        (folder / f"vocab.{language}").write_text("\n".join(names) + "\n", "utf-8")


def config(folder: Path, name: str, **changes: Any) -> dict[str, Any]:
    """eole's YAML, with its own switchout; ``changes`` are put over it."""
    settings: dict[str, Any] = {
        "seed": 7,
        "share_vocab": False,
        "src_vocab": str(folder / "vocab.de"),
        "tgt_vocab": str(folder / "vocab.en"),
        "overwrite": True,
        "report_every": 5,
        "data": {
            "corpus_1": {
                "path_src": str(folder / "train.de"),
                "path_tgt": str(folder / "train.en"),
            },
            "valid": {"path_src": str(folder / "dev.de"), "path_tgt": str(folder / "dev.en")},
        },
        "transforms": ["sentencepiece", "switchout"],
        "transforms_configs": {
            "sentencepiece": {
                "src_subword_model": str(folder / "de.model"),
                "tgt_subword_model": str(folder / "en.model"),
            },
            "switchout": {"switchout_temperature": 1.0},
        },
        "training": {
            "train_steps": 60,
            "valid_steps": 30,
            "save_checkpoint_steps": 60,
            "model_path": str(folder / name),
            "batch_type": "tokens",
            "batch_size": 256,
            "valid_batch_size": 256,
            "bucket_size": 200,
            "num_workers": 0,
            "optim": "adam",
            "learning_rate": 0.001,
            "gpu_ranks": [],
            "world_size": 1,
            "compute_dtype": "fp32",
        },
        "model": {
            "architecture": "transformer",
            "hidden_size": 32,
            "embeddings": {"word_vec_size": 32, "position_encoding_type": "SinusoidalInterleaved"},
            "encoder": {"layers": 1, "heads": 2, "transformer_ff": 64},
            "decoder": {"layers": 1, "heads": 2, "transformer_ff": 64},
        },
    }
    settings.update(changes)
    return settings


def written(folder: Path, name: str, settings: dict[str, Any]) -> str:
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(settings), "utf-8")
    return str(path)


def run(*arguments: str, ours: bool = True) -> subprocess.CompletedProcess[str]:
    """Run eole, with our transforms or as it is."""
    bare = [str(Path(sys.executable).with_name("eole"))]
    command = [sys.executable, "-m", "switchout.integrations.eole"] if ours else bare
    return subprocess.run(
        [*command, *arguments], capture_output=True, text=True, env=os.environ, check=False
    )
