"""Run the benchmarks of this folder, each in a process of its own, and print the versions.

    python benchmarks/run.py                # every file that defines main(), but for slow studies
    python benchmarks/run.py sampling       # only these, slow ones too

A long study says so itself, by a line ``SLOW = "how long"`` at the top level.
"""

from __future__ import annotations

import ast
import importlib.metadata
import os
import platform
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
PACKAGES = ("switchout", "numpy", "torch", "tensorflow-cpu", "tensorflow", "jax", "ray")


def benchmarks() -> dict[str, str]:
    """Return {name: how slow, or nothing} of the files that define ``main()``."""
    found = {}
    for path in sorted(FOLDER.glob("*.py")):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        names = {node.name for node in body if isinstance(node, ast.FunctionDef)}
        slow = [
            ast.literal_eval(node.value)
            for node in body
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "SLOW"
        ]
        if "main" in names and path != Path(__file__).resolve():
            found[path.stem] = "".join(slow)
    return found


def versions() -> str:
    """Return one line that says what was measured, on what."""
    parts = [f"python {platform.python_version()}"]
    for name in PACKAGES:
        try:
            parts.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return f"{', '.join(parts)}; {cpu()}, {os.cpu_count()} cores"


def cpu() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def main() -> int:
    known = benchmarks()
    wanted = sys.argv[1:] or [name for name, slow in known.items() if not slow]
    for name in wanted:
        if name not in known:
            print(f"no benchmark {name!r}; there are: {', '.join(known)}", file=sys.stderr)
            return 2
    print(versions())
    failed = []
    for name in wanted:
        print(f"\n== {name} ==", flush=True)
        # one thread, set before any library starts its own
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        if subprocess.run([sys.executable, str(FOLDER / f"{name}.py")], env=environment).returncode:
            failed.append(name)
    left_out = {name: slow for name, slow in known.items() if name not in wanted and slow}
    for name, slow in left_out.items():
        print(f"\nnot run: {name} ({slow}): python benchmarks/run.py {name}")
    if failed:
        print(f"\nfailed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
