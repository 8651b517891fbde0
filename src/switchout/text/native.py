"""Kernels without numba: their machine code is kept in a file, and running it needs only LLVM.

Importing numba and loading from its cache takes as long as augmenting a million lines. So numba
compiles a kernel once, into a C function ``void entry(uint64_t *words)`` that needs nothing of
numba (`compiler`), and later processes load the object file.

* ``words`` holds the arguments one after the other: an integer as it is, an array as its address
  and shape, a named tuple as its fields. The results, integers, come back in the same place.
* The file stands beside this one, or in the user's cache where that cannot be written. Its name has
  a hash of the sources, of the types of the arguments and of the processor: never stale.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any

import llvmlite  # type: ignore[import-untyped]
import llvmlite.binding as llvm  # type: ignore[import-untyped]
import numpy as np

_HERE = Path(__file__).parent
_SOURCES = [
    *(
        _HERE / f"{name}.py"
        for name in ("arrays", "compiler", "kernel", "native", "passes", "scan")
    ),
    *(
        _HERE.parent / f"{name}.py"
        for name in ("intrinsics", "kernels", "sampling/philox", "philox_numba")
    ),
]
_FOLDERS = [_HERE / "__pycache__", Path("~/.cache/switchout").expanduser()]
_WORD = 0xFFFFFFFFFFFFFFFF
_ENTRY = ctypes.CFUNCTYPE(None, ctypes.c_void_p)  # called without the interpreter's lock
_loading = Lock()


class Kernel:
    """A function of a module of kernels, which returns some integers.

    Example:
        >>> find_lines = Kernel("passes", "find_lines", n_results=1)
        >>> starts, ends = np.zeros(3, np.int64), np.zeros(3, np.int64)
        >>> find_lines(np.frombuffer(b"a\\nb\\n" + bytes(64), np.uint8), 4, starts, ends)
        (2,)
    """

    def __init__(self, module: str, name: str, *, n_results: int) -> None:
        self._module, self._name, self._n_results = module, name, n_results
        self._entries: dict[str, Any] = {}  # by the types of the arguments

    def __call__(self, *args: Any) -> tuple[int, ...]:
        """Run the kernel; arrays are contiguous."""
        words: list[int] = []
        kinds = ",".join([_flatten(arg, words) for arg in args])
        entry = self._entries.get(kinds) or self._load(kinds, args)
        buffer = np.array(words, np.uint64)
        entry(buffer.ctypes.data)
        return tuple(buffer[: self._n_results].view(np.int64).tolist())

    def _load(self, kinds: str, args: tuple[Any, ...]) -> Any:
        with _loading:
            if kinds not in self._entries:
                name = f"{self._name}-{_fingerprint(kinds)}.o"
                code = _read(name)
                if code is None:
                    code = self._compile(args)
                    _write(name, code)
                self._entries[kinds] = _ENTRY(_link(code))
        return self._entries[kinds]

    def _compile(self, args: tuple[Any, ...]) -> bytes:
        from switchout.text.compiler import compile_entry

        module = import_module(f"switchout.text.{self._module}")
        return compile_entry(getattr(module, self._name), args, _machine())


def _flatten(value: Any, words: list[int]) -> str:
    """Append an argument to ``words``; return its type."""
    if isinstance(value, np.ndarray):
        if not value.flags.c_contiguous:
            raise ValueError("a kernel takes contiguous arrays only")
        words.append(value.__array_interface__["data"][0])
        words.extend(value.shape)
        return f"{value.dtype.char}{value.ndim}"
    if isinstance(value, tuple):
        return f"({','.join([_flatten(field, words) for field in value])})"
    words.append(int(value) & _WORD)
    return "u" if isinstance(value, np.uint64) else "i"


@cache
def _machine() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    cpu, features = _processor()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=cpu, features=features, opt=3, codemodel="jitdefault", jit=True
    )


def _processor() -> tuple[str, str]:
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


@cache
def _fingerprint(kinds: str) -> str:
    """Return a hash of all that machine code depends on."""
    digest = hashlib.sha256(repr((kinds, llvmlite.__version__, *_processor())).encode())
    for path in _SOURCES:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:24]


_engines: list[Any] = []  # they own the machine code


def _link(code: bytes) -> int:
    """Return the address of the function of an object file."""
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _engines.append(engine)
    return int(engine.get_function_address("entry"))


def _read(name: str) -> bytes | None:
    for folder in _FOLDERS:
        try:
            return (folder / name).read_bytes()
        except OSError:
            continue
    return None


def _write(name: str, code: bytes) -> None:
    """Keep machine code where that is possible; else the next process compiles again."""
    for folder in _FOLDERS:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            partial = folder / f"{name}.{os.getpid()}"
            partial.write_bytes(code)
            partial.replace(folder / name)
        except OSError:
            continue
        return
