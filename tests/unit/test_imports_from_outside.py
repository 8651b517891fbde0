"""Scripts beside the package import what it has: no other test runs most of them.

Read from the sources, scripts inside string constants included, so that no framework need be there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ["benchmarks", "results", "tools", "examples"]
SCRIPTS = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))


def asked(code: ast.AST) -> Iterator[tuple[str, str]]:
    """All (module, name) that a script imports from the package."""
    for node in ast.walk(code):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "switchout":
            yield from ((str(node.module), alias.name) for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            with suppress(SyntaxError):  # prose
                yield from asked(ast.parse(node.value))


def file_of(module: str) -> Path | None:
    home = ROOT / "src" / Path(*module.split("."))
    files = (home.with_suffix(".py"), home / "__init__.py")
    return next((file for file in files if file.is_file()), None)


@cache
def names_of(module: str) -> frozenset[str]:
    """What stands in a module outside of functions and classes, imported names included."""
    file = file_of(module)
    return frozenset() if file is None else frozenset(bound(ast.parse(file.read_text("utf-8"))))


def bound(code: ast.AST) -> Iterator[str]:
    for node in ast.iter_child_nodes(code):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        else:
            yield from bound(node)


def missing(code: ast.AST) -> list[str]:
    return [
        f"{module}.{name}"
        for module, name in asked(code)
        if name not in names_of(module) and file_of(f"{module}.{name}") is None
    ]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_script_imports_what_the_package_has(script):
    assert missing(ast.parse(script.read_text("utf-8"))) == []


@pytest.mark.parametrize("name", ["runs.folder import prepare_run", "runs.moved import anything"])
def test_a_moved_name_is_noticed_in_code_and_in_a_script_inside_a_string(name):
    line = f"from switchout.{name}"
    for code in (line, f"def f():\n    {line}", f"S = '''\nimport sys\n{line}\n'''"):
        assert missing(ast.parse(code)) == [f"switchout.{name.replace(' import ', '.')}"]
