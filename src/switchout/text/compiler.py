"""From a kernel to an object file with one C function, by numba and LLVM; see `native`."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import llvmlite.binding as llvm  # type: ignore[import-untyped]
import numpy as np
from llvmlite import ir
from numba import cfunc, types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array
from numba.np.numpy_support import from_dtype

_INT64 = ir.IntType(64)


def compile_entry(kernel: Any, args: tuple[Any, ...], machine: Any) -> bytes:
    """Return the object file of ``entry(words)``, which calls a kernel with such arguments."""
    kinds = types.Tuple([_type_of(arg) for arg in args])

    @intrinsic
    def load(typing, words):
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return _unpack(context, builder, kinds, _words(builder, args[0]))

        return kinds(words), codegen

    @intrinsic
    def store(typing, words, results):
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            for i, value in enumerate(_results(builder, results, args[1])):
                builder.store(value, builder.gep(args[0], [_INT64(i)]))
            return context.get_dummy_value()

        return types.none(words, results), codegen

    def entry(words):
        store(words, kernel(*load(words)))

    compiled = cfunc(types.void(types.CPointer(types.uint64)), error_model="numpy")(entry)
    module = llvm.parse_assembly(compiled.inspect_llvm())
    for function in module.functions:
        if function.name == compiled.native_name:
            function.name = "entry"
        elif not function.is_declaration:
            function.linkage = "internal"
    # With all in one function, LLVM sees that no error can occur and drops what would report it.
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=3))
    passes.getModulePassManager().run(module, passes)
    return bytes(machine.emit_object(module))


def _type_of(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return types.Array(from_dtype(value.dtype), value.ndim, "C")
    if isinstance(value, tuple):
        return types.NamedTuple([_type_of(field) for field in value], type(value))
    return types.uint64 if isinstance(value, np.uint64) else types.int64


def _words(builder: Any, address: Any) -> Iterator[Any]:
    i = 0
    while True:
        yield builder.load(builder.gep(address, [_INT64(i)]))
        i += 1


def _unpack(context: Any, builder: Any, kind: Any, words: Iterator[Any]) -> Any:
    """Return a value of a type, made of the next words."""
    if isinstance(kind, types.BaseTuple):
        fields = [_unpack(context, builder, field, words) for field in kind]
        return context.make_tuple(builder, kind, fields)
    if isinstance(kind, types.Integer):
        return next(words)
    item = context.get_data_type(kind.dtype)
    data = builder.inttoptr(next(words), item.as_pointer())
    shape = [next(words) for _ in range(kind.ndim)]
    strides = [_INT64(context.get_abi_sizeof(item))]
    for length in shape[:0:-1]:
        strides.insert(0, builder.mul(strides[0], length))
    array = context.make_array(kind)(context, builder)
    populate_array(array, data, shape, strides, strides[-1], None)
    return array._getvalue()


def _results(builder: Any, kind: Any, value: Any) -> list[Any]:
    if isinstance(kind, types.BaseTuple):
        return list(cgutils.unpack_tuple(builder, value))
    return [] if kind == types.none else [value]
