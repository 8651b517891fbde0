"""Who may import whom (DESIGN, section 3): read from the sources."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "switchout"
CORE = [
    "words",
    "philox",
    "philox_numba",
    "laws",
    "intrinsics",
    "kernels",
    "kernels_rows",
    "kernels_similar",
    "sampling",
    "host",
    "checks",
]
CORE += ["backends", "policies", "similarity", "maxent", "edits", "rewards"]
FRAMEWORKS = ["torch", "tensorflow", "jax", "ray", "sacrebleu"]
MAY_IMPORT = {  # layer: our own layers it may reach, besides itself and the shared small files
    **{layer: CORE for layer in CORE},
    "corpora": CORE,
    "augment": [*CORE, "corpora", "ray_engine"],
    "evaluation": [*CORE, "corpora", "ray_engine"],
    "nmt": [*CORE, "corpora"],
    "report": ["evaluation", "experiments", *CORE, "corpora"],
    "experiments": ["nmt", "evaluation", *CORE, "corpora", "ray_engine", "report"],
}
SHARED = ["errors", "files", "progress"]


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def files(layer: str) -> list[Path]:
    folder = SOURCE / layer
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [SOURCE / f"{layer}.py"]


@pytest.mark.parametrize("layer", MAY_IMPORT)
def test_layer_imports_only_what_lies_below(layer):
    allowed = {layer, *MAY_IMPORT[layer], *SHARED}
    for path in files(layer):
        for name in imports(path):
            if name.startswith("switchout."):
                assert name.split(".")[1] in allowed, f"{path.name} imports {name}"


@pytest.mark.parametrize("layer", CORE)
def test_core_imports_a_framework_only_in_its_own_backend(layer):
    for path in files(layer):
        for name in imports(path):
            root = name.split(".")[0]
            is_own = path.parent.name == "backends" and root in path.stem
            is_metric = layer == "rewards" and root == "sacrebleu"
            assert root not in FRAMEWORKS or is_own or is_metric, f"{path.name} imports {name}"


def test_no_source_reads_a_pickle():
    for path in SOURCE.rglob("*.py"):
        for name in imports(path):
            assert name.split(".")[0] not in ("pickle", "dill", "joblib"), f"{path}: {name}"
