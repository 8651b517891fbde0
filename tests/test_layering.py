"""Who may import whom, and that nobody imports in a circle: read from the sources.

Imports inside functions count like all others.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "switchout"
SHARED = ["errors", "files", "pieces", "progress", "ranges", "words"]  # every layer may use them
ARROWS = {  # package: the packages it may import, besides itself and the shared files
    "core": [],
    "files": [],
    "sampling": ["core"],
    "policies": ["sampling", "core"],
    "corpora": [],
    "engines": [],
    "text": ["policies", "sampling", "core", "corpora", "engines"],
    "evaluation": ["core", "corpora", "engines"],
    "integrations": ["policies", "sampling", "text"],
    "nmt": ["policies", "sampling", "core", "corpora"],
    "runs": ["nmt", "evaluation", "corpora", "policies"],
    "experiments": ["runs", "nmt", "evaluation", "corpora", "policies", "engines"],
    "report": ["experiments", "runs", "evaluation", "corpora"],
    "explore": ["report", "runs", "text", "evaluation", "policies", "sampling", "corpora", "nmt"],
    "cli": [
        *("explore", "report", "experiments", "runs", "text", "evaluation", "corpora", "nmt"),
        "engines",
    ],
}
TOP_LEVEL = {"__init__", "__main__", *SHARED}
FRAMEWORKS = ["torch", "tensorflow", "jax", "ray", "sacrebleu"]
CORE = ["core", "sampling", "policies", "pieces", "words"]


def all_files() -> list[Path]:
    return sorted([*SOURCE.rglob("*.py"), *SOURCE.rglob("*.pyi")])  # .pyi: the compiled core


def module_of(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those that only a type checker sees."""
    for child in ast.iter_child_nodes(node):
        if not is_for_types(child):
            yield child
            yield from statements(child)


def imports(path: Path) -> set[str]:
    found = set()
    for node in statements(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def imported_modules(path: Path, modules: set[str]) -> set[str]:
    """Our own modules that a file imports, by name or through a name in them."""
    names = {n for n in imports(path) if n.startswith("switchout.")}
    return {n if n in modules else n.rpartition(".")[0] for n in names} & modules


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The strongly connected sets of more than one module (Tarjan's algorithm)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph[node]:
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            component = []
            while not component or component[-1] != node:
                component.append(stack.pop())
            if len(component) > 1 or node in graph[node]:
                found.append(sorted(component))

    for node in graph:
        if node not in index:
            visit(node)
    return found


@pytest.mark.parametrize("package", ARROWS)
def test_package_imports_only_what_its_arrows_allow(package):
    allowed = {package, *ARROWS[package], *SHARED}
    for path in sorted((SOURCE / package).rglob("*.py")):
        for name in imports(path):
            if name.startswith("switchout."):
                assert name.split(".")[1] in allowed, f"{path.name} imports {name}"


def test_every_package_has_its_arrows():
    packages = {path.parent.name for path in SOURCE.glob("*/*.py")}
    assert packages <= set(ARROWS)


def test_no_module_appears_at_top_level_that_is_not_on_the_list():
    assert {path.stem for path in SOURCE.glob("*.py")} <= TOP_LEVEL


def test_arrows_go_one_way():
    graph = {package: set(arrows) & set(ARROWS) for package, arrows in ARROWS.items()}
    assert circles(graph) == []


def test_no_import_circle_lazy_imports_included():
    modules = {module_of(path) for path in all_files()}
    graph = {module_of(path): imported_modules(path, modules) for path in all_files()}
    graph["switchout"] = set()  # the facade names everything, and loads it when it is used
    assert circles(graph) == []


def test_a_circle_would_be_found():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]


@pytest.mark.parametrize("layer", CORE)
def test_core_imports_a_framework_only_in_its_own_backend(layer):
    file = SOURCE / f"{layer}.py"
    for path in [file] if file.exists() else sorted((SOURCE / layer).rglob("*.py")):
        for name in imports(path):
            root = name.split(".")[0]
            is_own = path.parent.name == "backends" and root in path.stem
            is_own |= path.stem == "torch_graph" and root == "torch"
            is_metric = path.stem == "rewards" and root == "sacrebleu"
            assert root not in FRAMEWORKS or is_own or is_metric, f"{path.name} imports {name}"


def test_no_source_reads_a_pickle():
    for path in all_files():
        for name in imports(path):
            assert name.split(".")[0] not in ("pickle", "dill", "joblib"), f"{path}: {name}"
