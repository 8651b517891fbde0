"""What numba does not offer by itself: a word to the cache, eight comparisons, counting bits."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_BIT, _BYTE, _INT32, _INT64 = (ir.IntType(n) for n in (1, 8, 32, 64))
LANES = 8  # of `at_least`


def pointer(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    """Return the address of ``array.flat[index]``; the array is contiguous."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), _BYTE.as_pointer())


def spread(builder: Any, value: Any, vector: Any) -> Any:
    """Return a vector of type ``vector`` with ``value`` in every lane."""
    nothing = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(nothing, value, _INT32(0))
    zeros = ir.Constant(ir.VectorType(_INT32, vector.count), [0] * vector.count)
    return builder.shuffle_vector(first, nothing, zeros)


@intrinsic
def prefetch(context, array, index):
    """Ask for ``array.flat[index]`` to be brought into the cache."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = pointer(context, builder, signature.args[0], args[0], args[1])
        kind = ir.FunctionType(ir.VoidType(), [_BYTE.as_pointer(), _INT32, _INT32, _INT32])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [address, _INT32(0), _INT32(3), _INT32(1)])
        return context.get_dummy_value()

    return types.none(array, types.int64), codegen


@intrinsic
def at_least(context, array, index, bound):
    """Return eight bits: bit j says whether ``array.flat[index + j] >= bound``."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = signature.args[0]
        element = context.get_value_type(kind.dtype)
        vector = ir.VectorType(element, LANES)
        address = pointer(context, builder, kind, args[0], args[1])
        values = builder.load(builder.bitcast(address, vector.as_pointer()))
        values.align = kind.dtype.bitwidth // 8
        limit = builder.trunc(args[2], element) if kind.dtype.bitwidth < 64 else args[2]
        limits = spread(builder, limit, vector)
        bits = builder.bitcast(builder.icmp_signed(">=", values, limits), _BYTE)
        return builder.zext(bits, _INT64)

    return types.uint64(array, types.int64, types.int64), codegen


def _bit_function(name: str, *more: Any) -> Any:
    """Return a function of 64 bits that LLVM knows by ``name``."""

    @intrinsic
    def function(context, bits):
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            kind = ir.FunctionType(_INT64, [_INT64, *(constant.type for constant in more)])
            called = cgutils.get_or_insert_function(builder.module, kind, name)
            return builder.call(called, [args[0], *more])

        return types.int64(types.uint64), codegen

    return function


n_ones = _bit_function("llvm.ctpop.i64")
n_zeros_below = _bit_function("llvm.cttz.i64", _BIT(0))  # below the lowest one; 64 if there is none
n_zeros_above = _bit_function("llvm.ctlz.i64", _BIT(0))
