"""Builds the compiled core; everything else about the package stands in pyproject.toml."""

from __future__ import annotations

import shutil
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import BaseError

CORE = Path("src/switchout/core")
# Other C files are included by these; `methods.c` is compiled three times, see there.
SOURCES = [
    CORE / name for name in ("_core.c", "methods_any.c", "methods_avx2.c", "methods_avx512.c")
]
# The limited API makes one binary for all Python from 3.11 on. Free-threaded Python has none.
IS_LIMITED = not sysconfig.get_config_var("Py_GIL_DISABLED")
FLAGS = ["-std=c11", "-O3", "-g0", "-Wall", "-Wextra", "-fvisibility=hidden", "-ffp-contract=off"]
NEEDS = "switchout is built from C: it needs gcc or clang and the headers of Python"
HINT = "on Debian and Ubuntu: apt-get install gcc python3-dev"


class BuildCore(build_ext):
    """`build_ext` that says in one line what is missing."""

    def build_extension(self, ext: Extension) -> None:
        header = Path(sysconfig.get_paths()["include"]) / "Python.h"
        if not header.exists():
            raise SystemExit(f"{NEEDS}; {header} is missing ({HINT})")
        command = self.compiler.compiler_so[0]
        if shutil.which(command) is None:
            raise SystemExit(f"{NEEDS}; there is no {command} ({HINT})")
        try:
            super().build_extension(ext)
        except BaseError as error:
            raise SystemExit(f"{NEEDS}; {command} failed: {error}") from None


setup(
    ext_modules=[
        Extension(
            "switchout.core._core",
            [str(path) for path in SOURCES],
            depends=sorted(str(path) for path in CORE.glob("*.[ch]")),
            extra_compile_args=FLAGS,
            py_limited_api=IS_LIMITED,
            define_macros=[("Py_LIMITED_API", "0x030B0000")] if IS_LIMITED else [],
        )
    ],
    cmdclass={"build_ext": BuildCore},
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if IS_LIMITED else {},
)
